#pragma once

#include "libgraph/api/window/triggers.hpp"
#include "libgraph/function/failure.hpp"

#include <chrono>
#include <concepts>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

namespace headrace::api {

/// Says which windows a row is in. One of one's own is an object that has
///
///     using window_type                    streamable; `max_timestamp()`, ==
///     static constexpr bool is_merging     windows that intersect become one: the type has
///                                          `bool intersects(other)` and `window_type cover(other)`
///     bool is_event_time() const           else `time_ms` is the clock's
///     auto default_trigger() const
///     void assign(const T& row, std::int64_t time_ms, std::vector<window_type>& out)
///
/// A copy runs in each subtask; `assign` is compiled into the loop over rows. Of windows that merge
/// a row is in one.
template <class A>
concept window_assigner = requires(const A& assigner) {
  typename A::window_type;
  { A::is_merging } -> std::convertible_to<bool>;
  { assigner.is_event_time() } -> std::same_as<bool>;
  assigner.default_trigger();
};

/// The trigger of windows of a time.
template <graph::time_domain Domain>
using time_trigger = std::conditional_t<Domain == graph::time_domain::event, event_time_trigger,
                                        processing_time_trigger>;

/// Tumbling and sliding windows, and the one of all the stream.
template <graph::time_domain Domain>
class time_windows {
public:
  using window_type = window;
  static constexpr bool is_merging = false;

  explicit time_windows(const graph::window_spec& spec) : spec_(spec) {
    if (spec.kind != graph::window_kind::end_of_stream && (spec.size_ms < 1 || spec.slide_ms < 1))
      throw graph::failure({errc::invalid_graph, "size and slide of windows are positive"});
  }
  bool is_event_time() const {
    return Domain == graph::time_domain::event && spec_.kind != graph::window_kind::end_of_stream;
  }
  time_trigger<Domain> default_trigger() const { return {}; }
  template <class T>
  void assign(const T&, std::int64_t time_ms, std::vector<window>& out) const {
    if (spec_.kind == graph::window_kind::end_of_stream)
      return out.push_back(window::global());
    const auto last = spec_.offset_ms + interval_start(time_ms - spec_.offset_ms, spec_.slide_ms);
    for (auto start = last; start > time_ms - spec_.size_ms; start -= spec_.slide_ms)
      out.push_back({start, start + spec_.size_ms});
  }

private:
  graph::window_spec spec_;
};

/// Windows of rows between which there is no gap: those of a key that overlap or touch become one.
/// `Gap` gives the milliseconds behind a row.
template <graph::time_domain Domain, class Gap>
class session_windows {
public:
  using window_type = window;
  static constexpr bool is_merging = true;

  explicit session_windows(Gap gap) : gap_(std::move(gap)) {}
  bool is_event_time() const { return Domain == graph::time_domain::event; }
  time_trigger<Domain> default_trigger() const { return {}; }
  template <class T>
  void assign(const T& row, std::int64_t time_ms, std::vector<window>& out) {
    const auto gap_ms = std::chrono::milliseconds(gap_(row)).count();
    if (gap_ms < 1)
      throw graph::failure({errc::invalid_graph, "the gap of sessions is positive"});
    out.push_back({time_ms, time_ms + gap_ms});
  }

private:
  Gap gap_;
};

/// A gap that is the same for all rows.
struct fixed_gap {
  std::chrono::milliseconds gap;
  template <class T>
  std::chrono::milliseconds operator()(const T&) const {
    return gap;
  }
};

/// All rows of a key in one window, which gives results as its trigger says.
class global_windows {
public:
  using window_type = window;
  static constexpr bool is_merging = false;

  bool is_event_time() const { return false; }
  never_trigger default_trigger() const { return {}; }
  template <class T>
  void assign(const T&, std::int64_t, std::vector<window>& out) const {
    out.push_back(window::global());
  }
};

/// @returns the number of rows of a count window, or of its slide
/// @throws graph::failure  (invalid_graph) it is not positive
std::int64_t checked_count(std::int64_t rows);

/// Windows by the clock, of a fixed size: as tumbling_event_time and sliding_event_time.
time_windows<graph::time_domain::processing>
tumbling_processing_time(std::chrono::milliseconds size, std::chrono::milliseconds offset = {});
time_windows<graph::time_domain::processing>
sliding_processing_time(std::chrono::milliseconds size, std::chrono::milliseconds slide,
                        std::chrono::milliseconds offset = {});
/// Sessions: a row that comes no later than `gap` behind another one is in its session.
session_windows<graph::time_domain::event, fixed_gap>
session_event_time(std::chrono::milliseconds gap);
session_windows<graph::time_domain::processing, fixed_gap>
session_processing_time(std::chrono::milliseconds gap);
/// The same with the gap behind each row: `std::chrono::milliseconds function(const T&)`.
template <class F>
  requires(!std::convertible_to<F, std::chrono::milliseconds>)
session_windows<graph::time_domain::event, F> session_event_time(F gap_of) {
  return session_windows<graph::time_domain::event, F>(std::move(gap_of));
}
template <class F>
  requires(!std::convertible_to<F, std::chrono::milliseconds>)
session_windows<graph::time_domain::processing, F> session_processing_time(F gap_of) {
  return session_windows<graph::time_domain::processing, F>(std::move(gap_of));
}

} // namespace headrace::api
