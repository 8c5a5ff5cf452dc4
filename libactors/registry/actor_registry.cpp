#include "libactors/registry/actor_registry.hpp"

#include <algorithm>

namespace headrace::actors {

std::shared_ptr<actor_record> actor_registry::add(actor_snapshot fixed) {
  auto record = std::make_shared<actor_record>(std::move(fixed));
  const std::lock_guard lock(guard_);
  live_[record->id()] = record;
  return record;
}

void actor_registry::remove(const std::shared_ptr<actor_record>& record, std::int64_t now_us) {
  record->set_state(actor_state::ended);
  auto last = record->snapshot(now_us);
  const std::lock_guard lock(guard_);
  live_.erase(record->id());
  if (last.last_error.code != errc::none) {
    failed_.push_back(std::move(last));
    if (failed_.size() > failed_max) {
      failed_.pop_front();
    }
  }
}

std::vector<actor_snapshot> actor_registry::snapshot(std::int64_t now_us) const {
  std::vector<actor_snapshot> out;
  {
    const std::lock_guard lock(guard_);
    out.reserve(live_.size());
    for (const auto& [id, record] : live_) {
      out.push_back(record->snapshot(now_us));
    }
  }
  std::sort(out.begin(), out.end(), [](const auto& a, const auto& b) {
    return a.name != b.name ? a.name < b.name : a.id < b.id;
  });
  return out;
}

std::optional<actor_snapshot> actor_registry::find(std::uint64_t id, std::int64_t now_us) const {
  const std::lock_guard lock(guard_);
  const auto at = live_.find(id);
  if (at == live_.end()) {
    return std::nullopt;
  }
  return at->second->snapshot(now_us);
}

std::vector<actor_snapshot> actor_registry::failed() const {
  const std::lock_guard lock(guard_);
  return {failed_.begin(), failed_.end()};
}

std::size_t actor_registry::size() const {
  const std::lock_guard lock(guard_);
  return live_.size();
}

} // namespace headrace::actors
