#include "libtask/operator/window/window_rank_operator.hpp"

#include "libtask/operator/rank/row_list.hpp"
#include "libtask/operator/window/window_time.hpp"
#include "libgraph/data/batch_builder.hpp"
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
        last_(static_cast<std::size_t>(spec_.last)), window_time_(std::move(time)),
        input_type_(node.input_types.front()), schema_(input_type_, spec_.key_columns),
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
    find_windows(rows);
    if (rows_.empty())
      return {};
    keys_.assign(rows, spec_.key_columns);
    auto picked = graph::buffer::allocate(rows_.size() * sizeof(std::uint32_t));
    std::copy(rows_.begin(), rows_.end(), picked->mutable_as<std::uint32_t>());
    const auto taken = rows.with_selection(std::move(picked), rows_.size());
    graph::encode_order_keys(taken, spec_.order, order_keys_);
    graph::encode_keys(taken, all_columns_, encoded_);
    HEADRACE_CHECK(ranks_->locate(keys_, rows_, spaces_, state::access::insert, found_));
    for (std::size_t i = 0; i < rows_.size(); ++i) {
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
    watermark_ms_ = mark.time_ms;
    return {};
  }

  result<drain_result> drain(operator_output& out, const drain_budget& budget) override {
    if (!firing_) {
      const auto first = ranks_->first_namespace();
      if (!first || window_time_.instant_ms(*first) - 1 > watermark_ms_)
        return drain_result::done;
      firing_ = first;
      cursor_ = {};
    }
    const auto ranks = std::min(last_ - first_ + 1, budget.rows_max);
    HEADRACE_CHECK(ranks_->scan(*firing_, cursor_,
                                std::max<std::size_t>(budget.rows_max / ranks, 1), *piece_));
    HEADRACE_CHECK(fire(out));
    if (cursor_.done) {
      HEADRACE_CHECK(ranks_->drop_namespace(*firing_));
      firing_.reset();
    }
    return drain_result::more;
  }

private:
  void find_windows(const graph::record_batch& rows) {
    rows_.clear();
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
      rows_.push_back(row);
      spaces_.push_back(end_ms);
    }
    if (late > 0)
      metrics_.late_records.add(late);
  }

  status fire(operator_output& out) {
    std::vector<byte_view> rows;
    const auto last_ms = window_time_.instant_ms(*firing_) - 1;
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
    std::vector<graph::column_builder*> to;
    for (std::size_t i = 0; i < width; ++i)
      to.push_back(&out_.column(i));
    HEADRACE_CHECK(graph::decode_keys(rows, to));
    out.emit(out_.finish());
    return {};
  }

  graph::rank_spec spec_;
  std::size_t first_;
  std::size_t last_;
  window_time window_time_;
  graph::logical_type input_type_;
  state::key_schema schema_;
  state::key_batch keys_;
  task_metrics& metrics_;
  std::vector<int> all_columns_;
  graph::batch_builder out_;
  state::keyed_table* ranks_ = nullptr;
  std::int64_t watermark_ms_ = graph::watermark::none;
  std::optional<state::state_namespace> firing_;
  state::scan_cursor cursor_;
  std::optional<state::scanned_rows> piece_;
  // Of the batch at hand, kept from one to the next so that nothing is allocated per row.
  state::located_rows found_;
  std::vector<std::uint32_t> rows_;
  std::vector<state::state_namespace> spaces_;
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
