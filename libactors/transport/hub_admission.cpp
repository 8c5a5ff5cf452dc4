#include "libactors/transport/hub.hpp"
#include "libactors/transport/hub_connection.hpp"
#include "libactors/transport/socket.hpp"

#include <utility>

// How connections become the ones that a hub speaks over, and what follows when they break.

namespace headrace::actors {
namespace {

constexpr std::size_t logged_refusals_max = 1'000;
/// Whoever it is chooses the words, so that they alone bound nothing.
constexpr int logged_refusals_a_host_max = 8;

/// Whether the other side is no node of this cluster, by what it sent.
bool is_strange(errc code) {
  return code == errc::registration_refused || code == errc::malformed_message ||
         code == errc::message_too_large;
}

} // namespace

std::shared_ptr<opening_receiver> hub::accept() {
  if (is_stopping_ || (opening_ >= limits::unauthenticated_connections_max && !close_oldest())) {
    parts_.counters.connections_refused.fetch_add(1, std::memory_order_relaxed);
    return nullptr;
  }
  ++opening_;
  return make_connection({own_, nonce()}, false);
}

/// Makes room for one who knocks: who has a secret to show is let in within moments, so that the
/// oldest of those that wait is the most likely stranger. @returns whether there was one
bool hub::close_oldest() {
  for (const auto& [id, each] : all_) {
    if (each->is_dialed_ || each->is_open_ || each->has_failed_ || !each->peer_.is_none() ||
        !each->over_) {
      continue;
    }
    const auto oldest = each; // `abort` may close at once
    oldest->has_failed_ = true;
    const error why(errc::queue_full, "too many connections wait to be let in, the limit is " +
                                          std::to_string(limits::unauthenticated_connections_max) +
                                          ": the oldest is closed");
    log_refusal(*oldest, {.reason = RefusalReason::OVERLOAD, .why = why, .by_peer = false});
    oldest->over_->abort(why);
    return true;
  }
  return false;
}

void hub::adopt(const std::shared_ptr<opening_receiver>& accepted,
                std::shared_ptr<opening_connection> over) {
  const auto made = std::static_pointer_cast<hub_connection>(accepted);
  made->host_ = over->peer_host();
  made->over_ = std::move(over);
}

/// The peer has said who it is, and not proved it. Here it is decided whether a connection that was
/// made to whoever listens there is one too many.
bool hub::admits_greeting(const connection_ptr& from) {
  if (!from->is_dialed_ || !from->peer_.is_none()) {
    return true;
  }
  from->peer_ = from->opening_.peer().node;
  auto* whom = find_or_add(from->peer_);
  if (whom == nullptr) {
    from->has_failed_ = true;
    from->over_->abort({errc::queue_full, "too many nodes are spoken to"});
    on_opening_failed(from, dial_failure::unreachable,
                      {errc::queue_full, "too many nodes are spoken to"});
    return false;
  }
  if (whom->link.now() == peer_link::phase::idle) {
    static_cast<void>(whom->link.on_wanted(parts_.time.now_us()));
    whom->session = from->session_;
    whom->dialing = from;
    return true;
  }
  auto answer = std::move(from->answer_);
  from->answer_ = nullptr;
  from->has_failed_ = true;
  from->over_->abort({errc::connection_failed, "another connection to the node is there"});
  if (whom->control) {
    answer(whom->id);
  } else {
    whom->waiting.push_back(std::move(answer));
  }
  return false;
}

void hub::on_proved(const connection_ptr& from) {
  --opening_; // whoever it is, it knows the secret
  from->peer_ = from->opening_.peer().node;
  if (is_stopping_) {
    return from->follow(from->opening_.refuse(RefusalReason::STOPPING,
                                              {errc::shut_down, "node is being shut down"}));
  }
  auto* whom = find_or_add(from->peer_);
  if (whom == nullptr) {
    return from->follow(from->opening_.refuse(RefusalReason::OVERLOAD,
                                              {errc::queue_full, "too many nodes are spoken to"}));
  }
  const auto& said = from->opening_.peer().state;
  if (whom->peer_session != 0 && said.session != whom->peer_session) {
    lose(*whom, {errc::peer_lost, "node has given this one up: " + to_string(whom->id)});
  }
  if (said.peer_session != 0 && said.peer_session != whom->session) {
    return from->follow(
        from->opening_.refuse(RefusalReason::STALE_SESSION,
                              {errc::peer_lost, "the conversation was given up meanwhile: begin "
                                                "anew"}));
  }
  if (from->class_ == ConnectionClass::CONTROL) {
    admit_control(*whom, from);
  } else {
    admit_data(*whom, from);
  }
}

/// Where both sides dial, the connection of the node with the smaller id is kept.
bool hub::is_duplicate(const peer& whom, const connection_ptr& open,
                       const connection_ptr& dialing) {
  if (!(own_.node < whom.id)) {
    return false;
  }
  const auto recent_us = std::chrono::microseconds(times_.handshake).count();
  return dialing != nullptr || (open && open->is_dialed_ &&
                                parts_.time.now_us() - open->since_us_ < recent_us && open->over_);
}

void hub::admit_control(peer& whom, const connection_ptr& from) {
  if (is_duplicate(whom, nullptr, whom.dialing)) {
    return from->follow(from->opening_.refuse(
        RefusalReason::DUPLICATE, {errc::connection_refused, "another connection is being made"}));
  }
  const auto& said = from->opening_.peer();
  if (whom.out.is_forgotten(said.state.received)) {
    // What the peer said when it dialed is overtaken by another connection.
    return from->follow(from->opening_.refuse(
        RefusalReason::DUPLICATE, {errc::connection_refused, "another connection was made"}));
  }
  if (!whom.out.rewind(said.state.received)) {
    lose(whom, {errc::malformed_message, "node says that it has received what was never sent"});
    return from->follow(from->opening_.refuse(
        RefusalReason::STALE_SESSION, {errc::malformed_message, "numbers of messages disagree"}));
  }
  parts_.counters.messages_resent.fetch_add(whom.out.unacknowledged(), std::memory_order_relaxed);
  whom.peer_session = said.state.session;
  learn_address(whom, *from);
  from->follow(from->opening_.admit({.session = whom.session,
                                     .peer_session = whom.peer_session,
                                     .received = whom.in.received()}));
  begin_control(whom, from);
}

void hub::learn_address(const peer& whom, const hub_connection& from) {
  const auto& said = from.opening_.peer();
  const auto seen = from.over_->peer_host();
  if (said.host.empty()) {
    parts_.book.learn(whom.id, {seen, said.port});
  } else if (!is_loopback(said.host) || is_loopback(seen)) {
    parts_.book.learn(whom.id, {said.host, said.port});
  } // else it listens on a loopback that is not ours: it must dial
}

void hub::admit_data(peer& whom, const connection_ptr& from) {
  if (whom.peer_session == 0 || from->opening_.peer().state.peer_session != whom.session) {
    return from->follow(
        from->opening_.refuse(RefusalReason::STALE_SESSION,
                              {errc::peer_lost, "data connection without a control connection"}));
  }
  if (is_duplicate(whom, whom.data, whom.data_dialing)) {
    return from->follow(from->opening_.refuse(
        RefusalReason::DUPLICATE, {errc::connection_refused, "another connection is being made"}));
  }
  from->follow(from->opening_.admit(
      {.session = whom.session, .peer_session = whom.peer_session, .received = 0}));
  begin_data(whom, from);
}

/// The one who dialed has been let in.
void hub::on_opened(const connection_ptr& from) {
  auto* whom = find(from->peer_);
  if (whom == nullptr || (whom->dialing != from && whom->data_dialing != from)) {
    from->has_failed_ = true;
    return from->over_->abort({errc::connection_failed, "connection is not wanted any more"});
  }
  if (from->class_ == ConnectionClass::DATA) {
    return begin_data(*whom, from);
  }
  const auto& said = from->opening_.peer().state;
  if ((whom->peer_session != 0 && said.session != whom->peer_session) ||
      !whom->out.rewind(said.received)) {
    return lose(*whom, {errc::malformed_message, "node goes on with a conversation that is not "
                                                 "known here: " +
                                                     to_string(whom->id)});
  }
  parts_.counters.messages_resent.fetch_add(whom->out.unacknowledged(), std::memory_order_relaxed);
  whom->peer_session = said.session;
  begin_control(*whom, from);
}

void hub::begin_control(peer& whom, const connection_ptr& from) {
  const auto now_us = parts_.time.now_us();
  for (auto* former : {&whom.control, &whom.dialing}) {
    if (const auto closed = std::exchange(*former, nullptr);
        closed && closed != from && closed->over_) {
      closed->has_failed_ = true;
      closed->over_->abort({errc::connection_failed, "another connection has taken its place"});
    }
  }
  whom.control = from;
  whom.is_confirmed = from->is_dialed_;
  from->since_us_ = now_us;
  from->open();
  if (from->is_dialed_) { // so that the other side knows
    static_cast<void>(from->over_->send(make_heartbeat(whom.in.received())));
  }
  whom.link.on_connected(now_us);
  parts_.counters.connections_opened.fetch_add(1, std::memory_order_relaxed);
  parts_.log.debug("connected",
                   {{"peer", to_string(whom.id)}, {"dialed", from->is_dialed_ ? "here" : "there"}});
  if (const auto answer = std::exchange(from->answer_, nullptr)) {
    answer(whom.id);
  }
  const auto waiting = std::exchange(whom.waiting, {});
  for (const auto& each : waiting) {
    each(whom.id);
  }
  dial_data(whom);
  pump(whom);
}

void hub::begin_data(peer& whom, const connection_ptr& from) {
  for (auto* former : {&whom.data, &whom.data_dialing}) {
    if (const auto closed = std::exchange(*former, nullptr);
        closed && closed != from && closed->over_) {
      closed->has_failed_ = true;
      closed->over_->abort({errc::connection_failed, "another connection has taken its place"});
    }
  }
  from->since_us_ = parts_.time.now_us();
  from->open();
  from->data_receiver_ = parts_.listener.on_data_connection(whom.id, from->over_);
  const auto waiting = std::exchange(whom.data_waiting, {});
  if (!from->data_receiver_) {
    from->is_open_ = false;
    from->has_failed_ = true;
    from->over_->abort({errc::connection_refused, "node takes no data connections"});
    for (const auto& each : waiting) {
      each(error(errc::connection_refused, "node takes no data connections"));
    }
    return;
  }
  whom.data = from;
  parts_.counters.connections_opened.fetch_add(1, std::memory_order_relaxed);
  for (const auto& each : waiting) {
    each(std::shared_ptr<frame_connection>(from->over_));
  }
}

void hub::on_opening_failed(const connection_ptr& from, dial_failure why, const error& cause) {
  if (!from->is_dialed_) {
    return;
  }
  if (const auto answer = std::exchange(from->answer_, nullptr)) {
    answer(cause);
  }
  auto* whom = find(from->peer_);
  if (whom == nullptr) {
    return;
  }
  if (whom->dialing == from) {
    whom->dialing.reset();
    if (why == dial_failure::refused || why == dial_failure::new_instance) {
      parts_.book.forget(whom->id);
    }
    obey(*whom, whom->link.on_dial_failed(why, cause, parts_.time.now_us()));
  } else if (whom->data_dialing == from) {
    whom->data_dialing.reset();
    if (why == dial_failure::duplicate) {
      return; // theirs comes, or a tick dials again
    }
    const auto waiting = std::exchange(whom->data_waiting, {});
    for (const auto& each : waiting) {
      each(cause);
    }
  }
}

void hub::on_closed(const connection_ptr& from, const error& cause) {
  all_.erase(from->id_);
  if (!from->is_dialed_ && !from->is_open_ && from->peer_.is_none()) {
    --opening_;
  }
  auto* whom = find(from->peer_);
  if (!from->is_open_ && !from->has_failed_) {
    const bool is_unfit = cause.code == errc::registration_refused; // by TLS
    if (!from->is_dialed_ && is_strange(cause.code)) {
      log_refusal(*from, {.reason = RefusalReason::MALFORMED, .why = cause, .by_peer = false});
    }
    const auto why = is_unfit                                 ? dial_failure::not_let_in
                     : cause.code == errc::connection_refused ? dial_failure::refused
                                                              : dial_failure::unreachable;
    return on_opening_failed(from, why, cause);
  }
  if (whom == nullptr) {
    return;
  }
  if (whom->data == from) {
    whom->data.reset();
  }
  if (whom->control == from) {
    whom->control.reset();
    if (!is_stopping_) {
      parts_.log.debug("connection lost",
                       {{"peer", to_string(whom->id)}, {"cause", to_string(cause)}});
      const bool can_dial = parts_.book.find(whom->id).has_value();
      obey(*whom, whom->link.on_disconnected(cause, can_dial, parts_.time.now_us()));
    }
  }
}

void hub::log_refusal(const hub_connection& from, const refusal& why) {
  parts_.counters.connections_refused.fetch_add(1, std::memory_order_relaxed);
  if (why.reason == RefusalReason::DUPLICATE) {
    return; // both have dialed: nothing is wrong
  }
  const auto host =
      from.host_.empty() && from.over_ ? from.over_->peer_host() : from.host_; // it may be gone
  auto key = host + '|' + std::to_string(static_cast<int>(why.reason)) + '|' + why.why.message;
  if (logged_.size() < logged_refusals_max && logged_by_host_[host] < logged_refusals_a_host_max &&
      logged_.insert(std::move(key)).second) {
    ++logged_by_host_[host];
    parts_.log.warn(
        "connection refused",
        {{"peer", host}, {"by", why.by_peer ? "peer" : "this node"}, {"reason", why.why.message}});
  }
}

} // namespace headrace::actors
