#include "libtask/operator/aggregate/group_cells.hpp"

#include "libtask/operator/aggregate/cell_bytes.hpp"
#include "libgraph/data/fixed_width.hpp"
#include "libgraph/expression/kernel/decimal.hpp"
#include "libgraph/job_graph/aggregation_check.hpp"
#include "libgraph/kernel/compare.hpp"
#include "libgraph/kernel/decimal_sum.hpp"
#include "libactors/base/assert.hpp"

#include <algorithm>
#include <cmath>
#include <string>

namespace headrace::task {
namespace {

using namespace cell_bytes;
using graph::int128;
using graph::logical_type;
using graph::physical_type;
using graph::type_root;

bool is_real(const logical_type& type) {
  return type.root() == type_root::float_ || type.root() == type_root::double_;
}

} // namespace

std::string group_cells::text_of(const graph::group_aggregate_call& call,
                                 const logical_type& input) {
  if (call.arguments.empty())
    return call.function + "(*)";
  auto out = call.function + (call.is_distinct ? "(DISTINCT " : "(");
  for (std::size_t i = 0; i < call.arguments.size(); ++i)
    out += (i > 0 ? ", " : "") +
           input.child(static_cast<std::size_t>(call.arguments[i])).nullable().to_sql();
  return out + ")";
}

bool group_cells::holds(const graph::group_aggregate_call& call, const logical_type& input,
                        bool input_retracts) {
  if (!call.definition.empty()) // a user's
    return false;
  const auto& function = call.function;
  if (function == "MIN" || function == "MAX" || function == "FIRST_VALUE" ||
      function == "LAST_VALUE") {
    const auto& type = input.child(static_cast<std::size_t>(call.arguments[0]));
    return !input_retracts && type.physical() != physical_type::string && type.width_bytes() > 0;
  }
  return !graph::lists_values(function);
}

std::size_t group_cells::add(const graph::group_aggregate_call& call, const logical_type& input,
                             const logical_type& result) {
  cell out;
  const auto& name = call.function;
  out.what = name == "COUNT"         ? kind::count
             : name == "SUM"         ? kind::sum
             : name == "AVG"         ? kind::average
             : name == "MIN"         ? kind::least
             : name == "MAX"         ? kind::greatest
             : name == "FIRST_VALUE" ? kind::first
             : name == "LAST_VALUE"  ? kind::last
                                     : kind::spread;
  out.is_sample = name.ends_with("_SAMP");
  out.is_root = name.starts_with("STDDEV");
  out.result = result;
  if (!call.arguments.empty()) {
    out.column = call.arguments[0];
    out.input = input.child(static_cast<std::size_t>(out.column));
  }
  out.is_real = out.what == kind::spread || is_real(out.input);
  out.is_decimal = out.input.root() == type_root::decimal;
  out.offset = fixed_bytes_;
  if (out.is_decimal && (out.what == kind::sum || out.what == kind::average))
    decimal_sums_.push_back(out.offset + count_bytes);
  fixed_bytes_ += count_bytes + (out.what == kind::count ? 0 : wide_bytes);
  cells_.push_back(std::move(out));
  return cells_.size() - 1;
}

int128 group_cells::whole_at(const graph::column& values, std::size_t row) {
  int128 out = 0;
  graph::visit_fixed_width(values.type().physical(), [&]<class T>(std::type_identity<T>) {
    if constexpr (std::is_floating_point_v<T>)
      out = bits_of(static_cast<double>(values.values<T>()[row]));
    else
      out = values.values<T>()[row];
  });
  return out;
}

double group_cells::real_at(const graph::column& values, std::size_t row) {
  switch (values.type().physical()) {
  case physical_type::float32:
    return static_cast<double>(values.values<float>()[row]);
  case physical_type::float64:
    return values.values<double>()[row];
  case physical_type::int128:
    return graph::decimal_to_double(values.values<int128>()[row], values.type().scale());
  default:
    return static_cast<double>(whole_at(values, row));
  }
}

void group_cells::take(std::size_t index, const graph::record_batch& in, std::uint32_t row,
                       bool is_retracted, std::byte* group) const {
  const auto& to = cells_[index];
  auto* at = group + to.offset;
  if (to.column >= 0 && in.at(static_cast<std::size_t>(to.column)).is_null(row))
    return;
  const auto count = load<std::int64_t>(at);
  store<std::int64_t>(at, is_retracted ? count - 1 : count + 1);
  if (to.what == kind::count)
    return;
  at += count_bytes;
  const auto& values = in.at(static_cast<std::size_t>(to.column));
  switch (to.what) {
  case kind::first:
    if (count == 0)
      store(at, whole_at(values, row));
    return;
  case kind::last:
    store(at, whole_at(values, row));
    return;
  case kind::least:
  case kind::greatest: {
    const auto given = whole_at(values, row);
    const auto kept = load<int128>(at);
    const int order = to.is_real ? graph::compare_fixed(real_of(given), real_of(kept))
                                 : graph::compare_fixed(given, kept);
    if (count == 0 || (to.what == kind::least ? order < 0 : order > 0))
      store(at, given);
    return;
  }
  default:
    add_value(to, values, row, is_retracted, at);
  }
}

void group_cells::add_value(const cell& to, const graph::column& values, std::uint32_t row,
                            bool is_retracted, std::byte* at) {
  if (to.what == kind::spread) {
    const auto by = real_at(values, row);
    const auto sign = is_retracted ? -1.0 : 1.0;
    store(at, load<double>(at) + sign * by);
    store(at + sizeof(double), load<double>(at + sizeof(double)) + sign * by * by);
  } else if (to.is_real) {
    const auto by = real_at(values, row);
    store(at, load<double>(at) + (is_retracted ? -by : by));
  } else if (to.is_decimal) {
    const auto sum = load<int128>(at);
    const auto by = whole_at(values, row);
    store(at, is_retracted ? graph::take_from_decimal_sum(sum, by)
                           : graph::add_to_decimal_sum(sum, by));
  } else {
    const auto by = whole_at(values, row);
    add_wrapping(at, is_retracted ? static_cast<int128>(-static_cast<uint128>(by)) : by);
  }
}

void group_cells::merge(const std::byte* from, std::byte* into) const {
  store(into, load<std::int64_t>(into) + load<std::int64_t>(from));
  for (const auto& each : cells_) {
    const auto* given = from + each.offset;
    auto* at = into + each.offset;
    const auto count = load<std::int64_t>(given);
    const auto before = load<std::int64_t>(at);
    store(at, before + count);
    // As many values may have come as went: sums differ all the same.
    const bool has_sum =
        each.what == kind::sum || each.what == kind::average || each.what == kind::spread;
    if (each.what == kind::count || (count == 0 && !has_sum))
      continue;
    given += count_bytes;
    at += count_bytes;
    const auto take = [&] { store(at, load<int128>(given)); };
    switch (each.what) {
    case kind::sum:
    case kind::average:
      if (each.is_real)
        store(at, load<double>(at) + load<double>(given));
      else if (each.is_decimal)
        store(at, graph::add_to_decimal_sum(load<int128>(at), load<int128>(given)));
      else
        add_wrapping(at, load<int128>(given));
      break;
    case kind::spread:
      store(at, load<double>(at) + load<double>(given));
      store(at + sizeof(double),
            load<double>(at + sizeof(double)) + load<double>(given + sizeof(double)));
      break;
    case kind::first:
      if (before == 0)
        take();
      break;
    case kind::last:
      take();
      break;
    default: {
      const auto kept = load<int128>(at);
      const auto other = load<int128>(given);
      const int order = each.is_real ? graph::compare_fixed(real_of(other), real_of(kept))
                                     : graph::compare_fixed(other, kept);
      if (before == 0 || (each.what == kind::least ? order < 0 : order > 0))
        take();
    }
    }
  }
}

/// A double as a value of the result's type; NULL when it is no number of it.
group_cells::value group_cells::real_value(const cell& from, double number) {
  if (is_real(from.result))
    return {bits_of(number), false};
  if (!std::isfinite(number))
    return {};
  if (from.result.root() != type_root::decimal)
    return {static_cast<int128>(number), false};
  const auto decimal =
      graph::double_to_decimal(number, from.result.precision(), from.result.scale());
  return decimal ? value{*decimal, false} : value{};
}

group_cells::value group_cells::average_of(const cell& from, const std::byte* at,
                                           std::int64_t count) {
  if (from.is_real)
    return real_value(from, load<double>(at) / static_cast<double>(count));
  const auto sum = load<int128>(at);
  if (from.result.root() != type_root::decimal)
    return {sum / count, false};
  if (!graph::fits_precision(sum, graph::decimal_digits_max))
    return {};
  const auto quotient = graph::divide_decimals(
      sum, count, {from.input.scale(), 0, from.result.scale(), from.result.precision()});
  return quotient ? value{*quotient, false} : value{};
}

group_cells::value group_cells::spread_of(const cell& from, const std::byte* at,
                                          std::int64_t count) const {
  const auto divisor = from.is_sample ? count - 1 : count;
  if (divisor <= 0)
    return {};
  const auto sum = load<double>(at);
  const auto squares = load<double>(at + sizeof(double));
  const auto number = static_cast<double>(count);
  // What is lost in the difference may leave it below zero.
  const auto variance = std::max(squares - sum * sum / number, 0.0) / static_cast<double>(divisor);
  return real_value(from, from.is_root ? std::sqrt(variance) : variance);
}

group_cells::value group_cells::result(std::size_t index, const std::byte* group) const {
  const auto& from = cells_[index];
  const auto* at = group + from.offset;
  const auto count = load<std::int64_t>(at);
  if (from.what == kind::count)
    return {count, false};
  if (count <= 0)
    return {};
  at += count_bytes;
  switch (from.what) {
  case kind::average:
    return average_of(from, at, count);
  case kind::spread:
    return spread_of(from, at, count);
  case kind::sum: {
    if (from.is_real)
      return real_value(from, load<double>(at));
    const auto sum = load<int128>(at);
    if (from.result.root() == type_root::decimal)
      return graph::fits_precision(sum, from.result.precision()) ? value{sum, false} : value{};
    return {static_cast<std::int64_t>(sum), false};
  }
  default:
    return {load<int128>(at), false};
  }
}

bool group_cells::has_lost_sum(const std::byte* group) const {
  return std::any_of(decimal_sums_.begin(), decimal_sums_.end(), [&](std::size_t at) {
    return load<int128>(group + at) == graph::lost_decimal_sum;
  });
}

void group_cells::append(std::size_t index, const value& from, graph::column_builder& to) const {
  if (from.is_null) {
    to.append_null();
    return;
  }
  graph::visit_fixed_width(cells_[index].result.physical(), [&]<class T>(std::type_identity<T>) {
    if constexpr (std::is_floating_point_v<T>)
      to.append(static_cast<T>(real_of(from.bits)));
    else
      to.append(static_cast<T>(from.bits));
  });
}

} // namespace headrace::task
