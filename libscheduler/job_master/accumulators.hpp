#pragma once

#include "libgraph/function/user_metrics.hpp"

#include <string>
#include <vector>

namespace headrace::scheduler {

/// What the accumulators of one name come to in a job.
struct accumulator_result {
  std::string name;
  std::string type; ///< Flink's class: "LongCounter", …; "none": subtasks have it of several kinds
  std::string value; ///< as text; "null": nothing was taken
  friend bool operator==(const accumulator_result&, const accumulator_result&) = default;
};

/// Merges what all subtasks report, by name, whatever operators they are of (as Flink); in the
/// order of names. What is no accumulator is passed over. Pure.
std::vector<accumulator_result>
merge_accumulators(const std::vector<const graph::user_figure*>& reported);

} // namespace headrace::scheduler
