#pragma once

#include "libactors/base/metric.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace headrace::graph {

/// What user code measures. A counter's, a gauge's and a histogram's figures are told of each
/// subtask; those of the others, accumulators, are merged over all subtasks of a job.
enum class metric_kind : std::uint8_t {
  counter,
  gauge,
  histogram,
  long_sum,
  double_sum,
  long_min,
  double_min,
  long_max,
  double_max,
  average,
};
inline constexpr std::size_t metric_kind_count = 10;
/// As users know it: "a counter", "a sum of integers", …
const char* describe(metric_kind kind);
inline bool is_accumulator(metric_kind kind) { return kind >= metric_kind::long_sum; }

/// How often values of each size were seen; one writer, any number of readers, no lock. Buckets
/// are 16 to a doubling, so a quantile is right within 1/32 of its value. What is less than nothing
/// counts as 0 there. (The layout of HdrHistogram's buckets.)
class value_histogram {
public:
  void update(std::int64_t value);

  std::uint64_t count() const { return count_.value(); }
  std::int64_t min() const { return min_.load(std::memory_order_relaxed); }
  std::int64_t max() const { return max_.load(std::memory_order_relaxed); }
  double mean() const;
  /// The value that so many of the others do not exceed. `part` in [0, 1]; 0 without values.
  double quantile(double part) const;

private:
  static constexpr std::size_t parts_log2 = 4;
  static constexpr std::size_t parts = std::size_t{1} << parts_log2;
  static constexpr std::size_t buckets = (64 - parts_log2) * parts;
  static std::size_t bucket_of(std::uint64_t value);
  static double middle_of(std::size_t bucket);

  std::array<counter, buckets> seen_;
  counter count_;
  std::atomic<std::int64_t> min_{0};
  std::atomic<std::int64_t> max_{0};
  std::atomic<double> sum_{0};
};

/// One thing that an operator's code measures in a subtask. Written by the subtask alone, read by
/// any thread.
class user_metric {
public:
  user_metric(metric_kind kind, std::string operator_name, std::string name);

  metric_kind kind() const { return kind_; }
  const std::string& operator_name() const { return operator_name_; }
  const std::string& name() const { return name_; }

  /// Adds to a counter or a sum, sets a gauge, takes a value into the others. The one of its type.
  void take(std::int64_t value);
  void take(double value);

  std::int64_t integer() const { return integer_.load(std::memory_order_relaxed); }
  double real() const { return real_.load(std::memory_order_relaxed); }
  std::uint64_t count() const { return count_.value(); } ///< of values that were taken
  const value_histogram* histogram() const { return histogram_.get(); }

private:
  metric_kind kind_;
  std::string operator_name_;
  std::string name_;
  std::atomic<std::int64_t> integer_{0};
  std::atomic<double> real_{0};
  counter count_;
  std::unique_ptr<value_histogram> histogram_;
};

/// A figure to be reported.
struct user_figure {
  metric_kind kind = metric_kind::counter; ///< a histogram gives gauges
  std::string operator_name;
  std::string name;
  std::int64_t integer = 0;
  double real = 0;
  std::uint64_t count = 0;
};

/// All metrics of one subtask. Any thread.
class user_metrics {
public:
  static constexpr std::size_t metrics_max = 1000;
  static constexpr std::size_t name_bytes_max = 200;

  /// The metric of that name of that operator, made when there is none yet; it lives as long as
  /// this. @throws graph::failure  (bad_usage) it is of another kind, there are too many, or its
  ///         name is empty or too long
  user_metric& get(metric_kind kind, const std::string& operator_name, const std::string& name);
  /// Of now. A histogram gives `name_count`, `_min`, `_max`, `_mean`, `_p50`, `_p95`, `_p99`.
  std::vector<user_figure> figures() const;

private:
  mutable std::mutex mutex_;
  std::deque<user_metric> metrics_;
};

} // namespace headrace::graph
