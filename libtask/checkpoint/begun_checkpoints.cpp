#include "libtask/checkpoint/begun_checkpoints.hpp"

#include <algorithm>
#include <utility>

namespace headrace::task {

begun_checkpoint* begun_checkpoints::find(checkpoint_id checkpoint) {
  const auto found = std::find_if(all_.begin(), all_.end(),
                                  [&](const auto& one) { return one.id() == checkpoint; });
  return found == all_.end() ? nullptr : &*found;
}

void begun_checkpoints::abort(checkpoint_id checkpoint) {
  for (auto& one : all_) {
    if (one.id() > checkpoint)
      continue;
    one.awaits_channels = false;
    one.awaits_outputs = false;
    one.in_flight = {};
  }
}

void begun_checkpoints::add(operator_chain::finished_snapshot snapshot) {
  if (auto* one = find(snapshot.content->checkpoint()))
    one->snapshot = std::move(snapshot);
}

std::optional<begun_checkpoint> begun_checkpoints::take() {
  const auto found =
      std::find_if(all_.begin(), all_.end(), [](const auto& one) { return one.is_ready(); });
  if (found == all_.end())
    return std::nullopt;
  auto out = std::move(*found);
  all_.erase(found);
  return out;
}

} // namespace headrace::task
