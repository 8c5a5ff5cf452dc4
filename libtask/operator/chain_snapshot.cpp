#include "libtask/operator/chain_snapshot.hpp"

#include <utility>

namespace headrace::task {

void chain_snapshot::add(operator_id from, std::unique_ptr<state::snapshot_job> keyed,
                         std::unique_ptr<state::operator_snapshot_job> plain,
                         std::unique_ptr<state::raw_snapshot> raw) {
  parts_.push_back({from, std::move(keyed), std::move(plain), std::move(raw)});
}

void chain_snapshot::add_in_flight(operator_id head, std::vector<state::channel_content> channels) {
  head_ = head;
  channels_ = std::move(channels);
}

state::task_state_snapshot chain_snapshot::watermarks() const {
  state::task_state_snapshot out;
  for (const auto& [id, watermark_ms] : marks_)
    out.operators[id].watermark_ms = watermark_ms;
  return out;
}

result<state::task_state_snapshot> chain_snapshot::run(state::snapshot_target& target) {
  auto out = watermarks();
  for (auto& part : parts_) {
    auto& stored = out.operators[part.id];
    if (part.keyed != nullptr) {
      HEADRACE_TRY(auto handle, part.keyed->run(target));
      stored.keyed.push_back(std::move(handle));
    }
    if (part.plain != nullptr) {
      HEADRACE_TRY(auto handle, part.plain->run(target));
      stored.managed.push_back(std::move(handle));
    }
    if (part.raw != nullptr)
      HEADRACE_CHECK(part.raw->run(target, stored));
  }
  parts_.clear();
  if (!channels_.empty()) {
    HEADRACE_TRY(auto segment, state::write_channel_state(target, channels_));
    out.operators[head_].channels.push_back({std::move(segment)});
    channels_.clear();
  }
  return out;
}

} // namespace headrace::task
