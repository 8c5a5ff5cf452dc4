#include "libtask/operator/aggregate/builtin_aggregate.hpp"

#include "libtask/operator/aggregate/cell_bytes.hpp"
#include "libgraph/expression/kernel/decimal.hpp"
#include "libgraph/kernel/decimal_sum.hpp"

#include <algorithm>
#include <cstring>
#include <type_traits>

namespace headrace::task {
namespace {

using cell_bytes::load;
using graph::aggregate_kind;
using graph::int128;
using graph::physical_type;

constexpr std::size_t flags_bytes = 8;
constexpr std::size_t fixed_bytes_max = 256; // what aggregate_function allows
constexpr std::size_t cells_max = 32;        // half of the flags word

bool has(const std::byte* fixed, std::uint32_t bit) {
  return ((load<std::uint64_t>(fixed) >> bit) & 1U) != 0U;
}
bool is_null(const std::byte* fixed, std::uint32_t bit) { return has(fixed, bit + 32U); }
void set_has(std::byte* fixed, std::uint32_t bit, bool null) {
  auto flags = load<std::uint64_t>(fixed) | (std::uint64_t{1} << bit);
  const auto null_bit = std::uint64_t{1} << (bit + 32U);
  cell_bytes::store(fixed, null ? flags | null_bit : flags & ~null_bit);
}

/// Adds two of a kind; integers wrap, as Java's do, but for the 128 bits of decimals.
template <class Wide>
Wide plus(Wide left, Wide right) {
  if constexpr (std::is_same_v<Wide, std::int64_t>) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(left) +
                                     static_cast<std::uint64_t>(right));
  } else if constexpr (std::is_same_v<Wide, int128>) {
    return graph::add_to_decimal_sum(left, right);
  } else {
    return left + right;
  }
}

/// Folds one value into a cell's word.
template <class Wide>
void fold(aggregate_kind kind, std::byte* fixed, std::uint32_t offset, std::uint32_t flag,
          Wide value) {
  auto* word = fixed + offset;
  const bool filled = has(fixed, flag);
  switch (kind) {
  case aggregate_kind::sum:
    cell_bytes::store(word, filled ? plus(load<Wide>(word), value) : value);
    break;
  case aggregate_kind::min:
    if (filled && !(value < load<Wide>(word)))
      return;
    cell_bytes::store(word, value);
    break;
  case aggregate_kind::max:
    if (filled && !(load<Wide>(word) < value))
      return;
    cell_bytes::store(word, value);
    break;
  case aggregate_kind::first:
    if (filled)
      return;
    cell_bytes::store(word, value);
    break;
  default:
    cell_bytes::store(word, value);
    break;
  }
  set_has(fixed, flag, false);
}

/// Folds a column of values into the accumulators of their rows; the kind is settled outside.
template <aggregate_kind Kind, class Wide, class In>
void fold_column(const graph::column& source, std::span<const std::uint32_t> rows,
                 std::span<std::byte* const> accumulators, std::uint32_t offset,
                 std::uint32_t flag) {
  const In* values = source.values<In>();
  constexpr bool keeps_nulls = Kind == aggregate_kind::first || Kind == aggregate_kind::last;
  const bool nulls = source.has_nulls();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    auto* fixed = accumulators[i];
    if (nulls && source.is_null(rows[i])) {
      if (keeps_nulls && (Kind == aggregate_kind::last || !has(fixed, flag)))
        set_has(fixed, flag, true);
      continue;
    }
    fold<Wide>(Kind, fixed, offset, flag, static_cast<Wide>(values[rows[i]]));
  }
}

