#include "libactors/transport/watch_endpoint.hpp"

#include "libactors/base/limits.hpp"

#include <utility>

namespace headrace::actors {

void watch_endpoint::on_mail(mail_ptr content) {
  if (const auto* lost = dynamic_cast<const watcher_lost*>(content.get())) {
    for (auto at = watchers_.begin(); at != watchers_.end();) {
      count_ -= at->second.erase(lost->watcher);
      // The monitor stays; what it tells then is for nobody.
      at = at->second.empty() ? watchers_.erase(at) : std::next(at);
    }
    return;
  }
  const auto* wish = dynamic_cast<const watch_request*>(content.get());
  if (wish == nullptr) {
    return;
  }
  if (count_ >= limits::remote_watches_max) {
    return tell_(wish->watcher,
                 {wish->endpoint, {errc::queue_full, "too many endpoints are watched"}});
  }
  ++count_;
  auto& watchers = watchers_[wish->endpoint];
  const bool is_first = watchers.empty();
  watchers.insert(wish->watcher);
  if (is_first) {
    monitor(wish->endpoint);
  }
}

void watch_endpoint::on_peer_ended(const address& peer, const error& cause) {
  const auto found = watchers_.find(peer);
  if (found == watchers_.end()) {
    return;
  }
  const auto watchers = std::move(found->second);
  watchers_.erase(found);
  count_ -= watchers.size();
  for (const auto& each : watchers) {
    tell_(each, {.endpoint = peer, .cause = cause});
  }
}

} // namespace headrace::actors
