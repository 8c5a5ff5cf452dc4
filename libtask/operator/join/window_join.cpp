#include "libtask/operator/join/join_sides.hpp"
#include "libtask/operator/join/timed_sides.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace headrace::task {
namespace {

using graph::join_kind;
using graph::row_kind;
using state::state_namespace;

constexpr std::size_t keys_a_scan = 256;

/// Rows lie in spaces by the end of their window. A window that is over is gone through by its left
/// keys; of an outer right side, what they have left is gone through then.
class window_join final : public stream_operator {
public:
  window_join(const graph::operator_node& node, const operator_context& context, join_pairs pairs)
      : sides_(node, context, std::move(pairs)),
        left_type_(std::make_shared<const graph::logical_type>(node.input_types[0])),
        left_rows_(left_type_, context.memory) {
    for (std::size_t i = 0; i < node.input_types[0].child_count(); ++i)
      builders_.push_back(&left_rows_.column(i));
    key_places_.resize(sides_.schema.column_count());
    std::iota(key_places_.begin(), key_places_.end(), 0);
  }

  std::optional<state::key_schema> key_schema() const override { return sides_.schema; }
  status open(const operator_states& states) override { return sides_.open(states); }

  status add(std::int32_t input, const graph::record_batch& rows) override {
    sides_.begin(static_cast<std::size_t>(input), rows);
    const bool keeps_all = is_outer(sides_.spec.join.kind, sides_.side) ||
                           (sides_.spec.join.kind == join_kind::anti && sides_.side == 0);
    changes_.clear();
    indices_.clear();
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const auto end = sides_.time_of(i);
      if (!end || is_over(*end)) {
        sides_.metrics.late_records.add(1);
        continue;
      }
      if (!keeps_all && sides_.places[i] == join_pairs::none)
        continue;
      changes_.push_back({rows.row_at(i), {}, 0, false, *end});
      indices_.push_back(i);
    }
    auto out = sides_.store(changes_, indices_);
    sides_.in = {};
    return out;
  }

  status advance(graph::watermark mark) override {
    sides_.watermark_ms = std::max(sides_.watermark_ms, mark.time_ms);
    return {};
  }

  result<drain_result> drain(operator_output& out, const drain_budget& budget) override {
    if (!firing_) {
      firing_ = next_window();
      if (!firing_)
        return drain_result::done;
      left_.emplace(sides_.rows[0].make_piece());
      key_ = 0;
      left_offset_ = 0;
      chunk_.clear();
      row_ = 0;
      is_left_done_ = false;
    }
    graph::record_batch batch;
    bool has_more = true;
    if (!is_left_done_) {
      HEADRACE_TRY(batch, join_piece(budget));
    } else if (is_outer(sides_.spec.join.kind, 1)) {
      HEADRACE_TRY(batch, sides_.unmatched[1].take(sides_.pairs, budget, has_more));
    } else {
      has_more = false;
    }
    if (!batch.is_empty())
      out.emit(with_time(batch));
    if (!has_more) {
      for (auto& each : sides_.rows)
        HEADRACE_CHECK(each.drop(*firing_));
      firing_.reset();
    }
    return drain_result::more;
  }

private:
  bool is_over(std::int64_t end_ms) const { return end_ms - 1 <= sides_.watermark_ms; }

  /// The oldest one that is over.
  std::optional<state_namespace> next_window() const {
    std::optional<state_namespace> out;
    for (const auto& each : sides_.rows)
      if (const auto first = each.first_space(); first && (!out || *first < *out))
        out = first;
    return out && is_over(*out) ? out : std::nullopt;
  }

  graph::record_batch with_time(const graph::record_batch& batch) const {
    auto times = graph::buffer::allocate(batch.row_count() * sizeof(std::int64_t));
    std::fill_n(times->mutable_as<std::int64_t>(), batch.row_count(), *firing_ - 1);
    return batch.with_timestamps(std::move(times));
  }

  /// Joins the next pairs of the window.
  result<graph::record_batch> join_piece(const drain_budget& budget) {
    if (row_ == chunk_.size()) {
      HEADRACE_TRY(const bool has_rows, next_chunk(budget));
      if (!has_rows) {
        is_left_done_ = true;
        sides_.unmatched[1].begin(*firing_);
        return graph::record_batch();
      }
    }
    auto& pairs = sides_.pairs;
    pairs.clear();
    pair_places_.clear();
    pair_offsets_.clear();
    ends_.clear();
    first_ = row_;
    joined_entry entry;
    for (; row_ < chunk_.size(); ++row_, right_offset_ = 0) {
      const auto place = chunk_[row_];
      while (place != join_pairs::none && !pairs.is_full(budget) &&
             sides_.rows[1].next(place, right_offset_, entry)) {
        pairs.add(static_cast<std::uint32_t>(row_), entry.row);
        pair_places_.push_back(place);
        pair_offsets_.push_back(entry.at);
      }
      if (pairs.is_full(budget))
        break;
      ends_.push_back(pairs.size());
    }
    HEADRACE_CHECK(pairs.check({sides_.time.wall_ms(), sides_.watermark_ms}));
    decide();
    return pairs.take();
  }

