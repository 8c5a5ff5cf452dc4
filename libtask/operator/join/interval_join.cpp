#include "libtask/operator/join/join_sides.hpp"
#include "libtask/operator/join/timed_sides.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace headrace::task {
namespace {

using graph::row_kind;
using state::state_namespace;

constexpr std::int64_t bucket_ms_least = 1000;

std::int64_t floor_div(std::int64_t value, std::int64_t by) {
  return value / by - (value % by < 0 ? 1 : 0);
}

/// Rows lie in buckets of time, each some part of the distance that is searched.
class interval_join final : public stream_operator {
public:
  interval_join(const graph::operator_node& node, const operator_context& context, join_pairs pairs)
      : sides_(node, context, std::move(pairs)),
        bucket_ms_(
            std::max(bucket_ms_least, (sides_.spec.most_ms - sides_.spec.least_ms) / 2 + 1)) {}

  std::optional<state::key_schema> key_schema() const override { return sides_.schema; }
  status open(const operator_states& states) override { return sides_.open(states); }

  status add(std::int32_t input, const graph::record_batch& rows) override {
    sides_.begin(static_cast<std::size_t>(input), rows);
    sides_.pairs.begin(rows, sides_.side);
    // A row looks into each bucket that may have a row near enough.
    const bool is_left = sides_.side == 0;
    const auto first_ms = is_left ? sides_.spec.least_ms : -sides_.spec.most_ms;
    const auto last_ms = is_left ? sides_.spec.most_ms : -sides_.spec.least_ms;
    looked_up_.clear();
    spaces_.clear();
    begins_.assign(1, 0);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const auto time = sides_.time_of(i);
      if (time && sides_.places[i] != join_pairs::none) {
        const auto last = floor_div(*time + last_ms, bucket_ms_);
        for (auto space = floor_div(*time + first_ms, bucket_ms_); space <= last; ++space) {
          looked_up_.push_back(rows.row_at(i));
          spaces_.push_back(space);
        }
      }
      begins_.push_back(looked_up_.size());
    }
    row_matches_.assign(rows.size(), 0);
    at_ = 0;
    lookup_ = 0;
    offset_ = 0;
    is_busy_ = true;
    return other().find(sides_.keys, looked_up_, spaces_, sides_.time.wall_ms());
  }

  status advance(graph::watermark mark) override {
    sides_.watermark_ms = std::max(sides_.watermark_ms, mark.time_ms);
    passing_ = mark;
    return {};
  }
  bool forwards_watermarks() const override { return false; }
  status change_status(graph::watermark_status state) override {
    status_ = state;
    return {};
  }

  result<drain_result> drain(operator_output& out, const drain_budget& budget) override {
    if (is_busy_)
      return join_batch(out, budget);
    for (std::size_t side = 0; side < 2; ++side) {
      HEADRACE_TRY(const bool has_more, expire(side, out, budget));
      if (has_more)
        return drain_result::more;
    }
    if (const auto mark = std::exchange(passing_, std::nullopt))
      if (const auto held = held_back_ms(mark->time_ms))
        out.emit(graph::watermark{*held});
    if (const auto state = std::exchange(status_, std::nullopt))
      out.emit(*state);
    return drain_result::done;
  }

private:
  /// A row leaves with times that lie behind the watermark: so far is it held back.
  std::optional<std::int64_t> held_back_ms(std::int64_t mark_ms) const {
    if (mark_ms == graph::watermark::end)
      return mark_ms;
    auto by_ms = std::max({std::int64_t{0}, -sides_.spec.least_ms, sides_.spec.most_ms});
    // A row without a match leaves with all of its bucket.
    if (is_outer(sides_.spec.join.kind, 0) || is_outer(sides_.spec.join.kind, 1))
      by_ms += bucket_ms_;
    std::int64_t out = 0;
    if (__builtin_sub_overflow(mark_ms, by_ms, &out) || out <= graph::watermark::none)
      return std::nullopt;
    return out;
  }
  join_rows& other() { return sides_.rows[1 - sides_.side]; }

  /// When no row may come any more that is near enough to one of the bucket.
  std::int64_t expiry_ms(std::size_t side, state_namespace bucket) const {
    return (bucket + 1) * bucket_ms_ - 1 +
           (side == 0 ? sides_.spec.most_ms : -sides_.spec.least_ms);
  }
  bool is_expired(std::size_t side, state_namespace bucket) const {
    return expiry_ms(side, bucket) <= sides_.watermark_ms;
  }

  result<drain_result> join_batch(operator_output& out, const drain_budget& budget) {
    collect(budget);
    HEADRACE_CHECK(sides_.pairs.check({sides_.time.wall_ms(), sides_.watermark_ms}));
    decide();
    HEADRACE_TRY(auto batch, sides_.pairs.take());
    if (!batch.is_empty())
      out.emit(std::move(batch));
    if (at_ < sides_.in.size())
      return drain_result::more;
    HEADRACE_CHECK(other().finish());
    HEADRACE_CHECK(store());
    is_busy_ = false;
    sides_.pairs.end();
    sides_.in = {};
    return drain_result::more; // what has expired comes next
  }

