#pragma once

#include "libactors/rpc/node.hpp"
#include "libactors/transport/frame_connection.hpp"
#include "libactors/transport/hub.hpp"
#include "libactors/transport/rpc_settings.hpp"

#include <chrono>
#include <functional>
#include <memory>

namespace headrace::actors {

/// The one way to other nodes. How to use it:
///
///     auto node = make_node(options);
///     HEADRACE_TRY(auto settings, read_rpc_settings(config, files, process_role::task_manager));
///     HEADRACE_TRY(auto rpc, rpc_system::start(*node, settings));     // listens at rpc->port()
///     HEADRACE_TRY(auto there, rpc->connect_and_wait({host, 6123}, 5s)); // the job manager's node
///     // now asks and tells to {.node = there, .endpoint = "resource_manager"} just work, from any
///     // actor; monitor() too. Other nodes are dialed on demand: rpc->learn(node_id, {host,
///     port}). rpc->accept_data([](const node_id& peer, auto connection) { return receiver; });
///     rpc->connect_data(peer, [](auto connection) { … (*connection)->send(frame) … });
///     node->shut_down(); rpc->shut_down();                            // in this order
///
/// What an actor sees of the network: an ask fails with `peer_lost` (the node is dead, has left, or
/// no address of it is known), `queue_full`, or by its deadline; a monitored endpoint of a dead
/// node ends. A connection that was reset is made anew, and nothing is lost or doubled. See
/// docs/transport.md.
class rpc_system {
public:
  /// Called on the transport's thread; must not block.
  using data_acceptor = std::function<std::shared_ptr<frame_receiver>(
      const node_id& peer, const std::shared_ptr<frame_connection>& connection)>;

  virtual ~rpc_system() = default;

  /// Listens, and connects `under` to all others. `under` must outlive it.
  /// @errors bad_option_value   see `check`
  /// @errors connection_failed  cannot listen there
  static result<std::unique_ptr<rpc_system>> start(node& under, const rpc_settings& settings);

  virtual std::uint16_t port() const = 0;
  /// From now on messages to `peer` can be sent. Connections tell their peers' addresses
  /// themselves.
  virtual void learn(const node_id& peer, host_port where) = 0;
  virtual std::optional<host_port> find(const node_id& peer) const = 0;

  /// Finds out which node listens there; `then` is called once, on the transport's thread.
  /// @errors connection_refused    nobody listens there
  /// @errors connection_failed     no answer, no such host
  /// @errors registration_refused  who is there is of another version, cluster or secret
  virtual void connect(const host_port& where, hub::node_answer then) = 0;
  /// Blocks; for who is no actor. @errors as `connect`, timed_out
  result<node_id> connect_and_wait(const host_port& where, std::chrono::milliseconds timeout);

  /// Who takes the frames of data connections, whoever dials. Without one they are refused.
  virtual void accept_data(data_acceptor acceptor) = 0;
  /// Finds or makes the one data connection to a node. `then` is called once, on the transport's
  /// thread; frames go to the receiver that the acceptor gives.
  virtual void connect_data(const node_id& peer, hub::data_answer then) = 0;

  virtual const transport_counters& counters() const = 0;
  /// Says goodbye and closes all within `deadline`; then cuts what is left. @returns whether
  /// nothing had to be cut. May be called again; the destructor calls it with a second.
  virtual bool shut_down(std::chrono::milliseconds deadline) = 0;
};

} // namespace headrace::actors
