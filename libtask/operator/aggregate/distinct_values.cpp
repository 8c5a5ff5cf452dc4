#include "libtask/operator/aggregate/distinct_values.hpp"

#include "libtask/operator/aggregate/cell_bytes.hpp"
#include "libtask/operator/aggregate/group_calls.hpp"
#include "libtask/operator/aggregate/value_bytes.hpp"
#include "libgraph/data/batch_builder.hpp"
#include "libgraph/data/gather.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace headrace::task {
namespace {

using cell_bytes::load;
using cell_bytes::store;

constexpr std::size_t word_bytes = 8;
constexpr std::size_t word_bits = 64;
constexpr std::size_t adopted_groups = 256;
constexpr std::size_t adopted_rows = 4096;

} // namespace

distinct_values::distinct_values(std::int32_t column, const graph::logical_type& type,
                                 bool takes_nulls, bool retracts)
    : column_(column), type_(type.nullable()), takes_nulls_(takes_nulls), retracts_(retracts) {}

status distinct_values::open(state::keyed_backend& backend,
                             std::span<const std::int32_t> key_columns) {
  state::state_description wanted;
  wanted.name = "distinct-" + std::to_string(calls_.front());
  std::vector<graph::logical_type::field> parts;
  for (const auto call : calls_)
    parts.push_back({"aggregate " + std::to_string(call),
                     retracts_ ? graph::logical_type::bigint() : graph::logical_type::boolean(),
                     {}});
  wanted.value_type = state::bytes_of(std::move(parts));
  wanted.entry_key_type = type_;
  wanted.layout = state::value_layout::fixed(
      word_bytes * (retracts_ ? calls_.size() : (calls_.size() + word_bits - 1) / word_bits));
  HEADRACE_TRY(table_, backend.open_table(wanted));
  columns_.assign(key_columns.begin(), key_columns.end());
  columns_.push_back(column_);
  keys_.emplace(state::keys_of(backend.key(), wanted), backend.max_parallelism());
  return {};
}

status distinct_values::take(const graph::record_batch& in, std::span<const std::uint32_t> rows,
                             std::span<std::uint8_t* const> counts) {
  const auto& values = in.at(static_cast<std::size_t>(column_));
  const bool leaves_nulls = !takes_nulls_ && values.has_nulls();
  taken_.clear();
  rows_.clear();
  for (std::uint32_t i = 0; i < rows.size(); ++i) {
    std::uint8_t any = 0;
    for (const auto* each : counts)
      any |= each[i];
    if (any != 0 && leaves_nulls && values.is_null(rows[i])) {
      for (auto* each : counts)
        each[i] = 0;
      any = 0;
    }
    if (any == 0)
      continue;
    taken_.push_back(i);
    rows_.push_back(rows[i]);
  }
  keys_->assign(in, columns_);
  HEADRACE_CHECK(table_->locate(*keys_, rows_, 0, state::access::insert, found_));
  if (!retracts_) {
    take_bits(counts);
    return table_->write_back(found_);
  }
  take_counts(in, counts);
  HEADRACE_CHECK(table_->erase(found_, emptied_));
  return table_->write_back(found_);
}

void distinct_values::take_bits(std::span<std::uint8_t* const> counts) {
  for (std::size_t first = 0; first < counts.size(); first += word_bits) {
    const auto of_word = counts.subspan(first, std::min(word_bits, counts.size() - first));
    for (std::size_t at = 0; at < taken_.size(); ++at) {
      auto* seen = found_.values[at] + first / word_bits * word_bytes;
      const auto before = load<std::uint64_t>(seen);
      auto after = before;
      for (std::size_t k = 0; k < of_word.size(); ++k) {
        auto& takes = of_word[k][taken_[at]];
        after |= std::uint64_t{takes} << k;
        takes = static_cast<std::uint8_t>(takes & ~(before >> k));
      }
      if (after != before)
        store(seen, after);
    }
  }
}

