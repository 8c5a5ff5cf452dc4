#include "libgraph/api/window/window_timers.hpp"

#include <algorithm>
#include <utility>

namespace headrace::api {
namespace {

using timer_name = std::pair<std::int8_t, std::int64_t>;

bool has(byte_view windows, byte_view window) {
  binary_reader whole(windows);
  for (binary_reader each(whole.get_bytes()); !each.at_end();)
    if (each.get_bytes() == window)
      return true;
  return false;
}

} // namespace

void window_timers::open(graph::state_provider& states) {
  windows_ = &states.map({"windows-of-timers",
                          graph::state_kind::map,
                          graph::logical_type::bytes().not_null(),
                          info_of<timer_name>::type(),
                          0,
                          {}});
}

void window_timers::add(graph::time_domain domain, std::int64_t time_ms, byte_view window) {
  const auto held = windows_->get(name_of(domain, time_ms));
  if (held && has(*held, window))
    return;
  const bool is_new = !held;
  rewrite(held.value_or(byte_view()), {}, window);
  put();
  if (is_noting_)
    noted_.push_back(time_ms);
  if (!is_new)
    return;
  if (domain == graph::time_domain::event)
    keyed_->register_event_timer(time_ms);
  else
    keyed_->register_processing_timer(time_ms);
}

bool window_timers::remove(graph::time_domain domain, std::int64_t time_ms, byte_view window) {
  const auto held = windows_->get(name_of(domain, time_ms));
  if (!held || !has(*held, window))
    return false;
  if (rewrite(*held, window, {})) {
    put();
    return true;
  }
  windows_->remove(name_);
  if (domain == graph::time_domain::event)
    keyed_->delete_event_timer(time_ms);
  else
    keyed_->delete_processing_timer(time_ms);
  return true;
}

std::optional<std::int64_t> window_timers::take_noted(std::int64_t until_ms) {
  const auto first = std::min_element(noted_.begin(), noted_.end());
  if (first == noted_.end() || *first > until_ms)
    return std::nullopt;
  const auto out = *first;
  noted_.erase(first);
  return out;
}

byte_view window_timers::name_of(graph::time_domain domain, std::int64_t time_ms) {
  name_.clear();
  type_info<timer_name>::encode(name_, {static_cast<std::int8_t>(domain), time_ms});
  return name_;
}

bool window_timers::rewrite(byte_view held, byte_view left_out, byte_view added) {
  body_.clear();
  byte_writer to(body_);
  if (!held.empty()) {
    binary_reader whole(held);
    for (binary_reader each(whole.get_bytes()); !each.at_end();) {
      const auto window = each.get_bytes();
      if (window != left_out)
        to.put_bytes(window);
    }
  }
  if (!added.empty())
    to.put_bytes(added);
  return !body_.empty();
}

void window_timers::put() {
  written_.clear();
  byte_writer(written_).put_bytes(body_);
  windows_->put(name_, written_);
}

} // namespace headrace::api
