#include "libtask/operator/rank/rank_operator.hpp"

#include "libtask/operator/mini_batch/folds.hpp"
#include "libtask/operator/rank/ordered_rows.hpp"
#include "libtask/operator/rank/rank_changes.hpp"
#include "libtask/operator/rank/row_list.hpp"
#include "libtask/operator/window/window_rank_operator.hpp"
#include "libtask/operator/window/window_sort_operator.hpp"
#include "libgraph/data/order_key.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

namespace headrace::task {
namespace {

using graph::row_kind;

constexpr std::size_t slice_rows_max = 1024;
constexpr std::size_t sweep_rows = 256;
/// Rows whose lists are looked at together: they come from memory side by side.
constexpr std::size_t fetched_rows = 32;

class rank_operator final : public stream_operator {
public:
  rank_operator(const graph::operator_node& node, const operator_context& context)
      : spec_(std::get<graph::rank_spec>(node.spec)), first_(static_cast<std::size_t>(spec_.first)),
        last_(static_cast<std::size_t>(spec_.last)), input_type_(node.input_types.front()),
        schema_(input_type_, spec_.key_columns),
        keys_(schema_, static_cast<std::int32_t>(context.max_parallelism)), time_(context.time),
        changes_(std::make_shared<const graph::logical_type>(node.output_type), spec_.outputs_rank,
                 context.memory),
        all_columns_(node.input_types.front().child_count()) {
    std::iota(all_columns_.begin(), all_columns_.end(), 0);
    const bool is_ordered = !spec_.order.empty() || spec_.prefers_latest;
    counts_only_ = !spec_.input_retracts && !is_ordered;
    const bool gives_old =
        spec_.input_retracts || spec_.outputs_rank || last_ > 1 || spec_.emits_update_before;
    keeps_rows_ = !counts_only_ && gives_old;
  }

  std::optional<state::key_schema> key_schema() const override { return schema_; }

  status open(const operator_states& states) override {
    backend_ = states.keyed;
    auto parts = parts_of(input_type_, spec_);
    if (counts_only_) // no row is kept
      parts.erase(parts.begin(), parts.end() - 1);
    if (spec_.input_retracts) {
      graph::state_descriptor top;
      top.name = "top";
      top.value_type = state::bytes_of(std::move(parts));
      top.ttl_ms = spec_.state_ttl_ms;
      top_ = &backend_->value(top);
      others_.emplace(*backend_, "others", spec_.state_ttl_ms);
      return {};
    }
    state::state_description wanted;
    wanted.name = keeps_rows_ ? "ranks" : counts_only_ ? "counts" : "bests";
    wanted.value_type = state::bytes_of(std::move(parts));
    wanted.layout = state::value_layout::variable();
    HEADRACE_TRY(ranks_, backend_->open_table(wanted));
    piece_.emplace(ranks_->make_piece());
    return {};
  }

  status add(std::int32_t /*input*/, const graph::record_batch& rows) override {
    in_ = rows;
    next_ = 0;
    now_ms_ = expires() ? time_.wall_ms() : 0;
    keys_.assign(rows, spec_.key_columns);
    return expires() && ranks_ != nullptr ? sweep() : status();
  }

  result<drain_result> drain(operator_output& out, const drain_budget& budget) override {
    while (next_ < in_.size() && changes_.size() == 0) {
      const auto count = std::min(in_.size() - next_, slice_rows(budget));
      HEADRACE_CHECK(take_slice(in_.slice(next_, count)));
      next_ += count;
    }
    if (changes_.size() > 0) {
      HEADRACE_TRY(auto made, changes_.finish(in_));
      out.emit(std::move(made));
    }
    if (next_ < in_.size())
      return drain_result::more;
    in_ = {};
    next_ = 0;
    return drain_result::done;
  }

private:
  bool expires() const { return spec_.state_ttl_ms > 0; }
  /// Lists of a time without a time to live have no stamp: `sweep` gives them one.
  bool is_expired(std::int64_t written_ms) const {
    return written_ms > 0 && now_ms_ - written_ms >= spec_.state_ttl_ms;
  }
  bool is_single() const { return first_ == last_; }

