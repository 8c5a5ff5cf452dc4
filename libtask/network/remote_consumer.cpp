#include "libtask/network/remote_consumer.hpp"

#include <utility>

namespace headrace::task {

exchange_channel::taken remote_consumer::add(graph::stream_element element) {
  if (has_failed_)
    return {exchange_cost(element), std::nullopt};
  auto encoded = encode_element(element, with_.options, with_.budget);
  if (!encoded) {
    has_failed_ = true;
    with_.fail(std::move(encoded).error());
    return {exchange_cost(element), std::nullopt};
  }
  const auto cost = static_cast<std::size_t>(encoded->element.cost);
  added_.push_back(std::move(encoded->element));
  return {cost, std::move(encoded->rest)};
}

void remote_consumer::flush(bool closes) {
  if (has_failed_)
    return;
  with_.link->add(route_piece{with_.route, std::exchange(added_, {}), closes});
}

} // namespace headrace::task
