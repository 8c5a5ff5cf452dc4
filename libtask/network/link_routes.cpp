#include "libtask/network/link_routes.hpp"

#include "libtask/network/exchange_mail.hpp"

#include <utility>

namespace headrace::task {

result<std::vector<route_id>> link_routes::deliver(data_frame& frame) {
  const auto credits = std::exchange(frame.credits, {});
  auto pieces = std::exchange(frame.pieces, {});
  std::vector<route_id> ended;
  const std::lock_guard lock(guard_);
  if (directory_ == nullptr)
    return ended;
  for (const auto& credit : credits)
    give(credit);
  for (auto& piece : pieces)
    HEADRACE_CHECK(give(piece, ended));
  return ended;
}

void link_routes::give(const route_credit& credit) {
  const auto* end = routes_.producer(credit.route);
  if (end == nullptr)
    return; // the producer has ended
  auto mail = std::make_unique<exchange_credit>();
  mail->result = end->partition.result;
  mail->subpartition = end->subpartition;
  mail->bytes = credit.bytes;
  directory_->find(end->partition.producer).send(std::move(mail), actors::mail_priority::high);
}

status link_routes::give(route_piece& piece, std::vector<route_id>& ended) {
  HEADRACE_TRY(const auto* const end, routes_.consumer(piece.route));
  if (end == nullptr) {
    metrics_->dropped_pieces.add(1);
    return {};
  }
  for (const auto& element : piece.elements)
    HEADRACE_CHECK(routes_.take_credit(piece.route, element.cost,
                                       std::holds_alternative<graph::barrier>(element.content)));
  const auto consumer = directory_->find(end->consumer);
  if (consumer.is_none()) {
    metrics_->dropped_pieces.add(1);
    routes_.close_consumer(piece.route);
    ended.push_back(piece.route);
    return {};
  }
  auto mail = std::make_unique<remote_data>();
  mail->channel = end->channel;
  mail->elements = std::move(piece.elements);
  mail->closes = piece.closes;
  if (piece.closes)
    routes_.close_consumer(piece.route);
  consumer.send(std::move(mail));
  return {};
}

void link_routes::close() {
  const std::lock_guard lock(guard_);
  directory_ = nullptr;
}

void link_routes::count_frame(std::size_t body_bytes) {
  metrics_->frames_in.add(1);
  metrics_->bytes_in.add(body_bytes);
  frames_.fetch_add(1, std::memory_order_relaxed);
}

} // namespace headrace::task