template <class Wide, class In>
void fold_column(aggregate_kind kind, const graph::column& source,
                 std::span<const std::uint32_t> rows, std::span<std::byte* const> accumulators,
                 std::uint32_t offset, std::uint32_t flag) {
  switch (kind) {
  case aggregate_kind::sum:
    return fold_column<aggregate_kind::sum, Wide, In>(source, rows, accumulators, offset, flag);
  case aggregate_kind::min:
    return fold_column<aggregate_kind::min, Wide, In>(source, rows, accumulators, offset, flag);
  case aggregate_kind::max:
    return fold_column<aggregate_kind::max, Wide, In>(source, rows, accumulators, offset, flag);
  case aggregate_kind::first:
    return fold_column<aggregate_kind::first, Wide, In>(source, rows, accumulators, offset, flag);
  default:
    return fold_column<aggregate_kind::last, Wide, In>(source, rows, accumulators, offset, flag);
  }
}

/// Calls `visit.template operator()<Wide, In>()` for a fixed-width physical type.
template <class Visit>
void with_types(physical_type type, Visit&& visit) {
  switch (type) {
  case physical_type::boolean:
    return visit.template operator()<std::int64_t, std::uint8_t>();
  case physical_type::int8:
    return visit.template operator()<std::int64_t, std::int8_t>();
  case physical_type::int16:
    return visit.template operator()<std::int64_t, std::int16_t>();
  case physical_type::int32:
    return visit.template operator()<std::int64_t, std::int32_t>();
  case physical_type::int64:
    return visit.template operator()<std::int64_t, std::int64_t>();
  case physical_type::float32:
    return visit.template operator()<double, float>();
  case physical_type::float64:
    return visit.template operator()<double, double>();
  case physical_type::int128:
  case physical_type::timestamp_nanos:
    return visit.template operator()<int128, int128>();
  default:
    HEADRACE_ASSERT(false, "aggregate over a column that has no fixed width");
  }
}

bool is_fixed(physical_type type) {
  switch (type) {
  case physical_type::none:
  case physical_type::string:
  case physical_type::list:
  case physical_type::map:
  case physical_type::row:
    return false;
  default:
    return true;
  }
}

} // namespace

result<std::unique_ptr<graph::aggregate_function>>
builtin_aggregate::make(const std::vector<graph::aggregate_call>& calls,
                        const graph::logical_type& input, const graph::logical_type& output,
                        std::span<const std::int32_t> key_columns) {
  std::unique_ptr<builtin_aggregate> made(new builtin_aggregate);
  const bool is_by = calls.size() == 1 && (calls[0].kind == aggregate_kind::min_by ||
                                           calls[0].kind == aggregate_kind::max_by);
  if (is_by) {
    HEADRACE_CHECK(made->add_by_call(calls[0], input, output));
  } else {
    if (calls.size() != output.child_count())
      return error(errc::type_mismatch,
                   "aggregate has another number of calls than output columns: " +
                       std::to_string(calls.size()) + " against " +
                       std::to_string(output.child_count()));
    for (std::size_t i = 0; i < calls.size(); ++i)
      HEADRACE_CHECK(made->add_call(calls[i], input, output.child(i), key_columns));
  }
  if (made->cells_.size() > cells_max)
    return error(errc::invalid_graph, "aggregate keeps more than 32 values a key: " +
                                          std::to_string(made->cells_.size()));
  made->seal();
  return std::unique_ptr<graph::aggregate_function>(std::move(made));
}

status builtin_aggregate::add_call(const graph::aggregate_call& call,
                                   const graph::logical_type& input,
                                   const graph::logical_type& output,
                                   std::span<const std::int32_t> key_columns) {
  output_source source;
  source.physical = output.physical();
  const auto key = std::find(key_columns.begin(), key_columns.end(), call.column);
  if (call.kind == aggregate_kind::first && key != key_columns.end()) {
    source.key = static_cast<std::int32_t>(key - key_columns.begin());
  } else {
    if (call.kind == aggregate_kind::min_by || call.kind == aggregate_kind::max_by)
      return error(errc::invalid_graph, "min_by and max_by stand alone in an aggregate");
    const bool counts = call.kind == aggregate_kind::count;
    if (!counts &&
        (call.column < 0 || static_cast<std::size_t>(call.column) >= input.child_count()))
      return error(errc::invalid_graph,
                   "aggregate over a column that is not there: " + std::to_string(call.column));
    const auto type =
        counts ? graph::logical_type::bigint() : input.child(static_cast<std::size_t>(call.column));
    if (!counts && type.physical() != output.physical() &&
        !(call.kind == aggregate_kind::sum && is_fixed(output.physical())))
      return error(errc::type_mismatch, "aggregate gives " + type.to_sql() +
                                            ", its output column is " + output.to_sql());
    HEADRACE_TRY(source.cell, add_cell(call.kind, call.column, type));
    if (call.kind == aggregate_kind::sum && output.is_nullable() &&
        type.root() == graph::type_root::decimal && output.root() == graph::type_root::decimal)
      cells_.back().digits = output.precision();
  }
  outputs_.push_back(source);
  return {};
}

