#pragma once

#include "libactors/base/ids.hpp"
#include "libactors/base/result.hpp"
#include "libactors/message/message.hpp"
#include "schema/job.capnp.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace headrace::scheduler {

// Answers about one vertex of a job, as JSON in the shapes of Flink's REST interface. Times of day
// in milliseconds. Each fails with file_not_found when the job has no such vertex.

/// Of /jobs/:job/vertices/:vertex: its subtasks.
result<std::string> describe_vertex(const message<schema::JobDetails>& job, const vertex_id& wanted,
                                    std::int64_t now_ms);
/// Of /jobs/:job/vertices/:vertex/subtasks/:subtask: one of them, in its current attempt.
/// @errors file_not_found  also where the vertex has no such subtask
result<std::string> describe_subtask(const message<schema::JobDetails>& job,
                                     const vertex_id& wanted, std::uint32_t subtask,
                                     std::int64_t now_ms);
/// Of /jobs/:job/vertices/:vertex/backpressure.
result<std::string> describe_back_pressure(const message<schema::JobDetails>& job,
                                           const vertex_id& wanted, std::int64_t now_ms);
/// Of /jobs/:job/vertices/:vertex/metrics: the names of all, each behind its subtask's index; or,
/// of those in a list with commas, the values.
result<std::string> describe_vertex_metrics(const message<schema::JobDetails>& job,
                                            const vertex_id& wanted,
                                            const std::optional<std::string>& names);

/// "ok" (up to 10 % of the time), "low" (up to 50 %) or "high".
std::string_view back_pressure_level(double share);

} // namespace headrace::scheduler
