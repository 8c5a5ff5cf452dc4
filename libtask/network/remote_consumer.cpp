#include "libtask/network/remote_consumer.hpp"

#include "libtask/network/exchange_mail.hpp"

#include <utility>

namespace headrace::task {

void remote_consumer::send(std::vector<graph::stream_element> elements, bool closes) {
  if (has_failed_)
    return;
  auto encoded = encode_elements(std::move(elements), with_.options, with_.budget);
  if (!encoded) {
    has_failed_ = true;
    with_.fail(std::move(encoded).error());
    return;
  }
  auto data = std::make_unique<outgoing_data>();
  data->place = with_.place;
  data->elements = std::move(*encoded);
  data->closes = closes;
  with_.connection.send(std::move(data));
}

} // namespace headrace::task
