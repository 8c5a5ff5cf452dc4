#include "libtask/network/link_writer.hpp"

#include <exception>
#include <string>
#include <utility>

namespace headrace::task {

namespace {

actors::outgoing_frame to_link(encoded_frame frame) {
  actors::outgoing_frame out;
  out.kind = frame_of_routes;
  out.header = std::move(frame.header);
  out.body = std::move(frame.body);
  return out;
}

} // namespace

link_writer::link_writer(std::shared_ptr<actors::frame_connection> link,
                         std::shared_ptr<link_routes> routes,
                         std::shared_ptr<data_connection_metrics> metrics,
                         link_writer_settings settings, std::function<void(error)> on_lost)
    : routes_(std::move(routes)), metrics_(std::move(metrics)), settings_(settings),
      on_lost_(std::move(on_lost)), link_(std::move(link)), gatherer_(settings.frames) {}

template <class What>
void link_writer::gather(What what) {
  const std::lock_guard lock(guard_);
  if (link_ == nullptr)
    return; // its subtasks have been told that it is lost
  gatherer_.add(std::move(what));
  waits_.store(true, std::memory_order_relaxed);
}

void link_writer::add(route_request what) { gather(std::move(what)); }

void link_writer::add(route_refusal what) { gather(std::move(what)); }

void link_writer::add(route_credit credit) {
  routes_->locked()->give_credit(credit.route, credit.bytes);
  gather(credit);
}

void link_writer::add(route_piece piece) {
  {
    auto routes = routes_->locked();
    if (routes->producer(piece.route) == nullptr)
      return; // the consumer has ended
    if (piece.closes)
      routes->close_producer(piece.route);
  }
  bool is_full = false;
  {
    const std::lock_guard lock(guard_);
    if (link_ == nullptr)
      return;
    gatherer_.add(std::move(piece));
    waits_.store(true, std::memory_order_relaxed);
    is_full = gatherer_.pending_bytes() >= settings_.frames.frame_bytes;
  }
  if (is_full)
    send();
}

void link_writer::abandon(route_id route) {
  const std::lock_guard lock(guard_);
  if (link_ == nullptr)
    return;
  gatherer_.abandon(route);
  waits_.store(true, std::memory_order_relaxed);
}

void link_writer::drop(route_id route) {
  const std::lock_guard lock(guard_);
  gatherer_.drop(route);
}

bool link_writer::is_empty() const {
  const std::lock_guard lock(guard_);
  return gatherer_.is_empty();
}

void link_writer::send() {
  if (!waits_.load(std::memory_order_relaxed))
    return; // who has added something elsewhere sends it
  std::unique_lock lock(guard_);
  send_all(lock);
}

void link_writer::send_all(std::unique_lock<std::mutex>& held) {
  if (is_sending_)
    return; // that one looks again before it ends
  is_sending_ = true;
  std::optional<error> lost;
  while (const auto link = link_) {
    auto frame = gatherer_.take(link->queued_bytes() < settings_.link_bytes);
    if (!frame && says_farewell_ && gatherer_.is_empty()) {
      says_farewell_ = false;
      frame.emplace().leaves = true;
    }
    if (!frame)
      break;
    held.unlock();
    const auto done = write(*link, *frame);
    frame.reset(); // its batches, too
    held.lock();
    if (!done && link_ != nullptr) {
      lost = done.error();
      link_ = nullptr;
      gatherer_ = frame_gatherer(settings_.frames);
    }
  }
  is_sending_ = false;
  waits_.store(!gatherer_.is_empty(), std::memory_order_relaxed);
  if (leaving_ && link_ != nullptr)
    std::exchange(link_, nullptr)->close(*std::exchange(leaving_, std::nullopt));
  if (lost) {
    held.unlock();
    on_lost_(*std::move(lost));
  }
}

status link_writer::write(actors::frame_connection& to, const data_frame& frame) {
  try {
    auto encoded = encode_frame(frame);
    metrics_->frames_out.add(1);
    metrics_->bytes_out.add(encoded.body_bytes);
    frames_.fetch_add(1, std::memory_order_relaxed);
    return to.send(to_link(std::move(encoded)));
  } catch (const std::exception& failure) { // no memory
    return error(errc::internal, std::string("frame could not be written: ") + failure.what());
  }
}

void link_writer::stop() {
  const std::lock_guard lock(guard_);
  link_ = nullptr;
  gatherer_ = frame_gatherer(settings_.frames);
}

void link_writer::leave(bool says_so, error cause) {
  std::unique_lock lock(guard_);
  if (link_ == nullptr)
    return;
  says_farewell_ = says_so;
  leaving_ = std::move(cause);
  send_all(lock);
}

} // namespace headrace::task
