#include "libtask/operator/window/stored_windows.hpp"

#include "libtask/operator/aggregate/cell_bytes.hpp"
#include "libtask/operator/aggregate/stored_calls.hpp"
#include "libtask/operator/window/session_list.hpp"
#include "libtask/operator/window/sorted_rows.hpp"

#include <cstddef>
#include <utility>
#include <vector>

namespace headrace::task {

namespace {

/// What a session has beside its bounds, where its rows are kept: their number and how many.
constexpr std::size_t kept_rows_bytes = 2 * sizeof(std::int64_t);

void tell_kept_rows(const std::byte* payload, stored_value::object& to) {
  add_member(to, "session", time_value(cell_bytes::load<std::int64_t>(payload)));
  add_member(to, "rows", {cell_bytes::load<std::int64_t>(payload + sizeof(std::int64_t))});
}

} // namespace

stored_member window_ending(std::int64_t end_ms) {
  stored_value::object bounds;
  add_member(bounds, "end", time_value(end_ms));
  return {"window", {std::move(bounds)}};
}

stored_member window_between(std::int64_t start_ms, std::int64_t end_ms) {
  stored_value::object bounds;
  add_member(bounds, "start", time_value(start_ms));
  add_member(bounds, "end", time_value(end_ms));
  return {"window", {std::move(bounds)}};
}

stored_reader read_sorted_windows(const stored_operator& /*of*/,
                                  const state::state_description& state) {
  if (!state::is_bytes_of_parts(state.value_type)) // an older release did not tell
    return {};
  return [rows = stored_rows(parts_in(state.value_type))](
             const stored_entry& entry) -> result<stored_reading> {
    HEADRACE_TRY(auto kept, read_sorted_rows(entry.value));
    std::vector<byte_view> encoded;
    for (const auto& each : kept)
      encoded.push_back(each.row);
    HEADRACE_TRY(auto read, rows.read(encoded));
    return stored_reading{window_ending(entry.space), {}, {std::move(read)}};
  };
}

stored_reader read_sessions(const stored_operator& /*of*/, const state::state_description& state) {
  if (!state::is_bytes_of_parts(state.value_type))
    return {};
  const auto& parts = parts_in(state.value_type);
  const bool keeps_rows = parts.size() == 2 && parts[0].name == "number";
  return [keeps_rows, calls = stored_calls::of_inserts(parts)](
             const stored_entry& entry) -> result<stored_reading> {
    const auto payload_bytes = keeps_rows ? kept_rows_bytes : calls.fixed_bytes();
    byte_string bytes(entry.value);
    session_list sessions(bytes, payload_bytes);
    if (bytes.size() % sessions.stride_bytes() != 0)
      return not_as_written("sessions");
    stored_value::list out;
    for (std::size_t i = 0; i < sessions.size(); ++i) {
      stored_value::object session;
      add_member(session, "start", time_value(sessions.start_ms(i)));
      add_member(session, "end", time_value(sessions.end_ms(i)));
      if (keeps_rows)
        tell_kept_rows(sessions.payload(i), session);
      else
        calls.tell(sessions.payload(i), session);
      out.push_back({std::move(session)});
    }
    return stored_reading{{}, {}, {std::move(out)}};
  };
}

stored_reader read_session_rows(const stored_operator& of, const state::state_description& state) {
  if (!state::is_bytes_of_parts(state.value_type) || of.find("sessions") == nullptr)
    return {};
  return [rows = stored_rows(parts_in(state.value_type))](
             const stored_entry& entry) -> result<stored_reading> {
    std::vector<byte_view> encoded;
    byte_reader in(entry.value);
    while (!in.at_end()) {
      HEADRACE_TRY(const auto row, in.get_bytes());
      encoded.push_back(row);
    }
    HEADRACE_TRY(auto read, rows.read(encoded));
    return stored_reading{stored_member{"session", time_value(entry.space)}, {}, {std::move(read)}};
  };
}

} // namespace headrace::task
