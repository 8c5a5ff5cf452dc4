#pragma once

#include "libscheduler/client/job_client.hpp"
#include "libscheduler/rest/handler/cluster_handlers.hpp"
#include "libactors/base/file_system.hpp"
#include "libactors/base/option.hpp"
#include "libactors/transport/rpc_system.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace headrace::client {

/// Where a cluster is looked for when nothing is named.
inline constexpr std::string_view default_target = "127.0.0.1:8081";

/// Reads HOST:PORT, HOST or :PORT; an IPv6 address in brackets. @errors bad_usage
result<actors::host_port> parse_target(std::string_view text);

/// A client's settings, and behind them those that the cluster has for its jobs.
/// @errors those of remote_cluster::connect that need no connection
result<configuration> with_settings_of(const actors::host_port& target, configuration own);

/// A cluster of other processes, as its clients see it: found by its REST port, spoken to over its
/// job manager's RPC port. One thread.
class remote_cluster {
public:
  /// @errors peer_lost, timed_out  no cluster answers: with what to do
  /// @errors registration_refused  another version, another cluster id, a wrong secret
  static result<std::unique_ptr<remote_cluster>>
  connect(const configuration& settings, file_system& files, const actors::host_port& target);
  ~remote_cluster();
  remote_cluster(const remote_cluster&) = delete;
  remote_cluster& operator=(const remote_cluster&) = delete;

  actors::node& node() { return *node_; }
  scheduler::job_client& client() { return *client_; }
  /// Where its job manager's parts are.
  const scheduler::cluster_addresses& addresses() const { return addresses_; }
  /// Finds the job manager anew, which may be another instance. As `connect`.
  status find_again();
  /// Whether the job manager went away meanwhile, so that `find_again` may help.
  static bool is_away(const error& failure);
  /// Waits until a job manager answers again: at most 5 min, or until `is_interrupted`.
  /// @param failure  what an ask ended with; when the job manager is not away, it comes back
  /// @param tell     called once when there is something to wait for
  /// @errors peer_lost  interrupted; and those of `connect`
  status await_again(const error& failure, const std::function<void()>& tell,
                     const std::function<bool()>& is_interrupted);

private:
  remote_cluster(actors::host_port target) : target_(std::move(target)) {}

  actors::host_port target_;
  std::string cluster_id_;
  std::unique_ptr<actors::node> node_;
  std::unique_ptr<actors::rpc_system> rpc_;
  std::optional<scheduler::job_client> client_;
  scheduler::cluster_addresses addresses_;
};

} // namespace headrace::client
