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

// Answers about jobs, as JSON in the shapes of Flink's REST interface. Times of day in
// milliseconds.

/// Of /jobs.
std::string describe_jobs(const message<schema::JobList>& jobs);
/// Of /jobs/overview.
std::string describe_jobs_overview(const message<schema::JobList>& jobs, std::int64_t now_ms);
/// Of /jobs/:job.
std::string describe_job(const message<schema::JobDetails>& job, std::int64_t now_ms);
/// Of /jobs/:job/exceptions.
std::string describe_exceptions(const message<schema::JobDetails>& job);
/// Of /jobs/:job/vertices/:vertex/backpressure. @errors file_not_found  no such vertex
result<std::string> describe_back_pressure(const message<schema::JobDetails>& job,
                                           const vertex_id& wanted, std::int64_t now_ms);

/// Of /jobs/:job/vertices/:vertex/metrics: the names of all, each behind its subtask's index; or,
/// of those in a list with commas, the values. @errors file_not_found  no such vertex
result<std::string> describe_vertex_metrics(const message<schema::JobDetails>& job,
                                            const vertex_id& wanted,
                                            const std::optional<std::string>& names);

/// "ok" (up to 10 % of the time), "low" (up to 50 %) or "high".
std::string_view back_pressure_level(double share);

} // namespace headrace::scheduler
