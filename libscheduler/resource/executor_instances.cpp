#include "libscheduler/resource/executor_instances.hpp"

namespace headrace::scheduler {

void executor_instances::note(const actors::address& instance) {
  if (!numbers_.emplace(instance, next_).second)
    return;
  ++next_;
  in_order_.push_back(instance);
  if (in_order_.size() <= known_max)
    return;
  numbers_.erase(in_order_.front());
  in_order_.pop_front();
}

bool executor_instances::is_before(const actors::address& older,
                                   const actors::address& newer) const {
  const auto one = numbers_.find(older);
  const auto other = numbers_.find(newer);
  return one != numbers_.end() && other != numbers_.end() && one->second < other->second;
}

} // namespace headrace::scheduler
