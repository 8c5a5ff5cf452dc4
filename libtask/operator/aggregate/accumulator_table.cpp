#include "libtask/operator/aggregate/accumulator_table.hpp"

#include "libactors/base/ids.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>

namespace headrace::task {
namespace {

std::size_t padded(std::size_t width) { return (width + 7U) & ~std::size_t{7}; }

bool all_equal(std::span<const state::state_namespace> spaces) {
  return std::all_of(spaces.begin(), spaces.end(),
                     [first = spaces.front()](auto each) { return each == first; });
}

} // namespace

result<accumulator_table> accumulator_table::open(state::keyed_backend& backend,
                                                  const std::string& name,
                                                  graph::aggregate_function& function) {
  state::state_description wanted;
  wanted.name = name;
  wanted.kind = state::table_kind::operator_rows;
  wanted.value_type = function.accumulator_type();
  wanted.entry_key_type = graph::logical_type::null();
  if (function.fixed_bytes() > 0)
    wanted.layout = state::value_layout::fixed(padded(function.fixed_bytes()));
  HEADRACE_TRY(auto* table, backend.open_table(wanted));
  return accumulator_table(*table, function);
}

status accumulator_table::fold(const graph::record_batch& in, const state::key_batch& keys,
                               std::span<const std::uint32_t> rows,
                               std::span<const state::state_namespace> spaces) {
  if (rows.empty())
    return {};
  if (all_equal(spaces))
    return fold(in, keys, rows, spaces.front());
  HEADRACE_CHECK(table_->locate(keys, rows, spaces, state::access::insert, found_));
  return fold_found(in, rows);
}

status accumulator_table::fold(const graph::record_batch& in, const state::key_batch& keys,
                               std::span<const std::uint32_t> rows, state::state_namespace space) {
  HEADRACE_CHECK(table_->locate(keys, rows, space, state::access::insert, found_));
  return fold_found(in, rows);
}

/// Folds into what was just located.
status accumulator_table::fold_found(const graph::record_batch& in,
                                     std::span<const std::uint32_t> rows) {
  if (function_->fixed_bytes() > 0)
    function_->add_fixed(in, rows, found_.values, found_.fresh);
  else
    HEADRACE_CHECK(fold_variable(in, rows));
  return table_->write_back(found_);
}

status accumulator_table::fold_variable(const graph::record_batch& in,
                                        std::span<const std::uint32_t> rows) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    accumulator_.assign(table_->get(found_, i).value_or(byte_view()));
    function_->add_variable(in, rows[i], accumulator_);
    HEADRACE_CHECK(table_->put(found_, i, accumulator_));
  }
  return {};
}

/// Counts for each located row how many rows before it have the same accumulator.
void accumulator_table::rank_occurrences() {
  const std::size_t count = found_.size();
  const std::size_t slots = std::bit_ceil(std::max<std::size_t>(2 * count, 16));
  seen_tokens_.assign(slots, state::located_rows::absent);
  seen_counts_.assign(slots, 0);
  ranks_.resize(count);
  rank_max_ = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const auto token = found_.tokens[i];
    std::size_t slot = mix64(token) & (slots - 1);
    while (seen_tokens_[slot] != token && seen_tokens_[slot] != state::located_rows::absent)
      slot = (slot + 1) & (slots - 1);
    seen_tokens_[slot] = token;
    ranks_[i] = seen_counts_[slot]++;
    rank_max_ = std::max(rank_max_, ranks_[i]);
  }
}

/// Sorts the places of the located rows by rank, keeping their order within a rank.
void accumulator_table::order_by_rank() {
  round_begins_.assign(rank_max_ + std::size_t{2}, 0);
  for (const auto rank : ranks_)
    ++round_begins_[rank + std::size_t{1}];
  std::partial_sum(round_begins_.begin(), round_begins_.end(), round_begins_.begin());
  order_.resize(ranks_.size());
  for (std::uint32_t i = 0; i < ranks_.size(); ++i)
    order_[round_begins_[ranks_[i]]++] = i;
  // Each begin has moved to its end.
  std::copy_backward(round_begins_.begin(), round_begins_.end() - 1, round_begins_.end());
  round_begins_.front() = 0;
}

