#pragma once

#include "libactors/message/message.hpp"
#include "schema/job.capnp.h"

#include <cstdint>
#include <string>

namespace headrace::scheduler {

// Answers about jobs, as JSON in the shapes of Flink's REST interface. Times of day in
// milliseconds.

/// Of /jobs.
std::string describe_jobs(const message<schema::JobList>& jobs);
/// Of /jobs/overview.
std::string describe_jobs_overview(const message<schema::JobList>& jobs, std::int64_t now_ms);
/// Of /jobs/:job.
std::string describe_job(const message<schema::JobDetails>& job, std::int64_t now_ms);
/// Of /jobs/:job/config.
std::string describe_job_config(const message<schema::JobDetails>& job);
/// Of /jobs/:job/status.
std::string describe_status(const message<schema::JobDetails>& job);
/// Of /jobs/:job/plan.
std::string describe_accumulators(const message<schema::JobDetails>& job);
std::string describe_plan(const message<schema::JobDetails>& job);
/// Of /jobs/:job/exceptions.
std::string describe_exceptions(const message<schema::JobDetails>& job);

} // namespace headrace::scheduler
