#include "libgraph/sql/translate/translator.hpp"

namespace headrace::sql {

maybe_index job_translator::make(const correlate_node& node, const plan_node& plan) {
  // The new row of an update may have fewer rows than the old one, which are then taken back.
  const auto below = visit(plan.inputs[0], true);
  graph::correlate_spec spec;
  spec.kind = node.kind == join_type::left ? graph::join_kind::left : graph::join_kind::inner;
  spec.function = node.function;
  if (node.user != nullptr)
    spec.definition = graph::encode(*node.user);
  spec.has_ordinality = node.has_ordinality;
  spec.result_type = node.rows;
  spec.passed = numbers(node.passed);
  spec.fields = numbers(node.fields);
  spec.time_zone = settings_.time_zone;
  bool is_sound = below.has_value();
  for (const auto& each : node.arguments) {
    auto argument = expression_of(each);
    is_sound &= argument.has_value();
    if (argument)
      spec.arguments.push_back(std::move(*argument));
  }
  if (!is_sound)
    return std::nullopt;
  return add("correlate", std::move(spec), {*below}, plan.row_type());
}

} // namespace headrace::sql