status accumulator_table::fold_and_emit(const graph::record_batch& in, const state::key_batch& keys,
                                        std::span<const std::uint32_t> rows,
                                        state::state_namespace space,
                                        const graph::record_batch& key_rows,
                                        graph::batch_builder& out) {
  HEADRACE_CHECK(table_->locate(keys, rows, space, state::access::insert, found_));
  const std::size_t width = function_->fixed_bytes();
  if (width == 0) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      accumulator_.assign(table_->get(found_, i).value_or(byte_view()));
      function_->add_variable(in, rows[i], accumulator_);
      HEADRACE_CHECK(table_->put(found_, i, accumulator_));
      function_->result_variable(key_rows, i, accumulator_, out);
    }
    return table_->write_back(found_);
  }

  // One round for each repetition of a key, so that within a round no accumulator comes twice and
  // all rows of it are folded at once; what each row leaves behind is copied.
  rank_occurrences();
  order_by_rank();
  const auto stride = padded(width);
  copies_.resize(rows.size() * stride);
  copy_pointers_.resize(rows.size());
  for (std::uint32_t round = 0; round <= rank_max_; ++round) {
    const auto places = std::span(order_).subspan(round_begins_[round],
                                                  round_begins_[round + 1] - round_begins_[round]);
    round_rows_.clear();
    round_values_.clear();
    round_fresh_.clear();
    for (const auto i : places) {
      round_rows_.push_back(rows[i]);
      round_values_.push_back(found_.values[i]);
      round_fresh_.push_back(round == 0 ? found_.fresh[i] : std::uint8_t{0});
    }
    function_->add_fixed(in, round_rows_, round_values_, round_fresh_);
    for (const auto i : places) {
      auto* copy = copies_.data() + i * stride;
      std::memcpy(copy, found_.values[i], width);
      copy_pointers_[i] = copy;
    }
  }
  function_->result_fixed(key_rows, copy_pointers_, out);
  return table_->write_back(found_);
}

void accumulator_table::emit(const state::scanned_rows& piece, const graph::record_batch& key_rows,
                             graph::batch_builder& out) {
  if (function_->fixed_bytes() > 0) {
    copy_pointers_.assign(piece.fixed.begin(), piece.fixed.end());
    function_->result_fixed(key_rows, copy_pointers_, out);
    return;
  }
  for (std::size_t i = 0; i < piece.size(); ++i)
    function_->result_variable(key_rows, i, piece.variable[i], out);
}

std::size_t accumulator_table::emit_some(const state::scanned_rows& piece, std::size_t from,
                                         const graph::record_batch& key_rows, std::size_t bytes_max,
                                         graph::batch_builder& out) {
  if (function_->fixed_bytes() > 0) { // small, so all at once
    emit(piece, key_rows, out);
    return piece.size();
  }
  auto at = from;
  do {
    function_->result_variable(key_rows, at, piece.variable[at], out);
    ++at;
  } while (at < piece.size() && out.size_bytes() < bytes_max);
  return at - from;
}

status accumulator_table::look_up(const state::key_batch& keys, std::span<const std::uint32_t> rows,
                                  state::state_namespace space, state::scanned_rows& piece) {
  HEADRACE_CHECK(table_->locate(keys, rows, space, state::access::read, found_));
  rank_occurrences();
  piece.keys.clear();
  piece.fixed.clear();
  piece.variable.clear();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (ranks_[i] > 0 || found_.is_absent(i))
      continue;
    piece.keys.append(keys.at(rows[i]));
    if (function_->fixed_bytes() > 0)
      piece.fixed.push_back(found_.values[i]);
    else
      piece.variable.push_back(table_->get(found_, i).value_or(byte_view()));
  }
  return {};
}

status accumulator_table::adopt(const state::scanned_rows& piece, state::state_namespace space) {
  all_rows_.resize(piece.size());
  std::iota(all_rows_.begin(), all_rows_.end(), 0U);
  HEADRACE_CHECK(table_->locate(piece.keys, all_rows_, space, state::access::insert, found_));
  for (std::size_t i = 0; i < piece.size(); ++i) {
    if (function_->fixed_bytes() > 0)
      std::memcpy(found_.values[i], piece.fixed[i], function_->fixed_bytes());
    else
      HEADRACE_CHECK(table_->put(found_, i, piece.variable[i]));
  }
  return table_->write_back(found_);
}

} // namespace headrace::task
