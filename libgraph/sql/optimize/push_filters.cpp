#include "libgraph/sql/optimize/optimizer.hpp"
#include "libgraph/sql/plan/query_planner.hpp"

#include <algorithm>

namespace headrace::sql {
namespace {

using conditions = std::vector<bound_expression>;

conditions conjuncts(bound_expression of) {
  auto* call = std::get_if<bound_call>(&of.node);
  if (call != nullptr && call->function == "AND") {
    auto out = std::move(call->arguments);
    return out;
  }
  conditions out;
  out.push_back(std::move(of));
  return out;
}

std::optional<bound_expression> all_of(conditions parts) {
  if (parts.empty())
    return std::nullopt;
  if (parts.size() == 1)
    return std::move(parts[0]);
  const bool is_nullable = std::any_of(parts.begin(), parts.end(),
                                       [](const auto& each) { return each.type.is_nullable(); });
  const auto at = parts[0].at;
  bound_call out;
  out.function = "AND";
  out.arguments = std::move(parts);
  return bound_expression{
      std::move(out), is_nullable ? logical_type::boolean() : logical_type::boolean().not_null(),
      at};
}

/// Whether all columns that it names lie in [begin, end).
bool is_within(const bound_expression& in, std::size_t begin, std::size_t end) {
  bool out = true;
  visit_columns(
      in, [&](const bound_column& column) { out &= column.index >= begin && column.index < end; });
  return out;
}

void add_filter(plan_node& input, conditions parts) {
  if (auto whole = all_of(std::move(parts)))
    input = filtered(std::move(input), std::move(*whole));
}

/// Moves what can be moved out of `parts`; gives what stays.
conditions push_into_join(plan_node& joined, conditions parts) {
  auto& join = std::get<join_node>(joined.node);
  const auto left = joined.inputs[0].columns.size();
  const auto width = left + joined.inputs[1].columns.size();
  const bool keeps_left = join.kind == join_type::inner || join.kind == join_type::left ||
                          join.kind == join_type::semi || join.kind == join_type::anti;
  const bool keeps_right = join.kind == join_type::inner || join.kind == join_type::right;
  conditions to_left;
  conditions to_right;
  conditions to_join;
  conditions stay;
  for (auto& each : parts) {
    if (!is_deterministic(each)) {
      stay.push_back(std::move(each));
    } else if (keeps_left && is_within(each, 0, left)) {
      to_left.push_back(std::move(each));
    } else if (keeps_right && is_within(each, left, width)) {
      visit_columns(each, [&](bound_column& column) { column.index -= left; });
      to_right.push_back(std::move(each));
    } else if (join.kind == join_type::inner) {
      to_join.push_back(std::move(each));
    } else {
      stay.push_back(std::move(each));
    }
  }
  add_filter(joined.inputs[0], std::move(to_left));
  add_filter(joined.inputs[1], std::move(to_right));
  if (!to_join.empty()) {
    auto every = join.condition ? conjuncts(std::move(*join.condition)) : conditions();
    for (auto& each : to_join)
      every.push_back(std::move(each));
    join.condition = all_of(std::move(every));
  }
  return stay;
}

conditions push_into(plan_node& input, conditions parts) {
  if (std::holds_alternative<join_node>(input.node))
    return push_into_join(input, std::move(parts));
  conditions stay;
  conditions moved;
  const auto sort_out = [&](auto&& can_move) {
    for (auto& each : parts)
      (is_deterministic(each) && can_move(each) ? moved : stay).push_back(std::move(each));
  };
  if (const auto* set = std::get_if<set_node>(&input.node);
      set != nullptr && set->kind == set_operator::union_) {
    sort_out([](const auto&) { return true; });
  } else if (const auto* grouped = std::get_if<aggregate_node>(&input.node);
             grouped != nullptr && grouped->key_count > 0) {
    // Groups that nobody asks for are not kept.
    sort_out([&](const auto& each) { return is_within(each, 0, grouped->key_count); });
  } else {
    return parts;
  }
  for (auto& each : input.inputs)
    add_filter(each, moved);
  return stay;
}

} // namespace

plan_node push_filters(plan_node plan) {
  auto* calc = std::get_if<calc_node>(&plan.node);
  if (calc != nullptr && calc->condition)
    calc->condition = all_of(push_into(plan.inputs[0], conjuncts(std::move(*calc->condition))));
  if (calc == nullptr && std::holds_alternative<join_node>(plan.node)) {
    // ON of an inner join may be about one side alone.
    auto& join = std::get<join_node>(plan.node);
    if (join.kind == join_type::inner && join.condition) {
      auto parts = conjuncts(std::move(*join.condition));
      join.condition.reset();
      push_into_join(plan, std::move(parts));
    }
  }
  for (auto& each : plan.inputs)
    each = push_filters(merge_calcs(std::move(each)));
  return plan;
}

} // namespace headrace::sql
