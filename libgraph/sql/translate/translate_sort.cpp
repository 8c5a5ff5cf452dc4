#include "libgraph/sql/translate/translator.hpp"

namespace headrace::sql {

/// Inside a job ORDER BY with LIMIT is the Top-N of all rows, and LIMIT alone the first that come.
maybe_index job_translator::make(const sort_node& node, const plan_node& plan) {
  if (!node.limit)
    return add_sort(node, plan);
  if (*node.limit == 0) {
    const auto below = visit(plan.inputs[0]);
    if (!below)
      return std::nullopt;
    graph::calc_spec spec;
    spec.time_zone = settings_.time_zone;
    spec.condition = graph::make_constant(
        graph::fixed_value<std::uint8_t>(logical_type::boolean().not_null(), 0));
    for (std::size_t i = 0; i < plan.columns.size(); ++i)
      spec.outputs.push_back(
          graph::make_column(static_cast<std::uint32_t>(i), plan.columns[i].type));
    return add("calc", std::move(spec), {*below}, plan.row_type());
  }
  rank_node ranks;
  ranks.order = node.keys;
  ranks.first = node.offset + 1;
  ranks.last = node.offset + *node.limit;
  return add_rank(ranks, plan);
}

/// By a time attribute rows are in order once the watermark has passed them: those of one time as
/// they came.
maybe_index job_translator::add_sort(const sort_node& node, const plan_node& plan) {
  const auto& input = plan.inputs[0];
  const bool is_by_time = node.keys.size() == 1 && !node.keys[0].is_descending &&
                          input.columns[node.keys[0].column].time == time_kind::row_time;
  if (!is_by_time || node.offset > 0)
    return fail(
        diagnostic_kind::unsupported,
        "ORDER BY without LIMIT takes a time attribute, ascending and alone, unless it is of "
        "rows that are shown, of tables that end; of such tables SET 'execution.runtime-mode' = "
        "'batch' orders all rows",
        plan.at);
  over_node rows;
  rows.order = node.keys;
  return make(rows, plan);
}

} // namespace headrace::sql
