#include "libgraph/sql/plan/grouping.hpp"

#include "libgraph/sql/plan/query_planner.hpp"

#include <algorithm>

namespace headrace::sql {

bool has_aggregate(const bound_expression& in) {
  if (const auto* call = std::get_if<bound_call>(&in.node)) {
    bool out = call->is_aggregate;
    for_each_child(*call, [&](const bound_expression& each) { out = out || has_aggregate(each); });
    return out;
  }
  if (const auto* field = std::get_if<bound_field>(&in.node))
    return has_aggregate(*field->row);
  return false;
}

bound_expression canonical_key(bound_expression key) {
  const auto root = key.type.root();
  if (root != type_root::float_ && root != type_root::double_)
    return key;
  const auto at = key.at;
  const auto type = key.type;
  bound_call sum;
  sum.function = "+";
  sum.arguments.push_back(std::move(key));
  sum.arguments.push_back({bound_constant{"0", std::nullopt}, type.not_null(), at});
  return {std::move(sum), type, at};
}

std::size_t grouping_rewriter::project(bound_expression from) {
  const auto same = std::find(projected_.begin(), projected_.end(), from);
  const auto index = static_cast<std::size_t>(same - projected_.begin());
  if (same == projected_.end())
    projected_.push_back(std::move(from));
  return index;
}

bound_expression grouping_rewriter::take_aggregate(bound_call call, const bound_expression& whole) {
  aggregate_item made;
  made.function = std::move(call.function);
  made.is_distinct = call.is_distinct;
  made.type = whole.type;
  made.user = std::move(call.user);
  for (auto& each : call.arguments)
    made.arguments.push_back(project(std::move(each)));
  if (call.filter)
    made.filter = project(std::move(**call.filter));
  const auto same = std::find(items_.begin(), items_.end(), made);
  const auto index = key_count_ + static_cast<std::size_t>(same - items_.begin());
  if (same == items_.end())
    items_.push_back(std::move(made));
  return {bound_column{index}, whole.type, whole.at};
}

std::optional<bound_expression> grouping_rewriter::rewrite(bound_expression from) {
  const auto keys_end = projected_.begin() + static_cast<std::ptrdiff_t>(key_count_);
  if (const auto key = std::find(projected_.begin(), keys_end, from); key != keys_end)
    return bound_expression{bound_column{static_cast<std::size_t>(key - projected_.begin())},
                            from.type, from.at};
  if (const auto* column = std::get_if<bound_column>(&from.node)) {
    const auto& label = input_[column->index].name;
    if (label.starts_with(query_value_prefix)) { // all rows have the same: any of them will do
      bound_call any;
      any.function = "MAX";
      any.is_aggregate = true;
      any.arguments.push_back(from);
      return take_aggregate(std::move(any), from);
    }
    if (label.starts_with(tied_value_prefix)) {
      findings_.push_back({diagnostic_kind::unsupported,
                           "a query for a value that is tied to rows cannot stand where these are "
                           "grouped: group them in a sub-query, and ask for the value around it",
                           from.at});
      return std::nullopt;
    }
    findings_.push_back(
        {diagnostic_kind::invalid,
         "column is neither in GROUP BY nor inside an aggregate: " + input_[column->index].name,
         from.at});
    return std::nullopt;
  }
  if (auto* field = std::get_if<bound_field>(&from.node)) {
    auto row = rewrite(std::move(*field->row));
    if (!row)
      return std::nullopt;
    field->row = std::move(*row);
    return from;
  }
  auto* call = std::get_if<bound_call>(&from.node);
  if (call == nullptr)
    return from;
  if (call->is_aggregate)
    return take_aggregate(std::move(*call), from);
  bool is_sound = true;
  for_each_child(*call, [&](bound_expression& each) {
    auto made = rewrite(std::move(each));
    is_sound &= made.has_value();
    if (made)
      each = std::move(*made);
  });
  return is_sound ? std::optional(std::move(from)) : std::nullopt;
}

plan_node grouping_rewriter::finish(plan_node input) && {
  if (key_count_ == 0 && items_.empty()) { // GROUP BY (): one row, of which nothing is read
    items_.push_back({});
    items_.back().function = "COUNT";
    items_.back().type = logical_type::bigint().not_null();
  }
  if (projected_.empty()) // rows are counted, and nothing of them is read
    projected_.push_back(
        {bound_constant{"0", std::nullopt}, logical_type::integer().not_null(), input.at});
  std::vector<std::string> names;
  for (std::size_t i = 0; i < projected_.size(); ++i) {
    const auto* column = std::get_if<bound_column>(&projected_[i].node);
    names.push_back(column != nullptr ? input.columns[column->index].name
                                      : computed_name("$f" + std::to_string(i), projected_[i]));
  }
  for (std::size_t i = 0; i < key_count_; ++i)
    projected_[i] = canonical_key(std::move(projected_[i]));
  plan_node out;
  out.at = input.at;
  auto rows = projected(std::move(input), std::move(projected_), std::move(names));
  const auto keys_end = rows.columns.begin() + static_cast<std::ptrdiff_t>(key_count_);
  const auto is_key = [&](window_property wanted) {
    return std::any_of(rows.columns.begin(), keys_end,
                       [&](const plan_column& each) { return each.window == wanted; });
  };
  // By whole windows, results come in the order of time, and window_time is one again.
  const bool by_window = is_key(window_property::start) && is_key(window_property::end);
  for (auto key = rows.columns.begin(); key != keys_end; ++key) {
    out.columns.push_back(*key);
    if (!by_window) {
      out.columns.back().window.reset();
      out.columns.back().time = time_kind::none;
    }
  }
  for (std::size_t i = 0; i < items_.size(); ++i)
    out.columns.push_back(
        {"$f" + std::to_string(key_count_ + i), items_[i].type, time_kind::none, std::nullopt});
  out.node = aggregate_node{key_count_, std::move(items_)};
  out.inputs.push_back(std::move(rows));
  return out;
}

} // namespace headrace::sql