status builtin_aggregate::add_by_call(const graph::aggregate_call& call,
                                      const graph::logical_type& input,
                                      const graph::logical_type& output) {
  is_by_ = true;
  is_max_by_ = call.kind == aggregate_kind::max_by;
  if (call.column < 0 || static_cast<std::size_t>(call.column) >= input.child_count())
    return error(errc::invalid_graph,
                 "aggregate over a column that is not there: " + std::to_string(call.column));
  const auto& order = input.child(static_cast<std::size_t>(call.column));
  HEADRACE_CHECK(
      add_cell(is_max_by_ ? aggregate_kind::max : aggregate_kind::min, call.column, order));
  for (std::size_t i = 0; i < output.child_count(); ++i) {
    output_source source;
    source.physical = output.child(i).physical();
    if (static_cast<std::int32_t>(i) == call.column) {
      source.cell = 0;
    } else {
      HEADRACE_TRY(source.cell,
                   add_cell(aggregate_kind::last, static_cast<std::int32_t>(i), input.child(i)));
    }
    outputs_.push_back(source);
  }
  return {};
}

result<std::int32_t> builtin_aggregate::add_cell(aggregate_kind kind, std::int32_t column,
                                                 const graph::logical_type& type) {
  cell added{kind,
             cell_class::int64,
             type.physical(),
             column,
             0,
             static_cast<std::uint32_t>(cells_.size()),
             type,
             0};
  if (kind == aggregate_kind::count)
    added.held = cell_class::int64;
  else if (type.physical() == physical_type::string && kind != aggregate_kind::sum)
    added.held = cell_class::string;
  else if (!is_fixed(type.physical()))
    return error(errc::type_mismatch, "aggregate does not work on this type: " + type.to_sql());
  else
    with_types(type.physical(), [&]<class Wide, class In>() {
      added.held = std::is_same_v<Wide, double>   ? cell_class::float64
                   : std::is_same_v<Wide, int128> ? cell_class::int128
                                                  : cell_class::int64;
    });
  cells_.push_back(std::move(added));
  return static_cast<std::int32_t>(cells_.size() - 1);
}

void builtin_aggregate::seal() {
  std::uint32_t offset = flags_bytes;
  for (auto& each : cells_) {
    if (each.held == cell_class::string) {
      each.offset = string_count_++;
      continue;
    }
    each.offset = offset;
    offset += each.held == cell_class::int128 ? 16U : 8U;
  }
  fixed_part_bytes_ = offset;
  is_variable_ = string_count_ > 0 || fixed_part_bytes_ > fixed_bytes_max;
  fixed_scratch_.resize(fixed_part_bytes_);
  other_fixed_scratch_.resize(fixed_part_bytes_);
}

graph::logical_type builtin_aggregate::accumulator_type() const {
  std::vector<graph::logical_type::field> fields;
  for (const auto& each : cells_)
    fields.push_back({"value" + std::to_string(fields.size()), each.type, ""});
  return graph::logical_type::row(std::move(fields));
}

bool builtin_aggregate::is_accumulator(byte_view bytes) const {
  if (!is_variable_)
    return bytes.size() >= fixed_part_bytes_;
  byte_reader in(bytes);
  if (!in.get_raw(fixed_part_bytes_))
    return bytes.empty();
  for (std::uint32_t i = 0; i < string_count_; ++i)
    if (!in.get_bytes())
      return false;
  return in.at_end();
}