  void collect(const drain_budget& budget) {
    auto& pairs = sides_.pairs;
    pairs.clear();
    pair_lookups_.clear();
    pair_offsets_.clear();
    ends_.clear();
    first_ = at_;
    joined_entry entry;
    for (; at_ < sides_.in.size(); ++at_) {
      const auto row = sides_.in.row_at(at_);
      for (lookup_ = std::max(lookup_, begins_[at_]); lookup_ < begins_[at_ + 1];
           offset_ = 0, ++lookup_)
        while (other().next(lookup_, offset_, entry)) {
          pairs.add(row, entry.row);
          pair_lookups_.push_back(lookup_);
          pair_offsets_.push_back(entry.at);
          if (pairs.is_full(budget))
            return;
        }
      ends_.push_back(pairs.size());
    }
  }

  void decide() {
    auto& pairs = sides_.pairs;
    const bool counts_other = is_outer(sides_.spec.join.kind, 1 - sides_.side);
    std::size_t pair = 0;
    const auto take = [&](std::size_t index, std::size_t end) {
      for (; pair < end; ++pair) {
        if (!pairs.passes(pair))
          continue;
        ++row_matches_[index];
        pairs.emit_pair(pair, row_kind::insert);
        if (counts_other)
          other().set_matches(pair_lookups_[pair], pair_offsets_[pair], 1);
      }
    };
    for (std::size_t i = 0; i < ends_.size(); ++i) {
      const auto index = first_ + i;
      take(index, ends_[i]);
      // What cannot be stored leaves at once.
      if (row_matches_[index] == 0 && is_outer(sides_.spec.join.kind, sides_.side) &&
          !is_kept(index))
        pairs.emit_own(sides_.in.row_at(index), row_kind::insert);
    }
    take(first_ + ends_.size(), pairs.size());
  }

  /// Whether a row may still match one that comes later.
  bool is_kept(std::size_t index) const {
    const auto time = sides_.time_of(index);
    return time && sides_.places[index] != join_pairs::none &&
           !is_expired(sides_.side, floor_div(*time, bucket_ms_));
  }

  status store() {
    changes_.clear();
    indices_.clear();
    for (std::size_t i = 0; i < sides_.in.size(); ++i) {
      if (!is_kept(i))
        continue;
      changes_.push_back({sides_.in.row_at(i),
                          {},
                          row_matches_[i],
                          false,
                          floor_div(*sides_.time_of(i), bucket_ms_)});
      indices_.push_back(i);
    }
    return sides_.store(changes_, indices_);
  }

  /// Drops the oldest bucket of a side once it has expired. @returns whether to call again
  result<bool> expire(std::size_t side, operator_output& out, const drain_budget& budget) {
    const auto first = sides_.rows[side].first_space();
    if (!first || !is_expired(side, *first))
      return false;
    if (is_outer(sides_.spec.join.kind, side)) {
      if (!expiring_)
        sides_.unmatched[side].begin(*first);
      expiring_ = true;
      bool has_more = false;
      HEADRACE_TRY(auto batch, sides_.unmatched[side].take(sides_.pairs, budget, has_more));
      if (!batch.is_empty())
        out.emit(std::move(batch));
      if (has_more)
        return true;
      expiring_ = false;
    }
    HEADRACE_CHECK(sides_.rows[side].drop(*first));
    return true;
  }

  timed_sides sides_;
  std::int64_t bucket_ms_;
  std::optional<graph::watermark> passing_; ///< what follows the rows that it lets go
  std::optional<graph::watermark_status> status_;
  bool is_busy_ = false;
  bool expiring_ = false;
  std::size_t at_ = 0;     ///< row of the batch …
  std::size_t lookup_ = 0; ///< … bucket of it …
  std::size_t offset_ = 0; ///< … and where among the rows that have its key
  std::vector<std::uint32_t> looked_up_;
  std::vector<state_namespace> spaces_;
  std::vector<std::size_t> begins_; ///< of each row among the lookups, and their end
  std::vector<std::uint32_t> row_matches_;
  std::size_t first_ = 0;
  std::vector<std::size_t> pair_lookups_;
  std::vector<std::size_t> pair_offsets_;
  std::vector<std::size_t> ends_;
  std::vector<join_rows::change> changes_;
  std::vector<std::size_t> indices_;
};

} // namespace

result<std::unique_ptr<stream_operator>> make_interval_join(const graph::operator_node& node,
                                                            const operator_context& context,
                                                            join_pairs pairs) {
  return std::unique_ptr<stream_operator>(
      std::make_unique<interval_join>(node, context, std::move(pairs)));
}

} // namespace headrace::task
