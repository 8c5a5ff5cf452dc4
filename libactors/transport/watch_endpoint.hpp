#pragma once

#include "libactors/rpc/endpoint.hpp"
#include "libactors/transport/envelope_codec.hpp"

#include <functional>
#include <map>
#include <set>

namespace headrace::actors {

/// Another node wants to be told when an endpoint of this one ends.
class watch_request final : public mail {
public:
  watch_request(node_id watcher_in, address endpoint_in)
      : mail(0), watcher(watcher_in), endpoint(std::move(endpoint_in)) {}
  const node_id watcher;
  const address endpoint;
};
/// A node is lost, and with it its wishes.
class watcher_lost final : public mail {
public:
  explicit watcher_lost(node_id watcher_in) : mail(1), watcher(watcher_in) {}
  const node_id watcher;
};

/// Watches endpoints of this node for others. Runs on the scheduler's threads, below the root,
/// where it stands for the transport among the node's actors.
class watch_endpoint final : public endpoint {
public:
  using teller = std::function<void(const node_id& watcher, ended_endpoint what)>;
  explicit watch_endpoint(teller tell) : tell_(std::move(tell)) {}

protected:
  void on_mail(mail_ptr content) override;
  void on_peer_ended(const address& peer, const error& cause) override;

private:
  teller tell_;
  std::map<address, std::multiset<node_id>> watchers_;
  std::size_t count_ = 0;
};

} // namespace headrace::actors
