#include "libtask/operator/aggregate/percentile_value.hpp"

#include "libgraph/data/fixed_width.hpp"
#include "libgraph/kernel/compare.hpp"
#include "libactors/base/bytes.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace headrace::task {
namespace {

using graph::column_builder;
using graph::logical_type;
using graph::record_batch;

/// Keeps the distinct values of a group in their order, each with how often it came.
///
///     state   count of percentages, these as doubles, then a double and an int64 a value
class percentile_value final : public group_value {
public:
  percentile_value(const graph::group_aggregate_call& call, const logical_type& input,
                   graph::state_provider& states, const std::string& name, std::int64_t ttl_ms)
      : value_(static_cast<std::size_t>(call.arguments[0])),
        percentage_(static_cast<std::size_t>(call.arguments[1])),
        frequency_(call.arguments.size() > 2 ? call.arguments[2] : -1),
        is_array_(input.child(percentage_).root() == graph::type_root::array) {
    graph::state_descriptor wanted;
    wanted.name = name;
    wanted.kind = graph::state_kind::value;
    wanted.value_type = logical_type::bytes();
    wanted.ttl_ms = ttl_ms;
    state_ = &states.value(wanted);
  }

  void take(const record_batch& in, std::uint32_t row, bool is_retracted, column_builder& before,
            column_builder& after) override {
    load();
    append(before);
    read_percentages(in.at(percentage_), row);
    const auto frequency = frequency_of(in, row);
    if (!in.at(value_).is_null(row) && frequency > 0) {
      change(graph::canonical_key(in.at(value_).values<double>()[row]),
             is_retracted ? -frequency : frequency);
      save();
    }
    append(after);
  }

  void pass(column_builder& before, column_builder& after) override {
    load();
    append(before);
    append(after);
  }
  void tell(column_builder& to) override {
    load();
    append(to);
  }
  void clear() override { state_->clear(); }

private:
  struct counted {
    double value = 0;
    std::int64_t count = 0;
  };

  void load() {
    percentages_.clear();
    values_.clear();
    const auto kept = state_->get();
    if (!kept)
      return;
    byte_reader in(*kept);
    const auto count = in.get<std::uint32_t>();
    for (std::uint32_t i = 0; count && i < *count; ++i)
      if (const auto each = in.get<double>(); each)
        percentages_.push_back(*each);
    while (!in.at_end()) {
      const auto value = in.get<double>();
      const auto times = in.get<std::int64_t>();
      if (!value || !times)
        break;
      values_.push_back({*value, *times});
    }
  }

  void save() {
    if (values_.empty()) {
      state_->clear();
      return;
    }
    bytes_.clear();
    byte_writer out(bytes_);
    out.put(static_cast<std::uint32_t>(percentages_.size()));
    for (const auto each : percentages_)
      out.put(each);
    for (const auto& each : values_) {
      out.put(each.value);
      out.put(each.count);
    }
    state_->put(bytes_);
  }

  void read_percentages(const graph::column& from, std::uint32_t row) {
    if (from.is_null(row))
      return;
    percentages_.clear();
    if (!is_array_) {
      percentages_.push_back(from.values<double>()[row]);
      return;
    }
    const auto* offsets = from.values<std::int32_t>();
    for (auto at = offsets[row]; at < offsets[row + 1]; ++at)
      percentages_.push_back(from.child(0).values<double>()[at]);
  }

  std::int64_t frequency_of(const record_batch& in, std::uint32_t row) const {
    if (frequency_ < 0)
      return 1;
    const auto& from = in.at(static_cast<std::size_t>(frequency_));
    return from.is_null(row) ? 0 : from.values<std::int64_t>()[row];
  }

  /// What is taken back more often than it came is forgotten.
  void change(double value, std::int64_t by) {
    const auto at = std::lower_bound(values_.begin(), values_.end(), value,
                                     [](const counted& each, double wanted) {
                                       return graph::compare_fixed(each.value, wanted) < 0;
                                     });
    const bool is_there = at != values_.end() && graph::compare_fixed(at->value, value) == 0;
    if (is_there) {
      at->count += by;
      if (at->count <= 0)
        values_.erase(at);
    } else if (by > 0) {
      values_.insert(at, {value, by});
    }
  }

  /// The value at a place, from 0, of all as often as they came.
  double at_place(double place) const {
    std::int64_t before = 0;
    for (const auto& each : values_) {
      before += each.count;
      if (place < static_cast<double>(before))
        return each.value;
    }
    return values_.back().value;
  }

  double percentile(double percentage, std::int64_t total) const {
    const double place = static_cast<double>(total - 1) * percentage;
    const double lower = std::floor(place);
    const double higher = std::ceil(place);
    const double low = at_place(lower);
    if (lower == higher)
      return low;
    const double high = at_place(higher);
    return low == high ? low : (higher - place) * low + (place - lower) * high;
  }

  void append(column_builder& to) const {
    if (values_.empty() || percentages_.empty()) {
      to.append_null();
      return;
    }
    std::int64_t total = 0;
    for (const auto& each : values_)
      total += each.count;
    if (!is_array_) {
      to.append(percentile(percentages_[0], total));
      return;
    }
    to.begin_list();
    for (const auto each : percentages_)
      to.child(0).append(percentile(each, total));
    to.end_list();
  }

  std::size_t value_;
  std::size_t percentage_;
  std::int32_t frequency_;
  bool is_array_;
  graph::value_access* state_;
  std::vector<double> percentages_;
  std::vector<counted> values_;
  byte_string bytes_;
};

} // namespace

std::unique_ptr<group_value> make_percentile_value(const graph::group_aggregate_call& call,
                                                   const logical_type& input,
                                                   graph::state_provider& states,
                                                   const std::string& name, std::int64_t ttl_ms) {
  return std::make_unique<percentile_value>(call, input, states, name, ttl_ms);
}

} // namespace headrace::task
