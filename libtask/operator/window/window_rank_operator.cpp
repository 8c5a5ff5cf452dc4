#include "libtask/operator/window/window_rank_operator.hpp"

#include "libtask/operator/rank/row_list.hpp"
#include "libtask/operator/window/ended_windows.hpp"
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

class window_rank_operator final : public stream_operator {
public:
  window_rank_operator(const graph::operator_node& node, const operator_context& context,
                       window_time time)
      : spec_(std::get<graph::rank_spec>(node.spec)), first_(static_cast<std::size_t>(spec_.first)),
        last_(static_cast<std::size_t>(spec_.last)),
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
    wanted.name = "window-ranks";
    wanted.value_type = state::bytes_of(parts_of(input_type_, spec_));
    wanted.layout = state::value_layout::variable();
    HEADRACE_TRY(ranks_, states.keyed->open_table(wanted));
    piece_.emplace(ranks_->make_piece());
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
        ranks_->locate(keys_, windows_.rows(), windows_.spaces(), state::access::insert, found_));
    for (std::size_t i = 0; i < taken.size(); ++i) {
      const row_list list(ranks_->get(found_, i).value_or(byte_view()));
      const auto key = order_keys_[i];
      const auto at = spec_.prefers_latest ? list.lower_bound(key) : list.upper_bound(key);
      if (at >= last_)
        continue;
      list.insert(at, key, encoded_[i], last_, 0, changed_);
      HEADRACE_CHECK(ranks_->put(found_, i, changed_));
    }
    return ranks_->write_back(found_);
  }

  status advance(graph::watermark mark) override {
    windows_.set_time(mark.time_ms);
    return {};
  }

  result<drain_result> drain(operator_output& out, const drain_budget& budget) override {
    if (!windows_.begin(*ranks_))
      return drain_result::done;
    const auto ranks = std::min(last_ - first_ + 1, budget.rows_max);
    HEADRACE_CHECK(
        windows_.scan(*ranks_, std::max<std::size_t>(budget.rows_max / ranks, 1), *piece_));
    HEADRACE_CHECK(fire(out));
    if (windows_.is_read())
      HEADRACE_CHECK(windows_.drop(*ranks_));
    return drain_result::more;
  }

private:
  status fire(operator_output& out) {
    std::vector<byte_view> rows;
    const auto last_ms = windows_.last_ms();
    const auto width = all_columns_.size();
    for (const auto& each : piece_->variable) {
      const row_list list(each);
      for (auto place = first_ - 1; place < std::min(list.size(), last_); ++place) {
        rows.push_back(list.row(place));
        if (spec_.outputs_rank)
          out_.column(width).append(static_cast<std::int64_t>(place + 1));
        out_.end_row(last_ms);
      }
    }
    if (rows.empty())
      return {};
    HEADRACE_CHECK(graph::decode_rows(rows, width, out_));
    out.emit(out_.finish());
    return {};
  }

  graph::rank_spec spec_;
  std::size_t first_;
  std::size_t last_;
  ended_windows windows_;
  graph::logical_type input_type_;
  state::key_schema schema_;
  state::key_batch keys_;
  task_metrics& metrics_;
  std::vector<int> all_columns_;
  graph::batch_builder out_;
  state::keyed_table* ranks_ = nullptr;
  std::optional<state::scanned_rows> piece_;
  // Of the batch at hand, kept from one to the next so that nothing is allocated per row.
  state::located_rows found_;
  graph::encoded_keys order_keys_;
  graph::encoded_keys encoded_;
  byte_string changed_;
};

} // namespace

result<std::unique_ptr<stream_operator>>
make_window_rank_operator(const graph::operator_node& node, const operator_context& context) {
  HEADRACE_TRY(auto time, window_time::of(std::get<graph::rank_spec>(node.spec).time_zone));
  return std::unique_ptr<stream_operator>(
      std::make_unique<window_rank_operator>(node, context, std::move(time)));
}

} // namespace headrace::task