  /// Rows of which the changes are about a budget.
  std::size_t slice_rows(const drain_budget& budget) const {
    const auto ranks = spec_.outputs_rank ? last_ - first_ + 1 : 1;
    return std::clamp<std::size_t>(budget.rows_max / 2 / std::min(ranks, budget.rows_max + 1), 1,
                                   slice_rows_max);
  }

  status take_slice(const graph::record_batch& slice) {
    graph::encode_order_keys(slice, spec_.order, order_keys_);
    if (spec_.input_retracts) {
      graph::encode_keys(slice, all_columns_, encoded_);
      for (std::size_t i = 0; i < slice.size(); ++i)
        take_change(slice.row_at(i), order_keys_[i], encoded_[i]);
      return {};
    }
    rows_.clear();
    for (std::size_t i = 0; i < slice.size(); ++i)
      rows_.push_back(slice.row_at(i));
    HEADRACE_CHECK(ranks_->locate(keys_, rows_, 0, state::access::insert, found_));
    find_candidates();
    if (keeps_rows_)
      encode_candidates();
    for (std::size_t i = 0; i < candidates_.size(); ++i)
      HEADRACE_CHECK(take_candidate(candidates_[i], keeps_rows_ ? encoded_[i] : byte_view()));
    return ranks_->write_back(found_);
  }

  /// Those that the last rank, as it was before the slice, is not before: it only gets better.
  void find_candidates() {
    candidates_.clear();
    byte_view bytes[fetched_rows];
    for (std::size_t base = 0; base < rows_.size(); base += fetched_rows) {
      const auto count = std::min(fetched_rows, rows_.size() - base);
      for (std::size_t i = 0; i < count; ++i) {
        bytes[i] = ranks_->get(found_, base + i).value_or(byte_view());
        __builtin_prefetch(bytes[i].data());
      }
      if (!counts_only_)
        for (std::size_t i = 0; i < count; ++i)
          row_list(bytes[i]).fetch(last_ - 1);
      for (std::size_t i = 0; i < count; ++i)
        if (enters(unless_gone(row_list(bytes[i])), order_keys_[base + i]))
          candidates_.push_back(static_cast<std::uint32_t>(base + i));
    }
  }

  /// Whether `place_of` would be below the last rank: by the last row alone.
  bool enters(const row_list& list, byte_view key) const {
    if (list.size() < last_)
      return true;
    if (counts_only_)
      return false;
    const auto last = list.key(last_ - 1);
    return spec_.prefers_latest ? key <= last : key < last;
  }

  void encode_candidates() {
    if (candidates_.empty())
      return;
    auto picked = graph::buffer::allocate(candidates_.size() * sizeof(std::uint32_t));
    for (std::size_t i = 0; i < candidates_.size(); ++i)
      picked->mutable_as<std::uint32_t>()[i] = rows_[candidates_[i]];
    graph::encode_keys(in_.with_selection(std::move(picked), candidates_.size()), all_columns_,
                       encoded_);
  }

  row_list list_at(std::size_t index) {
    return unless_gone(row_list(ranks_->get(found_, index).value_or(byte_view())));
  }

  /// A list that has expired is empty.
  row_list unless_gone(const row_list& list) const {
    return expires() && is_expired(list.written_ms()) ? row_list() : list;
  }

  std::size_t place_of(const row_list& list, byte_view key) const {
    if (counts_only_)
      return list.size();
    return spec_.prefers_latest ? list.lower_bound(key) : list.upper_bound(key);
  }

  status take_candidate(std::uint32_t index, byte_view row) {
    const auto list = list_at(index);
    const auto key = order_keys_[index];
    const auto at = place_of(list, key);
    if (at >= last_)
      return {};
    tell_inserted(list, at, rows_[index]);
    if (counts_only_)
      write_count(list.size() + 1);
    else
      list.insert(at, key, row, last_, now_ms_, changed_);
    return ranks_->put(found_, index, changed_);
  }

  void write_count(std::size_t count) {
    const auto stored = static_cast<std::uint32_t>(count);
    changed_.clear();
    byte_writer(changed_).put(now_ms_);
    byte_writer(changed_).put(stored);
  }

