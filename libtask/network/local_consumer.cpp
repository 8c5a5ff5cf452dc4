#include "libtask/network/local_consumer.hpp"

#include "libtask/network/exchange_mail.hpp"

#include <utility>

namespace headrace::task {

exchange_channel::taken local_consumer::add(graph::stream_element element) {
  const auto cost = exchange_cost(element);
  added_.push_back(std::move(element));
  return {cost, std::nullopt};
}

void local_consumer::flush(bool closes) {
  auto data = std::make_unique<exchange_data>();
  data->channel = channel_;
  data->elements = std::exchange(added_, {});
  data->closes = closes;
  to_.send(std::move(data));
}

} // namespace headrace::task
