#include "libtask/network/exchange_directory.hpp"

#include <utility>

namespace headrace::task {

void exchange_directory::add(const execution_attempt_id& attempt, actors::actor_ref subtask) {
  const std::lock_guard guard(lock_);
  subtasks_.insert_or_assign(attempt, std::move(subtask));
}

void exchange_directory::remove(const execution_attempt_id& attempt) {
  const std::lock_guard guard(lock_);
  subtasks_.erase(attempt);
}

actors::actor_ref exchange_directory::find(const execution_attempt_id& attempt) const {
  const std::lock_guard guard(lock_);
  const auto found = subtasks_.find(attempt);
  return found == subtasks_.end() ? actors::actor_ref() : found->second;
}

} // namespace headrace::task