  /// Of an input that retracts: one row that comes or goes.
  void take_change(std::uint32_t row, byte_view key, byte_view bytes) {
    backend_->set_current_key(keys_, row);
    kept_.assign(top_->get().value_or(byte_view()));
    const row_list list(kept_);
    const auto* kinds = in_.kinds();
    const bool goes = kinds != nullptr &&
                      (kinds[row] == row_kind::update_before || kinds[row] == row_kind::delete_);
    if (goes)
      remove(list, key, bytes);
    else
      insert(list, row, key, bytes);
  }

  void insert(const row_list& list, std::uint32_t row, byte_view key, byte_view bytes) {
    const auto at = place_of(list, key);
    if (at >= last_) {
      others_->insert(key, bytes, false);
      if (expires())
        top_->put(kept_);
      return;
    }
    tell_inserted(list, at, row);
    if (list.size() == last_)
      others_->insert(list.key(last_ - 1), list.row(last_ - 1), true);
    list.insert(at, key, bytes, last_, 0, changed_);
    top_->put(changed_);
  }

  void remove(const row_list& list, byte_view key, byte_view bytes) {
    const auto at = list.find(key, bytes);
    if (!at) {
      others_->erase(key, bytes);
      return;
    }
    const bool has_next = list.size() == last_ && others_->take_first(next_key_, next_row_);
    tell_removed(list, *at, has_next);
    list.erase(*at, 0, changed_);
    if (has_next) {
      kept_.swap(changed_);
      row_list(kept_).insert(last_ - 1, next_key_, next_row_, last_, 0, changed_);
    }
    if (row_list(changed_).is_empty())
      top_->clear();
    else
      top_->put(changed_);
  }

  // --- what is told. Places count from 0, ranks from 1.

  void tell_inserted(const row_list& list, std::size_t at, std::uint32_t row) {
    const auto count = list.size();
    if (spec_.outputs_rank) {
      for (auto place = std::max(at, first_ - 1); place <= std::min(count, last_ - 1); ++place) {
        const auto rank = static_cast<std::int64_t>(place + 1);
        const bool was_taken = place < count;
        if (was_taken && spec_.emits_update_before)
          changes_.add(row_kind::update_before, rank, list.row(place));
        const auto kind = was_taken ? row_kind::update_after : row_kind::insert;
        if (place == at)
          changes_.add(kind, rank, row);
        else
          changes_.add(kind, rank, list.row(place - 1));
      }
      return;
    }
    const bool pushes = count == last_;
    if (pushes && (!is_single() || spec_.emits_update_before))
      changes_.add(is_single() ? row_kind::update_before : row_kind::delete_, 0,
                   list.row(last_ - 1));
    const auto kind = pushes && is_single() ? row_kind::update_after : row_kind::insert;
    if (at + 1 >= first_)
      changes_.add(kind, 0, row);
    else if (count + 1 >= first_)
      changes_.add(kind, 0, list.row(first_ - 2));
  }

  void tell_removed(const row_list& list, std::size_t at, bool has_next) {
    const auto count = list.size();
    if (spec_.outputs_rank) {
      for (auto place = std::max(at, first_ - 1); place < count; ++place) {
        const auto rank = static_cast<std::int64_t>(place + 1);
        const bool is_refilled = place + 1 < count || has_next;
        if (!is_refilled)
          changes_.add(row_kind::delete_, rank, list.row(place));
        else if (spec_.emits_update_before)
          changes_.add(row_kind::update_before, rank, list.row(place));
        if (is_refilled)
          changes_.add(row_kind::update_after, rank,
                       place + 1 < count ? list.row(place + 1) : byte_view(next_row_));
      }
      return;
    }
    if (at + 1 < first_ && count < first_)
      return;
    const auto gone = std::max(at, first_ - 1);
    const bool is_update = is_single() && has_next;
    if (!is_update || spec_.emits_update_before)
      changes_.add(is_update ? row_kind::update_before : row_kind::delete_, 0, list.row(gone));
    if (has_next)
      changes_.add(is_update ? row_kind::update_after : row_kind::insert, 0, byte_view(next_row_));
  }

