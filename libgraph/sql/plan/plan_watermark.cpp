#include "libgraph/connector/option_set.hpp"
#include "libgraph/sql/bind/interval_value.hpp"
#include "libgraph/sql/parse/parser.hpp"
#include "libgraph/sql/plan/query_planner.hpp"

#include <algorithm>

// WATERMARK of a table, and its options.
namespace headrace::sql {
namespace {

constexpr std::string_view strategy_key = "scan.watermark.emit.strategy";
constexpr std::string_view idle_key = "scan.watermark.idle-timeout";

constexpr option_declaration watermark_options[] = {
    {strategy_key,
     option_type::text,
     "on-periodic",
     "when the watermark follows the rows",
     {},
     {},
     "on-periodic|on-event"},
    {idle_key, option_type::duration, "", "after how long without rows others are not held back",
     0},
};

} // namespace

bool is_watermark_option(std::string_view key) { return key == strategy_key || key == idle_key; }

std::optional<plan_node> query_planner::add_watermark(plan_node plan,
                                                      const graph::table_watermark& watermark,
                                                      source_span at) {
  std::vector<diagnostic> inner;
  const auto scope = scope_of(plan.columns, {});
  const auto parsed = parse_expression(watermark.expression);
  auto bound = parsed.value ? expression_binder(scope, inner, &functions_).bind(*parsed.value)
                            : std::nullopt;
  const auto found =
      std::find_if(plan.columns.begin(), plan.columns.end(),
                   [&](const plan_column& each) { return each.name == watermark.column; });
  if (!bound || found == plan.columns.end())
    return fail(diagnostic_kind::invalid,
                "watermark has no meaning: " +
                    (inner.empty() ? watermark.expression : inner[0].message),
                at);
  const auto made = watermark_of(*bound, static_cast<std::size_t>(found - plan.columns.begin()));
  if (!made)
    return unsupported("watermarks follow their column, or lie an interval before it: WATERMARK "
                       "FOR " +
                           watermark.column + " AS " + watermark.column + " - INTERVAL '5' SECOND",
                       at);
  plan_node out;
  out.at = at;
  out.columns = plan.columns;
  out.columns[made->column].time = time_kind::row_time;
  out.node = *made;
  out.inputs.push_back(std::move(plan));
  return out;
}

std::optional<watermark_node> watermark_of(const bound_expression& expression, std::size_t column) {
  const auto is_column = [&](const bound_expression& each) {
    const auto* found = std::get_if<bound_column>(&each.node);
    return found != nullptr && found->index == column;
  };
  if (is_column(expression))
    return watermark_node{column, 0};
  const auto* call = std::get_if<bound_call>(&expression.node);
  if (call == nullptr || call->function != "-" || !is_column(call->arguments[0]))
    return std::nullopt;
  const auto* distance = std::get_if<bound_constant>(&call->arguments[1].node);
  if (distance == nullptr || !distance->text || !distance->interval ||
      call->arguments[1].type.root() != type_root::interval_day_time)
    return std::nullopt;
  const auto delay = interval_value(*distance->text, *distance->interval);
  return delay && *delay >= 0 ? std::optional(watermark_node{column, *delay}) : std::nullopt;
}

bool query_planner::apply_watermark_options(plan_node& plan, const std::string& table,
                                            const graph::object_options& options, source_span at) {
  graph::option_map given;
  for (const auto& [key, value] : options)
    if (is_watermark_option(key))
      given.emplace(key, value);
  if (given.empty())
    return true;
  const auto set = graph::option_set::parse("table " + table, watermark_options, given);
  if (!set)
    return refuse(set.error().message, at);
  auto* made = std::get_if<watermark_node>(&plan.node);
  if (made == nullptr)
    return refuse("option '" + given.begin()->first + "' is about a watermark, and table " + table +
                      " has none: declare WATERMARK FOR a column of it",
                  at);
  made->on_event = set->get_text(strategy_key) == "on-event";
  if (given.contains(std::string(idle_key)))
    made->idle_timeout_ms = set->get_duration(idle_key).count();
  return true;
}

} // namespace headrace::sql
