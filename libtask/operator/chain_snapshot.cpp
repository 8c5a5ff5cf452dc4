#include "libtask/operator/chain_snapshot.hpp"

#include <utility>

namespace headrace::task {

void chain_snapshot::add(operator_id from, std::unique_ptr<state::snapshot_job> keyed,
                         std::unique_ptr<state::operator_snapshot_job> plain) {
  parts_.push_back({from, std::move(keyed), std::move(plain)});
}

result<state::task_state_snapshot> chain_snapshot::run(state::snapshot_target& target) {
  state::task_state_snapshot out;
  for (auto& part : parts_) {
    state::operator_subtask_state stored;
    if (part.keyed != nullptr) {
      HEADRACE_TRY(auto handle, part.keyed->run(target));
      stored.keyed.push_back(std::move(handle));
    }
    if (part.plain != nullptr) {
      HEADRACE_TRY(auto handle, part.plain->run(target));
      stored.managed.push_back(std::move(handle));
    }
    out.operators.emplace(part.id, std::move(stored));
  }
  parts_.clear();
  return out;
}

} // namespace headrace::task
