#include "libactors/transport/socket_scribe.hpp"

#include "libactors/transport/socket.hpp"

#include <array>
#include <utility>

namespace headrace::actors {
namespace {

using caf::io::network::operation;

/// What one event reads or writes at most.
constexpr std::size_t event_bytes_max = std::size_t{128} << 10U;
constexpr std::size_t pieces_max = 64;
/// What a caller's thread copies to the system at most in one call.
constexpr std::size_t direct_bytes_max = std::size_t{1} << 20U;

/// Tells one who speaks TLS to this node, which does not, that no version of it is spoken here.
void answer_tls(byte_channel& channel) {
  // RFC 8446, section 6: a record of the kind alert with two bytes, fatal and protocol_version.
  std::array<char, 7> alert{0x15, 3, 3, 0, 2, 2, 70};
  iovec bytes{alert.data(), alert.size()};
  static_cast<void>(channel.write({&bytes, 1}));
}

} // namespace

// --- the scribe

socket_scribe::socket_scribe(caf::io::network::default_multiplexer& loop, int fd,
                             std::unique_ptr<byte_channel> channel,
                             std::shared_ptr<opening_receiver> receiver,
                             std::shared_ptr<body_pool> bodies)
    : scribe(caf::io::network::conn_hdl_from_socket(fd)), handler_(loop, fd, *this),
      channel_(std::move(channel)), receiver_(std::move(receiver)),
      connection_(std::make_shared<socket_connection>(*this)),
      decoder_(unauthenticated_limits(), std::move(bodies)) {
  connection_->loop_ = &loop;
  tune(fd);
  bound_unsent(queue_bounds().unsent_bytes);
}

socket_scribe::~socket_scribe() = default;

void socket_scribe::bound_unsent(std::size_t bytes) { actors::bound_unsent(handler_.fd(), bytes); }

std::string socket_scribe::addr() const { return peer_host_of(handler_.fd()); }

void socket_scribe::launch(bool is_connected) {
  if (is_connected) {
    phase_ = phase::opening;
    handler_.want(operation::read, true);
  }
  handler_.want(operation::write, true); // a new socket is writable at once, or when connected
}

template <class Action>
void socket_scribe::guard(Action&& action) {
  if (phase_ == phase::closed) {
    return;
  }
  const caf::intrusive_ptr<socket_scribe> alive(this);
  try {
    action();
  } catch (const std::exception& failure) { // no memory, or a receiver's fault
    finish({errc::internal, std::string("connection ends by an exception: ") + failure.what()});
  }
}

void socket_scribe::on_event(operation what) {
  guard([&] { handle(what); });
}

void socket_scribe::handle(operation what) {
  if (phase_ == phase::connecting) {
    if (auto connected = connect_outcome(handler_.fd()); !connected) {
      return finish(connected.error());
    }
    phase_ = phase::opening;
    handler_.want(operation::read, true);
  }
  if (what == operation::propagate_error) {
    return finish({errc::connection_failed, "connection broke"});
  }
  if (phase_ == phase::opening) {
    open_channel();
  }
  if (phase_ == phase::open && what == operation::read) {
    read_some();
    if (phase_ == phase::open) {
      channel_->expect(decoder_.missing_bytes());
    }
    if (phase_ == phase::open && !queue_.is_empty()) {
      handler_.want(operation::write, true);
    }
  }
  if (phase_ == phase::open && what == operation::write) {
    write_some();
  }
}

void socket_scribe::open_channel() {
  const auto opened = channel_->open();
  switch (opened.how) {
  case byte_channel::outcome::done:
    phase_ = phase::open;
    {
      const std::lock_guard lock(connection_->guard_);
      connection_->writes_here_ = channel_->writes_beside_reads();
    }
    receiver_->on_open();
    break;
  case byte_channel::outcome::wants_read:
    handler_.want(operation::write, false);
    break;
  case byte_channel::outcome::wants_write:
    handler_.want(operation::write, true);
    break;
  case byte_channel::outcome::closed:
  case byte_channel::outcome::failed:
    finish(opened.failure);
    break;
  }
}

void socket_scribe::read_some() {
  std::size_t total = 0;
  while (phase_ == phase::open && (total < event_bytes_max || channel_->has_pending())) {
    std::array<iovec, 2> into{};
    std::size_t used = 0;
    std::size_t space = 0;
    for (const auto& each : decoder_.room()) {
      if (!each.empty()) {
        into[used++] = {each.data(), each.size()};
        space += each.size();
      }
    }
    const auto moved = channel_->read(std::span(into).first(used));
    if (moved.how == byte_channel::outcome::closed) {
      return finish({errc::connection_failed, "connection was closed by the other side"});
    }
    if (moved.how == byte_channel::outcome::failed) {
      return finish(moved.failure);
    }
    if (moved.how == byte_channel::outcome::wants_write) {
      handler_.want(operation::write, true);
    }
    if (moved.how != byte_channel::outcome::done) {
      return;
    }
    decoder_.commit(moved.bytes);
    total += moved.bytes;
    if (!give_frames() || (moved.bytes < space && !channel_->has_pending())) {
      return;
    }
  }
}

bool socket_scribe::give_frames() {
  while (phase_ == phase::open) {
    auto frame = decoder_.next();
    if (!frame) {
      if (decoder_.has_tls()) {
        answer_tls(*channel_);
      }
      finish(frame.error());
      return false;
    }
    if (!*frame) {
      return true;
    }
    receiver_->on_frame(std::move(**frame));
  }
  return false;
}

void socket_scribe::take_handed() {
  guard([&] {
    {
      const std::lock_guard lock(connection_->guard_);
      connection_->is_woken_ = false;
      queue_.append(connection_->handed_);
    }
    if (phase_ == phase::open) {
      write_some();
    }
    if (phase_ == phase::open) {
      tell_if_drained();
    }
  });
}

byte_channel::transfer socket_scribe::write_beside_reads(const write_queue& from) {
  std::array<iovec, pieces_max> pieces{};
  const auto count = from.gather(pieces, direct_bytes_max);
  return channel_->write(std::span(pieces).first(count));
}

void socket_scribe::write_some() {
  std::size_t total = 0;
  while (!queue_.is_empty() && total < event_bytes_max) {
    std::array<iovec, pieces_max> pieces{};
    const auto count = queue_.gather(pieces, event_bytes_max - total);
    const auto moved = channel_->write(std::span(pieces).first(count));
    if (moved.how == byte_channel::outcome::closed || moved.how == byte_channel::outcome::failed) {
      return finish(moved.failure);
    }
    if (moved.how == byte_channel::outcome::wants_read) {
      return handler_.want(operation::write, false); // until something was read
    }
    if (moved.how == byte_channel::outcome::wants_write) {
      return handler_.want(operation::write, true);
    }
    total += moved.bytes;
    queue_.on_written(moved.bytes);
    connection_->queued_.fetch_sub(moved.bytes, std::memory_order_release);
    tell_if_drained();
    if (phase_ != phase::open) {
      return;
    }
  }
  handler_.want(operation::write, !queue_.is_empty());
  if (queue_.is_empty() && closing_) {
    finish(std::move(*closing_));
  }
}

void socket_scribe::tell_if_drained() {
  if (connection_->queued_bytes() <= connection_->bounds_.drained_bytes &&
      connection_->wants_drained_.exchange(false)) {
    receiver_->on_drained();
  }
}

void socket_scribe::close(error cause, bool at_once) {
  if (phase_ == phase::closed) {
    return;
  }
  take_handed();
  if (phase_ == phase::closed) {
    return;
  }
  if (at_once || phase_ != phase::open || queue_.is_empty()) {
    finish(std::move(cause));
  } else {
    closing_ = std::move(cause);
  }
}

void socket_scribe::finish(error cause) {
  if (phase_ == phase::closed) {
    return;
  }
  const caf::intrusive_ptr<socket_scribe> alive(this);
  phase_ = phase::closed;
  detach(&handler_.backend(), false); // leaves the loop and the broker
  ::shutdown(handler_.fd(), SHUT_RDWR);
  {
    const std::lock_guard lock(connection_->guard_);
    connection_->scribe_.reset();
    connection_->handed_ = {};
  }
  const auto receiver = std::move(receiver_);
  receiver->on_closed(cause);
}

void socket_scribe::graceful_shutdown() { finish({errc::shut_down, "the node is shut down"}); }

// --- the connection

caf::intrusive_ptr<socket_scribe> socket_connection::scribe() const {
  const std::lock_guard lock(guard_);
  return scribe_;
}

status socket_connection::send(outgoing_frame frame) {
  if (frame.header.size() > limits::frame_header_bytes_max ||
      frame.body_bytes() > limits::frame_body_bytes_max) {
    return error(errc::message_too_large,
                 "frame too large: header of " + std::to_string(frame.header.size()) +
                     " bytes, at most " + std::to_string(limits::frame_header_bytes_max) +
                     ", body of " + std::to_string(frame.body_bytes()) + " bytes, at most " +
                     std::to_string(limits::frame_body_bytes_max));
  }
  const auto bytes = frame.size_bytes();
  caf::intrusive_ptr<socket_scribe> woken;
  std::size_t waiting = 0;
  bool is_full = false;
  {
    const std::lock_guard lock(guard_);
    if (!scribe_) {
      return error(errc::peer_lost, "connection is closed");
    }
    waiting = queued_.load(std::memory_order_acquire);
    is_full = waiting > 0 && waiting + bytes > bounds_.bytes_max;
    if (is_full) {
      wants_drained_ = true; // and the loop looks again, should it just have written all
    } else {
      handed_.push(std::move(frame));
      queued_.fetch_add(bytes, std::memory_order_relaxed);
      if (waiting == 0 && writes_here_) {
        write_at_once();
        if (handed_.is_empty()) {
          return {};
        }
      }
      wants_drained_ = wants_drained_ || queued_bytes() > bounds_.drained_bytes;
    }
    if (!is_woken_) {
      is_woken_ = true;
      woken = scribe_;
    }
  }
  if (woken) {
    loop_->post([woken = std::move(woken)] { woken->take_handed(); });
  }
  if (is_full) {
    return error(errc::queue_full, "connection is full: " + std::to_string(waiting) +
                                       " bytes wait, at most " + std::to_string(bounds_.bytes_max) +
                                       " may");
  }
  return {};
}

void socket_connection::write_at_once() {
  // What goes wrong is found by the loop, which writes on.
  while (!handed_.is_empty()) {
    const auto moved = scribe_->write_beside_reads(handed_);
    if (moved.how != byte_channel::outcome::done) {
      return;
    }
    handed_.on_written(moved.bytes);
    queued_.fetch_sub(moved.bytes, std::memory_order_relaxed);
  }
}

void socket_connection::end(error cause, bool at_once) {
  if (auto closed = scribe()) {
    loop_->post([closed = std::move(closed), cause = std::move(cause), at_once]() mutable {
      closed->close(std::move(cause), at_once);
    });
  }
}

void socket_connection::set_limits(frame_limits bounds) {
  if (const auto open = scribe()) {
    open->set_limits(bounds);
  }
}

void socket_connection::set_queue(queue_bounds bounds) {
  const std::lock_guard lock(guard_);
  bounds_ = bounds;
  if (scribe_) {
    scribe_->bound_unsent(bounds.unsent_bytes);
  }
}

std::string socket_connection::peer_host() const {
  const auto open = scribe();
  return open ? open->addr() : std::string();
}

} // namespace headrace::actors
