#include "libtask/operator/window/window_sort_operator.hpp"

#include "libtask/operator/window/ended_windows.hpp"
#include "libtask/operator/window/sorted_rows.hpp"
#include "libgraph/data/batch_builder.hpp"
#include "libgraph/data/decode_rows.hpp"
#include "libgraph/data/order_key.hpp"

#include <algorithm>
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
      : spec_(std::get<graph::rank_spec>(node.spec)),
        windows_(std::move(time), spec_.window_end_column), input_type_(node.input_types.front()),
        schema_(input_type_, spec_.key_columns),
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
    windows_.pick(rows);
    metrics_.late_records.add(windows_.late().size());
    if (windows_.rows().empty())
      return {};
    keys_.assign(rows, spec_.key_columns);
    const auto taken = windows_.picked(rows);
    graph::encode_order_keys(taken, spec_.order, order_keys_);
    graph::encode_keys(taken, all_columns_, encoded_);
    HEADRACE_CHECK(
        rows_->locate(keys_, windows_.rows(), windows_.spaces(), state::access::insert, found_));
    for (std::size_t i = 0; i < taken.size(); ++i) {
      entry_.clear();
      put_sorted_row({order_keys_[i], encoded_[i]}, entry_);
      HEADRACE_CHECK(rows_->append(found_, i, entry_));
    }
    return rows_->write_back(found_);
  }

  status advance(graph::watermark mark) override {
    windows_.set_time(mark.time_ms);
    return {};
  }

  result<drain_result> drain(operator_output& out, const drain_budget& budget) override {
    if (!windows_.begin(*rows_))
      return drain_result::done;
    if (next_ == sorted_.size()) {
      if (windows_.is_read()) {
        sorted_.clear();
        next_ = 0;
        kept_ = {};
        HEADRACE_CHECK(windows_.drop(*rows_));
        return drain_result::more;
      }
      HEADRACE_CHECK(windows_.scan(*rows_, 1, *piece_));
      HEADRACE_CHECK(take_key());
    }
    HEADRACE_CHECK(give(out, budget));
    return drain_result::more;
  }

private:
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
    const auto last_ms = windows_.last_ms();
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
    HEADRACE_CHECK(graph::decode_rows(rows, width, out_));
    out.emit(out_.finish());
    return {};
  }

  graph::rank_spec spec_;
  ended_windows windows_;
  graph::logical_type input_type_;
  state::key_schema schema_;
  state::key_batch keys_;
  task_metrics& metrics_;
  std::vector<int> all_columns_;
  graph::batch_builder out_;
  state::keyed_table* rows_ = nullptr;
  std::optional<state::scanned_rows> piece_;
  byte_string kept_;               ///< rows of the key that is given
  std::vector<sorted_row> sorted_; ///< in `kept_`
  std::size_t next_ = 0;           ///< of them
  // Of the batch at hand, kept from one to the next so that nothing is allocated per row.
  state::located_rows found_;
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
