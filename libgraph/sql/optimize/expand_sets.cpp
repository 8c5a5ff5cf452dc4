#include "libgraph/job_graph/correlate_check.hpp"
#include "libgraph/sql/optimize/optimizer.hpp"
#include "libgraph/sql/plan/conditions.hpp"
#include "libgraph/sql/plan/query_planner.hpp"

#include <utility>

namespace headrace::sql {
namespace {

std::vector<std::string> names_of(const std::vector<plan_column>& columns) {
  std::vector<std::string> out;
  for (const auto& each : columns)
    out.push_back(each.name);
  return out;
}

plan_node union_of(std::vector<plan_node> inputs, std::vector<plan_column> columns,
                   source_span at) {
  plan_node out;
  out.at = at;
  out.columns = std::move(columns);
  out.node = set_node{set_operator::union_, true};
  out.inputs = std::move(inputs);
  return out;
}

/// The distinct rows, with the items behind.
plan_node grouped(plan_node rows, std::size_t key_count, std::vector<aggregate_item> items) {
  plan_node out;
  out.at = rows.at;
  for (std::size_t i = 0; i < key_count; ++i) {
    out.columns.push_back(rows.columns[i]);
    out.columns.back().time = time_kind::none;
    out.columns.back().window.reset();
  }
  for (const auto& each : items)
    out.columns.push_back(
        {"$c" + std::to_string(out.columns.size()), each.type, time_kind::none, std::nullopt});
  out.node = aggregate_node{key_count, std::move(items)};
  out.inputs.push_back(std::move(rows));
  return out;
}

bound_expression constant(const char* text) {
  return {bound_constant{text, std::nullopt}, logical_type::boolean().not_null(), {}};
}

bound_expression number(std::size_t column) {
  return {bound_column{column}, logical_type::bigint().not_null(), {}};
}

bound_expression called(const char* function, bound_expression left, bound_expression right,
                        logical_type type) {
  bound_call out;
  out.function = function;
  out.arguments.push_back(std::move(left));
  out.arguments.push_back(std::move(right));
  return {std::move(out), std::move(type), {}};
}

bound_expression compared(std::size_t column, const char* sign) {
  return called(sign, number(column),
                {bound_constant{"0", std::nullopt}, logical_type::bigint().not_null(), {}},
                logical_type::boolean().not_null());
}

/// INTERSECT ALL and EXCEPT ALL: of distinct rows and their two counts, each as often as it is in
/// both inputs, or more often in the first one.
plan_node repeated(plan_node rows, set_operator kind, const plan_node& whole) {
  const auto width = whole.columns.size();
  const auto count = logical_type::bigint().not_null();
  const bool is_both = kind == set_operator::intersect;
  rows = filtered(std::move(rows), is_both ? *all_of([&] {
                    conditions both;
                    both.push_back(compared(width, ">"));
                    both.push_back(compared(width + 1, ">"));
                    return both;
                  }())
                                           : called(">", number(width), number(width + 1),
                                                    logical_type::boolean().not_null()));
  auto items = identity_items(rows.columns);
  items.resize(width);
  items.push_back(called(is_both ? "LEAST" : "-", number(width), number(width + 1), count));
  auto names = names_of(whole.columns);
  names.emplace_back("$times");
  rows = projected(std::move(rows), std::move(items), std::move(names));
  correlate_node repeat;
  repeat.function = graph::repeat_function;
  repeat.arguments.push_back(number(width));
  repeat.rows = logical_type::row({}).not_null();
  plan_node out;
  out.at = whole.at;
  for (std::size_t i = 0; i < width; ++i) {
    repeat.passed.push_back(i);
    out.columns.push_back(rows.columns[i]);
  }
  out.node = std::move(repeat);
  out.inputs.push_back(std::move(rows));
  return out;
}

/// INTERSECT and EXCEPT by counts: how often a row is in the first input, and in the other.
plan_node by_counts(plan_node plan) {
  const auto [kind, is_all] = std::get<set_node>(plan.node);
  const auto width = plan.columns.size();
  // State counts by them, and is another operation's when that is in their names.
  const std::string of =
      std::string(kind == set_operator::intersect ? " of INTERSECT" : " of EXCEPT") +
      (is_all ? " ALL" : "");
  const std::string sides[] = {"$left" + of, "$right" + of};
  std::vector<plan_node> inputs;
  for (std::size_t i = 0; i < 2; ++i) {
    auto items = identity_items(plan.inputs[i].columns);
    auto names = names_of(plan.inputs[i].columns);
    for (const std::size_t side : {0U, 1U}) {
      items.push_back(constant(side == i ? "TRUE" : "FALSE"));
      names.push_back(sides[side]);
    }
    inputs.push_back(projected(std::move(plan.inputs[i]), std::move(items), std::move(names)));
  }
  auto columns = plan.columns;
  for (const auto& name : sides)
    columns.push_back({name, logical_type::boolean().not_null(), time_kind::none, std::nullopt});
  std::vector<aggregate_item> counts;
  for (const std::size_t side : {0U, 1U}) {
    aggregate_item count;
    count.function = "COUNT";
    count.filter = width + side;
    count.type = logical_type::bigint().not_null();
    counts.push_back(std::move(count));
  }
  auto rows =
      grouped(union_of(std::move(inputs), std::move(columns), plan.at), width, std::move(counts));
  if (is_all)
    return repeated(std::move(rows), kind, plan);
  conditions both;
  both.push_back(compared(width, ">"));
  both.push_back(compared(width + 1, kind == set_operator::intersect ? ">" : "="));
  rows = filtered(std::move(rows), *all_of(std::move(both)));
  auto items = identity_items(rows.columns);
  items.resize(width);
  return projected(std::move(rows), std::move(items), names_of(plan.columns));
}

} // namespace

plan_node expand_sets(plan_node plan) {
  for (auto& each : plan.inputs)
    each = expand_sets(std::move(each));
  const auto* set = std::get_if<set_node>(&plan.node);
  if (set == nullptr || (set->is_all && set->kind == set_operator::union_))
    return plan;
  auto columns = plan.columns;
  if (set->kind == set_operator::union_) {
    auto at = plan.at;
    auto out = union_of(std::move(plan.inputs), columns, at);
    const auto width = columns.size();
    return grouped(std::move(out), width, {});
  }
  // More than two are taken from left to right.
  while (plan.inputs.size() > 2) {
    plan_node first;
    first.at = plan.at;
    first.columns = plan.columns;
    first.node = plan.node;
    first.inputs.push_back(std::move(plan.inputs[0]));
    first.inputs.push_back(std::move(plan.inputs[1]));
    plan.inputs.erase(plan.inputs.begin());
    plan.inputs[0] = by_counts(std::move(first));
  }
  return by_counts(std::move(plan));
}

} // namespace headrace::sql
