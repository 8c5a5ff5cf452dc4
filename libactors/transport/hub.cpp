#include "libactors/transport/hub.hpp"

#include "libactors/transport/hub_connection.hpp"

#include <algorithm>
#include <utility>

namespace headrace::actors {
namespace {

using std::chrono::milliseconds;

lane lane_of(const outbox::item& what) {
  return what.body.view.size() < bulk_bytes_min ? lane::control : lane::bulk;
}

} // namespace

hub::hub(node_identity own, const link_times& times, seams parts)
    : own_(std::move(own)), times_(times), parts_(std::move(parts)),
      tick_interval_(std::clamp(times.heartbeat / 4, milliseconds(2), milliseconds(50))) {}

hub::~hub() {
  for (const auto& [id, each] : all_) {
    each->forget_owner();
  }
}

// --- peers

hub::peer* hub::find(const node_id& id) {
  const auto found = peers_.find(id);
  return found == peers_.end() ? nullptr : found->second.get();
}

hub::peer* hub::find_or_add(const node_id& id) {
  if (auto* known = find(id)) {
    return known;
  }
  if (peers_.size() >= limits::peers_max) {
    return nullptr;
  }
  return peers_.emplace(id, std::make_unique<peer>(id, times_, parts_.random.next() | 1U))
      .first->second.get();
}

void hub::obey(peer& whom, peer_link::actions orders) {
  if (orders.lost) {
    lose(whom, std::move(*orders.lost));
    return;
  }
  if (orders.heartbeat && whom.control) {
    whom.in.on_told();
    static_cast<void>(whom.control->over_->send(make_heartbeat(whom.in.received())));
  }
  if (orders.dial) {
    dial(whom);
  }
}

void hub::lose(peer& whom, error cause, bool said_goodbye) {
  const bool was_met = whom.peer_session != 0;
  // Who has only been dialed is nobody's loss, unless something was to be sent.
  const bool is_missed = was_met || whom.out.waiting() > 0;
  parts_.counters.messages_dropped.fetch_add(whom.out.clear(), std::memory_order_relaxed);
  whom.in.clear();
  whom.peer_session = 0;
  whom.session = parts_.random.next() | 1U; // words of the old conversation are refused from now on
  for (auto* each : {&whom.control, &whom.dialing, &whom.data, &whom.data_dialing}) {
    if (const auto closed = std::move(*each); closed && closed->over_) {
      closed->has_failed_ = true;
      closed->over_->abort(cause);
    }
    each->reset();
  }
  static_cast<void>(whom.link.on_gone(cause));
  const auto waiting = std::move(whom.waiting);
  const auto data_waiting = std::move(whom.data_waiting);
  whom.waiting.clear();
  whom.data_waiting.clear();
  if (was_met && !is_stopping_ && said_goodbye) {
    parts_.log.info("node has left", {{"peer", to_string(whom.id)}});
  } else if (was_met && !is_stopping_) {
    parts_.counters.nodes_lost.fetch_add(1, std::memory_order_relaxed);
    parts_.log.warn("node is lost", {{"peer", to_string(whom.id)}, {"cause", to_string(cause)}});
  }
  for (const auto& each : waiting) {
    each(cause);
  }
  for (const auto& each : data_waiting) {
    each(cause);
  }
  if (is_missed) {
    parts_.listener.on_node_lost(whom.id, cause);
  }
}

// --- what this node wants

void hub::fail(const envelope& about, error why) {
  if (about.kind != envelope_kind::ask) {
    parts_.counters.messages_dropped.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  parts_.listener.on_envelope({.kind = envelope_kind::failure,
                               .to = about.from,
                               .from = about.to,
                               .correlation = about.correlation,
                               .fence = {},
                               .payload = {},
                               .failure = std::move(why)});
}

void hub::send(const envelope& about, outbox::item what) {
  const auto& to = about.to.node;
  if (is_stopping_) {
    return fail(about, {errc::shut_down, "the node is shut down"});
  }
  auto* whom = find(to);
  if ((whom == nullptr || whom->link.now() == peer_link::phase::idle) && !parts_.book.find(to)) {
    return fail(about,
                {errc::peer_lost, "no address of the node is known: " + to_string(about.to)});
  }
  whom = whom != nullptr ? whom : find_or_add(to);
  if (whom == nullptr) {
    return fail(about, {errc::queue_full, "too many nodes are spoken to: at most " +
                                              std::to_string(limits::peers_max)});
  }
  const auto where = lane_of(what);
  if (!whom->out.offer(where, std::move(what))) {
    return fail(about, {errc::queue_full,
                        "too much waits to be sent to node " + to_string(to) + ": " +
                            std::to_string(whom->out.waiting() + whom->out.unacknowledged()) +
                            " messages, " + std::to_string(whom->out.bytes()) + " bytes"});
  }
  obey(*whom, whom->link.on_wanted(parts_.time.now_us()));
  pump(*whom);
}

void hub::watch(const address& endpoint) {
  auto* whom = find(endpoint.node);
  const bool is_known = whom != nullptr && whom->link.now() != peer_link::phase::idle;
  if (is_stopping_ || (!is_known && !parts_.book.find(endpoint.node))) {
    return parts_.listener.on_endpoint_ended(
        endpoint, {errc::peer_lost, "no address of the node is known: " + to_string(endpoint)});
  }
  whom = find_or_add(endpoint.node);
  if (whom == nullptr || !whom->out.offer(lane::control, encode_watch(endpoint))) {
    return parts_.listener.on_endpoint_ended(
        endpoint, {errc::queue_full, "cannot watch: too much waits to be sent to the node"});
  }
  obey(*whom, whom->link.on_wanted(parts_.time.now_us()));
  pump(*whom);
}

void hub::tell_ended(const node_id& watcher, const ended_endpoint& what) {
  auto* whom = find(watcher);
  if (whom == nullptr || whom->link.now() == peer_link::phase::idle) {
    return; // it has been told that all of this node is lost
  }
  // It must not be lost while the node lives; the number of watches is bounded.
  if (!whom->out.offer(lane::control, encode_ended(what))) {
    lose(*whom, {errc::queue_full, "node is given up: too much waits to be sent to it"});
    return;
  }
  pump(*whom);
}

void hub::connect(const host_port& where, node_answer then) {
  if (is_stopping_) {
    return then(error(errc::shut_down, "the node is shut down"));
  }
  const conversation fresh{.session = parts_.random.next() | 1U, .peer_session = 0, .received = 0};
  auto made = make_connection({own_, nonce(), ConnectionClass::CONTROL, fresh, {}}, true);
  made->session_ = fresh.session;
  const auto words = "cannot connect to " + to_string(where);
  made->answer_ = [this, where, words, then = std::move(then)](const result<node_id>& found) {
    if (found) {
      parts_.book.learn(*found, where);
      then(*found);
    } else {
      then(error(found.error().code, words + ": " + found.error().message, found.error()));
    }
  };
  start_dialing(made, where);
}

void hub::connect_data(const node_id& to, data_answer then) {
  auto* whom = find(to);
  const bool is_known = whom != nullptr && whom->link.now() != peer_link::phase::idle;
  if (is_stopping_ || (!is_known && !parts_.book.find(to))) {
    return then(error(errc::peer_lost, "no address of the node is known: " + to_string(to)));
  }
  whom = find_or_add(to);
  if (whom == nullptr) {
    return then(error(errc::queue_full, "too many nodes are spoken to"));
  }
  if (whom->data) {
    return then(std::shared_ptr<frame_connection>(whom->data->over_));
  }
  whom->data_waiting.push_back(std::move(then));
  obey(*whom, whom->link.on_wanted(parts_.time.now_us()));
  dial_data(*whom);
}

// --- dialing

byte_string hub::nonce() {
  byte_string out;
  byte_writer writer(out);
  for (int i = 0; i < 4; ++i) {
    writer.put(parts_.random.next());
  }
  return out;
}

hub::connection_ptr hub::make_connection(handshake opening, bool is_dialed) {
  auto made = std::make_shared<hub_connection>(*this, ++last_connection_, std::move(opening),
                                               is_dialed, parts_.time.now_us());
  all_[made->id_] = made;
  return made;
}

bool hub::start_dialing(const connection_ptr& made, const host_port& where) {
  made->over_ = parts_.dialer.dial(where.host, where.port, made);
  return made->over_ != nullptr;
}

void hub::dial(peer& whom) {
  if (is_stopping_) {
    return;
  }
  const auto where = parts_.book.find(whom.id);
  if (!where) {
    obey(whom,
         whom.link.on_dial_failed(dial_failure::unreachable,
                                  {errc::connection_failed, "no address of the node is known"},
                                  parts_.time.now_us()));
    return;
  }
  const conversation so_far{
      .session = whom.session, .peer_session = whom.peer_session, .received = whom.in.received()};
  auto made = make_connection({own_, nonce(), ConnectionClass::CONTROL, so_far, whom.id}, true);
  made->peer_ = whom.id;
  whom.dialing = made;
  start_dialing(made, *where);
}

void hub::dial_data(peer& whom) {
  if (is_stopping_ || whom.data_waiting.empty() || whom.data || whom.data_dialing ||
      !whom.control || !whom.is_confirmed) {
    return;
  }
  const auto where = parts_.book.find(whom.id);
  if (!where) {
    const auto waiting = std::exchange(whom.data_waiting, {});
    for (const auto& each : waiting) {
      each(error(errc::peer_lost, "no address of the node is known: " + to_string(whom.id)));
    }
    return;
  }
  const conversation so_far{
      .session = whom.session, .peer_session = whom.peer_session, .received = 0};
  auto made = make_connection({own_, nonce(), ConnectionClass::DATA, so_far, whom.id}, true);
  made->peer_ = whom.id;
  made->class_ = ConnectionClass::DATA;
  whom.data_dialing = made;
  start_dialing(made, *where);
}

// --- messages

void hub::pump(peer& whom) {
  if (!whom.control || !whom.control->over_) {
    return;
  }
  auto& over = *whom.control->over_;
  while (over.queued_bytes() < limits::control_connection_bytes) {
    const auto* item = whom.out.next();
    if (item == nullptr) {
      break;
    }
    outgoing_frame frame;
    frame.kind = item->kind;
    frame.header = encode({.sequence = item->sequence, .acknowledged = whom.in.received()});
    frame.header += item->header;
    if (!item->body.view.empty()) {
      frame.body.push_back(item->body);
    }
    if (!over.send(std::move(frame))) {
      return; // closed: it leaves again over the next one
    }
    whom.in.on_told();
    whom.link.on_sent(parts_.time.now_us());
    parts_.counters.messages_sent.fetch_add(1, std::memory_order_relaxed);
  }
}

void hub::on_frame(const connection_ptr& from, incoming_frame what) {
  auto* whom = find(from->peer_);
  if (whom == nullptr || whom->control != from) {
    return; // another connection has taken its place
  }
  whom->link.on_heard(parts_.time.now_us());
  if (!std::exchange(whom->is_confirmed, true)) {
    dial_data(*whom);
  }
  switch (what.kind) {
  case frame_kind::heartbeat: {
    const auto received = decode_heartbeat(what);
    if (!received || !whom->out.acknowledge(*received)) {
      from->over_->abort({errc::malformed_message, "heartbeat acknowledges what was never sent"});
      return;
    }
    pump(*whom);
    return;
  }
  case frame_kind::goodbye:
    lose(*whom,
         {errc::peer_lost, "node has left: " + to_string(whom->id) + ": " + decode_goodbye(what)},
         true);
    return;
  case frame_kind::envelope:
  case frame_kind::watch:
  case frame_kind::ended:
    take_sequenced(*whom, from, what);
    return;
  default:
    from->over_->abort(
        {errc::malformed_message,
         "frame of an unknown kind: " + std::to_string(static_cast<unsigned>(what.kind))});
  }
}

void hub::take_sequenced(peer& whom, const connection_ptr& from, const incoming_frame& what) {
  const auto numbers = decode_numbers(what.header);
  if (!numbers || !whom.out.acknowledge(numbers->acknowledged)) {
    from->over_->abort({errc::malformed_message, "message acknowledges what was never sent"});
    return;
  }
  switch (whom.in.take(numbers->sequence, what.header.size() + what.body.size())) {
  case inbox::verdict::gap:
    from->over_->abort({errc::malformed_message, "a message is missing: after " +
                                                     std::to_string(whom.in.received()) + " came " +
                                                     std::to_string(numbers->sequence)});
    return;
  case inbox::verdict::repeated:
    parts_.counters.messages_repeated.fetch_add(1, std::memory_order_relaxed);
    break;
  case inbox::verdict::fresh:
    parts_.counters.messages_received.fetch_add(1, std::memory_order_relaxed);
    if (what.kind == frame_kind::envelope) {
      take_envelope(whom, what);
    } else if (what.kind == frame_kind::watch) {
      if (const auto endpoint = decode_watch(what)) {
        parts_.listener.on_watch(whom.id, *endpoint);
      }
    } else if (const auto ended = decode_ended(what)) {
      if (ended->endpoint.node == whom.id) {
        parts_.listener.on_endpoint_ended(ended->endpoint, ended->cause);
      }
    }
    break;
  }
  if (whom.in.owes_acknowledgement() && whom.control == from) {
    whom.in.on_told();
    static_cast<void>(from->over_->send(make_heartbeat(whom.in.received())));
  }
  pump(whom); // an acknowledgement may have made room
}

void hub::take_envelope(peer& whom, const incoming_frame& what) {
  auto arrived = decode_envelope(what, whom.id, own_.node);
  if (!arrived) {
    parts_.log.error("message cannot be read",
                     {{"peer", to_string(whom.id)}, {"reason", to_string(arrived.error())}});
    return;
  }
  if (arrived->unfit.code == errc::none) {
    parts_.listener.on_envelope(std::move(arrived->what));
    return;
  }
  parts_.log.error("message cannot be read", {{"peer", to_string(whom.id)},
                                              {"from", to_string(arrived->what.from)},
                                              {"reason", to_string(arrived->unfit)}});
  auto& bad = arrived->what;
  if (bad.kind == envelope_kind::ask) {
    envelope answer{.kind = envelope_kind::failure,
                    .to = bad.from,
                    .from = bad.to,
                    .correlation = bad.correlation,
                    .fence = {},
                    .payload = {},
                    .failure = std::move(arrived->unfit)};
    if (auto encoded = encode_envelope(answer)) {
      send(answer, std::move(*encoded));
    }
  } else if (bad.kind == envelope_kind::reply) {
    bad.kind = envelope_kind::failure;
    bad.failure = std::move(arrived->unfit);
    parts_.listener.on_envelope(std::move(bad));
  }
}

// --- time, end

void hub::tick() {
  const auto now_us = parts_.time.now_us();
  const auto interval_us = std::chrono::microseconds(tick_interval_).count();
  const auto timeout_us = std::chrono::microseconds(times_.timeout).count();
  std::int64_t missed_us = 0;
  if (ticked_us_ && now_us - *ticked_us_ > interval_us + timeout_us / 2) {
    missed_us = now_us - *ticked_us_ - interval_us; // this process was stopped for a while
  }
  ticked_us_ = now_us;
  const auto handshake_us = std::chrono::microseconds(times_.handshake).count();
  const auto connections = all_; // `abort` may close at once
  for (const auto& [id, each] : connections) {
    if (each->is_open_ || !each->over_) {
      continue;
    }
    const auto took_us = now_us - each->since_us_;
    if (each->has_failed_ && took_us > 2 * handshake_us) {
      each->over_->abort({errc::timed_out, "the other side does not take the refusal"});
    } else if (!each->has_failed_ && took_us > handshake_us) {
      const error cause{errc::timed_out, "handshake took longer than " +
                                             std::to_string(times_.handshake.count()) + " ms"};
      log_refusal(*each, {.reason = RefusalReason::MALFORMED, .why = cause, .by_peer = false});
      each->over_->abort(cause);
    }
  }
  for (auto at = peers_.begin(); at != peers_.end();) {
    auto& whom = *at->second;
    obey(whom, whom.link.on_tick(now_us, missed_us));
    dial_data(whom);
    if (whom.control && whom.in.has_news()) {
      whom.in.on_told();
      whom.link.on_sent(now_us);
      static_cast<void>(whom.control->over_->send(make_heartbeat(whom.in.received())));
    }
    const bool is_unused = whom.link.now() == peer_link::phase::idle && !whom.control &&
                           whom.out.waiting() + whom.out.unacknowledged() == 0;
    at = is_unused ? peers_.erase(at) : std::next(at);
  }
}

void hub::stop() {
  if (std::exchange(is_stopping_, true)) {
    return;
  }
  for (auto& [id, whom] : peers_) {
    if (whom->control && whom->control->over_) {
      pump(*whom);
      static_cast<void>(whom->control->over_->send(make_goodbye("shut down")));
      whom->control->over_->close({errc::shut_down, "the node is shut down"});
    }
  }
  const auto connections = all_;
  for (const auto& [id, each] : connections) {
    if (!each->is_open_ && each->over_) {
      each->over_->abort({errc::shut_down, "the node is shut down"});
    } else if (each->class_ == ConnectionClass::DATA && each->over_) {
      each->over_->close({errc::shut_down, "the node is shut down"});
    }
  }
}

void hub::abort_all() {
  const auto connections = all_;
  for (const auto& [id, each] : connections) {
    if (each->over_) {
      each->over_->abort({errc::shut_down, "the node is shut down"});
    }
  }
}

} // namespace headrace::actors
