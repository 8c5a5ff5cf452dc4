#include "libgraph/sql/bind/expression_binder.hpp"
#include "libgraph/sql/optimize/optimizer.hpp"
#include "libgraph/sql/translate/translator.hpp"
#include "libactors/base/assert.hpp"

#include <algorithm>

// Rows that come too late for the windows that a view groups by: VIEW$late.
namespace headrace::sql {
namespace {

/// The window function below an aggregate, with the calcs between, the uppermost first.
struct windows_below {
  std::vector<const calc_node*> calcs;
  const plan_node* window = nullptr; ///< null: what is below gives rows of other windows
};

windows_below find_windows(const plan_node& input) {
  windows_below out;
  const auto* below = &input;
  for (; std::holds_alternative<calc_node>(below->node); below = &below->inputs[0])
    out.calcs.push_back(&std::get<calc_node>(below->node));
  if (std::holds_alternative<window_node>(below->node))
    out.window = below;
  return out;
}

/// Which column of the window function an aggregate's column is; nothing: it is computed.
std::optional<std::size_t> source_of(const windows_below& in, std::size_t column) {
  for (const auto* each : in.calcs) {
    const auto* passed = std::get_if<bound_column>(&each->items[column].node);
    if (passed == nullptr)
      return std::nullopt;
    column = passed->index;
  }
  return column;
}

bound_expression column_of(const logical_type& type, std::size_t index) {
  return {bound_column{index}, type.child(index), {}};
}

bound_expression comparison(const char* function, bound_expression left, bound_expression right) {
  bound_call out;
  out.function = function;
  out.arguments.push_back(std::move(left));
  out.arguments.push_back(std::move(right));
  return {std::move(out), logical_type::boolean(), {}};
}

} // namespace

void job_translator::keep_late(const window_aggregate_node& node, const plan_node& plan,
                               std::int32_t made, const logical_type& type) {
  if (node.late.empty())
    return;
  std::get<graph::operator_call>(out_.program.at(made).call).side_types.push_back(type);
  late_.push_back({&plan, made, type, numbers(node.late)});
}

bool job_translator::keep_late_of_carried(const window_aggregate_node& node, const plan_node& plan,
                                          std::int32_t made, const logical_type& type,
                                          carried_bounds windows) {
  keep_late(node, plan, made, type);
  if (node.late.empty() || node.shape.kind == window_function::tumble ||
      node.shape.kind == window_function::session)
    return true;
  const auto start = column_of(type, windows.start);
  bound_expression is_last;
  if (node.shape.kind == window_function::cumulate) {
    is_last = comparison("=", earlier(column_of(type, windows.end), node.shape.size_ms), start);
  } else {
    const auto below = find_windows(plan.inputs[0]);
    HEADRACE_ASSERT(below.window != nullptr, "late rows are of the window function's");
    const auto wanted = std::get<window_node>(below.window->node).shape.time_column;
    std::size_t time = 0;
    while (time < plan.inputs[0].columns.size() && source_of(below, time) != wanted)
      ++time;
    HEADRACE_ASSERT(time < plan.inputs[0].columns.size(), "late rows have their time");
    auto clock = expression_binder::cast_to(column_of(type, time), start.type);
    is_last = comparison("<", earlier(std::move(clock), node.shape.slide_ms), start);
  }
  auto condition = expression_of(is_last);
  if (condition)
    late_.back().condition = std::move(*condition);
  return condition.has_value();
}

bool job_translator::keep_late_of_sessions(const window_aggregate_node& node,
                                           const plan_node& plan) {
  const auto below = find_windows(plan.inputs[0]);
  if (node.late.empty() || below.window == nullptr)
    return true;
  if (std::any_of(below.calcs.begin(), below.calcs.end(),
                  [](const auto* each) { return each->condition.has_value(); })) {
    fail(diagnostic_kind::unsupported,
         "late rows belong to no session, so that a condition on window_start, window_end or "
         "window_time cannot be asked of them: move it from the view to where the view is read",
         plan.at);
    return false;
  }
  std::vector<std::int32_t> columns;
  for (const auto each : node.late) {
    const auto from = source_of(below, each);
    HEADRACE_ASSERT(from.has_value(), "columns of late rows are passed on as they are");
    columns.push_back(static_cast<std::int32_t>(*from));
  }
  const auto made = std::find_if(sessions_.begin(), sessions_.end(), [&](const session_rows& each) {
    return *each.plan == *below.window;
  });
  HEADRACE_ASSERT(made != sessions_.end(), "sessions are made before their aggregate");
  auto& sides = std::get<graph::operator_call>(out_.program.at(made->index).call).side_types;
  if (sides.empty()) // other aggregates may be over the same sessions
    sides.push_back(made->type);
  late_.push_back({&plan, made->index, made->type, std::move(columns)});
  return true;
}

/// Of the operators that others read the groups of, where they do.
maybe_index job_translator::make(const late_node& /*node*/, const plan_node& plan) {
  const auto* groups = &plan.inputs[0];
  while (std::holds_alternative<calc_node>(groups->node))
    groups = &groups->inputs[0];
  const auto* windows = std::get_if<window_aggregate_node>(&groups->node);
  if (windows == nullptr || windows->late.empty())
    return fail(diagnostic_kind::invalid,
                "no rows are late for a GROUP BY without both window_start and window_end",
                plan.at);
  const auto is_of_groups = [&](const late_rows& each) { return *each.plan == *groups; };
  if (std::none_of(late_.begin(), late_.end(), is_of_groups) && !visit(*groups))
    return std::nullopt;
  graph::transformation all;
  all.name = "union";
  all.call = graph::union_call{};
  all.output_type = plan.row_type();
  for (const auto& each : late_) {
    if (!is_of_groups(each))
      continue;
    graph::transformation side;
    side.name = "late rows";
    side.call = graph::side_output_call{0};
    side.inputs = {each.index};
    side.output_type = each.type;
    auto late = out_.program.add(std::move(side));
    if (each.condition) {
      graph::calc_spec once;
      once.time_zone = settings_.time_zone;
      once.condition = *each.condition;
      for (std::size_t i = 0; i < each.type.child_count(); ++i)
        once.outputs.push_back(
            graph::make_column(static_cast<std::uint32_t>(i), each.type.child(i)));
      late = add("calc", std::move(once), {late}, each.type);
    }
    all.inputs.push_back(
        add("project", graph::project_spec{each.columns}, {late}, plan.row_type()));
  }
  HEADRACE_ASSERT(!all.inputs.empty(), "windows that keep late rows give them");
  if (all.inputs.size() == 1)
    return all.inputs[0];
  return out_.program.add(std::move(all));
}

} // namespace headrace::sql
