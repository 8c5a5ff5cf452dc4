#pragma once

#include "libgraph/api/collector.hpp"
#include "libgraph/api/function_traits.hpp"
#include "libgraph/api/window.hpp"
#include "libgraph/function/function.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

namespace headrace::api {

/// A row of a window, as evictors see it.
template <class T>
struct timestamped_value {
  T value;
  std::int64_t timestamp_ms = no_timestamp;
  std::int64_t place = 0; ///< for the operator: where it lies in the state
};

/// What an evictor may ask.
class evictor_context {
public:
  explicit evictor_context(const graph::keyed_context& keyed) : keyed_(&keyed) {}
  std::int64_t current_watermark() const { return keyed_->current_watermark(); }
  std::int64_t current_processing_time() const { return keyed_->current_processing_time(); }

private:
  const graph::keyed_context* keyed_;
};

/// Takes rows out of a window that fires, before the window function or behind it: erases them from
/// `rows`, which are in the order they came. They are gone from the window then. A copy runs in
/// each subtask.
template <class T, class Window = window>
class evictor {
public:
  using rows_type = std::vector<timestamped_value<T>>;
  using context_type = evictor_context;

  virtual ~evictor() = default;
  virtual void evict_before(rows_type&, const Window&, context_type&) {}
  virtual void evict_after(rows_type&, const Window&, context_type&) {}
};

/// When the built-in evictors do their work.
enum class evict { before, after };

/// What the built-in evictors share: `Evictor` has `apply(rows)`.
template <class Evictor>
class evictor_at {
public:
  explicit evictor_at(evict when) : when_(when) {}
  template <class Rows, class Window>
  void evict_before(Rows& rows, const Window&, evictor_context&) {
    if (when_ == evict::before && !rows.empty())
      static_cast<Evictor&>(*this).apply(rows);
  }
  template <class Rows, class Window>
  void evict_after(Rows& rows, const Window&, evictor_context&) {
    if (when_ == evict::after && !rows.empty())
      static_cast<Evictor&>(*this).apply(rows);
  }

private:
  evict when_;
};

/// Keeps so many rows, the last ones.
class count_evictor : public evictor_at<count_evictor> {
public:
  explicit count_evictor(std::size_t rows, evict when = evict::before)
      : evictor_at(when), most_(rows) {}
  template <class Rows>
  void apply(Rows& rows) const {
    if (rows.size() > most_)
      rows.erase(rows.begin(), rows.end() - static_cast<std::ptrdiff_t>(most_));
  }

private:
  std::size_t most_;
};

/// Keeps the rows whose event time is less than `span` before that of the last one in time. Rows
/// without event time stay.
class time_evictor : public evictor_at<time_evictor> {
public:
  explicit time_evictor(std::chrono::milliseconds span, evict when = evict::before)
      : evictor_at(when), span_ms_(span.count()) {}
  template <class Rows>
  void apply(Rows& rows) const {
    if (rows.front().timestamp_ms == no_timestamp)
      return;
    auto last = rows.front().timestamp_ms;
    for (const auto& each : rows)
      last = std::max(last, each.timestamp_ms);
    std::erase_if(rows, [&](const auto& each) { return each.timestamp_ms <= last - span_ms_; });
  }

private:
  std::int64_t span_ms_;
};

/// Keeps the rows that are less than `threshold` from the last one: `double function(const T& row,
/// const T& last)`.
template <class F>
class delta_evictor : public evictor_at<delta_evictor<F>> {
public:
  delta_evictor(double threshold, F function, evict when = evict::before)
      : evictor_at<delta_evictor<F>>(when), threshold_(threshold), function_(std::move(function)) {}
  template <class Rows>
  void apply(Rows& rows) {
    const auto last = rows.back().value;
    std::erase_if(rows, [&](const auto& each) {
      return static_cast<double>(function_(each.value, last)) >= threshold_;
    });
  }

private:
  double threshold_;
  F function_;
};

} // namespace headrace::api
