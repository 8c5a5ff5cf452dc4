#include "libgraph/sql/optimize/optimizer.hpp"
#include "libgraph/sql/plan/conditions.hpp"
#include "libgraph/sql/plan/query_planner.hpp"

#include <algorithm>
#include <string_view>

namespace headrace::sql {
namespace {

void add_filter(plan_node& input, conditions parts) {
  for (auto& each : parts)
    retype_columns(each, input.columns);
  if (auto whole = all_of(std::move(parts)))
    input = filtered(std::move(input), std::move(*whole));
}

/// Whether a value is NULL as soon as a column in [begin, end) is.
bool is_strict(const bound_expression& value, std::size_t begin, std::size_t end) {
  if (const auto* column = std::get_if<bound_column>(&value.node))
    return column->index >= begin && column->index < end;
  static constexpr std::string_view strict[] = {"CAST", "+", "-", "*", "/"};
  const auto* call = std::get_if<bound_call>(&value.node);
  return call != nullptr && std::ranges::find(strict, call->function) != std::end(strict) &&
         std::ranges::any_of(call->arguments,
                             [&](const auto& each) { return is_strict(each, begin, end); });
}

/// Whether the condition is not true for a row whose columns in [begin, end) are NULL.
bool rejects_missing(const bound_expression& condition, std::size_t begin, std::size_t end) {
  static constexpr std::string_view comparing[] = {"=", "<>", "<", "<=", ">", ">=", "IS NOT NULL"};
  const auto* call = std::get_if<bound_call>(&condition.node);
  return call != nullptr && std::ranges::find(comparing, call->function) != std::end(comparing) &&
         std::ranges::any_of(call->arguments,
                             [&](const auto& each) { return is_strict(each, begin, end); });
}

/// An outer join whose rows without a match are all dropped above is none.
void simplify_outer(join_node& join, const conditions& parts, std::size_t left, std::size_t width) {
  const auto is_rejected = [&](std::size_t begin, std::size_t end) {
    return std::ranges::any_of(parts,
                               [&](const auto& each) { return rejects_missing(each, begin, end); });
  };
  const bool drops_right_alone = is_rejected(0, left); // what has no left row
  const bool drops_left_alone = is_rejected(left, width);
  const bool keeps_left_alone =
      (join.kind == join_type::left || join.kind == join_type::full) && !drops_left_alone;
  const bool keeps_right_alone =
      (join.kind == join_type::right || join.kind == join_type::full) && !drops_right_alone;
  join.kind = keeps_left_alone ? (keeps_right_alone ? join_type::full : join_type::left)
                               : (keeps_right_alone ? join_type::right : join_type::inner);
}

/// Moves what can be moved out of `parts`; gives what stays.
conditions push_into_join(plan_node& joined, conditions parts) {
  auto& join = std::get<join_node>(joined.node);
  const auto left = joined.inputs[0].columns.size();
  const auto width = left + joined.inputs[1].columns.size();
  if (join.kind != join_type::semi && join.kind != join_type::anti)
    simplify_outer(join, parts, left, width);
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

/// ON may be about one side alone: rows that it drops match nothing. Those of an outer side stay.
void push_own_condition(plan_node& joined) {
  auto& join = std::get<join_node>(joined.node);
  if (!join.condition || join.kind == join_type::full)
    return;
  auto parts = conjuncts(std::move(*join.condition));
  join.condition.reset();
  if (join.kind == join_type::inner) {
    push_into_join(joined, std::move(parts));
    return;
  }
  const auto left = joined.inputs[0].columns.size();
  const auto width = left + joined.inputs[1].columns.size();
  conditions to_left;
  conditions to_right;
  conditions stay;
  for (auto& each : parts) {
    const bool is_sure = is_deterministic(each);
    if (is_sure && join.kind != join_type::right && is_within(each, left, width)) {
      visit_columns(each, [&](bound_column& column) { column.index -= left; });
      to_right.push_back(std::move(each));
    } else if (is_sure && (join.kind == join_type::right || join.kind == join_type::semi) &&
               is_within(each, 0, left)) {
      to_left.push_back(std::move(each));
    } else {
      stay.push_back(std::move(each));
    }
  }
  add_filter(joined.inputs[0], std::move(to_left));
  add_filter(joined.inputs[1], std::move(to_right));
  join.condition = all_of(std::move(stay));
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
             grouped != nullptr && grouped->key_count > 0 && grouped->late.empty()) {
    // Groups that nobody asks for are not kept.
    sort_out([&](const auto& each) { return is_within(each, 0, grouped->key_count); });
  } else if (std::holds_alternative<lookup_join_node>(input.node)) {
    const auto left = input.inputs[0].columns.size();
    sort_out([&](const auto& each) { return is_within(each, 0, left); });
  } else if (std::holds_alternative<version_join_node>(input.node)) {
    // A version that is filtered out would leave its place to the one before it.
    const auto left = input.inputs[0].columns.size();
    sort_out([&](const auto& each) { return is_within(each, 0, left); });
    add_filter(input.inputs[0], std::move(moved));
    return stay;
  } else if (const auto* correlated = std::get_if<correlate_node>(&input.node)) {
    // Of rows that nobody asks for nothing is made. Rules before have passed all columns on.
    sort_out([&](const auto& each) { return is_within(each, 0, correlated->passed.size()); });
    for (auto& each : moved)
      visit_columns(each,
                    [&](bound_column& column) { column.index = correlated->passed[column.index]; });
  } else if (const auto* over = std::get_if<over_node>(&input.node)) {
    // Partitions that nobody asks for are not kept.
    sort_out([&](const auto& each) {
      bool out = true;
      visit_columns(each, [&](const bound_column& column) {
        out &= std::find(over->partition.begin(), over->partition.end(), column.index) !=
               over->partition.end();
      });
      return out && !over->partition.empty();
    });
  } else if (const auto* match = std::get_if<match_node>(&input.node)) {
    const auto& partition = match->partition;
    sort_out([&](const auto& each) { return is_within(each, 0, partition.size()); });
    for (auto& each : moved)
      visit_columns(each, [&](bound_column& column) { column.index = partition[column.index]; });
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
  if (std::holds_alternative<join_node>(plan.node))
    push_own_condition(plan);
  for (auto& each : plan.inputs)
    each = push_filters(merge_calcs(std::move(each)));
  return plan;
}

} // namespace headrace::sql
