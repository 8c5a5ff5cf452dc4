#pragma once

#include "libactors/base/clock.hpp"
#include "libactors/base/log.hpp"
#include "libactors/base/random.hpp"
#include "libactors/rpc/envelope.hpp"
#include "libactors/transport/address_book.hpp"
#include "libactors/transport/envelope_codec.hpp"
#include "libactors/transport/frame_connection.hpp"
#include "libactors/transport/handshake.hpp"
#include "libactors/transport/outbox.hpp"
#include "libactors/transport/peer_link.hpp"

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace headrace::actors {

class hub_connection;

/// What the transport has counted since it began. Any thread reads.
struct transport_counters {
  std::atomic<std::uint64_t> messages_sent{0};
  std::atomic<std::uint64_t> messages_received{0};
  std::atomic<std::uint64_t> messages_resent{0};
  std::atomic<std::uint64_t> messages_repeated{0}; ///< arrived a second time, and were dropped
  std::atomic<std::uint64_t> messages_dropped{0};  ///< tells and answers: queue full, or peer dead
  std::atomic<std::uint64_t> connections_opened{0};
  std::atomic<std::uint64_t> connections_refused{0};
  std::atomic<std::uint64_t> nodes_lost{0}; ///< without a goodbye
};

/// Whom the hub tells of what comes: the node.
class hub_listener {
public:
  virtual ~hub_listener() = default;
  virtual void on_envelope(envelope what) = 0;
  virtual void on_node_lost(const node_id& node, const error& cause) = 0;
  /// Another node wants to be told of the end of an endpoint of this one.
  virtual void on_watch(const node_id& watcher, const address& endpoint) = 0;
  virtual void on_endpoint_ended(const address& endpoint, const error& cause) = 0;
  /// A data connection is open, whoever dialed. @returns who takes its frames; none: it is closed
  virtual std::shared_ptr<frame_receiver>
  on_data_connection(const node_id& peer, const std::shared_ptr<frame_connection>& connection) = 0;
};

/// The conversations of one node with all others: who is connected, what is to be sent, who is
/// dead. Puts the pure parts together (`handshake`, `peer_link`, `outbox`, `inbox`) over a
/// `connector`. One thread: that of the transport's broker; in tests any.
class hub {
public:
  struct seams {
    connector& dialer;
    hub_listener& listener;
    const headrace::clock& time;
    headrace::random_source& random;
    address_book& book;
    transport_counters& counters;
    headrace::logger log;
  };
  using node_answer = std::function<void(result<node_id>)>;
  using data_answer = std::function<void(result<std::shared_ptr<frame_connection>>)>;

  hub(node_identity own, const link_times& times, seams parts);
  ~hub();
  hub(const hub&) = delete;
  hub& operator=(const hub&) = delete;

  // --- what this node wants
  /// `what` is `about` in its encoded form.
  void send(const envelope& about, outbox::item what);
  void watch(const address& endpoint);
  void tell_ended(const node_id& watcher, const ended_endpoint& what);
  /// Finds out who listens there, and begins to converse with it.
  void connect(const host_port& where, node_answer then);
  /// Finds or makes the data connection to a node; who takes its frames says the listener.
  void connect_data(const node_id& to, data_answer then);

  // --- what happens
  /// A socket was accepted: give this its events, then call `adopt`. None: too many are opening.
  std::shared_ptr<opening_receiver> accept();
  void adopt(const std::shared_ptr<opening_receiver>& accepted,
             std::shared_ptr<opening_connection> over);
  /// To be called every `tick_interval`.
  void tick();
  std::chrono::milliseconds tick_interval() const { return tick_interval_; }
  /// Says goodbye to all, and lets nobody in any more.
  void stop();
  /// Whether all connections are closed.
  bool is_quiet() const { return all_.empty(); }
  void abort_all();

private:
  friend class hub_connection;
  struct peer {
    peer(const node_id& id_in, const link_times& times, std::uint64_t session_in)
        : id(id_in), link(times, to_string(id_in)), session(session_in) {}
    node_id id;
    peer_link link;
    outbox out;
    inbox in;
    std::uint64_t session;
    std::uint64_t peer_session = 0;
    /// Whether the peer, too, holds the control connection for open: it has dialed it, or sent.
    bool is_confirmed = false;
    std::shared_ptr<hub_connection> control;
    std::shared_ptr<hub_connection> dialing;
    std::shared_ptr<hub_connection> data;
    std::shared_ptr<hub_connection> data_dialing;
    std::vector<node_answer> waiting; ///< for a connection
    std::vector<data_answer> data_waiting;
  };
  using connection_ptr = std::shared_ptr<hub_connection>;

  peer* find(const node_id& id);
  peer* find_or_add(const node_id& id);
  /// Does what the link has decided.
  void obey(peer& whom, peer_link::actions orders);
  void dial(peer& whom);
  void dial_data(peer& whom);
  /// `said_goodbye`: it has left in order, which is nobody's fault.
  void lose(peer& whom, error cause, bool said_goodbye = false);
  void pump(peer& whom);
  void fail(const envelope& about, error why);
  byte_string nonce();
  connection_ptr make_connection(handshake opening, bool is_dialed);
  bool start_dialing(const connection_ptr& made, const host_port& where);

  // Called by connections.
  bool close_oldest();
  bool admits_greeting(const connection_ptr& from);
  void on_proved(const connection_ptr& from);
  void admit_control(peer& whom, const connection_ptr& from);
  void admit_data(peer& whom, const connection_ptr& from);
  bool is_duplicate(const peer& whom, const connection_ptr& open, const connection_ptr& dialing);
  void on_opened(const connection_ptr& from);
  void learn_address(const peer& whom, const hub_connection& from);
  void begin_control(peer& whom, const connection_ptr& from);
  void begin_data(peer& whom, const connection_ptr& from);
  void on_opening_failed(const connection_ptr& from, dial_failure why, const error& cause);
  void on_closed(const connection_ptr& from, const error& cause);
  void on_frame(const connection_ptr& from, incoming_frame what);
  void take_sequenced(peer& whom, const connection_ptr& from, const incoming_frame& what);
  void take_envelope(peer& whom, const incoming_frame& what);
  void log_refusal(const hub_connection& from, const refusal& why);

  const node_identity own_;
  const link_times times_;
  seams parts_;
  std::chrono::milliseconds tick_interval_;
  std::map<node_id, std::unique_ptr<peer>> peers_;
  std::map<std::uint64_t, connection_ptr> all_; ///< that are not closed, by age
  std::uint64_t last_connection_ = 0;
  std::size_t opening_ = 0;      ///< of them, accepted and not authenticated
  std::set<std::string> logged_; ///< refusals
  std::map<std::string, int> logged_by_host_;
  std::optional<std::int64_t> ticked_us_;
  bool is_stopping_ = false;
};

} // namespace headrace::actors
