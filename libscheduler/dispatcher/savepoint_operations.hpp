#pragma once

#include "libgraph/data/savepoint_order.hpp"
#include "libactors/base/error.hpp"
#include "libactors/base/ids.hpp"
#include "libactors/message/message.hpp"
#include "schema/job.capnp.h"

#include <cstddef>
#include <deque>
#include <map>
#include <utility>

namespace headrace::scheduler {

/// Remembers savepoints that clients triggered and ask after: those that run, and how the newest of
/// the others ended, also when their job is over. Pure; lives in the dispatcher's turns.
class savepoint_operations {
public:
  explicit savepoint_operations(std::size_t done_max) : done_max_(done_max) {}

  /// @returns false when that one was triggered before
  bool begin(const job_id& job, const savepoint_trigger_id& trigger);
  /// How it ended: with a reply, or with an error. Forgets the oldest ones beyond the limit.
  void end(const job_id& job, const savepoint_trigger_id& trigger,
           result<message<schema::SavepointReply>> how);
  /// @errors state_not_found
  result<message<schema::SavepointStatus>> status_of(const job_id& job,
                                                     const savepoint_trigger_id& trigger) const;

private:
  using key = std::pair<job_id, savepoint_trigger_id>;
  std::size_t done_max_;
  std::map<key, message<schema::SavepointStatus>> known_;
  std::deque<key> done_; // oldest first
};

} // namespace headrace::scheduler
