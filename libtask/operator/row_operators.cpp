#include "libtask/operator/row_operators.hpp"

#include <algorithm>
#include <utility>

namespace headrace::task {

namespace {
graph::row_type_ptr shared_type(const graph::logical_type& type) {
  return std::make_shared<const graph::logical_type>(type);
}
} // namespace

function_outputs::function_outputs(const graph::operator_node& node,
                                   std::shared_ptr<graph::memory_budget> memory)
    : main_(shared_type(node.output_type), memory) {
  sides_.reserve(node.side_types.size());
  for (const auto& type : node.side_types)
    sides_.emplace_back(shared_type(type), memory);
}

graph::function_output function_outputs::bounded(const drain_budget& budget) {
  return {main_, sides_, budget.rows_max, budget.bytes_max};
}

void function_outputs::flush(operator_output& out) {
  if (!main_.is_empty())
    out.emit(main_.finish());
  for (std::size_t i = 0; i < sides_.size(); ++i)
    if (!sides_[i].is_empty())
      out.emit_side(static_cast<std::int32_t>(i), sides_[i].finish());
}

row_function_operator::row_function_operator(const graph::operator_node& node,
                                             const operator_context& context,
                                             std::unique_ptr<graph::row_function> function)
    : context_(context), function_(std::move(function)), outputs_(node, context.memory) {}

status row_function_operator::open(const operator_states& states) {
  function_->open(context_.for_function(nullptr, states.raw, states.plain));
  return {};
}

status row_function_operator::add(std::int32_t /*input*/, const graph::record_batch& rows) {
  taken_ = rows;
  at_ = 0;
  return {};
}

result<drain_result> row_function_operator::drain(operator_output& out,
                                                  const drain_budget& budget) {
  if (at_ < taken_.size()) {
    auto into = outputs_.bounded(budget);
    at_ = function_->process(taken_, at_, into);
    outputs_.flush(out);
  }
  if (at_ < taken_.size())
    return drain_result::more;
  taken_ = {};
  at_ = 0;
  return drain_result::done;
}

filter_operator::filter_operator(const operator_context& context,
                                 std::unique_ptr<graph::filter_function> function)
    : context_(context), function_(std::move(function)) {}

status filter_operator::open(const operator_states& /*states*/) {
  function_->open(context_.for_function());
  return {};
}

status filter_operator::add(std::int32_t /*input*/, const graph::record_batch& rows) {
  auto kept = graph::buffer::allocate(rows.size() * sizeof(std::uint32_t), context_.memory);
  const auto count = function_->select(rows, kept->mutable_as<std::uint32_t>());
  if (count == rows.size())
    kept_ = rows;
  else if (count > 0)
    kept_ = rows.with_selection(std::move(kept), count);
  return {};
}

result<drain_result> filter_operator::drain(operator_output& out, const drain_budget& /*budget*/) {
  if (!kept_.is_empty())
    out.emit(std::exchange(kept_, {}));
  return drain_result::done;
}

project_operator::project_operator(graph::row_type_ptr type, std::vector<int> columns)
    : type_(std::move(type)), columns_(std::move(columns)) {}

status project_operator::add(std::int32_t /*input*/, const graph::record_batch& rows) {
  projected_ = rows.project(type_, columns_);
  return {};
}

result<drain_result> project_operator::drain(operator_output& out, const drain_budget& /*budget*/) {
  if (!projected_.is_empty())
    out.emit(std::exchange(projected_, {}));
  return drain_result::done;
}

result<std::unique_ptr<stream_operator>>
make_row_function_operator(const graph::operator_node& node, const operator_context& context) {
  const auto& spec = std::get<graph::row_function_spec>(node.spec);
  HEADRACE_TRY(auto function, make_function<graph::row_function>(context, spec.function));
  return std::unique_ptr<stream_operator>(
      std::make_unique<row_function_operator>(node, context, std::move(function)));
}

result<std::unique_ptr<stream_operator>> make_filter_operator(const graph::operator_node& node,
                                                              const operator_context& context) {
  const auto& spec = std::get<graph::filter_spec>(node.spec);
  HEADRACE_TRY(auto function, make_function<graph::filter_function>(context, spec.function));
  return std::unique_ptr<stream_operator>(
      std::make_unique<filter_operator>(context, std::move(function)));
}

result<std::unique_ptr<stream_operator>>
make_project_operator(const graph::operator_node& node, const operator_context& /*context*/) {
  const auto& spec = std::get<graph::project_spec>(node.spec);
  if (node.input_types.empty())
    return error(errc::invalid_graph, "projection without input: " + node.name);
  for (const auto column : spec.columns)
    if (column < 0 || static_cast<std::size_t>(column) >= node.input_types[0].child_count())
      return error(errc::invalid_graph, "projection of an unknown column: " + node.name);
  return std::unique_ptr<stream_operator>(std::make_unique<project_operator>(
      shared_type(node.output_type), std::vector<int>(spec.columns.begin(), spec.columns.end())));
}

} // namespace headrace::task
