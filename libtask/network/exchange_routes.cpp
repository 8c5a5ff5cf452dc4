#include "libtask/network/exchange_routes.hpp"

#include <algorithm>
#include <utility>

namespace headrace::task {

namespace {

/// In the order of their numbers, so that what follows does not depend on hashing.
template <class End>
std::vector<End> take_all(std::unordered_map<route_id, End>& from) {
  std::vector<std::pair<route_id, End>> sorted(from.begin(), from.end());
  from.clear();
  std::sort(sorted.begin(), sorted.end(),
            [](const auto& left, const auto& right) { return left.first < right.first; });
  std::vector<End> out;
  out.reserve(sorted.size());
  for (auto& [route, end] : sorted)
    out.push_back(std::move(end));
  return out;
}

} // namespace

route_id exchange_routes::open(consumer_end end) {
  const auto credit = static_cast<std::int64_t>(std::min(end.credit_bytes, wire_cost_max));
  consumed_.emplace(next_, consumed_route{std::move(end), credit});
  return next_++;
}

result<const consumer_end*> exchange_routes::consumer(route_id route) const {
  if (route == 0 || route >= next_)
    return error(errc::malformed_message, "route was never asked for: " + std::to_string(route));
  const auto at = consumed_.find(route);
  return at == consumed_.end() ? nullptr : &at->second.end;
}

void exchange_routes::give_credit(route_id route, std::uint64_t bytes) {
  const auto at = consumed_.find(route);
  if (at != consumed_.end())
    at->second.credit_left += static_cast<std::int64_t>(std::min(bytes, wire_cost_max));
}

status exchange_routes::take_credit(route_id route, std::uint64_t cost, bool is_barrier) {
  const auto at = consumed_.find(route);
  if (at == consumed_.end())
    return {};
  auto& left = at->second.credit_left;
  if (left <= 0 && !is_barrier)
    return error(errc::malformed_message,
                 "more came over a channel than its producer has credit for: route " +
                     std::to_string(route) + ", overdrawn by " + std::to_string(-left) +
                     " bytes, then came " + std::to_string(cost) + " bytes");
  left -= static_cast<std::int64_t>(std::min(cost, wire_cost_max));
  return {};
}

std::optional<consumer_end> exchange_routes::close_consumer(route_id route) {
  const auto at = consumed_.find(route);
  if (at == consumed_.end())
    return std::nullopt;
  auto out = std::move(at->second.end);
  consumed_.erase(at);
  return out;
}

std::vector<route_id> exchange_routes::end_consumer(const execution_attempt_id& consumer) {
  std::vector<route_id> out;
  for (const auto& [route, one] : consumed_)
    if (one.end.consumer == consumer)
      out.push_back(route);
  std::sort(out.begin(), out.end());
  for (const auto route : out)
    consumed_.erase(route);
  return out;
}

status exchange_routes::serve(route_id route, producer_end end) {
  if (!produced_.try_emplace(route, std::move(end)).second)
    return error(errc::malformed_message, "route is asked for twice: " + std::to_string(route));
  return {};
}

const producer_end* exchange_routes::producer(route_id route) const {
  const auto at = produced_.find(route);
  return at == produced_.end() ? nullptr : &at->second;
}

void exchange_routes::end_producer(const execution_attempt_id& producer) {
  std::erase_if(produced_,
                [&](const auto& one) { return one.second.partition.producer == producer; });
}

std::vector<consumer_end> exchange_routes::take_consumed() {
  std::vector<consumer_end> out;
  for (auto& one : take_all(consumed_))
    out.push_back(std::move(one.end));
  return out;
}

std::vector<producer_end> exchange_routes::take_produced() { return take_all(produced_); }

} // namespace headrace::task