void builtin_aggregate::add_fixed(const graph::record_batch& in,
                                  std::span<const std::uint32_t> rows,
                                  std::span<std::byte* const> accumulators,
                                  std::span<const std::uint8_t> /*fresh*/) {
  if (is_by_) {
    for (std::size_t i = 0; i < rows.size(); ++i)
      add_by(in, rows[i], accumulators[i], nullptr);
    return;
  }
  for (const auto& each : cells_)
    add_column(each, in, rows, accumulators);
}

void builtin_aggregate::add_column(const cell& to, const graph::record_batch& in,
                                   std::span<const std::uint32_t> rows,
                                   std::span<std::byte* const> accumulators) {
  if (to.kind == aggregate_kind::count) {
    const auto* source = to.column < 0 ? nullptr : &in.at(static_cast<std::size_t>(to.column));
    const bool nulls = source != nullptr && source->has_nulls();
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (nulls && source->is_null(rows[i]))
        continue;
      auto* word = accumulators[i] + to.offset;
      cell_bytes::store(word, load<std::int64_t>(word) + 1);
    }
    return;
  }
  with_types(to.input, [&]<class Wide, class In>() {
    fold_column<Wide, In>(to.kind, in.at(static_cast<std::size_t>(to.column)), rows, accumulators,
                          to.offset, to.flag);
  });
}

void builtin_aggregate::store(const cell& to, const graph::column& source, std::uint32_t row,
                              std::byte* fixed, std::vector<byte_string>* strings) {
  const bool null = source.is_null(row);
  set_has(fixed, to.flag, null);
  if (null)
    return;
  if (to.held == cell_class::string) {
    (*strings)[to.offset] = source.string_at(row);
    return;
  }
  with_types(to.input, [&]<class Wide, class In>() {
    cell_bytes::store(fixed + to.offset, static_cast<Wide>(source.values<In>()[row]));
  });
}

void builtin_aggregate::add_by(const graph::record_batch& in, std::uint32_t row, std::byte* fixed,
                               std::vector<byte_string>* strings) {
  const auto& order = cells_[0];
  const auto& source = in.at(static_cast<std::size_t>(order.column));
  if (source.is_null(row))
    return;
  bool better = !has(fixed, order.flag);
  if (!better && order.held == cell_class::string) {
    const auto value = source.string_at(row);
    const auto& best = (*strings)[order.offset];
    better = is_max_by_ ? byte_view(best) < value : value < byte_view(best);
  } else if (!better) {
    with_types(order.input, [&]<class Wide, class In>() {
      const auto value = static_cast<Wide>(source.values<In>()[row]);
      const auto best = load<Wide>(fixed + order.offset);
      better = is_max_by_ ? best < value : value < best;
    });
  }
  if (!better)
    return;
  for (const auto& each : cells_)
    store(each, in.at(static_cast<std::size_t>(each.column)), row, fixed, strings);
}

void builtin_aggregate::add_one(const cell& to, const graph::record_batch& in, std::uint32_t row,
                                std::byte* fixed, std::vector<byte_string>& strings) {
  if (to.held != cell_class::string) {
    const std::uint32_t rows[] = {row};
    std::byte* const accumulators[] = {fixed};
    add_column(to, in, rows, accumulators);
    return;
  }
  const auto& source = in.at(static_cast<std::size_t>(to.column));
  const bool filled = has(fixed, to.flag);
  const bool keeps_nulls = to.kind == aggregate_kind::first || to.kind == aggregate_kind::last;
  if ((to.kind == aggregate_kind::first && filled) || (!keeps_nulls && source.is_null(row)))
    return;
  if (filled && !keeps_nulls) {
    const auto value = source.string_at(row);
    const byte_view best = strings[to.offset];
    if (to.kind == aggregate_kind::min ? !(value < best) : !(best < value))
      return;
  }
  store(to, source, row, fixed, &strings);
}

