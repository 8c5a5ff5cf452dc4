#include "libstate/checkpoint/completed_checkpoint.hpp"

#include "libstate/handle/handle_codec.hpp"
#include "libstate/snapshot/block_codec.hpp"

#include <set>
#include <string_view>
#include <utility>

namespace headrace::state {

namespace {

//     magic "HRMETA01", u32 version, u64 checksum of the body (seeded by version), body
constexpr std::string_view magic = "HRMETA01";
//     body of version 1: as of version 2, but operators have no uid
//     body of version 2: as of version 3, but segments have no checksum
//     body of version 3: as now, but subtasks have no watermark
constexpr std::uint32_t version = 4;
constexpr std::uint32_t oldest_version = 1;
constexpr std::size_t head_bytes = 20;

void encode_operator(const operator_state& one, byte_writer& out, handle_encoder& handles) {
  out.put(one.id.high);
  out.put(one.id.low);
  out.put_bytes(one.uid);
  out.put_bytes(one.name);
  out.put(one.parallelism);
  out.put(one.max_parallelism);
  out.put(static_cast<std::uint8_t>(one.has_coordinator ? 1 : 0));
  out.put_bytes(one.coordinator);
  out.put_varint(one.subtasks.size());
  for (const auto& [subtask, state] : one.subtasks) {
    out.put(subtask);
    handles.put(state);
  }
}

result<operator_state> decode_operator(byte_reader& in, handle_decoder& handles,
                                       std::uint32_t of_version) {
  operator_state one;
  HEADRACE_TRY(one.id.high, in.get<std::uint64_t>());
  HEADRACE_TRY(one.id.low, in.get<std::uint64_t>());
  if (of_version >= 2) {
    HEADRACE_TRY(const auto uid, in.get_bytes());
    one.uid = std::string(uid);
  }
  HEADRACE_TRY(const auto name, in.get_bytes());
  one.name = std::string(name);
  HEADRACE_TRY(one.parallelism, in.get<std::int32_t>());
  HEADRACE_TRY(one.max_parallelism, in.get<std::int32_t>());
  if (one.parallelism < 1 || one.max_parallelism < one.parallelism ||
      one.max_parallelism > graph::max_parallelism_most)
    return error(errc::malformed_message, "impossible parallelism");
  HEADRACE_TRY(const auto has_coordinator, in.get<std::uint8_t>());
  one.has_coordinator = has_coordinator != 0;
  HEADRACE_TRY(const auto coordinator, in.get_bytes());
  one.coordinator = byte_string(coordinator);
  HEADRACE_TRY(const auto count, handles.get_count());
  for (std::size_t i = 0; i < count; ++i) {
    HEADRACE_TRY(const auto subtask, in.get<std::int32_t>());
    if (subtask < 0 || subtask >= one.parallelism)
      return error(errc::malformed_message, "impossible subtask: " + std::to_string(subtask));
    HEADRACE_TRY(one.subtasks[subtask], handles.get_subtask_state());
  }
  return one;
}

result<completed_checkpoint> decode_body(byte_view body, const std::string& directory,
                                         std::uint32_t of_version) {
  byte_reader in(body);
  handle_decoder handles(in, directory, {of_version >= 3, of_version >= 4});
  completed_checkpoint out;
  HEADRACE_TRY(out.job.high, in.get<std::uint64_t>());
  HEADRACE_TRY(out.job.low, in.get<std::uint64_t>());
  HEADRACE_TRY(out.id, in.get<std::int64_t>());
  HEADRACE_TRY(const auto kind, in.get<std::uint8_t>());
  if (kind < 1 || kind > 2)
    return error(errc::malformed_message, "unknown kind: " + std::to_string(kind));
  out.kind = static_cast<checkpoint_kind>(kind);
  HEADRACE_TRY(out.triggered_ms, in.get<std::int64_t>());
  HEADRACE_TRY(out.completed_ms, in.get<std::int64_t>());
  HEADRACE_TRY(const auto hooks, in.get_bytes());
  out.master_hooks = byte_string(hooks);
  HEADRACE_TRY(const auto count, handles.get_count());
  for (std::size_t i = 0; i < count; ++i) {
    HEADRACE_TRY(auto one, decode_operator(in, handles, of_version));
    const auto id = one.id;
    out.operators.insert_or_assign(id, std::move(one));
  }
  if (!in.at_end())
    return error(errc::malformed_message, "bytes behind its end");
  return out;
}

} // namespace

bool operator_state::has_state() const {
  if (has_coordinator)
    return true;
  for (const auto& [subtask, state] : subtasks) {
    if (state.has_state())
      return true;
  }
  return false;
}

std::uint64_t completed_checkpoint::size_bytes() const {
  std::uint64_t out = 0;
  for (const auto& [operator_key, one] : operators) {
    out += one.coordinator.size();
    for (const auto& [subtask, state] : one.subtasks)
      out += state.size_bytes();
  }
  return out;
}

std::uint64_t completed_checkpoint::new_bytes(const completed_checkpoint* former) const {
  auto out = size_bytes();
  if (former == nullptr)
    return out;
  std::set<std::pair<std::string_view, std::uint64_t>> known; // several may lie in one file
  for (const auto& [operator_key, one] : former->operators)
    for (const auto& [subtask, state] : one.subtasks)
      for (const auto* handles : {&state.keyed, &state.raw_keyed})
        for (const auto& handle : *handles)
          for (const auto& file : handle.shared)
            known.emplace(file.segment.path, file.segment.offset);
  for (const auto& [operator_key, one] : operators)
    for (const auto& [subtask, state] : one.subtasks)
      for (const auto* handles : {&state.keyed, &state.raw_keyed})
        for (const auto& handle : *handles)
          for (const auto& file : handle.shared)
            if (known.contains({file.segment.path, file.segment.offset}))
              out -= file.segment.size_bytes;
  return out;
}

byte_string encode_manifest(const completed_checkpoint& checkpoint) {
  byte_string body;
  byte_writer out(body);
  handle_encoder handles(out, checkpoint.directory);
  out.put(checkpoint.job.high);
  out.put(checkpoint.job.low);
  out.put(checkpoint.id);
  out.put(checkpoint.kind);
  out.put(checkpoint.triggered_ms);
  out.put(checkpoint.completed_ms);
  out.put_bytes(checkpoint.master_hooks);
  out.put_varint(checkpoint.operators.size());
  for (const auto& [id, one] : checkpoint.operators)
    encode_operator(one, out, handles);
  byte_string stored(magic);
  byte_writer front(stored);
  front.put(version);
  front.put(checksum_of(body, version));
  front.put_raw(body);
  return stored;
}

result<completed_checkpoint> decode_manifest(byte_view stored, const std::string& directory) {
  const auto where = ", in " + directory + "/_metadata";
  if (stored.size() < head_bytes || stored.substr(0, magic.size()) != magic)
    return error(errc::corrupt_snapshot, "corrupt manifest: it does not begin as one" + where);
  byte_reader head(stored.substr(magic.size()));
  HEADRACE_TRY(const auto found_version, head.get<std::uint32_t>());
  HEADRACE_TRY(const auto checksum, head.get<std::uint64_t>());
  if (found_version < oldest_version || found_version > version)
    return error(errc::unsupported_snapshot_version,
                 "unsupported manifest version: " + std::to_string(found_version) + " instead of " +
                     std::to_string(oldest_version) + " to " + std::to_string(version) + where);
  const auto body = stored.substr(head_bytes);
  if (checksum != checksum_of(body, found_version))
    return error(errc::corrupt_snapshot, "corrupt manifest: checksum does not fit" + where);
  auto decoded = decode_body(body, directory, found_version);
  if (!decoded)
    return error(errc::corrupt_snapshot, "corrupt manifest: " + decoded.error().message + where);
  decoded->directory = directory;
  return decoded;
}

} // namespace headrace::state
