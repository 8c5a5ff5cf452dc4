#pragma once

#include "libgraph/api/function_traits.hpp"
#include "libgraph/api/window/time_triggers.hpp"

#include <cstdint>
#include <type_traits>
#include <utility>

namespace headrace::api {

/// Never fires: what global windows have when no other one is given.
class never_trigger {
public:
  void open(window_states&) {}
  template <class T, class Window>
  trigger_result on_element(const T&, std::int64_t, const Window&, trigger_context&) {
    return trigger_result::go_on;
  }
  template <class Window>
  trigger_result on_event_time(std::int64_t, const Window&, trigger_context&) {
    return trigger_result::go_on;
  }
  template <class Window>
  trigger_result on_processing_time(std::int64_t, const Window&, trigger_context&) {
    return trigger_result::go_on;
  }
  template <class Window>
  void on_merge(const Window&, trigger_context&) {}
  template <class Window>
  void clear(const Window&, trigger_context&) {}
};

/// Fires with every so many rows of a window.
class count_trigger : public never_trigger {
public:
  explicit count_trigger(std::int64_t rows) : most_(rows) {}
  void open(window_states& states) {
    rows_ = states.reducing<std::int64_t>(
        "rows", [](std::int64_t left, std::int64_t right) { return left + right; });
  }
  template <class T, class Window>
  trigger_result on_element(const T&, std::int64_t, const Window&, trigger_context&) {
    rows_.add(1);
    if (rows_.value_or(0) < most_)
      return trigger_result::go_on;
    rows_.clear();
    return trigger_result::fire;
  }
  template <class Window>
  void on_merge(const Window&, trigger_context& context) {
    context.merge(rows_);
  }
  template <class Window>
  void clear(const Window&, trigger_context&) {
    rows_.clear();
  }

private:
  std::int64_t most_;
  window_reducing_state<std::int64_t> rows_;
};

/// Fires with a row that is further than `threshold` from the one that fired last, or from the
/// window's first: `double function(const T& old, const T& row)`.
template <class F>
class delta_trigger {
public:
  static_assert(call_traits<F>::is_known, "name the types of the function's parameters");
  using row_type = std::remove_cvref_t<typename call_traits<F>::template parameter<0>>;

  delta_trigger(double threshold, F function)
      : threshold_(threshold), function_(std::move(function)) {}
  void open(window_states& states) { last_ = states.value<row_type>("last"); }
  template <class Window>
  trigger_result on_element(const row_type& row, std::int64_t, const Window&, trigger_context&) {
    const auto last = last_.get();
    const bool is_far = last && static_cast<double>(function_(*last, row)) > threshold_;
    if (!last || is_far)
      last_.set(row);
    return is_far ? trigger_result::fire : trigger_result::go_on;
  }
  template <class Window>
  trigger_result on_event_time(std::int64_t, const Window&, trigger_context&) {
    return trigger_result::go_on;
  }
  template <class Window>
  trigger_result on_processing_time(std::int64_t, const Window&, trigger_context&) {
    return trigger_result::go_on;
  }
  template <class Window>
  void clear(const Window&, trigger_context&) {
    last_.clear();
  }

private:
  double threshold_;
  F function_;
  window_value_state<row_type> last_;
};

/// Another trigger, but that the rows of a window that fires are forgotten.
template <class Inner>
class purging_trigger {
public:
  explicit purging_trigger(Inner inner) : inner_(std::move(inner)) {}
  void open(window_states& states) { inner_.open(states); }
  template <class T, class Window>
  trigger_result on_element(const T& row, std::int64_t time_ms, const Window& window,
                            trigger_context& context) {
    return purging_of(inner_.on_element(row, time_ms, window, context));
  }
  template <class Window>
  trigger_result on_event_time(std::int64_t time_ms, const Window& window,
                               trigger_context& context) {
    return purging_of(inner_.on_event_time(time_ms, window, context));
  }
  template <class Window>
  trigger_result on_processing_time(std::int64_t time_ms, const Window& window,
                                    trigger_context& context) {
    return purging_of(inner_.on_processing_time(time_ms, window, context));
  }
  template <class Window>
    requires merging_trigger<Inner, Window>
  void on_merge(const Window& window, trigger_context& context) {
    inner_.on_merge(window, context);
  }
  template <class Window>
  void clear(const Window& window, trigger_context& context) {
    inner_.clear(window, context);
  }

private:
  static trigger_result purging_of(trigger_result result) {
    return fires(result) ? trigger_result::fire_and_purge : result;
  }
  Inner inner_;
};
template <class Inner>
purging_trigger<Inner> purging(Inner inner) {
  return purging_trigger<Inner>(std::move(inner));
}

} // namespace headrace::api
