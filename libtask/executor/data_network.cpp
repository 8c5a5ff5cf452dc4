#include "libtask/executor/data_network.hpp"

#include <utility>

namespace headrace::task {

void link_relay::bind(actors::actor_ref connection, std::uint64_t link) {
  const std::lock_guard guard(guard_);
  to_ = std::move(connection);
  link_ = link;
  for (auto& what : kept_)
    to_.send(std::make_unique<link_event>(link_, std::move(what)));
  kept_.clear();
}

void link_relay::relay(link_event::content_type what) {
  const std::lock_guard guard(guard_);
  if (to_.is_none())
    kept_.push_back(std::move(what));
  else
    to_.send(std::make_unique<link_event>(link_, std::move(what)));
}

} // namespace headrace::task
