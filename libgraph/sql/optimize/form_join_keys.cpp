#include "libgraph/sql/optimize/optimizer.hpp"
#include "libgraph/sql/plan/conditions.hpp"
#include "libgraph/sql/plan/query_planner.hpp"

#include <algorithm>
#include <utility>

namespace headrace::sql {
namespace {

/// One input of a join, and the values behind its columns that keys are computed as.
class key_side {
public:
  explicit key_side(const plan_node& input) : width_(input.columns.size()) {}

  /// The column of a value over the input's columns.
  std::size_t place_of(const bound_expression& value) {
    if (const auto* column = std::get_if<bound_column>(&value.node))
      return column->index;
    const auto known = std::find(added_.begin(), added_.end(), value);
    const auto place = static_cast<std::size_t>(known - added_.begin());
    if (known == added_.end())
      added_.push_back(value);
    return width_ + place;
  }
  std::size_t added() const { return added_.size(); }
  plan_node extend(plan_node input, const char* prefix) && {
    if (added_.empty())
      return input;
    auto items = identity_items(input.columns);
    std::vector<std::string> names;
    for (const auto& each : input.columns)
      names.push_back(each.name);
    for (auto& each : added_) {
      names.push_back(prefix + std::to_string(items.size() - width_));
      items.push_back(std::move(each));
    }
    return projected(std::move(input), std::move(items), std::move(names));
  }

private:
  std::size_t width_;
  std::vector<bound_expression> added_;
};

/// A join whose keys are columns of its inputs. Its own columns stay as they were.
plan_node with_keys(plan_node plan) {
  auto& join = std::get<join_node>(plan.node);
  const auto left = plan.inputs[0].columns.size();
  const auto width = left + plan.inputs[1].columns.size();
  auto parts = join.condition ? conjuncts(std::move(*join.condition)) : conditions();
  join.condition.reset();
  std::vector<plan_column> all = plan.inputs[0].columns;
  all.insert(all.end(), plan.inputs[1].columns.begin(), plan.inputs[1].columns.end());
  for (auto& each : parts)
    retype_columns(each, all);
  key_side sides[] = {key_side(plan.inputs[0]), key_side(plan.inputs[1])};
  std::vector<join_key> keys;
  conditions stay;
  for (auto& each : parts) {
    const auto* call = std::get_if<bound_call>(&each.node);
    const bool is_null_safe = call != nullptr && call->function == "IS NOT DISTINCT FROM";
    const bool is_equality =
        (is_null_safe || (call != nullptr && call->function == "=")) && is_deterministic(each) &&
        call->arguments[0].type.nullable() == call->arguments[1].type.nullable();
    const auto find = [&](std::size_t begin, std::size_t end) -> const bound_expression* {
      for (const auto& side : call->arguments) {
        bool has_column = false;
        visit_columns(side, [&](const bound_column& /*any*/) { has_column = true; });
        if (has_column && is_within(side, begin, end))
          return &side;
      }
      return nullptr;
    };
    const auto* one = is_equality ? find(0, left) : nullptr;
    const auto* other = is_equality ? find(left, width) : nullptr;
    if (one == nullptr || other == nullptr) {
      stay.push_back(std::move(each));
      continue;
    }
    auto value = *other;
    visit_columns(value, [&](bound_column& column) { column.index -= left; });
    keys.push_back({sides[0].place_of(*one), sides[1].place_of(value), is_null_safe});
  }
  const auto shift = sides[0].added();
  for (auto& each : stay)
    visit_columns(each,
                  [&](bound_column& column) { column.index += column.index >= left ? shift : 0; });
  join.condition = all_of(std::move(stay));
  join.keys = std::move(keys);
  if (shift + sides[1].added() == 0)
    return plan;

  auto outer = plan.columns;
  const bool is_left_alone = join.kind == join_type::semi || join.kind == join_type::anti;
  for (std::size_t i = 0; i < 2; ++i)
    plan.inputs[i] = std::move(sides[i]).extend(std::move(plan.inputs[i]), i == 0 ? "$l" : "$r");
  std::vector<bound_expression> items;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < outer.size(); ++i) {
    items.push_back({bound_column{i < left ? i : i + shift}, outer[i].type, {}});
    names.push_back(outer[i].name);
  }
  // What the keys add leaves the join, too, and may be missing like the rest of its side.
  const auto add_behind = [&](std::size_t side, std::size_t at, std::size_t first) {
    const auto& columns = plan.inputs[side].columns;
    const bool may_be_missing = join.kind == join_type::full ||
                                join.kind == (side == 0 ? join_type::right : join_type::left);
    std::vector<plan_column> added(columns.begin() + static_cast<std::ptrdiff_t>(first),
                                   columns.end());
    for (auto& each : added) {
      each.time = time_kind::none;
      each.window.reset();
      if (may_be_missing)
        each.type = each.type.nullable();
    }
    plan.columns.insert(plan.columns.begin() + static_cast<std::ptrdiff_t>(at), added.begin(),
                        added.end());
  };
  const auto right = width - left;
  add_behind(0, left, left);
  if (!is_left_alone)
    add_behind(1, plan.columns.size(), right);
  return projected(std::move(plan), std::move(items), std::move(names));
}

} // namespace

plan_node form_join_keys(plan_node plan) {
  for (auto& each : plan.inputs)
    each = form_join_keys(std::move(each));
  if (const auto* join = std::get_if<join_node>(&plan.node); join != nullptr && !join->keys)
    return with_keys(std::move(plan));
  return plan;
}

} // namespace headrace::sql
