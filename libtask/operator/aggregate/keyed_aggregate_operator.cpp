#include "libtask/operator/aggregate/keyed_aggregate_operator.hpp"

#include "libtask/operator/aggregate/accumulator_table.hpp"
#include "libtask/operator/aggregate/make_aggregate.hpp"
#include "libgraph/data/batch_builder.hpp"

#include <optional>
#include <vector>

namespace headrace::task {
namespace {

class keyed_aggregate_operator final : public stream_operator {
public:
  keyed_aggregate_operator(const graph::operator_node& node, const operator_context& context,
                           std::unique_ptr<graph::aggregate_function> function)
      : key_columns_(std::get<graph::keyed_aggregate_spec>(node.spec).key_columns),
        schema_(node.input_types.front(), key_columns_), opened_with_(context.for_function()),
        keys_(schema_, static_cast<std::uint32_t>(context.max_parallelism)),
        function_(std::move(function)),
        out_(std::make_shared<const graph::logical_type>(node.output_type), context.memory) {}

  std::optional<state::key_schema> key_schema() const override { return schema_; }

  status open(const operator_states& states) override {
    function_->open(opened_with_);
    HEADRACE_TRY(accumulators_, accumulator_table::open(*states.keyed, "aggregates", *function_));
    return {};
  }

  status add(std::int32_t /*input*/, const graph::record_batch& rows) override {
    waiting_ = rows;
    return {};
  }

  result<drain_result> drain(operator_output& out, const drain_budget& /*budget*/) override {
    if (waiting_.is_empty())
      return drain_result::done;
    const auto in = std::exchange(waiting_, {}).compact();
    keys_.assign(in, key_columns_);
    rows_.resize(in.size());
    for (std::size_t i = 0; i < rows_.size(); ++i)
      rows_[i] = static_cast<std::uint32_t>(i);
    HEADRACE_CHECK(accumulators_->fold_and_emit(in, keys_, rows_, 0,
                                                in.project(schema_.type(), key_columns_), out_));
    auto emitted = out_.finish();
    if (in.timestamps() != nullptr)
      emitted = emitted.with_timestamps(in.timestamps_buffer());
    out.emit(std::move(emitted));
    return drain_result::done;
  }

  void close() override { function_->close(); }

private:
  std::vector<std::int32_t> key_columns_;
  state::key_schema schema_;
  graph::function_context opened_with_;
  state::key_batch keys_;
  std::unique_ptr<graph::aggregate_function> function_;
  std::optional<accumulator_table> accumulators_;
  graph::batch_builder out_;
  graph::record_batch waiting_;
  std::vector<std::uint32_t> rows_;
};

} // namespace

result<std::unique_ptr<stream_operator>>
make_keyed_aggregate_operator(const graph::operator_node& node, const operator_context& context) {
  const auto& spec = std::get<graph::keyed_aggregate_spec>(node.spec);
  HEADRACE_TRY(auto function, make_aggregate(spec.aggregates, node.input_types.front(),
                                             node.output_type, spec.key_columns, context));
  return std::unique_ptr<stream_operator>(
      std::make_unique<keyed_aggregate_operator>(node, context, std::move(function)));
}

} // namespace headrace::task
