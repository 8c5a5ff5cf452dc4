#pragma once

#include "libgraph/function/user_metrics.hpp"

#include <cstdint>
#include <type_traits>

namespace headrace::api {

// What user code measures: asked for in `open`, by name. Each costs a few unlocked instructions a
// value. Counters, gauges and histograms are told by REST, of each subtask; accumulators are merged
// over all subtasks of the job, and are part of its result.

/// Counts.
class counter {
public:
  counter() = default;
  explicit counter(graph::user_metric& to) : to_(&to) {}
  void add(std::int64_t by = 1) { to_->take(by); }
  std::int64_t value() const { return to_->integer(); }

private:
  graph::user_metric* to_ = nullptr;
};

/// Holds what was set last.
class gauge {
public:
  gauge() = default;
  explicit gauge(graph::user_metric& to) : to_(&to) {}
  void set(double value) { to_->take(value); }
  double value() const { return to_->real(); }

private:
  graph::user_metric* to_ = nullptr;
};

/// How values are distributed: quantiles are right within 3 %.
class histogram {
public:
  histogram() = default;
  explicit histogram(graph::user_metric& to) : to_(&to) {}
  void update(std::int64_t value) { to_->take(value); }

private:
  graph::user_metric* to_ = nullptr;
};

/// A sum, least or largest of T, or an average. T is std::int64_t or double.
template <class T>
class accumulator {
  static_assert(std::is_same_v<T, std::int64_t> || std::is_same_v<T, double>,
                "an accumulator has std::int64_t or double");

public:
  accumulator() = default;
  explicit accumulator(graph::user_metric& to) : to_(&to) {}
  void add(T value) { to_->take(value); }

private:
  graph::user_metric* to_ = nullptr;
};

} // namespace headrace::api
