#include "libactors/transport/rpc_broker.hpp"

#include "libactors/base/version.hpp"
#include "libactors/transport/socket_doorman.hpp"
#include "libactors/transport/socket_scribe.hpp"
#include "libactors/transport/watch_endpoint.hpp"

#include <caf/atom.hpp>
#include <caf/send.hpp>

#include <utility>

namespace headrace::actors {
namespace {

using tick_order = caf::atom_constant<caf::atom("tick")>;

/// Stands for a connection until its host is found, or for one that failed at once.
class pending_connection final : public opening_connection,
                                 public std::enable_shared_from_this<pending_connection> {
public:
  pending_connection(caf::io::network::multiplexer& loop,
                     std::shared_ptr<opening_receiver> receiver)
      : loop_(loop), receiver_(std::move(receiver)) {}

  /// The real one is there; its receiver is the one that this was made for.
  void set(std::shared_ptr<opening_connection> inner) { inner_ = std::move(inner); }
  std::shared_ptr<opening_receiver> take_receiver() { return std::move(receiver_); }

  status send(outgoing_frame frame) override {
    return inner_ ? inner_->send(std::move(frame))
                  : status(error(errc::peer_lost, "connection is not open"));
  }
  std::size_t queued_bytes() const override { return inner_ ? inner_->queued_bytes() : 0; }
  void close(error cause) override { abort(std::move(cause)); }
  void abort(error cause) override {
    if (inner_) {
      inner_->abort(std::move(cause));
    } else if (auto receiver = take_receiver()) {
      loop_.post([receiver = std::move(receiver), cause = std::move(cause)] {
        receiver->on_closed(cause);
      });
    }
  }
  void set_limits(frame_limits bounds) override { inner_->set_limits(bounds); }
  void set_queue(queue_bounds bounds) override { inner_->set_queue(bounds); }
  std::string peer_host() const override { return inner_ ? inner_->peer_host() : std::string(); }

private:
  caf::io::network::multiplexer& loop_;
  std::shared_ptr<opening_receiver> receiver_; ///< none: handed on, or told of the end
  std::shared_ptr<opening_connection> inner_;
};

hub::seams seams_of(rpc_shared& shared, connector& dialer, hub_listener& listener) {
  const auto& around = shared.under.environment();
  return {.dialer = dialer,
          .listener = listener,
          .time = around.time,
          .random = around.random,
          .book = shared.book,
          .counters = shared.counters,
          .log = around.log.with({{"endpoint", "transport"}})};
}

} // namespace

// --- what is shared

void rpc_shared::give(broker_order order) {
  const std::lock_guard lock(guard);
  if (broker) {
    caf::anon_send(broker, handed_order(std::move(order)));
  }
}

void rpc_shared::send(envelope what) {
  error why;
  auto encoded = encode_envelope(what);
  if (!encoded) {
    why = encoded.error();
  } else if (handed_bytes.load() + encoded->bytes() > limits::transport_mailbox_bytes_max) {
    why = error(errc::queue_full, "too much waits to be sent to other nodes: " +
                                      std::to_string(handed_bytes.load()) + " bytes");
  } else {
    handed_bytes += encoded->bytes();
    what.payload = {};
    return give({.about = std::move(what), .what = std::move(*encoded), .action = {}});
  }
  if (what.kind == envelope_kind::tell || what.kind == envelope_kind::failure) {
    ++counters.messages_dropped;
    return under.environment().log.warn("message cannot be sent",
                                        {{"to", to_string(what.to)}, {"reason", why.message}});
  }
  envelope answer{.kind = envelope_kind::failure,
                  .to = what.from,
                  .from = what.to,
                  .correlation = what.correlation,
                  .fence = {},
                  .payload = {},
                  .failure = std::move(why)};
  if (what.kind == envelope_kind::reply) { // the asker learns that there is none
    std::swap(answer.to, answer.from);
    return send(std::move(answer));
  }
  under.receive(std::move(answer));
}

bool rpc_shared::await(const bool& flag, std::chrono::milliseconds timeout) {
  std::unique_lock lock(guard);
  return changed.wait_for(lock, timeout, [&] { return flag; });
}

void rpc_shared::set(bool& flag) {
  const std::lock_guard lock(guard);
  flag = true;
  changed.notify_all();
}

// --- the broker

rpc_broker::rpc_broker(caf::actor_config& config, std::shared_ptr<rpc_shared> shared,
                       node_identity own, socket_handle listening)
    : caf::io::broker(config), shared_(std::move(shared)),
      hub_(std::move(own),
           link_times::from(shared_->settings.heartbeat_interval,
                            shared_->settings.heartbeat_timeout),
           seams_of(*shared_, *this, *this)),
      listening_(std::move(listening)) {}

rpc_broker::~rpc_broker() = default;

caf::io::network::default_multiplexer& rpc_broker::loop() {
  return static_cast<caf::io::network::default_multiplexer&>(backend());
}

std::unique_ptr<byte_channel> rpc_broker::make_channel(int fd, bool is_dialed) const {
  return shared_->tls ? shared_->tls->make_channel(fd, is_dialed) : make_plain_channel(fd);
}

caf::behavior rpc_broker::make_behavior() {
  auto door = caf::make_counted<socket_doorman>(
      loop(), std::move(listening_),
      [this](socket_handle accepted) { accept(std::move(accepted)); });
  door_ = door->hdl();
  add_doorman(std::move(door));
  tick();
  return {[this](handed_order& handed) {
            const auto order = handed.take();
            if (order->action) {
              return order->action(hub_);
            }
            shared_->handed_bytes -= order->what.bytes();
            hub_.send(order->about, std::move(order->what));
          },
          [this](tick_order) { tick(); }};
}

void rpc_broker::tick() {
  hub_.tick();
  if (!valid(door_) && hub_.is_quiet()) {
    shared_->set(shared_->is_quiet);
  }
  delayed_send(this, hub_.tick_interval(), tick_order::value);
}

void rpc_broker::stop() {
  close(door_);
  hub_.stop();
}

void rpc_broker::on_exit() {
  hub_.abort_all(); // those, too, whose host is still looked up
  // Sockets are closed next, and tell; who waits for the end must not be told after it.
  loop().post([shared = shared_] { shared->set(shared->has_ended); });
}

bool rpc_broker::cleanup(caf::error&& reason, caf::execution_unit* host) {
  // CAF's brokers leave their mailbox open: a tick that comes late would lie there, and hold this,
  // which has sent it, for ever.
  close_all();
  return caf::scheduled_actor::cleanup(std::move(reason), host);
}

void rpc_broker::accept(socket_handle accepted) {
  auto receiver = hub_.accept();
  if (!receiver) {
    return;
  }
  const int fd = accepted.release();
  auto made =
      caf::make_counted<socket_scribe>(loop(), fd, make_channel(fd, false), receiver, bodies_);
  hub_.adopt(receiver, made->connection());
  add_scribe(made);
  made->launch(true);
}

std::shared_ptr<opening_connection>
rpc_broker::connect(const socket_address& where, std::shared_ptr<opening_receiver> receiver) {
  auto begun = begin_connect(where);
  if (!begun) {
    auto failed = std::make_shared<pending_connection>(loop(), std::move(receiver));
    failed->abort(begun.error());
    return failed;
  }
  const int fd = begun->release();
  auto made = caf::make_counted<socket_scribe>(loop(), fd, make_channel(fd, true),
                                               std::move(receiver), bodies_);
  add_scribe(made);
  made->launch(false);
  return made->connection();
}

std::shared_ptr<opening_connection> rpc_broker::dial(const std::string& host, std::uint16_t port,
                                                     std::shared_ptr<opening_receiver> receiver) {
  const host_port where{host, port};
  if (const auto known = numeric_address(where)) {
    return connect(*known, std::move(receiver));
  }
  auto pending = std::make_shared<pending_connection>(loop(), std::move(receiver));
  shared_->under.environment().blocking.submit([this, shared = shared_, where, pending] {
    auto found = resolve(where);
    // In a turn of this broker, so it is there.
    shared->give([this, pending, found = std::move(found)](hub&) {
      if (!found) {
        pending->abort(found.error());
      } else if (auto waiting = pending->take_receiver()) {
        pending->set(connect(*found, std::move(waiting)));
      }
    });
  });
  return pending;
}

void rpc_broker::on_envelope(envelope what) { shared_->under.receive(std::move(what)); }

void rpc_broker::on_node_lost(const node_id& node, const error& cause) {
  shared_->under.report_lost(node, cause);
  shared_->under.find(shared_->watcher).send(std::make_unique<watcher_lost>(node));
}

void rpc_broker::on_watch(const node_id& watcher, const actors::address& endpoint) {
  shared_->under.find(shared_->watcher).send(std::make_unique<watch_request>(watcher, endpoint));
}

void rpc_broker::on_endpoint_ended(const actors::address& endpoint, const error& cause) {
  shared_->under.report_ended(endpoint, cause);
}

std::shared_ptr<frame_receiver>
rpc_broker::on_data_connection(const node_id& peer,
                               const std::shared_ptr<frame_connection>& connection) {
  rpc_system::data_acceptor acceptor;
  {
    const std::lock_guard lock(shared_->guard);
    acceptor = shared_->acceptor;
  }
  return acceptor ? acceptor(peer, connection) : nullptr;
}

} // namespace headrace::actors
