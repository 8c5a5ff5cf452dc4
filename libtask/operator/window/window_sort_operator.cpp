#include "libtask/operator/window/window_sort_operator.hpp"

#include "libtask/operator/window/sorted_rows.hpp"
#include "libtask/operator/window/window_time.hpp"
#include "libgraph/data/batch_builder.hpp"
#include "libgraph/data/order_key.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

namespace headrace::task {
namespace {

class window_sort_operator final : public stream_operator {
public:
  window_sort_operator(const graph::operator_node& node, const operator_context& context,
                       window_time time)
      : spec_(std::get<graph::rank_spec>(node.spec)), window_time_(std::move(time)),
        input_type_(node.input_types.front()), schema_(input_type_, spec_.key_columns),
        keys_(schema_, static_cast<std::int32_t>(context.max_parallelism)),
        metrics_(context.metrics), all_columns_(node.input_types.front().child_count()),
        out_(std::make_shared<const graph::logical_type>(node.output_type), context.memory) {
    std::iota(all_columns_.begin(), all_columns_.end(), 0);
  }

  std::optional<state::key_schema> key_schema() const override { return schema_; }

  status open(const operator_states& states) override {
    state::state_description wanted;
    wanted.name = "window-rows";
    wanted.value_type = state::bytes_of(input_type_.fields());
    wanted.layout = state::value_layout::variable();
    HEADRACE_TRY(rows_, states.keyed->open_table(wanted));
    piece_.emplace(rows_->make_piece());
    return {};
  }

  status add(std::int32_t /*input*/, const graph::record_batch& rows) override {
    find_windows(rows);
    if (places_.empty())
      return {};
    keys_.assign(rows, spec_.key_columns);
    auto picked = graph::buffer::allocate(places_.size() * sizeof(std::uint32_t));
    std::copy(places_.begin(), places_.end(), picked->mutable_as<std::uint32_t>());
    const auto taken = rows.with_selection(std::move(picked), places_.size());
    graph::encode_order_keys(taken, spec_.order, order_keys_);
    graph::encode_keys(taken, all_columns_, encoded_);
    HEADRACE_CHECK(rows_->locate(keys_, places_, spaces_, state::access::insert, found_));
    for (std::size_t i = 0; i < places_.size(); ++i) {
      entry_.clear();
      put_sorted_row({order_keys_[i], encoded_[i]}, entry_);
      HEADRACE_CHECK(rows_->append(found_, i, entry_));
    }
    return rows_->write_back(found_);
  }

  status advance(graph::watermark mark) override {
    watermark_ms_ = mark.time_ms;
    return {};
  }

  result<drain_result> drain(operator_output& out, const drain_budget& budget) override {
    if (!firing_) {
      const auto first = rows_->first_namespace();
      if (!first || window_time_.instant_ms(*first) - 1 > watermark_ms_)
        return drain_result::done;
      firing_ = first;
      cursor_ = {};
      sorted_.clear();
      next_ = 0;
    }
    if (next_ == sorted_.size()) {
      if (cursor_.done) {
        HEADRACE_CHECK(rows_->drop_namespace(*firing_));
        firing_.reset();
        kept_ = {};
        return drain_result::more;
      }
      HEADRACE_CHECK(rows_->scan(*firing_, cursor_, 1, *piece_));
      HEADRACE_CHECK(take_key());
    }
    HEADRACE_CHECK(give(out, budget));
    return drain_result::more;
  }

private:
  void find_windows(const graph::record_batch& rows) {
    places_.clear();
    spaces_.clear();
    const auto& ends = rows.at(static_cast<std::size_t>(spec_.window_end_column));
    std::uint64_t late = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const auto row = rows.row_at(i);
      const auto end_ms = ends.values<std::int64_t>()[row];
      if (window_time_.instant_ms(end_ms) - 1 <= watermark_ms_) {
        ++late;
        continue;
      }
      places_.push_back(row);
      spaces_.push_back(end_ms);
    }
    if (late > 0)
      metrics_.late_records.add(late);
  }

  /// Puts the rows of the next key in order.
  status take_key() {
    sorted_.clear();
    next_ = 0;
    if (piece_->size() == 0)
      return {};
    kept_.assign(piece_->variable[0]); // the piece may go before all rows are given
    HEADRACE_TRY(sorted_, read_sorted_rows(kept_));
    std::stable_sort(
        sorted_.begin(), sorted_.end(),
        [](const sorted_row& left, const sorted_row& right) { return left.key < right.key; });
    const auto last = static_cast<std::uint64_t>(spec_.last);
    if (sorted_.size() > last)
      sorted_.resize(last);
    next_ = std::min(sorted_.size(), static_cast<std::size_t>(spec_.first - 1));
    return {};
  }

  status give(operator_output& out, const drain_budget& budget) {
    const auto last_ms = window_time_.instant_ms(*firing_) - 1;
    const auto width = all_columns_.size();
    std::vector<byte_view> rows;
    std::size_t bytes = 0;
    for (; next_ < sorted_.size() && rows.size() < budget.rows_max && bytes < budget.bytes_max;
         ++next_) {
      rows.push_back(sorted_[next_].row);
      bytes += rows.back().size();
      if (spec_.outputs_rank)
        out_.column(width).append(static_cast<std::int64_t>(next_ + 1));
      out_.end_row(last_ms);
    }
    if (rows.empty())
      return {};
    std::vector<graph::column_builder*> to;
    for (std::size_t i = 0; i < width; ++i)
      to.push_back(&out_.column(i));
    HEADRACE_CHECK(graph::decode_keys(rows, to));
    out.emit(out_.finish());
    return {};
  }

  graph::rank_spec spec_;
  window_time window_time_;
  graph::logical_type input_type_;
  state::key_schema schema_;
  state::key_batch keys_;
  task_metrics& metrics_;
  std::vector<int> all_columns_;
  graph::batch_builder out_;
  state::keyed_table* rows_ = nullptr;
  std::int64_t watermark_ms_ = graph::watermark::none;
  std::optional<state::state_namespace> firing_;
  state::scan_cursor cursor_;
  std::optional<state::scanned_rows> piece_;
  byte_string kept_;               ///< rows of the key that is given
  std::vector<sorted_row> sorted_; ///< in `kept_`
  std::size_t next_ = 0;           ///< of them
  // Of the batch at hand, kept from one to the next so that nothing is allocated per row.
  state::located_rows found_;
  std::vector<std::uint32_t> places_;
  std::vector<state::state_namespace> spaces_;
  graph::encoded_keys order_keys_;
  graph::encoded_keys encoded_;
  byte_string entry_;
};

} // namespace

result<std::unique_ptr<stream_operator>>
make_window_sort_operator(const graph::operator_node& node, const operator_context& context) {
  HEADRACE_TRY(auto time, window_time::of(std::get<graph::rank_spec>(node.spec).time_zone));
  return std::unique_ptr<stream_operator>(
      std::make_unique<window_sort_operator>(node, context, std::move(time)));
}

} // namespace headrace::task
