#pragma once

#include "libactors/base/ids.hpp"
#include "libactors/rpc/actor_ref.hpp"

#include <mutex>
#include <unordered_map>

namespace headrace::task {

/// Which subtasks run in this process: where producers and consumers of local exchanges find each
/// other. One a process, shared by its task executors; any thread. Used at set-up only: once
/// attached, data goes from actor to actor.
class exchange_directory {
public:
  void add(const execution_attempt_id& attempt, actors::actor_ref subtask);
  void remove(const execution_attempt_id& attempt);
  /// None when no such subtask runs here.
  actors::actor_ref find(const execution_attempt_id& attempt) const;

private:
  mutable std::mutex lock_;
  std::unordered_map<execution_attempt_id, actors::actor_ref> subtasks_;
};

} // namespace headrace::task
