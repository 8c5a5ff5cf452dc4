#include "libtask/operator/over/stored_overs.hpp"

#include "libtask/operator/aggregate/call_text.hpp"
#include "libtask/operator/aggregate/stored_calls.hpp"
#include "libtask/operator/over/timed_rows.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace headrace::task {
namespace {

/// Before the sums: the number of rows, and of different times.
constexpr std::size_t counters_bytes = 2 * sizeof(std::int64_t);

/// The rows that are left, each with its time.
result<stored_value> read_rows(const stored_rows& rows, byte_reader in) {
  std::vector<timed_row> kept;
  while (!in.at_end()) {
    HEADRACE_TRY(const auto each, read_timed_row(in));
    kept.push_back(each);
  }
  std::vector<byte_view> encoded;
  for (const auto& each : kept)
    encoded.push_back(each.row);
  HEADRACE_TRY(auto read, rows.read(encoded));
  for (std::size_t i = 0; i < kept.size(); ++i) {
    stored_value::object timed;
    add_member(timed, "time", time_value(kept[i].time_ms));
    add_member(timed, "row", std::move(read[i]));
    read[i] = {std::move(timed)};
  }
  return stored_value{std::move(read)};
}

/// What is carried of a window without a beginning for its calls: their sums. Others' results are
/// values of the rows that are carried.
std::vector<graph::logical_type::field> sums_of(std::span<const graph::logical_type::field> calls) {
  constexpr std::array<std::string_view, 7> functions = {
      "AVG", "COUNT", "STDDEV_POP", "STDDEV_SAMP", "SUM", "VAR_POP", "VAR_SAMP"};
  std::vector<graph::logical_type::field> out;
  for (const auto& each : calls) {
    const auto told = read_call_text(each.name);
    if (told && std::find(functions.begin(), functions.end(), told->function) != functions.end())
      out.push_back(each);
  }
  return out;
}

/// Sums of windows with a beginning are those of the rows that are carried: none are.
bool has_sums(const std::vector<std::string>& query) {
  return std::any_of(query.begin(), query.end(), [](const std::string& part) {
    return part.find(" UNBOUNDED PRECEDING") != std::string::npos;
  });
}

struct carried_reader {
  stored_rows rows;
  stored_calls sums;
  bool expires = false;
  bool tells_sums = false;

  /// The number of rows and of times among them, then the sums, then rows.
  result<stored_reading> operator()(const stored_entry& entry) const {
    byte_reader in(entry.value);
    stored_value::object out;
    if (expires) {
      HEADRACE_TRY(const auto written_ms, in.get<std::int64_t>());
      add_member(out, "written", time_value(written_ms));
    }
    HEADRACE_TRY(const auto fixed, in.get_raw(counters_bytes + sums.fixed_bytes()));
    std::int64_t count = 0;
    std::memcpy(&count, fixed.data(), sizeof(count));
    add_member(out, "count", {count});
    if (tells_sums)
      sums.tell(reinterpret_cast<const std::byte*>(fixed.data()) + counters_bytes, out);
    HEADRACE_TRY(auto read, read_rows(rows, in));
    add_member(out, "rows", std::move(read));
    return stored_reading{{}, {}, {std::move(out)}};
  }
};

} // namespace

stored_reader read_over_carried(const stored_operator& of, const state::state_description& state) {
  const auto* waiting = of.find("waiting");
  if (!state::is_bytes_of_parts(state.value_type) || waiting == nullptr ||
      !state::is_bytes_of_parts(waiting->value_type))
    return {};
  // The columns of the rows are those that wait; then come the calls, then what is told of a time
  // to live.
  const auto& parts = parts_in(state.value_type);
  const auto& columns = parts_in(waiting->value_type);
  if (parts.size() < columns.size())
    return {};
  const std::span calls(parts.begin() + static_cast<std::ptrdiff_t>(columns.size()), parts.end());
  return carried_reader{stored_rows(columns), stored_calls::of_inserts(sums_of(calls)),
                        !parts.empty() && parts.back().name == "$written", has_sums(of.query())};
}

stored_reader read_over_waiting(const stored_operator& /*of*/,
                                const state::state_description& state) {
  return [rows = stored_rows(parts_in(state.value_type))](
             const stored_entry& entry) -> result<stored_reading> {
    HEADRACE_TRY(auto read, read_rows(rows, byte_reader(entry.value)));
    return stored_reading{{}, {}, std::move(read)};
  };
}

} // namespace headrace::task
