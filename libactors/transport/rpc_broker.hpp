#pragma once

#include "libactors/rpc/caf_types.hpp"
#include "libactors/rpc/node.hpp"
#include "libactors/transport/body_pool.hpp"
#include "libactors/transport/hub.hpp"
#include "libactors/transport/rpc_settings.hpp"
#include "libactors/transport/rpc_system.hpp"
#include "libactors/transport/socket.hpp"

#include <caf/actor.hpp>
#include <caf/allowed_unsafe_message_type.hpp>
#include <caf/io/accept_handle.hpp>
#include <caf/io/broker.hpp>
#include <caf/io/network/default_multiplexer.hpp>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>

namespace headrace::actors {

/// An order to the broker, carried out in one of its turns.
struct broker_order {
  /// An encoded envelope, and what it is about; or something else to be done.
  envelope about;
  outbox::item what;
  std::function<void(hub&)> action;
};
using handed_order = handed_over<broker_order>;

/// What the transport's broker shares with those who call it from other threads; outlives it.
class rpc_shared {
public:
  rpc_shared(node& under_in, rpc_settings settings_in, std::shared_ptr<const tls_context> tls_in)
      : under(under_in), settings(std::move(settings_in)), tls(std::move(tls_in)) {}

  /// Any thread. Once the broker has ended, orders are dropped.
  void give(broker_order order);
  void give(std::function<void(hub&)> action) {
    give({.about = {}, .what = {}, .action = std::move(action)});
  }
  /// Encodes on the caller's thread. What cannot be sent is answered.
  void send(envelope what);
  /// Waits until `flag` is set, at most so long. @returns whether it is
  bool await(const bool& flag, std::chrono::milliseconds timeout);
  void set(bool& flag);

  node& under;
  const rpc_settings settings;
  const std::shared_ptr<const tls_context> tls; ///< none: bytes go as they are
  address_book book;
  transport_counters counters;
  address watcher;                          ///< the endpoint that watches for others
  std::atomic<std::size_t> handed_bytes{0}; ///< in the broker's mailbox

  std::mutex guard; ///< of all below
  std::condition_variable changed;
  rpc_system::data_acceptor acceptor;
  caf::actor broker;
  bool is_quiet = false;  ///< all connections are closed
  bool has_ended = false; ///< the broker is gone
};

/// The thin actor around a `hub`: gives it sockets and time. Runs on the thread of CAF's
/// multiplexer, in an actor system of its own, so that neither tasks nor other actors delay it.
class rpc_broker final : public caf::io::broker, public connector, public hub_listener {
public:
  rpc_broker(caf::actor_config& config, std::shared_ptr<rpc_shared> shared, node_identity own,
             socket_handle listening);
  ~rpc_broker() override;

  caf::behavior make_behavior() override;
  void on_exit() override;
  bool cleanup(caf::error&& reason, caf::execution_unit* host) override;
  const char* name() const override { return "headrace.transport"; }

  // --- connector
  std::shared_ptr<opening_connection> dial(const std::string& host, std::uint16_t port,
                                           std::shared_ptr<opening_receiver> receiver) override;

  // --- hub_listener
  void on_envelope(envelope what) override;
  void on_node_lost(const node_id& node, const error& cause) override;
  void on_watch(const node_id& watcher, const actors::address& endpoint) override;
  void on_endpoint_ended(const actors::address& endpoint, const error& cause) override;
  std::shared_ptr<frame_receiver>
  on_data_connection(const node_id& peer,
                     const std::shared_ptr<frame_connection>& connection) override;

  /// A socket was accepted.
  void accept(socket_handle accepted);
  void stop();

private:
  void tick();
  std::shared_ptr<opening_connection> connect(const socket_address& where,
                                              std::shared_ptr<opening_receiver> receiver);
  caf::io::network::default_multiplexer& loop();
  std::unique_ptr<byte_channel> make_channel(int fd, bool is_dialed) const;

  std::shared_ptr<rpc_shared> shared_;
  hub hub_;
  socket_handle listening_;
  std::shared_ptr<body_pool> bodies_ = std::make_shared<body_pool>(); ///< of all connections
  caf::io::accept_handle door_;
};

} // namespace headrace::actors

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(headrace::actors::handed_order)
