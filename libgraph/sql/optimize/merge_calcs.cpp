#include "libgraph/sql/optimize/optimizer.hpp"

#include <algorithm>

namespace headrace::sql {
namespace {

/// Nodes of all expressions of a calc, beyond which it is not merged.
constexpr std::size_t nodes_max = 10'000;

std::size_t count_nodes(const bound_expression& in) {
  std::size_t out = 1;
  if (const auto* field = std::get_if<bound_field>(&in.node))
    out += count_nodes(*field->row);
  if (const auto* call = std::get_if<bound_call>(&in.node))
    for (const auto& each : call->arguments)
      out += count_nodes(each);
  return out;
}

bound_expression substitute(const bound_expression& from,
                            const std::vector<bound_expression>& items) {
  if (const auto* column = std::get_if<bound_column>(&from.node))
    return items[column->index];
  auto out = from;
  if (auto* field = std::get_if<bound_field>(&out.node)) {
    field->row = substitute(*field->row, items);
  } else if (auto* call = std::get_if<bound_call>(&out.node)) {
    for (auto& each : call->arguments)
      each = substitute(each, items);
  }
  return out;
}

bound_expression both_of(bound_expression inner, bound_expression outer) {
  const bool is_nullable = inner.type.is_nullable() || outer.type.is_nullable();
  const auto at = outer.at;
  bound_call out;
  out.function = "AND";
  for (auto* each : {&inner, &outer}) {
    auto* call = std::get_if<bound_call>(&each->node);
    if (call != nullptr && call->function == "AND")
      out.arguments.insert(out.arguments.end(), call->arguments.begin(), call->arguments.end());
    else
      out.arguments.push_back(std::move(*each));
  }
  return {std::move(out),
          is_nullable ? logical_type::boolean() : logical_type::boolean().not_null(), at};
}

/// Whether the expressions of `outer` may stand for themselves over the input of `inner`.
bool is_mergeable(const calc_node& outer, const calc_node& inner) {
  if (!std::all_of(inner.items.begin(), inner.items.end(), is_deterministic))
    return false;
  std::vector<std::size_t> sizes;
  for (const auto& each : inner.items)
    sizes.push_back(count_nodes(each));
  std::size_t sum = inner.condition ? count_nodes(*inner.condition) : 0;
  const auto add = [&](const bound_expression& each) {
    sum += count_nodes(each);
    visit_columns(each, [&](const bound_column& column) { sum += sizes[column.index]; });
  };
  for (const auto& each : outer.items)
    add(each);
  if (outer.condition)
    add(*outer.condition);
  return sum <= nodes_max;
}

/// Passes all rows and columns on, under the same names.
bool is_idle(const plan_node& plan) {
  const auto* calc = std::get_if<calc_node>(&plan.node);
  if (calc == nullptr || calc->condition)
    return false;
  const auto& below = plan.inputs[0].columns;
  if (calc->items.size() != below.size())
    return false;
  for (std::size_t i = 0; i < below.size(); ++i) {
    const auto* column = std::get_if<bound_column>(&calc->items[i].node);
    if (column == nullptr || column->index != i || plan.columns[i].name != below[i].name)
      return false;
  }
  return true;
}

} // namespace

bool is_deterministic(const bound_expression& in) {
  if (const auto* field = std::get_if<bound_field>(&in.node))
    return is_deterministic(*field->row);
  const auto* call = std::get_if<bound_call>(&in.node);
  if (call == nullptr)
    return true;
  if (call->user != nullptr && !call->user->is_deterministic)
    return false;
  if (call->function == "RAND" || call->function == "RAND_INTEGER" || call->function == "UUID")
    return false;
  return std::all_of(call->arguments.begin(), call->arguments.end(), is_deterministic);
}

plan_node merge_calcs(plan_node plan) {
  for (auto& each : plan.inputs)
    each = merge_calcs(std::move(each));
  auto* outer = std::get_if<calc_node>(&plan.node);
  if (outer == nullptr)
    return plan;
  while (const auto* inner = std::get_if<calc_node>(&plan.inputs[0].node)) {
    if (!is_mergeable(*outer, *inner))
      break;
    for (auto& each : outer->items)
      each = substitute(each, inner->items);
    if (outer->condition)
      outer->condition = substitute(*outer->condition, inner->items);
    if (inner->condition)
      outer->condition = outer->condition ? both_of(*inner->condition, std::move(*outer->condition))
                                          : *inner->condition;
    auto below = std::move(plan.inputs[0].inputs[0]);
    plan.inputs[0] = std::move(below);
  }
  if (!is_idle(plan))
    return plan;
  auto below = std::move(plan.inputs[0]);
  return below;
}

} // namespace headrace::sql
