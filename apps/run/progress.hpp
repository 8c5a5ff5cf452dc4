#pragma once

#include "libscheduler/client/job_client.hpp"

#include <cstdint>
#include <string>

namespace headrace::run {

/// Tells on standard error how a job is doing: one line that is written over on a terminal, a line
/// a change of state elsewhere.
class progress {
public:
  enum class style : std::uint8_t { none, lines, live };
  explicit progress(style how) : style_(how) {}

  void show(const scheduler::job_status& job);
  /// Clears the live line, and says how the job ended.
  void end(const scheduler::job_status& job);

private:
  style style_;
  std::string shown_;
};

/// E.g. "running 3.2 s, 1234567 records read, 3 checkpoints, 1 restart".
std::string describe_progress(const scheduler::job_status& job, std::int64_t now_ms);

} // namespace headrace::run