  /// Drops some keys that expired, and lets those begin to age that have no stamp: each is come by
  /// about twice in its time to live.
  status sweep() {
    if (cursor_.done) {
      if (now_ms_ < next_sweep_ms_)
        return {};
      cursor_ = {};
    }
    HEADRACE_CHECK(ranks_->scan(0, cursor_, sweep_rows, *piece_));
    if (cursor_.done)
      next_sweep_ms_ = now_ms_ + spec_.state_ttl_ms / 2;
    rows_.clear();
    unstamped_.clear();
    for (std::uint32_t i = 0; i < piece_->size(); ++i) {
      const auto written_ms = row_list(piece_->variable[i]).written_ms();
      if (written_ms == 0)
        unstamped_.push_back(i);
      else if (is_expired(written_ms))
        rows_.push_back(i);
    }
    HEADRACE_CHECK(stamp());
    if (rows_.empty())
      return {};
    HEADRACE_CHECK(ranks_->locate(piece_->keys, rows_, 0, state::access::update, found_));
    std::iota(rows_.begin(), rows_.end(), 0U);
    HEADRACE_CHECK(ranks_->erase(found_, rows_));
    return ranks_->write_back(found_);
  }

  status stamp() {
    if (unstamped_.empty())
      return {};
    HEADRACE_CHECK(ranks_->locate(piece_->keys, unstamped_, 0, state::access::update, found_));
    for (std::size_t i = 0; i < unstamped_.size(); ++i) {
      const auto kept = ranks_->get(found_, i).value_or(byte_view());
      if (kept.size() < sizeof(now_ms_))
        continue;
      changed_.assign(kept);
      std::memcpy(changed_.data(), &now_ms_, sizeof(now_ms_));
      HEADRACE_CHECK(ranks_->put(found_, i, changed_));
    }
    return ranks_->write_back(found_);
  }

  graph::rank_spec spec_;
  std::size_t first_;
  std::size_t last_;
  graph::logical_type input_type_;
  state::key_schema schema_;
  state::key_batch keys_;
  const headrace::clock& time_;
  rank_changes changes_;
  std::vector<int> all_columns_;
  bool counts_only_ = false;
  bool keeps_rows_ = true;
  state::keyed_backend* backend_ = nullptr;
  state::keyed_table* ranks_ = nullptr; ///< of an input that does not retract
  graph::value_access* top_ = nullptr;  ///< of one that does
  std::optional<ordered_rows> others_;
  std::int64_t now_ms_ = 0;
  std::int64_t next_sweep_ms_ = 0;
  state::scan_cursor cursor_;
  std::optional<state::scanned_rows> piece_;
  // Of the batch at hand, kept from one to the next so that nothing is allocated per row.
  graph::record_batch in_;
  std::size_t next_ = 0; ///< what of it comes next
  state::located_rows found_;
  std::vector<std::uint32_t> rows_;       ///< of the slice
  std::vector<std::uint32_t> unstamped_;  ///< of `piece_`
  std::vector<std::uint32_t> candidates_; ///< of the slice: those that may have a rank
  graph::encoded_keys order_keys_;
  graph::encoded_keys encoded_;
  byte_string kept_;
  byte_string changed_;
  byte_string next_key_;
  byte_string next_row_;
};

} // namespace

result<std::unique_ptr<stream_operator>> make_rank_operator(const graph::operator_node& node,
                                                            const operator_context& context) {
  const auto& spec = std::get<graph::rank_spec>(node.spec);
  if (spec.window_end_column >= 0)
    return spec.last > graph::rank_spec::kept_ranks_max ? make_window_sort_operator(node, context)
                                                        : make_window_rank_operator(node, context);
  std::unique_ptr<stream_operator> made = std::make_unique<rank_operator>(node, context);
  if (!spec.mini_batch.is_on())
    return made;
  return gather_rows(std::move(made),
                     {spec.mini_batch,
                      {0},
                      fold_to_first(spec, node.input_types.front(),
                                    static_cast<std::int32_t>(context.max_parallelism))},
                     context.time);
}

} // namespace headrace::task
