#pragma once

#include "libgraph/sql/plan/logical_plan.hpp"
#include "libactors/base/option.hpp"
#include "libactors/base/result.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace headrace::sql {

/// When aggregates are summed up before the exchange, too.
enum class phase_strategy : std::uint8_t {
  automatic, ///< with mini-batches
  one_phase,
  two_phase, ///< wherever they can be merged
};

/// What the settings say of how operators work.
struct execution_settings {
  bool is_batch = false;         ///< tables end: final rows alone; then there is none of the rest
  std::int64_t state_ttl_ms = 0; ///< 0: state is kept for ever
  std::int64_t mini_batch_rows = 0; ///< 0: none
  std::int64_t mini_batch_latency_ms = 0;
  phase_strategy phases = phase_strategy::automatic;
  std::int64_t split_buckets = 0; ///< of DISTINCT; 0: it is computed at once

  /// @errors bad_option_value  mini-batches without a size or a latency
  static result<execution_settings> of(const configuration& settings);
};

/// Whether the settings ask for batch mode.
bool is_batch_mode(const configuration& settings);

/// Sets the traits of all operators: the last rule, over an optimized plan.
/// @param findings  gets hints that cannot be followed
plan_node set_execution(plan_node plan, const execution_settings& settings,
                        std::vector<diagnostic>& findings);

/// What operators over input that does not end keep for ever, one a line, as what is to be said to
/// the one who submits them: "GroupAggregate(groupBy=[k]) keeps a group for each k for ever; …".
std::vector<std::string> find_lasting_state(const plan_node& plan);

} // namespace headrace::sql