void builtin_aggregate::merge_one(const cell& to, std::byte* into, const std::byte* from,
                                  std::vector<byte_string>* into_strings,
                                  const std::vector<byte_string>* from_strings) {
  if (to.kind == aggregate_kind::count) {
    cell_bytes::store(into + to.offset,
                      load<std::int64_t>(into + to.offset) + load<std::int64_t>(from + to.offset));
    return;
  }
  if (!has(from, to.flag))
    return;
  const bool filled = has(into, to.flag);
  if (to.kind == aggregate_kind::first && filled)
    return;
  if (is_null(from, to.flag)) {
    set_has(into, to.flag, true);
    return;
  }
  if (to.held == cell_class::string) {
    const auto& value = (*from_strings)[to.offset];
    auto& best = (*into_strings)[to.offset];
    if (filled && to.kind == aggregate_kind::min && !(value < best))
      return;
    if (filled && to.kind == aggregate_kind::max && !(best < value))
      return;
    best = value;
    set_has(into, to.flag, false);
    return;
  }
  with_types(to.input, [&]<class Wide, class In>() {
    fold<Wide>(to.kind, into, to.offset, to.flag, load<Wide>(from + to.offset));
  });
}

void builtin_aggregate::merge_fixed(std::byte* into, const std::byte* from) {
  if (!is_by_) {
    for (const auto& each : cells_)
      merge_one(each, into, from, nullptr, nullptr);
    return;
  }
  const auto& order = cells_[0];
  if (!has(from, order.flag))
    return;
  bool better = !has(into, order.flag);
  if (!better)
    with_types(order.input, [&]<class Wide, class In>() {
      const auto value = load<Wide>(from + order.offset);
      const auto best = load<Wide>(into + order.offset);
      better = is_max_by_ ? best < value : value < best;
    });
  if (better)
    std::memcpy(into, from, fixed_part_bytes_);
}

bool builtin_aggregate::gives_null(const cell& from, const std::byte* fixed) {
  if (from.kind == aggregate_kind::count)
    return false;
  if (!has(fixed, from.flag) || is_null(fixed, from.flag))
    return true;
  return from.digits > 0 && !graph::fits_precision(load<int128>(fixed + from.offset), from.digits);
}

void builtin_aggregate::append_cell(const cell& from, physical_type physical,
                                    const std::byte* fixed, const std::vector<byte_string>* strings,
                                    graph::column_builder& out) const {
  if (gives_null(from, fixed))
    return out.append_null();
  if (from.held == cell_class::string)
    return out.append_string((*strings)[from.offset]);
  with_types(physical, [&]<class Unused, class Out>() {
    switch (from.held) {
    case cell_class::float64:
      return out.append(static_cast<Out>(load<double>(fixed + from.offset)));
    case cell_class::int128:
      return out.append(static_cast<Out>(load<int128>(fixed + from.offset)));
    default:
      return out.append(static_cast<Out>(load<std::int64_t>(fixed + from.offset)));
    }
  });
}

void builtin_aggregate::append_column(const cell& from, physical_type physical,
                                      std::span<const std::byte* const> accumulators,
                                      graph::column_builder& out) {
  const auto append_all = [&]<class Wide, class Out>() {
    for (const auto* fixed : accumulators) {
      if (gives_null(from, fixed))
        out.append_null();
      else
        out.append(static_cast<Out>(load<Wide>(fixed + from.offset)));
    }
  };
  with_types(physical, [&]<class Unused, class Out>() {
    switch (from.held) {
    case cell_class::float64:
      return append_all.template operator()<double, Out>();
    case cell_class::int128:
      return append_all.template operator()<int128, Out>();
    default:
      return append_all.template operator()<std::int64_t, Out>();
    }
  });
}

