#include "libgraph/sql/plan/sub_query_parts.hpp"

#include "libgraph/sql/bind/expression_binder.hpp"
#include "libactors/base/text.hpp"

#include <algorithm>
#include <utility>

namespace headrace::sql {
namespace {

bool has_aggregate_call(const expression& in);
bool has_aggregate_call(const argument& in);
bool has_aggregate_call(const json_pair& in);
bool has_aggregate_call(const when_branch& in);

template <class T>
bool has_aggregate_call(const std::vector<T>& in) {
  return std::any_of(in.begin(), in.end(),
                     [](const auto& each) { return has_aggregate_call(each); });
}
bool has_aggregate_call(const std::optional<box<expression>>& in) {
  return in && has_aggregate_call(**in);
}
bool has_aggregate_call(const argument& in) { return has_aggregate_call(in.value); }
bool has_aggregate_call(const json_pair& in) {
  return has_aggregate_call(in.key) || has_aggregate_call(in.value);
}
bool has_aggregate_call(const when_branch& in) {
  return has_aggregate_call(in.conditions) || has_aggregate_call(in.value);
}

/// Whether an aggregate stands in a node, but for the queries in it.
struct aggregate_finder {
  bool operator()(const operation& in) const { return has_aggregate_call(in.operands); }
  bool operator()(const between& in) const {
    return has_aggregate_call(*in.value) || has_aggregate_call(*in.low) ||
           has_aggregate_call(*in.high);
  }
  bool operator()(const like& in) const {
    return has_aggregate_call(*in.value) || has_aggregate_call(*in.pattern);
  }
  bool operator()(const in_list& in) const {
    return has_aggregate_call(*in.value) || has_aggregate_call(in.items);
  }
  bool operator()(const case_expression& in) const {
    return has_aggregate_call(in.operand) || has_aggregate_call(in.branches) ||
           has_aggregate_call(in.otherwise);
  }
  bool operator()(const cast& in) const { return has_aggregate_call(*in.value); }
  bool operator()(const function_call& in) const {
    if (in.over)
      return false;
    const auto ways = find_function(in_capitals(in.function.parts.back().text));
    return (!ways.empty() && ways[0].kind == function_kind::aggregate) ||
           has_aggregate_call(in.arguments);
  }
  bool operator()(const json_call& in) const {
    return in.function.ends_with("AGG") || has_aggregate_call(in.arguments) ||
           has_aggregate_call(in.pairs);
  }
  bool operator()(const row_constructor& in) const { return has_aggregate_call(in.items); }
  bool operator()(const collection_constructor& in) const { return has_aggregate_call(in.items); }
  bool operator()(const item_access& in) const {
    return has_aggregate_call(*in.value) || has_aggregate_call(*in.index);
  }
  bool operator()(const field_access& in) const { return has_aggregate_call(*in.value); }
  template <class T>
  bool operator()(const T& /*none can stand in it*/) const {
    return false;
  }
};

bool has_aggregate_call(const expression& in) { return std::visit(aggregate_finder(), in.node); }

} // namespace

bool names_outer(const bound_expression& in) {
  bool out = false;
  visit_columns(
      in, [&](const bound_column& column) { out |= column.index >= column_scope::outer_first; });
  return out;
}
bool names_own(const bound_expression& in) {
  bool out = false;
  visit_columns(
      in, [&](const bound_column& column) { out |= column.index < column_scope::outer_first; });
  return out;
}

void move_columns(bound_expression& in, std::size_t outer_width) {
  visit_columns(in, [&](bound_column& column) {
    column.index = column.index >= column_scope::outer_first
                       ? column.index - column_scope::outer_first
                       : column.index + outer_width;
  });
}

bound_expression call_of(std::string function, std::vector<bound_expression> arguments,
                         logical_type type, source_span at) {
  bound_call out;
  out.function = std::move(function);
  out.arguments = std::move(arguments);
  return {std::move(out), std::move(type), at};
}

std::optional<bound_expression> comparison(std::string sign, bound_expression left,
                                           bound_expression right, source_span at) {
  const logical_type both[] = {left.type, right.type};
  if (!common_type(both))
    return std::nullopt;
  const bool is_nullable = left.type.is_nullable() || right.type.is_nullable();
  expression_binder::cast_to_compare(left, right);
  std::vector<bound_expression> arguments;
  arguments.push_back(std::move(left));
  arguments.push_back(std::move(right));
  return call_of(std::move(sign), std::move(arguments),
                 is_nullable ? logical_type::boolean() : logical_type::boolean().not_null(), at);
}

void forget_times(std::vector<plan_column>& columns) {
  for (auto& each : columns) {
    each.time = time_kind::none;
    each.window.reset();
  }
}

bool is_plain(const query& from) {
  const auto* body = std::get_if<select>(&from.body);
  return body != nullptr && body->from && from.with.empty() && !from.limit && !from.offset &&
         !body->has_group_by && !body->having && !body->qualify && body->windows.empty();
}

bool is_aggregate_row(const query& from) {
  if (!is_plain(from))
    return false;
  const auto& items = std::get<select>(from.body).items;
  return std::any_of(items.begin(), items.end(),
                     [](const auto& each) { return has_aggregate_call(each.value); });
}

} // namespace headrace::sql
