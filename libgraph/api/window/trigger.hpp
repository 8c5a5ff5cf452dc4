#pragma once

#include "libgraph/api/window.hpp"
#include "libgraph/api/window/window_state.hpp"
#include "libgraph/api/window/window_timers.hpp"

#include <cstdint>

namespace headrace::api {

/// What becomes of a window: whether its result is given, and its rows are forgotten.
enum class trigger_result : std::uint8_t {
  go_on = 0, ///< Flink's CONTINUE
  fire = 1,
  purge = 2,
  fire_and_purge = 3,
};
constexpr bool fires(trigger_result result) {
  return result == trigger_result::fire || result == trigger_result::fire_and_purge;
}
constexpr bool purges(trigger_result result) {
  return result == trigger_result::purge || result == trigger_result::fire_and_purge;
}

/// What a trigger may ask and do. Timers and states are of the key and window at hand.
class trigger_context {
public:
  trigger_context(window_timers& timers, const window_scope& scope)
      : timers_(&timers), scope_(&scope) {}

  std::int64_t current_watermark() const { return timers_->keyed().current_watermark(); }
  std::int64_t current_processing_time() const {
    return timers_->keyed().current_processing_time();
  }
  void register_event_timer(std::int64_t time_ms) {
    timers_->add(graph::time_domain::event, time_ms, scope_->current());
  }
  void register_processing_timer(std::int64_t time_ms) {
    timers_->add(graph::time_domain::processing, time_ms, scope_->current());
  }
  void delete_event_timer(std::int64_t time_ms) {
    timers_->remove(graph::time_domain::event, time_ms, scope_->current());
  }
  void delete_processing_timer(std::int64_t time_ms) {
    timers_->remove(graph::time_domain::processing, time_ms, scope_->current());
  }
  /// In `on_merge`: takes what the windows that became this one have in a state into it. `clear` is
  /// called for each of them behind it.
  template <class State>
  void merge(State& state) {
    state.merge();
  }

private:
  window_timers* timers_;
  const window_scope* scope_;
};

/// Says when windows of rows of type T give their results. A copy runs in each subtask; its calls
/// are compiled into the loop over rows. What it must remember it asks for in `open`.
///
/// For windows that merge, sessions, it also has
///
///     void on_merge(const Window& merged, context_type&)
///
/// Windows that have come to their end are cleared by the operator, which calls `clear`.
template <class T, class Window = window>
class trigger {
public:
  using context_type = trigger_context;

  virtual ~trigger() = default;
  virtual void open(window_states&) {}
  /// Behind each row that a window gets. @param time_ms  of the row; no_timestamp: it has none
  virtual trigger_result on_element(const T& row, std::int64_t time_ms, const Window& window,
                                    context_type& context) = 0;
  /// When a timer is due that is the window's, be it the one that clears it.
  virtual trigger_result on_event_time([[maybe_unused]] std::int64_t time_ms, const Window&,
                                       context_type&) {
    return trigger_result::go_on;
  }
  virtual trigger_result on_processing_time([[maybe_unused]] std::int64_t time_ms, const Window&,
                                            context_type&) {
    return trigger_result::go_on;
  }
  /// The window goes: so must its states, and timers that are not due.
  virtual void clear(const Window& window, context_type& context) = 0;
};

/// A trigger that knows what to do when windows become one.
template <class Trigger, class Window>
concept merging_trigger = requires(Trigger& trigger, const Window& window, trigger_context& now) {
  trigger.on_merge(window, now);
};

} // namespace headrace::api