void builtin_aggregate::result_fixed(const graph::record_batch& keys,
                                     std::span<const std::byte* const> accumulators,
                                     graph::batch_builder& out) {
  std::vector<std::uint32_t> rows;
  for (std::size_t j = 0; j < outputs_.size(); ++j) {
    auto& column = out.column(j);
    const auto& source = outputs_[j];
    if (source.key >= 0) {
      if (rows.empty())
        for (std::size_t i = 0; i < accumulators.size(); ++i)
          rows.push_back(keys.row_at(i));
      column.append_from(keys.at(static_cast<std::size_t>(source.key)), rows);
      continue;
    }
    append_column(cells_[static_cast<std::size_t>(source.cell)], source.physical, accumulators,
                  column);
  }
  out.end_rows(accumulators.size());
}

void builtin_aggregate::open_variable(byte_view accumulator, std::byte* fixed,
                                      std::vector<byte_string>& strings) const {
  strings.resize(string_count_);
  for (auto& each : strings)
    each.clear();
  if (accumulator.empty()) {
    std::memset(fixed, 0, fixed_part_bytes_);
    return;
  }
  byte_reader in(accumulator);
  const auto head = in.get_raw(fixed_part_bytes_);
  HEADRACE_ASSERT(head.has_value(), "variable accumulator shorter than its fixed part");
  std::memcpy(fixed, head->data(), fixed_part_bytes_);
  for (auto& each : strings) {
    const auto text = in.get_bytes();
    HEADRACE_ASSERT(text.has_value(), "variable accumulator ends in a string");
    each = *text;
  }
}

void builtin_aggregate::close_variable(const std::byte* fixed,
                                       const std::vector<byte_string>& strings,
                                       byte_string& accumulator) const {
  accumulator.assign(reinterpret_cast<const char*>(fixed), fixed_part_bytes_);
  byte_writer out(accumulator);
  for (const auto& each : strings)
    out.put_bytes(each);
}

void builtin_aggregate::add_variable(const graph::record_batch& in, std::uint32_t row,
                                     byte_string& accumulator) {
  auto* fixed = fixed_scratch_.data();
  open_variable(accumulator, fixed, strings_scratch_);
  if (is_by_)
    add_by(in, row, fixed, &strings_scratch_);
  else
    for (const auto& each : cells_)
      add_one(each, in, row, fixed, strings_scratch_);
  close_variable(fixed, strings_scratch_, accumulator);
}

void builtin_aggregate::merge_variable(byte_string& into, byte_view from) {
  auto* fixed = fixed_scratch_.data();
  auto* other = other_fixed_scratch_.data();
  open_variable(into, fixed, strings_scratch_);
  open_variable(from, other, other_strings_scratch_);
  if (!is_by_) {
    for (const auto& each : cells_)
      merge_one(each, fixed, other, &strings_scratch_, &other_strings_scratch_);
    close_variable(fixed, strings_scratch_, into);
    return;
  }
  const auto& order = cells_[0];
  if (!has(other, order.flag))
    return;
  bool better = !has(fixed, order.flag);
  if (!better && order.held == cell_class::string) {
    const auto& value = other_strings_scratch_[order.offset];
    const auto& best = strings_scratch_[order.offset];
    better = is_max_by_ ? best < value : value < best;
  } else if (!better) {
    with_types(order.input, [&]<class Wide, class In>() {
      const auto value = load<Wide>(other + order.offset);
      const auto best = load<Wide>(fixed + order.offset);
      better = is_max_by_ ? best < value : value < best;
    });
  }
  if (better)
    into.assign(from);
}

void builtin_aggregate::result_variable(const graph::record_batch& keys, std::size_t row,
                                        byte_view accumulator, graph::batch_builder& out) {
  auto* fixed = fixed_scratch_.data();
  open_variable(accumulator, fixed, strings_scratch_);
  for (std::size_t j = 0; j < outputs_.size(); ++j) {
    const auto& source = outputs_[j];
    if (source.key >= 0)
      out.column(j).append_from(keys.at(static_cast<std::size_t>(source.key)), row);
    else
      append_cell(cells_[static_cast<std::size_t>(source.cell)], source.physical, fixed,
                  &strings_scratch_, out.column(j));
  }
  out.end_row();
}

} // namespace headrace::task
