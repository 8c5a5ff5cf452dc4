#pragma once

#include "test/simulation/simulated_network.hpp"
#include "apps/cluster/job_manager_process.hpp"
#include "apps/cluster/task_manager_process.hpp"
#include "libtask/executor/data_network.hpp"
#include "libactors/base/manual_clock.hpp"
#include "libactors/rpc/node.hpp"
#include "libactors/transport/address_book.hpp"
#include "libactors/transport/hub.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace headrace::simulation {

/// A process of the cluster: its node, and the transport that joins it to the others, which is that
/// of real processes above their sockets (`hub`).
class simulated_process final : public simulated_listener,
                                public actors::connector,
                                public actors::hub_listener,
                                public task::data_network {
public:
  /// @param host  its name in the network, where it listens from now on
  simulated_process(simulated_network& network, std::string host, std::uint64_t seed,
                    const actors::link_times& times, logger log);
  ~simulated_process() override;

  /// Makes it a job manager. @errors those of job_manager_process::start
  status start_job_manager(file_system& files, graph::job_code_loader& code,
                           const graph::connector_registry& connectors,
                           cluster::job_manager_options options);
  /// Makes it a task manager, its data plane in the same network.
  void start_task_manager(file_system& files, graph::job_code_loader& code,
                          const graph::connector_registry& connectors,
                          std::shared_ptr<actors::leader_retrieval> leader,
                          cluster::task_manager_options options);

  /// Runs up to so many steps. @returns false when none was runnable
  bool run(std::uint64_t steps);
  /// Moves its clock; timers on the way fire.
  void advance(std::chrono::milliseconds by);
  /// From now on it is as if it had never been: it neither runs nor is heard.
  void vanish() { is_alive_ = false; }

  bool is_alive() const { return is_alive_; }
  /// What an actor has reported that ends a process; code none: nothing.
  const error& fatal() const { return fatal_; }
  const std::string& host() const { return host_; }
  actors::deterministic_node& node() { return *node_; }
  actors::address_book& book() { return book_; }
  /// Of a job manager.
  const cluster::job_manager_process& job_manager() const { return *job_manager_; }

  // --- of the network
  std::shared_ptr<actors::opening_receiver> accept() override { return hub_->accept(); }
  void adopt(const std::shared_ptr<actors::opening_receiver>& accepted,
             std::shared_ptr<actors::opening_connection> over) override {
    hub_->adopt(accepted, std::move(over));
  }

  // --- of the hub
  std::shared_ptr<actors::opening_connection>
  dial(const std::string& host, std::uint16_t port,
       std::shared_ptr<actors::opening_receiver> receiver) override;
  void on_envelope(actors::envelope what) override;
  void on_node_lost(const node_id& node, const error& cause) override;
  void on_watch(const node_id& watcher, const actors::address& endpoint) override;
  void on_endpoint_ended(const actors::address& endpoint, const error& cause) override;
  std::shared_ptr<actors::frame_receiver>
  on_data_connection(const node_id& peer,
                     const std::shared_ptr<actors::frame_connection>& connection) override;

  // --- of the data plane
  actors::host_port own_address() const override { return {host_, port}; }
  void learn(const node_id& peer, const actors::host_port& where) override {
    book_.learn(peer, where);
  }
  void dial(const node_id& peer, std::function<void(status)> then) override;
  void take_links(link_taker taker) override { taker_ = std::move(taker); }

  static constexpr std::uint16_t port = 1;

private:
  class link;
  void send(actors::envelope what);

  simulated_network& network_;
  std::string host_;
  std::unique_ptr<actors::deterministic_node> node_;
  actors::address_book book_;
  actors::transport_counters counters_;
  std::unique_ptr<actors::hub> hub_;
  actors::address watcher_;
  link_taker taker_;
  std::optional<cluster::job_manager_process> job_manager_;
  std::optional<cluster::task_manager_process> task_manager_;
  std::int64_t until_tick_ms_ = 0;
  bool is_alive_ = true;
  error fatal_;
};

} // namespace headrace::simulation
