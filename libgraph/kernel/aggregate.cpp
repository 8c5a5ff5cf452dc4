#include "libgraph/kernel/aggregate.hpp"

#include "libgraph/data/fixed_width.hpp"
#include "libgraph/kernel/compare.hpp"
#include "libgraph/kernel/decimal_sum.hpp"
#include "libactors/base/assert.hpp"

namespace headrace::graph {

namespace {

/// Calls `body(row)` for each selected row whose value is not NULL.
template <class Body>
void for_each_value(const record_batch& batch, const column& values, Body body) {
  const auto count = batch.size();
  const auto* rows = batch.has_selection() ? batch.selection().data() : nullptr;
  if (!values.has_nulls() && rows == nullptr) {
    for (std::size_t row = 0; row < count; ++row)
      body(row);
    return;
  }
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t row = rows != nullptr ? rows[i] : i;
    if (!values.is_null(row))
      body(row);
  }
}

/// Sums in 64 bits where that cannot overflow: pieces of 2^31 values of at most 32 bits.
template <class T>
integer_sum sum_of(const record_batch& batch, const column& values) {
  const auto* from = values.values<T>();
  integer_sum out;
  if constexpr (sizeof(T) <= 4) {
    std::int64_t sum = 0;
    for_each_value(batch, values, [&](std::size_t row) {
      sum += from[row];
      ++out.count;
    });
    out.sum = sum;
  } else {
    int128 sum = 0;
    bool is_lost = false; // of BIGINT never: that would take 2^64 values
    for_each_value(batch, values, [&](std::size_t row) {
      is_lost |= __builtin_add_overflow(sum, static_cast<int128>(from[row]), &sum);
      ++out.count;
    });
    out.sum = is_lost ? lost_decimal_sum : sum;
  }
  return out;
}

/// @param sign  1 for the least value, -1 for the greatest
std::optional<std::uint32_t> extreme_row(const record_batch& batch, std::size_t index, int sign) {
  const auto& values = batch.at(index);
  std::optional<std::uint32_t> best;
  const auto find = [&](auto order) {
    for_each_value(batch, values, [&](std::size_t row) {
      if (!best || order(row, *best) * sign < 0)
        best = static_cast<std::uint32_t>(row);
    });
  };
  const auto physical = values.type().physical();
  const bool is_fixed = visit_fixed_width(physical, [&]<class T>(std::type_identity<T>) {
    const auto* from = values.values<T>();
    find([from](std::size_t left, std::size_t right) {
      return compare_fixed(from[left], from[right]);
    });
  });
  if (is_fixed)
    return best;
  HEADRACE_ASSERT(physical == physical_type::string || physical == physical_type::none,
                  "the least of values that have no order");
  find([&](std::size_t left, std::size_t right) {
    return compare_values(values, left, values, right);
  });
  return best;
}

} // namespace

integer_sum sum_integers(const record_batch& batch, std::size_t column) {
  const auto& values = batch.at(column);
  switch (values.type().physical()) {
  case physical_type::int8:
    return sum_of<std::int8_t>(batch, values);
  case physical_type::int16:
    return sum_of<std::int16_t>(batch, values);
  case physical_type::int32:
    return sum_of<std::int32_t>(batch, values);
  case physical_type::int64:
    return sum_of<std::int64_t>(batch, values);
  case physical_type::int128:
    return sum_of<int128>(batch, values);
  default:
    HEADRACE_ASSERT(values.type().physical() == physical_type::none, "a sum of no integers");
    return {};
  }
}

real_sum sum_reals(const record_batch& batch, std::size_t column) {
  const auto& values = batch.at(column);
  real_sum out;
  const auto add = [&](const auto* from) {
    for_each_value(batch, values, [&](std::size_t row) {
      out.sum += static_cast<double>(from[row]);
      ++out.count;
    });
  };
  if (values.type().physical() == physical_type::float32) {
    add(values.values<float>());
    return out;
  }
  HEADRACE_ASSERT(values.type().physical() == physical_type::float64, "a sum of no reals");
  add(values.values<double>());
  return out;
}

std::size_t count_values(const record_batch& batch, std::size_t column) {
  const auto& values = batch.at(column);
  if (!values.has_nulls())
    return batch.size();
  std::size_t out = 0;
  for_each_value(batch, values, [&](std::size_t) { ++out; });
  return out;
}

std::optional<std::uint32_t> least_row(const record_batch& batch, std::size_t column) {
  return extreme_row(batch, column, 1);
}

std::optional<std::uint32_t> greatest_row(const record_batch& batch, std::size_t column) {
  return extreme_row(batch, column, -1);
}

} // namespace headrace::graph
