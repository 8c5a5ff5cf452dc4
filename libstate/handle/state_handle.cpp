#include "libstate/handle/state_handle.hpp"

#include "libstate/handle/handle_codec.hpp"

namespace headrace::state {

namespace {

std::uint64_t size_of(const std::vector<keyed_state_handle>& handles) {
  std::uint64_t out = 0;
  for (const auto& one : handles) {
    out += one.segment.size_bytes;
    for (const auto& file : one.shared)
      out += file.segment.size_bytes;
  }
  return out;
}

std::uint64_t size_of(const std::vector<operator_state_handle>& handles) {
  std::uint64_t out = 0;
  for (const auto& one : handles)
    out += one.segment.size_bytes;
  return out;
}

} // namespace

status check_found(const state_segment& segment, std::uint64_t checksum) {
  if (segment.checksum == 0 || segment.checksum == checksum)
    return {};
  return error(errc::corrupt_snapshot,
               "corrupt snapshot: file is not the one that the manifest was written with, in " +
                   segment.path);
}

bool operator_subtask_state::has_state() const {
  return !keyed.empty() || !managed.empty() || !raw_keyed.empty() || !raw_operator.empty() ||
         !channels.empty();
}

std::uint64_t operator_subtask_state::size_bytes() const {
  auto out = size_of(keyed) + size_of(raw_keyed) + size_of(managed) + size_of(raw_operator);
  for (const auto& one : channels)
    out += one.segment.size_bytes;
  return out;
}

std::uint64_t task_state_snapshot::size_bytes() const {
  std::uint64_t out = 0;
  for (const auto& [id, one] : operators)
    out += one.size_bytes();
  return out;
}

std::uint64_t task_state_snapshot::in_flight_bytes() const {
  std::uint64_t out = 0;
  for (const auto& [id, one] : operators)
    for (const auto& handle : one.channels)
      out += handle.segment.size_bytes;
  return out;
}

void move_segments(task_state_snapshot& snapshot, const std::string& from, const std::string& to,
                   std::uint64_t offset) {
  const auto move = [&](state_segment& one) {
    if (one.path != from)
      return;
    one.path = to;
    one.offset += offset;
  };
  for (auto& [id, state] : snapshot.operators) {
    for (auto* handles : {&state.keyed, &state.raw_keyed}) {
      for (auto& handle : *handles) {
        move(handle.segment);
        for (auto& file : handle.shared)
          move(file.segment);
      }
    }
    for (auto* handles : {&state.managed, &state.raw_operator})
      for (auto& handle : *handles)
        move(handle.segment);
    for (auto& handle : state.channels)
      move(handle.segment);
  }
}

void encode(const task_state_snapshot& snapshot, byte_writer& out) {
  handle_encoder encoder(out, {});
  out.put_varint(snapshot.operators.size());
  for (const auto& [id, one] : snapshot.operators) {
    out.put(id.high);
    out.put(id.low);
    encoder.put(one);
  }
}

result<task_state_snapshot> decode_task_state_snapshot(byte_reader& in) {
  handle_decoder decoder(in, {});
  task_state_snapshot out;
  HEADRACE_TRY(const auto count, decoder.get_count());
  for (std::size_t i = 0; i < count; ++i) {
    operator_id id;
    HEADRACE_TRY(id.high, in.get<std::uint64_t>());
    HEADRACE_TRY(id.low, in.get<std::uint64_t>());
    HEADRACE_TRY(out.operators[id], decoder.get_subtask_state());
  }
  return out;
}

} // namespace headrace::state
