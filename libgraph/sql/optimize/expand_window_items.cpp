#include "libgraph/sql/bind/expression_binder.hpp"
#include "libgraph/sql/optimize/optimizer.hpp"
#include "libgraph/sql/plan/query_planner.hpp"

#include <algorithm>

namespace headrace::sql {
namespace {

bound_expression call_of(std::string function, std::vector<bound_expression> arguments,
                         logical_type type) {
  bound_call made;
  made.function = std::move(function);
  made.arguments = std::move(arguments);
  return {std::move(made), std::move(type), {}};
}

std::vector<std::string> names_of(const std::vector<plan_column>& columns) {
  std::vector<std::string> out;
  for (const auto& each : columns)
    out.push_back(each.name);
  return out;
}

/// What a sum is kept in, so that it does not overflow before it is divided.
logical_type wide_type(const logical_type& type) {
  constexpr int digits = 38;
  if (is_exact_integer(type.root()))
    return logical_type::bigint();
  if (type.root() == type_root::decimal)
    return logical_type::decimal(digits, type.scale());
  return logical_type::float64();
}

class item_expander {
public:
  explicit item_expander(plan_node plan)
      : plan_(std::move(plan)), node_(std::get<window_aggregate_node>(plan_.node)),
        below_(identity_items(plan_.inputs[0].columns)),
        below_names_(names_of(plan_.inputs[0].columns)) {}

  plan_node expand() && {
    const auto fixed = node_.keys.size() + node_.properties.size();
    auto written = plan_.columns;
    auto items = std::move(node_.items);
    node_.items.clear();
    plan_.columns.resize(fixed);
    auto above = identity_items(plan_.columns);
    for (auto& each : items)
      above.push_back(expand_item(std::move(each)));
    auto names = names_of(written);
    plan_.inputs[0] =
        projected(std::move(plan_.inputs[0]), std::move(below_), std::move(below_names_));
    auto out = projected(std::move(plan_), std::move(above), std::move(names));
    for (std::size_t i = 0; i < written.size(); ++i)
      out.columns[i] = std::move(written[i]);
    return out;
  }

private:
  std::size_t add_below(bound_expression value) {
    const auto same = std::find(below_.begin(), below_.end(), value);
    const auto index = static_cast<std::size_t>(same - below_.begin());
    if (same == below_.end()) {
      below_names_.push_back("$w" + std::to_string(below_.size()));
      below_.push_back(std::move(value));
    }
    return index;
  }
  /// A column of the aggregate.
  bound_expression add_item(aggregate_item item) {
    const auto fixed = node_.keys.size() + node_.properties.size();
    const auto same = std::find(node_.items.begin(), node_.items.end(), item);
    const auto index = static_cast<std::size_t>(same - node_.items.begin());
    auto type = item.type;
    if (same == node_.items.end()) {
      plan_.columns.push_back(
          {"$f" + std::to_string(fixed + index), type, time_kind::none, std::nullopt});
      node_.items.push_back(std::move(item));
    }
    return {bound_column{fixed + index}, std::move(type), {}};
  }
  /// Only rows for which the filter is true have a value: CASE WHEN filter THEN value END.
  void apply_filter(aggregate_item& item) {
    const auto condition = below_[*item.filter];
    auto value = item.arguments.empty() ? bound_expression{bound_constant{"1", std::nullopt},
                                                           logical_type::integer().not_null(),
                                                           {}}
                                        : below_[item.arguments[0]];
    const auto type = value.type.nullable();
    std::vector<bound_expression> parts{condition, std::move(value),
                                        bound_expression{bound_constant{}, type, {}}};
    item.arguments = {add_below(call_of("CASE", std::move(parts), type))};
    item.filter.reset();
  }
  bound_expression expand_item(aggregate_item item) {
    if (item.filter)
      apply_filter(item);
    if (item.function != "AVG" || item.is_distinct)
      return add_item(std::move(item));
    const auto value = below_[item.arguments[0]];
    const auto wide = wide_type(value.type);
    aggregate_item sum;
    sum.function = "SUM";
    sum.type = wide.nullable();
    sum.arguments = {add_below(expression_binder::cast_to(value, wide))};
    aggregate_item count;
    count.function = "COUNT";
    count.type = logical_type::bigint().not_null();
    count.arguments = item.arguments;
    auto whole = add_item(std::move(sum));
    auto parts = add_item(std::move(count));
    const auto type = arithmetic_type(operator_kind::divide, whole.type, parts.type);
    auto divided = call_of("/", {std::move(whole), std::move(parts)}, type->nullable());
    return expression_binder::cast_to(std::move(divided), item.type);
  }

  plan_node plan_;
  window_aggregate_node& node_;
  std::vector<bound_expression> below_;
  std::vector<std::string> below_names_;
};

} // namespace

plan_node expand_window_items(plan_node plan) {
  for (auto& each : plan.inputs)
    each = expand_window_items(std::move(each));
  const auto* node = std::get_if<window_aggregate_node>(&plan.node);
  if (node == nullptr || node->carried ||
      std::none_of(node->items.begin(), node->items.end(),
                   [](const auto& each) { return each.filter || each.function == "AVG"; }))
    return plan;
  return item_expander(std::move(plan)).expand();
}

} // namespace headrace::sql
