#pragma once

#include "libactors/base/ids.hpp"

#include <cstdint>
#include <map>
#include <set>
#include <vector>

namespace headrace::task {

/// When local copies of state go although nobody has said that their job is over: its end fell into
/// a time when this task executor was away, or not yet there under its name. A job that is to
/// recover needs them as long as it may come, which it does once it has slots here.
///
///     copies found, job not here ──── patience ────▶ they go
///            ▲ begins anew: the job was here, or there was no resource manager to bring it
///
/// Pure: is told what lies on the disk from time to time.
class unused_copies {
public:
  explicit unused_copies(std::int64_t patience_us) : patience_us_(patience_us) {}

  /// The job has slots here now.
  void on_came(job_id job) { waiting_since_us_.erase(job); }
  /// No job can come.
  void on_manager_lost() { waiting_since_us_.clear(); }
  /// While there is a resource manager.
  /// @param there  jobs that have copies
  /// @param here   jobs that have slots or tasks here
  /// @returns those whose copies go
  std::vector<job_id> look(const std::set<job_id>& there, const std::set<job_id>& here,
                           std::int64_t now_us);

private:
  std::int64_t patience_us_;
  std::map<job_id, std::int64_t> waiting_since_us_; ///< jobs that are not here
};

} // namespace headrace::task
