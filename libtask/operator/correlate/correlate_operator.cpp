#include "libtask/operator/correlate/correlate_operator.hpp"

#include "libtask/operator/correlate/repeat_rows.hpp"
#include "libtask/operator/correlate/unnest_rows.hpp"
#include "libtask/operator/correlate/user_rows.hpp"
#include "libgraph/data/gather.hpp"
#include "libgraph/expression/program.hpp"
#include "libgraph/job_graph/correlate_check.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace headrace::task {
namespace {

class correlate_operator final : public stream_operator {
public:
  correlate_operator(const graph::operator_node& node, const operator_context& context,
                     graph::expression_program arguments, std::unique_ptr<table_rows> function)
      : spec_(std::get<graph::correlate_spec>(node.spec)), time_(context.time),
        memory_(context.memory), arguments_(std::move(arguments)), function_(std::move(function)),
        type_(std::make_shared<const graph::logical_type>(node.output_type)) {
    std::vector<graph::logical_type::field> fields;
    for (const auto& each : spec_.arguments)
      fields.push_back({"a" + std::to_string(fields.size()), each.type(), {}});
    argument_type_ = std::make_shared<const graph::logical_type>(
        graph::logical_type::row(std::move(fields)).not_null());
  }

  status add(std::int32_t /*input*/, const graph::record_batch& rows) override {
    HEADRACE_TRY(const auto arguments,
                 arguments_.run(rows, argument_type_, {time_.wall_ms(), watermark_ms_}));
    in_ = rows;
    row_bytes_ = 1;
    for (const auto each : spec_.passed)
      row_bytes_ += in_.at(static_cast<std::size_t>(each)).retained_bytes() /
                    std::max<std::size_t>(in_.row_count(), 1);
    return function_->take(rows, arguments);
  }

  status advance(graph::watermark mark) override {
    watermark_ms_ = mark.time_ms;
    return {};
  }

  result<drain_result> drain(operator_output& out, const drain_budget& budget) override {
    if (in_.is_empty())
      return drain_result::done;
    const auto rows_max =
        std::clamp<std::size_t>(budget.bytes_max / row_bytes_, 1, budget.rows_max);
    made_rows made;
    HEADRACE_TRY(const bool has_more, function_->make(rows_max, made));
    if (!made.parents.empty())
      out.emit(joined(std::move(made)));
    if (has_more)
      return drain_result::more;
    in_ = {};
    return drain_result::done;
  }

private:
  graph::record_batch joined(made_rows made) const {
    std::vector<graph::column_ptr> columns;
    columns.reserve(spec_.passed.size() + made.columns.size());
    for (const auto each : spec_.passed)
      columns.push_back(graph::gather_column(in_.at(static_cast<std::size_t>(each)), made.parents));
    for (auto& each : made.columns)
      columns.push_back(std::move(each));
    graph::record_batch out(type_, made.parents.size(), std::move(columns));
    if (in_.timestamps() != nullptr)
      out = out.with_timestamps(gathered(sizeof(std::int64_t), in_.timestamps_buffer(), made));
    if (in_.kinds() != nullptr)
      out = out.with_kinds(gathered(sizeof(graph::row_kind), in_.kinds_buffer(), made));
    return out;
  }
  graph::buffer_ptr gathered(std::size_t width_bytes, const graph::buffer_ptr& from,
                             const made_rows& made) const {
    auto to = graph::buffer::allocate(made.parents.size() * width_bytes, memory_);
    graph::gather_values(width_bytes, from->data(), made.parents, to->mutable_data());
    return to;
  }

  graph::correlate_spec spec_;
  const headrace::clock& time_;
  std::shared_ptr<graph::memory_budget> memory_;
  graph::expression_program arguments_;
  std::unique_ptr<table_rows> function_;
  graph::row_type_ptr type_;
  graph::row_type_ptr argument_type_;
  graph::record_batch in_;
  std::size_t row_bytes_ = 1; ///< about, of what is passed on
  std::int64_t watermark_ms_ = graph::watermark::none;
};

} // namespace

result<std::unique_ptr<stream_operator>> make_correlate_operator(const graph::operator_node& node,
                                                                 const operator_context& context) {
  const auto& spec = std::get<graph::correlate_spec>(node.spec);
  HEADRACE_TRY(auto arguments, graph::expression_program::compile(
                                   node.input_types.front(), {}, spec.arguments,
                                   {spec.time_zone, context.memory, random_seed(context)}));
  std::vector<graph::logical_type> types;
  for (std::size_t i = 0; i < spec.fields.size(); ++i)
    types.push_back(node.output_type.child(spec.passed.size() + i));
  std::unique_ptr<table_rows> function;
  if (spec.function == graph::repeat_function && spec.definition.empty()) {
    function = make_repeat_rows();
  } else if (spec.definition.empty()) {
    function = make_unnest_rows(spec, std::move(types));
  } else {
    HEADRACE_TRY(function, make_user_rows(spec, std::move(types)));
  }
  return std::unique_ptr<stream_operator>(std::make_unique<correlate_operator>(
      node, context, std::move(arguments), std::move(function)));
}

} // namespace headrace::task
