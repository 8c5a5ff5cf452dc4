#include "libtask/network/exchange_mail.hpp"

#include <algorithm>

namespace headrace::task {

std::size_t exchange_cost(const graph::stream_element& element) {
  const auto* rows = std::get_if<graph::record_batch>(&element);
  if (rows == nullptr || rows->row_count() == 0)
    return exchange_cost_least;
  const auto held = static_cast<double>(rows->retained_bytes());
  const auto part = static_cast<double>(rows->size()) / static_cast<double>(rows->row_count());
  return std::max(exchange_cost_least, static_cast<std::size_t>(held * part));
}

} // namespace headrace::task
