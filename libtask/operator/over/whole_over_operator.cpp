#include "libtask/operator/over/whole_over_operator.hpp"

#include "libtask/operator/over/over_calls.hpp"
#include "libtask/operator/over/timed_rows.hpp"
#include "libtask/operator/waiting_rows.hpp"
#include "libgraph/data/decode_rows.hpp"
#include "libgraph/data/key_codec.hpp"
#include "libgraph/data/order_key.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

namespace headrace::task {
namespace {

/// Keys that fire at once.
constexpr std::size_t keys_a_time = 64;

class whole_over_operator final : public stream_operator {
public:
  whole_over_operator(const graph::operator_node& node, const operator_context& context)
      : spec_(std::get<graph::over_spec>(node.spec)),
        input_(std::make_shared<const graph::logical_type>(node.input_types.front())),
        output_(std::make_shared<const graph::logical_type>(node.output_type)),
        schema_(*input_, spec_.key_columns),
        keys_(schema_, static_cast<std::int32_t>(context.max_parallelism)),
        metrics_(context.metrics), calls_(spec_, node.input_types.front(), node.output_type),
        all_columns_(input_->child_count()), decoded_(input_, context.memory) {
    std::iota(all_columns_.begin(), all_columns_.end(), 0);
  }

  std::optional<state::key_schema> key_schema() const override { return schema_; }

  status open(const operator_states& states) override {
    return waiting_.open(*states.keyed, *input_);
  }

  status add(std::int32_t /*input*/, const graph::record_batch& rows) override {
    keys_.assign(rows, spec_.key_columns);
    graph::encode_keys(rows, all_columns_, encoded_);
    const auto late =
        waiting_.pick(rows, static_cast<std::size_t>(spec_.time_column), watermark_ms_);
    if (late > 0)
      metrics_.late_records.add(late);
    return waiting_.add(keys_, [&](std::size_t place, std::int64_t time_ms, byte_string& to) {
      put_timed_row({time_ms, encoded_[place]}, to);
    });
  }

  status advance(graph::watermark mark) override {
    watermark_ms_ = mark.time_ms;
    is_due_ = true;
    return {};
  }

  result<drain_result> drain(operator_output& out, const drain_budget& budget) override {
    if (!results_ && is_due_)
      HEADRACE_CHECK(fire_some());
    if (results_)
      give(out, budget);
    return results_ || is_due_ ? drain_result::more : drain_result::done;
  }

private:
  /// Computes the results of some keys. All that wait have one time: what is due is all of a key.
  status fire_some() {
    HEADRACE_TRY(is_due_, waiting_.next(watermark_ms_));
    if (!is_due_)
      return {};
    rows_.clear();
    segments_.clear();
    for (std::uint32_t i = 0; i < waiting_.size(); ++i) {
      const auto begin = rows_.size();
      byte_reader in(waiting_.bytes(i));
      while (!in.at_end()) {
        HEADRACE_TRY(const auto each, read_timed_row(in));
        rows_.push_back(each.row);
      }
      segments_.push_back({begin, begin, rows_.size()});
      waiting_.leave(i, {});
    }
    HEADRACE_CHECK(compute());
    HEADRACE_TRY(is_due_, waiting_.finish());
    return {};
  }

  status compute() {
    HEADRACE_CHECK(graph::decode_rows(rows_, all_columns_.size(), decoded_));
    decoded_.end_rows(rows_.size());
    const auto in = sorted(decoded_.finish());
    for (const auto& each : segments_)
      calls_.compute_whole(in, orders_, each);
    std::vector<graph::column_ptr> columns;
    for (std::size_t i = 0; i < all_columns_.size(); ++i)
      columns.push_back(in.column_at(i));
    for (std::size_t i = 0; i < calls_.size(); ++i)
      columns.push_back(calls_.finish(i, in));
    if (!rows_.empty())
      results_.emplace(output_, rows_.size(), std::move(columns));
    next_ = 0;
    return {};
  }

  /// The rows of each segment in their order; `orders_` are what they are ordered by.
  graph::record_batch sorted(const graph::record_batch& rows) {
    orders_.assign(rows.size(), byte_view());
    if (spec_.order.empty() || rows.is_empty())
      return rows;
    graph::encode_order_keys(rows, spec_.order, order_);
    places_.resize(rows.size());
    std::iota(places_.begin(), places_.end(), 0U);
    for (const auto& each : segments_)
      std::stable_sort(
          places_.begin() + static_cast<std::ptrdiff_t>(each.begin),
          places_.begin() + static_cast<std::ptrdiff_t>(each.end),
          [&](std::uint32_t one, std::uint32_t other) { return order_[one] < order_[other]; });
    std::vector<graph::column_ptr> columns;
    for (std::size_t i = 0; i < all_columns_.size(); ++i) {
      graph::column_builder picked(input_->child(i));
      picked.append_from(rows.at(i), places_);
      columns.push_back(picked.finish());
    }
    for (std::size_t i = 0; i < places_.size(); ++i)
      orders_[i] = order_[places_[i]];
    return graph::record_batch(input_, rows.size(), std::move(columns));
  }

  void give(operator_output& out, const drain_budget& budget) {
    const auto count = std::min(budget.rows_max, results_->size() - next_);
    out.emit(results_->slice(next_, count));
    next_ += count;
    if (next_ == results_->size())
      results_.reset();
  }

  graph::over_spec spec_;
  graph::row_type_ptr input_;
  graph::row_type_ptr output_;
  state::key_schema schema_;
  state::key_batch keys_;
  task_metrics& metrics_;
  over_calls calls_;
  std::vector<int> all_columns_;
  graph::batch_builder decoded_;
  waiting_rows waiting_{keys_a_time};
  std::int64_t watermark_ms_ = graph::watermark::none;
  bool is_due_ = false;
  std::vector<byte_view> rows_; ///< of the keys at hand
  std::vector<over_segment> segments_;
  std::optional<graph::record_batch> results_; ///< of the keys at hand
  std::size_t next_ = 0;                       ///< of them
  // Kept for their memory.
  graph::encoded_keys encoded_;
  graph::encoded_keys order_;
  std::vector<byte_view> orders_; ///< by sorted row, in `order_`
  std::vector<std::uint32_t> places_;
};

} // namespace

result<std::unique_ptr<stream_operator>> make_whole_over_operator(const graph::operator_node& node,
                                                                  const operator_context& context) {
  return std::unique_ptr<stream_operator>(std::make_unique<whole_over_operator>(node, context));
}

} // namespace headrace::task
