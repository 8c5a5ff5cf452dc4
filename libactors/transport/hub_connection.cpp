#include "libactors/transport/hub_connection.hpp"

#include <limits>
#include <utility>

namespace headrace::actors {
namespace {

/// The low mark of a data connection. Who holds data back until it is reached must stop no earlier,
/// or it waits for ever: see `data_connection_settings::link_bytes`.
constexpr std::size_t data_drained_bytes = std::size_t{1} << 20U;
constexpr std::size_t data_unsent_bytes = std::size_t{1} << 20U;

dial_failure failure_of(const refusal& said) {
  switch (said.reason) {
  case RefusalReason::DUPLICATE:
    return dial_failure::duplicate;
  case RefusalReason::STALE_SESSION:
    return said.by_peer ? dial_failure::stale : dial_failure::new_instance;
  case RefusalReason::STOPPING:
    return dial_failure::stale;
  case RefusalReason::OVERLOAD:
    return dial_failure::unreachable;
  default:
    return dial_failure::not_let_in;
  }
}

} // namespace

void hub_connection::on_open() {
  if (owner_ != nullptr) {
    follow(opening_.begin());
  }
}

void hub_connection::follow(handshake::step step) {
  for (auto& frame : step.send) {
    static_cast<void>(over_->send(std::move(frame))); // closed: `on_closed` tells
  }
  if (!step.refused) {
    return;
  }
  has_failed_ = true;
  const auto cause = step.refused->why;
  owner_->log_refusal(*this, *step.refused);
  over_->close(cause);
  owner_->on_opening_failed(shared_from_this(), failure_of(*step.refused), cause);
}

void hub_connection::on_frame(incoming_frame what) {
  if (owner_ == nullptr || has_failed_) {
    return;
  }
  if (is_open_) {
    if (class_ == ConnectionClass::DATA) {
      data_receiver_->on_frame(std::move(what));
    } else {
      owner_->on_frame(shared_from_this(), std::move(what));
    }
    return;
  }
  auto step = opening_.on_frame(what);
  if (!step.refused && opening_.has_hello()) {
    class_ = is_dialed_ ? class_ : opening_.peer().connection_class;
    if (!owner_->admits_greeting(shared_from_this())) {
      return;
    }
  }
  follow(std::move(step));
  if (has_failed_) {
    return;
  }
  if (opening_.is_proved()) {
    owner_->on_proved(shared_from_this());
  } else if (opening_.is_open()) {
    owner_->on_opened(shared_from_this());
  }
}

void hub_connection::open() {
  is_open_ = true;
  over_->set_limits(frame_limits());
  if (class_ == ConnectionClass::CONTROL) {
    // The hub itself gives no more than it wants to wait here.
    over_->set_queue({.bytes_max = std::numeric_limits<std::size_t>::max() / 2,
                      .drained_bytes = limits::control_connection_bytes / 2});
  } else {
    over_->set_queue({.bytes_max = limits::data_connection_bytes_max,
                      .drained_bytes = data_drained_bytes,
                      .unsent_bytes = data_unsent_bytes});
  }
}

void hub_connection::on_drained() {
  if (owner_ == nullptr || !is_open_) {
    return;
  }
  if (data_receiver_) {
    data_receiver_->on_drained();
  } else if (auto* whom = owner_->find(peer_); whom != nullptr) {
    owner_->pump(*whom);
  }
}

void hub_connection::on_closed(const error& cause) {
  const auto alive = shared_from_this();
  if (owner_ != nullptr) {
    owner_->on_closed(alive, cause);
  }
  if (const auto receiver = std::move(data_receiver_)) {
    receiver->on_closed(cause);
  }
  over_.reset();
}

} // namespace headrace::actors
