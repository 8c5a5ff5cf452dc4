#include "libtask/operator/stored_states.hpp"

#include "libtask/operator/aggregate/stored_accumulators.hpp"
#include "libtask/operator/aggregate/stored_calls.hpp"
#include "libtask/operator/join/stored_joins.hpp"
#include "libtask/operator/match/stored_matches.hpp"
#include "libtask/operator/over/stored_overs.hpp"
#include "libtask/operator/rank/stored_ranks.hpp"
#include "libtask/operator/window/stored_windows.hpp"

#include <string_view>

namespace headrace::task {
namespace {

/// Rows wait in one form for each operator, which is known by what else it has.
stored_reader read_waiting(const stored_operator& of, const state::state_description& state) {
  if (!state::is_bytes_of_parts(state.value_type))
    return {};
  if (of.find("carried") != nullptr)
    return read_over_waiting(of, state);
  if (of.find("versions") != nullptr)
    return read_versions(of, state);
  return of.find("begun") != nullptr ? read_match_waiting(of, state) : stored_reader();
}

struct known_state {
  std::string_view name;
  state::table_kind kind;
  stored_reader (*make)(const stored_operator& of, const state::state_description& state);
};

constexpr auto rows = state::table_kind::operator_rows;
constexpr auto value = state::table_kind::value;
constexpr auto map = state::table_kind::map;

constexpr known_state known[] = {
    {"aggregates", rows, read_accumulators},
    {"begun", rows, read_begun_matches},
    {"bests", rows, read_ranks},
    {"carried", rows, read_over_carried},
    {"counts", rows, read_rank_counts},
    {"fired-windows", rows, read_accumulators},
    {"groups", rows, read_groups},
    {"left-rows", rows, read_join_side},
    {"others-directory", value, read_rank_directory},
    {"others-pieces", map, read_other_ranks},
    {"ranks", rows, read_ranks},
    {"right-rows", rows, read_join_side},
    {"rows", rows, read_session_rows},
    {"sessions", rows, read_sessions},
    {"top", value, read_ranks},
    {"versions", rows, read_versions},
    {"waiting", rows, read_waiting},
    {"window-ranks", rows, read_ranks},
    {"window-rows", rows, read_sorted_windows},
    {"windows", rows, read_accumulators},
};

} // namespace

stored_reader find_stored_reader(const state::state_description& state,
                                 std::span<const state::state_description> all) {
  for (const auto& each : known)
    if (each.name == state.name && each.kind == state.kind)
      return each.make(stored_operator(all), state);
  // One for each column of DISTINCT, by its first call.
  if (state.kind == rows && state.name.starts_with("distinct-"))
    return read_distinct_values(stored_operator(all), state);
  return {};
}

} // namespace headrace::task
