#include "libgraph/sql/optimize/changelog.hpp"
#include "libgraph/sql/plan/over.hpp"
#include "libgraph/sql/translate/translator.hpp"

#include <string>

namespace headrace::sql {
namespace {

/// Why a window does not run over rows that come one by one; empty: it does.
std::string refusal_of(const over_node& node, bool is_over_time) {
  const std::string in_batch = "; of tables that end SET 'execution.runtime-mode' = 'batch' takes ";
  if (is_over_time && !ends_with_row(node))
    return "a window over a stream ends with CURRENT ROW, and begins there or before it" +
           in_batch + "any";
  if (is_over_time)
    return {};
  if (node.order.empty()) // those of ranks are not
    return "OVER takes ORDER BY of a time attribute, ascending; for one result of all rows of a "
           "partition join them with a sub-query that has GROUP BY in place of PARTITION BY" +
           in_batch + "none";
  const std::string around = " with a condition such as n <= 10 around it";
  for (const auto& each : node.items)
    if (each.function == "RANK" || each.function == "DENSE_RANK")
      return each.function +
             " takes ORDER BY of a time attribute, ascending; ROW_NUMBER takes any order" + around +
             in_batch + "any";
  return "ORDER BY of OVER takes a time attribute, ascending, unless it ranks rows by ROW_NUMBER" +
         around + in_batch + "any order";
}

} // namespace

/// Only what no Top-N was made of comes here.
maybe_index job_translator::make(const over_node& node, const plan_node& plan) {
  const auto& input = plan.inputs[0];
  if (const auto* updating = find_updating(input))
    return fail(diagnostic_kind::unsupported,
                "OVER does not take rows that are updated or taken back, as those of this are",
                updating->at);
  const bool is_whole = node.window_end.has_value();
  const bool is_by_time = is_over_time(node, input);
  for (const auto& each : node.items)
    if (is_whole ? !runs_at_end(each) : !runs_with_row(each))
      return each.function == "LEAD"
                 ? fail(diagnostic_kind::unsupported,
                        "LEAD would wait for rows to come; take LAG of the later row", plan.at)
                 : not_yet(each.function + (each.is_distinct ? " with DISTINCT" : "") +
                               " with OVER",
                           plan.at);
  for (const auto& each : node.items)
    if (each.is_distinct && each.function == "COUNT" && each.arguments.size() > 1)
      return not_yet("COUNT with DISTINCT of several columns with OVER", plan.at);
  if (!is_whole)
    if (auto refusal = refusal_of(node, is_by_time); !refusal.empty())
      return fail(diagnostic_kind::unsupported, std::move(refusal), plan.at);
  const auto below = visit(input);
  if (!below)
    return std::nullopt;
  graph::over_spec spec;
  if (is_whole) {
    spec.time_column = static_cast<std::int32_t>(*node.window_end);
    spec.frame = node.frame;
    auto order = order_of(node.order, input, plan.at);
    if (!order)
      return std::nullopt;
    spec.order = std::move(*order);
  } else if (input.columns[node.order[0].column].time == time_kind::row_time) {
    spec.time_column = static_cast<std::int32_t>(node.order[0].column);
  }
  spec.is_rows = node.is_rows;
  spec.preceding = node.preceding.value_or(-1);
  spec.calls = calls_of(node.items);
  spec.state_ttl_ms = ttl_of(plan);
  spec.key_columns = numbers(node.partition);
  auto type = input.row_type();
  const auto keyed = add_keyed(*below, type, spec.key_columns);
  const auto width = input.columns.size();
  const bool is_global = node.partition.empty();
  auto fields = type.fields();
  for (auto i = width; i < plan.columns.size(); ++i)
    fields.push_back({plan.columns[i].name, plan.columns[i].type, {}});
  const auto made =
      add("over", std::move(spec), {keyed}, logical_type::row(std::move(fields)).not_null());
  if (!is_global)
    return made;
  out_.program.at(made).parallelism = 1;
  auto back = first_numbers(plan.columns.size());
  for (auto i = width; i < back.size(); ++i)
    ++back[i]; // behind the constant
  return add("project", graph::project_spec{numbers(back)}, {made}, plan.row_type());
}

} // namespace headrace::sql
