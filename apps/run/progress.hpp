#pragma once

#include "libscheduler/client/job_client.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace headrace::run {

/// Decides when a restart's cause is told: each once, but while the same cause comes again and
/// again only now and then, with the number of restarts. Pure.
class restart_news {
public:
  /// @returns the lines to show; nothing: no restart that is not told of
  std::optional<std::string> next(const scheduler::job_status& job, std::int64_t now_ms);

private:
  std::uint32_t told_ = 0;
  std::int64_t told_ms_ = 0;
  std::vector<errc> told_codes_; ///< of the cause: its words name what differs from time to time
};

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
  void clear_line() const;
  style style_;
  std::string shown_;
  restart_news news_;
  bool is_told_ = false; ///< of a restart, and not yet that the job runs again
};

/// E.g. "running 3.2 s, 1234567 records read, 3 checkpoints, 1 restart".
std::string describe_progress(const scheduler::job_status& job, std::int64_t now_ms);
/// How a job that has not finished can be run on.
/// @param restored_from  the directory that it was to start from; empty: from the beginning
std::string describe_way_on(const scheduler::job_status& ended, const std::string& restored_from);

} // namespace headrace::run