void distinct_values::take_counts(const graph::record_batch& in,
                                  std::span<std::uint8_t* const> counts) {
  for (std::size_t at = 0; at < taken_.size(); ++at) {
    const bool goes = is_retracted(in, rows_[at]);
    for (std::size_t k = 0; k < counts.size(); ++k) {
      auto& takes = counts[k][taken_[at]];
      if (takes == 0)
        continue;
      auto* seen = found_.values[at] + k * word_bytes;
      const auto before = load<std::int64_t>(seen);
      if (goes && before == 0) { // what was not there
        takes = 0;
        continue;
      }
      const auto after = goes ? before - 1 : before + 1;
      store(seen, after);
      takes = (goes ? after : before) == 0 ? 1 : 0;
    }
  }
  emptied_.clear();
  for (std::uint32_t at = 0; at < taken_.size(); ++at) {
    bool is_empty = true;
    for (std::size_t k = 0; is_empty && k < counts.size(); ++k)
      is_empty = load<std::int64_t>(found_.values[at] + k * word_bytes) == 0;
    if (is_empty)
      emptied_.push_back(at);
  }
}

status distinct_values::adopt(state::keyed_backend& backend, state::keyed_table& groups,
                              graph::map_access& from, std::size_t call) {
  auto piece = groups.make_piece();
  std::vector<adopted> entries;
  for (state::scan_cursor cursor; !cursor.done;) {
    HEADRACE_CHECK(groups.scan(0, cursor, adopted_groups, piece));
    if (piece.size() == 0)
      continue;
    entries.clear();
    for (std::uint32_t i = 0; i < piece.size(); ++i) {
      backend.set_current_key(piece.keys, i);
      std::pair<std::vector<adopted>*, std::uint32_t> to(&entries, i);
      from.for_each(
          [](void* context, byte_view value, byte_view count) {
            const auto& [list, group] = *static_cast<decltype(to)*>(context);
            list->push_back({group, byte_string(value), value_bytes::count_of(count)});
            return true;
          },
          &to);
    }
    HEADRACE_TRY(const auto keys, piece.keys.to_batch());
    for (std::size_t first = 0; first < entries.size(); first += adopted_rows)
      HEADRACE_CHECK(put_adopted(
          keys, std::span(entries).subspan(first, std::min(adopted_rows, entries.size() - first)),
          call));
  }
  return {};
}

status distinct_values::put_adopted(const graph::record_batch& groups,
                                    std::span<const adopted> entries, std::size_t call) {
  std::vector<std::uint32_t> of_groups;
  graph::column_builder values(type_);
  for (const auto& each : entries) {
    of_groups.push_back(each.group);
    byte_view value(each.value);
    if (takes_nulls_ && value.starts_with('n')) {
      values.append_null();
      continue;
    }
    if (takes_nulls_)
      value.remove_prefix(1);
    value_bytes::append(value, values);
  }
  std::vector<graph::column_ptr> columns;
  for (const auto& each : groups.columns())
    columns.push_back(graph::gather_column(*each, of_groups));
  columns.push_back(values.finish());
  const graph::record_batch batch(keys_->schema().type(), entries.size(), std::move(columns));
  std::vector<std::int32_t> all(batch.column_count());
  std::iota(all.begin(), all.end(), 0);
  rows_.resize(entries.size());
  std::iota(rows_.begin(), rows_.end(), 0U);
  keys_->assign(batch, all);
  HEADRACE_CHECK(table_->locate(*keys_, rows_, 0, state::access::insert, found_));
  for (std::size_t i = 0; i < entries.size(); ++i) {
    auto* seen = found_.values[i] + (retracts_ ? call : call / word_bits) * word_bytes;
    store(seen, retracts_ ? static_cast<std::uint64_t>(entries[i].count)
                          : load<std::uint64_t>(seen) | std::uint64_t{1} << call % word_bits);
  }
  return table_->write_back(found_);
}

} // namespace headrace::task
