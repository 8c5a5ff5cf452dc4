#include "libgraph/sql/translate/translator.hpp"

#include <algorithm>

namespace headrace::sql {

maybe_index job_translator::make(const set_node& node, const plan_node& plan) {
  if (node.kind != set_operator::union_ || !node.is_all)
    return not_yet(node.kind == set_operator::union_      ? "UNION"
                   : node.kind == set_operator::intersect ? "INTERSECT"
                                                          : "EXCEPT",
                   plan.at);
  graph::transformation made;
  made.name = "union";
  made.call = graph::union_call{};
  made.output_type = plan.row_type();
  bool is_sound = true;
  for (const auto& each : plan.inputs) {
    const auto below = visit(each, needs_before_);
    is_sound &= below.has_value();
    if (below)
      made.inputs.push_back(fit(*below, each, made));
  }
  return is_sound ? maybe_index(out_.program.add(std::move(made))) : std::nullopt;
}

std::int32_t job_translator::fit(std::int32_t input, const plan_node& from,
                                 const graph::transformation& whole) {
  const auto is_known = std::find(whole.inputs.begin(), whole.inputs.end(), input);
  if (from.row_type() == whole.output_type && is_known == whole.inputs.end())
    return input;
  graph::calc_spec spec;
  for (std::size_t i = 0; i < from.columns.size(); ++i) {
    const auto& wanted = whole.output_type.child(i);
    auto value = graph::make_column(static_cast<std::uint32_t>(i), from.columns[i].type);
    if (!(from.columns[i].type == wanted))
      value = graph::make_call("CAST", wanted, {std::move(value)});
    spec.outputs.push_back(std::move(value));
  }
  return add("calc", std::move(spec), {input}, whole.output_type);
}

} // namespace headrace::sql