  /// Takes further left rows, perhaps of further keys; they are one batch.
  result<bool> next_chunk(const drain_budget& budget) {
    chunk_.clear();
    row_ = 0;
    std::vector<byte_view> encoded;
    std::size_t bytes = 0;
    joined_entry entry;
    const auto is_full = [&] {
      return encoded.size() >= budget.rows_max || bytes >= budget.bytes_max;
    };
    while (encoded.empty()) {
      if (key_ == left_->found.size()) {
        if (left_->cursor.done)
          break;
        HEADRACE_CHECK(next_keys());
      }
      while (key_ < left_->found.size() && !is_full()) {
        const auto rows = left_->found.variable[key_];
        if (sides_.rows[0].next(rows, left_offset_, entry)) {
          encoded.push_back(entry.row);
          bytes += entry.row.size();
          chunk_.push_back(key_lookups_[key_]);
        } else {
          ++key_;
          left_offset_ = 0;
        }
      }
    }
    if (encoded.empty()) {
      HEADRACE_CHECK(sides_.rows[1].finish());
      return false;
    }
    HEADRACE_CHECK(graph::decode_keys(encoded, builders_));
    left_rows_.end_rows(encoded.size());
    sides_.pairs.begin(left_rows_.finish(), 0);
    matches_ = 0;
    right_offset_ = 0;
    return true;
  }

  /// Scans further left keys, and looks up the right rows of all of them.
  status next_keys() {
    HEADRACE_CHECK(sides_.rows[1].finish());
    HEADRACE_CHECK(sides_.rows[0].scan(*firing_, keys_a_scan, *left_));
    key_ = 0;
    left_offset_ = 0;
    HEADRACE_TRY(const auto keys, left_->found.keys.to_batch());
    find_matchable(keys, key_places_, sides_.spec.join.null_safe, sides_.lookups, key_lookups_);
    spaces_.assign(sides_.lookups.size(), *firing_);
    return sides_.rows[1].find(left_->found.keys, sides_.lookups, spaces_, sides_.time.wall_ms());
  }

  void decide() {
    auto& pairs = sides_.pairs;
    const auto kind = sides_.spec.join.kind;
    const bool counts_right = is_outer(kind, 1);
    std::size_t pair = 0;
    const auto take = [&](std::size_t end) {
      for (; pair < end; ++pair) {
        if (!pairs.passes(pair))
          continue;
        ++matches_;
        if (!is_left_alone(kind))
          pairs.emit_pair(pair, row_kind::insert);
        if (counts_right)
          sides_.rows[1].set_matches(pair_places_[pair], pair_offsets_[pair], 1);
      }
    };
    for (std::size_t i = 0; i < ends_.size(); ++i) {
      take(ends_[i]);
      const bool has_match = std::exchange(matches_, 0) > 0;
      if (is_left_alone(kind) ? has_match == (kind == join_kind::semi)
                              : !has_match && is_outer(kind, 0))
        pairs.emit_own(static_cast<std::uint32_t>(first_ + i), row_kind::insert);
    }
    take(pairs.size());
  }

  timed_sides sides_;
  graph::row_type_ptr left_type_;
  graph::batch_builder left_rows_;
  std::vector<graph::column_builder*> builders_;
  std::vector<std::int32_t> key_places_; ///< 0, 1, …: of a batch of keys
  std::vector<join_rows::change> changes_;
  std::vector<std::size_t> indices_;

  // Of the window that fires.
  std::optional<state_namespace> firing_;
  bool is_left_done_ = false;
  std::optional<join_rows::piece> left_;
  std::vector<std::uint32_t> key_lookups_; ///< by key of the piece: where its right rows are
  std::vector<state_namespace> spaces_;
  std::size_t key_ = 0;              ///< of the piece …
  std::size_t left_offset_ = 0;      ///< … and where among its rows
  std::vector<std::uint32_t> chunk_; ///< by row of the chunk: where its right rows are
  std::size_t row_ = 0;              ///< of the chunk …
  std::size_t right_offset_ = 0;     ///< … and where among the right rows
  std::uint64_t matches_ = 0;        ///< of that row
  std::size_t first_ = 0;
  std::vector<std::uint32_t> pair_places_;
  std::vector<std::size_t> pair_offsets_;
  std::vector<std::size_t> ends_;
};

} // namespace

result<std::unique_ptr<stream_operator>> make_window_join(const graph::operator_node& node,
                                                          const operator_context& context,
                                                          join_pairs pairs) {
  return std::unique_ptr<stream_operator>(
      std::make_unique<window_join>(node, context, std::move(pairs)));
}

} // namespace headrace::task
