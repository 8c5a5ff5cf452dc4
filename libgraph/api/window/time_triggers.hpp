#pragma once

#include "libgraph/api/window/trigger.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace headrace::api {

// Triggers by time. They are for rows and windows of all types.

/// Fires when the watermark has passed the window's end, and then for each late row.
class event_time_trigger {
public:
  void open(window_states&) {}
  template <class T, class Window>
  trigger_result on_element(const T&, std::int64_t, const Window& window,
                            trigger_context& context) {
    if (window.max_timestamp() <= context.current_watermark())
      return trigger_result::fire;
    context.register_event_timer(window.max_timestamp());
    return trigger_result::go_on;
  }
  template <class Window>
  trigger_result on_event_time(std::int64_t time_ms, const Window& window, trigger_context&) {
    return time_ms == window.max_timestamp() ? trigger_result::fire : trigger_result::go_on;
  }
  template <class Window>
  trigger_result on_processing_time(std::int64_t, const Window&, trigger_context&) {
    return trigger_result::go_on;
  }
  template <class Window>
  void on_merge(const Window& window, trigger_context& context) {
    if (window.max_timestamp() > context.current_watermark()) // else the row at hand fires it
      context.register_event_timer(window.max_timestamp());
  }
  template <class Window>
  void clear(const Window& window, trigger_context& context) {
    context.delete_event_timer(window.max_timestamp());
  }
};

/// Fires when the clock has passed the window's end.
class processing_time_trigger {
public:
  void open(window_states&) {}
  template <class T, class Window>
  trigger_result on_element(const T&, std::int64_t, const Window& window,
                            trigger_context& context) {
    context.register_processing_timer(window.max_timestamp());
    return trigger_result::go_on;
  }
  template <class Window>
  trigger_result on_event_time(std::int64_t, const Window&, trigger_context&) {
    return trigger_result::go_on;
  }
  template <class Window>
  trigger_result on_processing_time(std::int64_t, const Window&, trigger_context&) {
    return trigger_result::fire;
  }
  template <class Window>
  void on_merge(const Window& window, trigger_context& context) {
    if (window.max_timestamp() > context.current_processing_time())
      context.register_processing_timer(window.max_timestamp());
  }
  template <class Window>
  void clear(const Window& window, trigger_context& context) {
    context.delete_processing_timer(window.max_timestamp());
  }
};

/// The time at which a window fires next, and the timer for it: what the continuous triggers share.
class next_firing {
public:
  void open(window_states& states) {
    next_ms_ = states.reducing<std::int64_t>(
        "next", [](std::int64_t left, std::int64_t right) { return std::min(left, right); });
  }
  bool is_set() const { return !next_ms_.is_empty(); }
  bool is_at(std::int64_t time_ms) const { return next_ms_.get() == time_ms; }
  /// One interval on from `from_ms`, at the window's end at the latest. @returns that time
  std::int64_t set(std::int64_t from_ms, std::int64_t interval_ms, std::int64_t last_ms) {
    next_ms_.clear();
    const auto next = last_ms - interval_ms < from_ms ? last_ms : from_ms + interval_ms;
    next_ms_.add(next);
    return next;
  }
  std::optional<std::int64_t> get() const { return next_ms_.get(); }
  void merge(trigger_context& context) { context.merge(next_ms_); }
  void clear() { next_ms_.clear(); }

private:
  window_reducing_state<std::int64_t> next_ms_;
};

/// The start of the interval that a time is in.
constexpr std::int64_t interval_start(std::int64_t time_ms, std::int64_t interval_ms) {
  const auto into = time_ms % interval_ms;
  return time_ms - (into < 0 ? into + interval_ms : into);
}

/// Fires each interval of event time while there are rows, at the window's end, and for each late
/// row.
class continuous_event_time_trigger {
public:
  explicit continuous_event_time_trigger(std::chrono::milliseconds interval)
      : interval_ms_(interval.count()) {}
  void open(window_states& states) { next_.open(states); }
  template <class T, class Window>
  trigger_result on_element(const T&, std::int64_t time_ms, const Window& window,
                            trigger_context& context) {
    if (window.max_timestamp() <= context.current_watermark())
      return trigger_result::fire;
    context.register_event_timer(window.max_timestamp());
    if (!next_.is_set())
      context.register_event_timer(
          next_.set(interval_start(time_ms, interval_ms_), interval_ms_, window.max_timestamp()));
    return trigger_result::go_on;
  }
  template <class Window>
  trigger_result on_event_time(std::int64_t time_ms, const Window& window,
                               trigger_context& context) {
    if (time_ms == window.max_timestamp())
      return trigger_result::fire;
    if (!next_.is_at(time_ms))
      return trigger_result::go_on;
    context.register_event_timer(next_.set(time_ms, interval_ms_, window.max_timestamp()));
    return trigger_result::fire;
  }
  template <class Window>
  trigger_result on_processing_time(std::int64_t, const Window&, trigger_context&) {
    return trigger_result::go_on;
  }
  template <class Window>
  void on_merge(const Window& window, trigger_context& context) {
    next_.merge(context);
    if (const auto next = next_.get())
      context.register_event_timer(*next);
    if (window.max_timestamp() > context.current_watermark())
      context.register_event_timer(window.max_timestamp());
  }
  template <class Window>
  void clear(const Window& window, trigger_context& context) {
    if (const auto next = next_.get())
      context.delete_event_timer(*next);
    next_.clear();
    context.delete_event_timer(window.max_timestamp());
  }

private:
  std::int64_t interval_ms_;
  next_firing next_;
};

/// Fires each interval of the clock, from a window's first row to its end.
class continuous_processing_time_trigger {
public:
  explicit continuous_processing_time_trigger(std::chrono::milliseconds interval)
      : interval_ms_(interval.count()) {}
  void open(window_states& states) { next_.open(states); }
  template <class T, class Window>
  trigger_result on_element(const T&, std::int64_t, const Window& window,
                            trigger_context& context) {
    const auto now = context.current_processing_time();
    if (!next_.is_set())
      context.register_processing_timer(
          next_.set(interval_start(now, interval_ms_), interval_ms_, window.max_timestamp()));
    return trigger_result::go_on;
  }
  template <class Window>
  trigger_result on_event_time(std::int64_t, const Window&, trigger_context&) {
    return trigger_result::go_on;
  }
  template <class Window>
  trigger_result on_processing_time(std::int64_t time_ms, const Window& window,
                                    trigger_context& context) {
    if (!next_.is_at(time_ms))
      return trigger_result::go_on;
    if (time_ms < window.max_timestamp())
      context.register_processing_timer(next_.set(time_ms, interval_ms_, window.max_timestamp()));
    return trigger_result::fire;
  }
  template <class Window>
  void on_merge(const Window&, trigger_context& context) {
    next_.merge(context);
    if (const auto next = next_.get())
      context.register_processing_timer(*next);
  }
  template <class Window>
  void clear(const Window&, trigger_context& context) {
    if (const auto next = next_.get())
      context.delete_processing_timer(*next);
    next_.clear();
  }

private:
  std::int64_t interval_ms_;
  next_firing next_;
};

} // namespace headrace::api
