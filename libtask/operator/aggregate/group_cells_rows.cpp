#include "libtask/operator/aggregate/cell_bytes.hpp"
#include "libtask/operator/aggregate/group_cells.hpp"
#include "libgraph/data/fixed_width.hpp"
#include "libgraph/expression/kernel/decimal.hpp"
#include "libgraph/kernel/compare.hpp"
#include "libgraph/kernel/decimal_sum.hpp"

#include <type_traits>

// Takes whole batches: the cell's kind and types are looked at once, not once a row.
namespace headrace::task {
namespace {

using namespace cell_bytes;
using graph::int128;
using graph::physical_type;

/// Where the bytes of a cell are in each row's group, and whether the row counts.
struct cell_rows {
  std::size_t offset = 0;
  std::span<std::byte* const> groups;
  const std::uint8_t* counts = nullptr; ///< null: all
  const graph::column* values = nullptr;
  std::span<const std::uint32_t> rows;
  std::uint8_t* changed = nullptr;

  bool counts_at(std::size_t i) const {
    return (counts == nullptr || counts[i] != 0) &&
           (values == nullptr || !values->is_null(rows[i]));
  }
};

/// @param result  (bytes of the cell) to its value
/// @param update  (bytes behind the count, count before, row) for each row that counts
template <class Result, class Update>
void run(const cell_rows& over, group_cells::results& out, Result result, Update update) {
  const auto put = [](const group_cells::value& from, int128& bits, std::uint8_t& is_null) {
    bits = from.bits;
    is_null = from.is_null ? 1 : 0;
  };
  for (std::size_t i = 0; i < over.groups.size(); ++i) {
    auto* at = over.groups[i] + over.offset;
    const group_cells::value before = result(at);
    if (out.has_before)
      put(before, out.before[i], out.before_null[i]);
    if (over.counts_at(i)) {
      const auto count = load<std::int64_t>(at);
      store<std::int64_t>(at, count + 1);
      update(at + count_bytes, count, over.rows[i]);
    }
    const group_cells::value after = result(at);
    put(after, out.after[i], out.after_null[i]);
    over.changed[i] =
        static_cast<std::uint8_t>(over.changed[i] | static_cast<std::uint8_t>(!(before == after)));
  }
}

/// The bits of a value of a cell that keeps one: 0 where there is none.
group_cells::value kept_value(const std::byte* at) {
  if (load<std::int64_t>(at) <= 0)
    return {};
  return {load<int128>(at + count_bytes), false};
}

template <class T>
int128 bits_at(const T* values, std::uint32_t row) {
  if constexpr (std::is_floating_point_v<T>)
    return bits_of(static_cast<double>(values[row]));
  else
    return values[row];
}

} // namespace

void group_cells::results::resize(std::size_t rows) {
  before.resize(has_before ? rows : 0);
  before_null.resize(has_before ? rows : 0);
  after.resize(rows);
  after_null.resize(rows);
}

void group_cells::take_all(std::size_t index, const graph::record_batch& in,
                           std::span<const std::uint32_t> rows, std::span<std::byte* const> groups,
                           const std::uint8_t* counts, std::uint8_t* changed, results& out) const {
  const auto& of = cells_[index];
  out.resize(rows.size());
  cell_rows over{of.offset, groups, counts, nullptr, rows, changed};
  if (of.column >= 0)
    over.values = &in.at(static_cast<std::size_t>(of.column));
  const auto any_result = [&](const std::byte* at) { return result(index, at - of.offset); };
  if (of.what == kind::count) {
    run(
        over, out,
        [](const std::byte* at) {
          return value{load<std::int64_t>(at), false};
        },
        [](std::byte*, std::int64_t, std::uint32_t) {});
    return;
  }
  const bool is_whole_sum = of.what == kind::sum && !of.is_real;
  const bool keeps_value =
      of.what != kind::sum && of.what != kind::average && of.what != kind::spread;
  if (!is_whole_sum && !keeps_value) { // as the rows come one by one
    run(over, out, any_result, [&](std::byte* at, std::int64_t, std::uint32_t row) {
      add_value(of, *over.values, row, false, at);
    });
    return;
  }
  graph::visit_fixed_width(over.values->type().physical(), [&]<class T>(std::type_identity<T>) {
    const auto* values = over.values->values<T>();
    if (is_whole_sum) {
      const auto add = [&](std::byte* at, std::int64_t, std::uint32_t row) {
        if constexpr (std::is_same_v<T, int128>) // decimals
          store(at, graph::add_to_decimal_sum(load<int128>(at), values[row]));
        else if constexpr (!std::is_floating_point_v<T>)
          add_wrapping(at, values[row]);
      };
      if (of.result.root() == graph::type_root::decimal)
        run(over, out, any_result, add);
      else
        run(
            over, out,
            [](const std::byte* at) {
              const auto kept = kept_value(at);
              return value{static_cast<std::int64_t>(kept.bits), kept.is_null};
            },
            add);
      return;
    }
    switch (of.what) {
    case kind::first:
      run(over, out, kept_value, [&](std::byte* at, std::int64_t count, std::uint32_t row) {
        if (count == 0)
          store(at, bits_at(values, row));
      });
      return;
    case kind::last:
      run(over, out, kept_value,
          [&](std::byte* at, std::int64_t, std::uint32_t row) { store(at, bits_at(values, row)); });
      return;
    default:
      run(over, out, kept_value, [&](std::byte* at, std::int64_t count, std::uint32_t row) {
        const auto given = bits_at(values, row);
        const auto kept = load<int128>(at);
        int order = 0;
        if constexpr (std::is_floating_point_v<T>)
          order = graph::compare_fixed(real_of(given), real_of(kept));
        else
          order = graph::compare_fixed(given, kept);
        if (count == 0 || (of.what == kind::least ? order < 0 : order > 0))
          store(at, given);
      });
    }
  });
}

void group_cells::append_all(std::size_t index, const results& from,
                             std::span<const std::uint32_t> which,
                             graph::column_builder& to) const {
  const auto rows = from.after.size();
  graph::visit_fixed_width(cells_[index].result.physical(), [&]<class T>(std::type_identity<T>) {
    for (const auto each : which) {
      const bool is_after = each < rows;
      const auto at = is_after ? each : each - rows;
      if ((is_after ? from.after_null : from.before_null)[at] != 0) {
        to.append_null();
        continue;
      }
      const auto bits = (is_after ? from.after : from.before)[at];
      if constexpr (std::is_floating_point_v<T>)
        to.append(static_cast<T>(real_of(bits)));
      else
        to.append(static_cast<T>(bits));
    }
  });
}

} // namespace headrace::task
