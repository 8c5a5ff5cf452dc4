#include "libgraph/function/user_metrics.hpp"

#include "libgraph/function/failure.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

namespace headrace::graph {
namespace {

/// One writer.
template <class T>
void add_to(std::atomic<T>& sum, T value) {
  sum.store(sum.load(std::memory_order_relaxed) + value, std::memory_order_relaxed);
}

template <class T>
void set_to(std::atomic<T>& cell, T value) {
  cell.store(value, std::memory_order_relaxed);
}

} // namespace

const char* describe(metric_kind kind) {
  switch (kind) {
  case metric_kind::counter:
    return "a counter";
  case metric_kind::gauge:
    return "a gauge";
  case metric_kind::histogram:
    return "a histogram";
  case metric_kind::long_sum:
    return "a sum of integers";
  case metric_kind::double_sum:
    return "a sum of reals";
  case metric_kind::long_min:
    return "the least of integers";
  case metric_kind::double_min:
    return "the least of reals";
  case metric_kind::long_max:
    return "the largest of integers";
  case metric_kind::double_max:
    return "the largest of reals";
  case metric_kind::average:
    return "an average";
  }
  return "a metric";
}

std::size_t value_histogram::bucket_of(std::uint64_t value) {
  if (value < parts)
    return static_cast<std::size_t>(value);
  const auto exponent = static_cast<std::size_t>(std::bit_width(value)) - 1 - parts_log2;
  return exponent * parts + static_cast<std::size_t>(value >> exponent);
}

double value_histogram::middle_of(std::size_t bucket) {
  if (bucket < 2 * parts)
    return static_cast<double>(bucket);
  const auto exponent = bucket / parts - 1;
  const auto first = static_cast<double>(bucket % parts + parts) * std::exp2(exponent);
  return first + (std::exp2(exponent) - 1) / 2;
}

void value_histogram::update(std::int64_t value) {
  if (count_.value() == 0 || value < min())
    set_to(min_, value);
  if (count_.value() == 0 || value > max())
    set_to(max_, value);
  add_to(sum_, static_cast<double>(value));
  seen_[bucket_of(static_cast<std::uint64_t>(std::max<std::int64_t>(value, 0)))].add();
  count_.add();
}

double value_histogram::mean() const {
  const auto values = count();
  return values == 0 ? 0 : sum_.load(std::memory_order_relaxed) / static_cast<double>(values);
}

double value_histogram::quantile(double part) const {
  std::uint64_t all = 0;
  for (const auto& each : seen_)
    all += each.value();
  if (all == 0)
    return 0;
  const auto wanted = std::max<std::uint64_t>(
      1,
      static_cast<std::uint64_t>(std::ceil(std::clamp(part, 0.0, 1.0) * static_cast<double>(all))));
  std::uint64_t passed = 0;
  for (std::size_t i = 0; i < buckets; ++i) {
    passed += seen_[i].value();
    if (passed >= wanted)
      return std::clamp(middle_of(i), std::max(0.0, static_cast<double>(min())),
                        std::max(0.0, static_cast<double>(max())));
  }
  return static_cast<double>(max());
}

user_metric::user_metric(metric_kind kind, std::string operator_name, std::string name)
    : kind_(kind), operator_name_(std::move(operator_name)), name_(std::move(name)),
      histogram_(kind == metric_kind::histogram ? std::make_unique<value_histogram>() : nullptr) {}

void user_metric::take(std::int64_t value) {
  const bool is_first = count_.value() == 0;
  switch (kind_) {
  case metric_kind::histogram:
    histogram_->update(value);
    break;
  case metric_kind::long_min:
    set_to(integer_, is_first ? value : std::min(integer(), value));
    break;
  case metric_kind::long_max:
    set_to(integer_, is_first ? value : std::max(integer(), value));
    break;
  default: // sums wrap, as Flink's
    set_to(integer_, static_cast<std::int64_t>(static_cast<std::uint64_t>(integer()) +
                                               static_cast<std::uint64_t>(value)));
  }
  count_.add();
}

void user_metric::take(double value) {
  const bool is_first = count_.value() == 0;
  switch (kind_) {
  case metric_kind::gauge:
    set_to(real_, value);
    break;
  case metric_kind::double_min:
    set_to(real_, is_first ? value : std::min(real(), value));
    break;
  case metric_kind::double_max:
    set_to(real_, is_first ? value : std::max(real(), value));
    break;
  default:
    add_to(real_, value);
  }
  count_.add();
}

user_metric& user_metrics::get(metric_kind kind, const std::string& operator_name,
                               const std::string& name) {
  const auto refuse = [&](const std::string& why) -> failure {
    return failure(error(errc::bad_usage, "metric `" + name.substr(0, name_bytes_max) + "` of " +
                                              operator_name + ": " + why));
  };
  if (name.empty() || name.size() > name_bytes_max)
    throw refuse("a name has 1 to " + std::to_string(name_bytes_max) + " bytes");
  const std::lock_guard lock(mutex_);
  for (auto& each : metrics_) {
    if (each.name() != name || each.operator_name() != operator_name)
      continue;
    if (each.kind() != kind)
      throw refuse(std::string("it is ") + describe(each.kind()) + " already, not " +
                   describe(kind));
    return each;
  }
  if (metrics_.size() == metrics_max)
    throw refuse("a subtask has no more than " + std::to_string(metrics_max) + " metrics");
  return metrics_.emplace_back(kind, operator_name, name);
}

std::vector<user_figure> user_metrics::figures() const {
  std::vector<user_figure> out;
  const std::lock_guard lock(mutex_);
  for (const auto& each : metrics_) {
    const auto* values = each.histogram();
    if (values == nullptr) {
      out.push_back({each.kind(), each.operator_name(), each.name(), each.integer(), each.real(),
                     each.count()});
      continue;
    }
    const std::pair<const char*, double> told[] = {
        {"_count", static_cast<double>(values->count())},
        {"_min", static_cast<double>(values->min())},
        {"_max", static_cast<double>(values->max())},
        {"_mean", values->mean()},
        {"_p50", values->quantile(0.5)},
        {"_p95", values->quantile(0.95)},
        {"_p99", values->quantile(0.99)},
    };
    for (const auto& [suffix, value] : told)
      out.push_back({metric_kind::gauge, each.operator_name(), each.name() + suffix, 0, value,
                     values->count()});
  }
  return out;
}

} // namespace headrace::graph
