#pragma once

#include "libscheduler/client/job_client.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace headrace::client {

// How commands print what a cluster says. Pure.

/// One job as a JSON object in one line.
std::string job_as_json(const scheduler::job_status& job);
std::string jobs_as_json(const std::vector<scheduler::job_status>& jobs);
/// A line a job under a heading.
std::string jobs_as_table(const std::vector<scheduler::job_status>& jobs, std::int64_t now_ms);
/// A job with its vertices: records, and how busy, back-pressured and idle its busiest subtask is.
std::string job_as_text(const scheduler::job_status& job, std::int64_t now_ms);
/// How long it has run; -1: not yet.
std::int64_t runtime_ms(const scheduler::job_status& job, std::int64_t now_ms);

} // namespace headrace::client
