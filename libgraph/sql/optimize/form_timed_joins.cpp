#include "libgraph/sql/bind/interval_value.hpp"
#include "libgraph/sql/optimize/changelog.hpp"
#include "libgraph/sql/optimize/final_rows.hpp"
#include "libgraph/sql/optimize/optimizer.hpp"
#include "libgraph/sql/plan/conditions.hpp"

#include <algorithm>
#include <limits>
#include <string_view>

namespace headrace::sql {
namespace {

constexpr std::int64_t unbounded = std::numeric_limits<std::int64_t>::max();
/// Rows of joins that reach further are kept for ever, as without a bound: a thousand years.
constexpr std::int64_t reach_ms_max = std::int64_t{365'000} * 24 * 60 * 60 * 1000;

/// A column of a time and what is added to it.
struct time_term {
  std::size_t column = 0;
  std::int64_t added_ms = 0;
};

std::optional<std::int64_t> milliseconds_of(const bound_expression& from) {
  const auto* constant = std::get_if<bound_constant>(&from.node);
  if (constant == nullptr || !constant->text || !constant->interval ||
      from.type.root() != type_root::interval_day_time)
    return std::nullopt;
  return interval_value(*constant->text, *constant->interval);
}

std::optional<time_term> term_of(const bound_expression& from) {
  if (const auto* column = std::get_if<bound_column>(&from.node))
    return time_term{column->index, 0};
  const auto* call = std::get_if<bound_call>(&from.node);
  if (call == nullptr)
    return std::nullopt;
  if (call->function == "CAST" && call->arguments[0].type.root() == from.type.root() &&
      call->arguments[0].type.precision() <= from.type.precision())
    return term_of(call->arguments[0]);
  if ((call->function != "+" && call->function != "-") || call->arguments.size() != 2)
    return std::nullopt;
  auto term = term_of(call->arguments[0]);
  auto added = milliseconds_of(call->arguments[1]);
  if (call->function == "+" && !added) {
    term = term_of(call->arguments[1]);
    added = milliseconds_of(call->arguments[0]);
  }
  if (!term || !added)
    return std::nullopt;
  const bool is_far = call->function == "+"
                          ? __builtin_add_overflow(term->added_ms, *added, &term->added_ms)
                          : __builtin_sub_overflow(term->added_ms, *added, &term->added_ms);
  if (is_far || term->added_ms < -reach_ms_max || term->added_ms > reach_ms_max)
    return std::nullopt;
  return term;
}

/// No row comes any more whose column is at or before the watermark.
bool follows_watermarks(const plan_column& column) {
  const bool is_milliseconds = (column.type.root() == type_root::timestamp ||
                                column.type.root() == type_root::timestamp_ltz) &&
                               column.type.precision() <= 3;
  return is_milliseconds &&
         (column.time == time_kind::row_time || column.window == window_property::end ||
          column.window == window_property::time);
}

/// How far right times may lie from left ones, by a pair of columns.
struct distance {
  std::size_t left = 0;
  std::size_t right = 0;
  std::int64_t least_ms = -unbounded;
  std::int64_t most_ms = unbounded;
};

class distance_finder {
public:
  explicit distance_finder(const plan_node& plan)
      : plan_(plan), left_width_(plan.inputs[0].columns.size()) {}

  void take(const bound_expression& condition) {
    const auto* call = std::get_if<bound_call>(&condition.node);
    if (call == nullptr || call->arguments.size() != 2)
      return;
    auto one = term_of(call->arguments[0]);
    auto other = term_of(call->arguments[1]);
    std::string_view sign = call->function;
    if (!one || !other)
      return;
    if (one->column >= left_width_) {
      std::swap(one, other);
      sign = sign == "<"    ? ">"
             : sign == "<=" ? ">="
             : sign == ">"  ? "<"
             : sign == ">=" ? "<="
                            : sign;
    }
    if (one->column >= left_width_ || other->column < left_width_)
      return;
    other->column -= left_width_;
    // left + a < right + b: right - left > a - b.
    const auto between = one->added_ms - other->added_ms;
    if (sign == "<" || sign == "<=")
      add(one->column, other->column, sign == "<" ? between + 1 : between, unbounded);
    else if (sign == ">" || sign == ">=")
      add(one->column, other->column, -unbounded, sign == ">" ? between - 1 : between);
    else if (sign == "=")
      add(one->column, other->column, between, between);
  }
  void take(const join_key& key) { add(key.left, key.right, 0, 0); }

  std::optional<distance> bounded() const {
    for (const auto& each : found_)
      if (each.least_ms > -unbounded && each.most_ms < unbounded && each.least_ms <= each.most_ms)
        return each;
    return std::nullopt;
  }

private:
  void add(std::size_t left, std::size_t right, std::int64_t least_ms, std::int64_t most_ms) {
    if (!follows_watermarks(plan_.inputs[0].columns[left]) ||
        !follows_watermarks(plan_.inputs[1].columns[right]))
      return;
    auto known = std::ranges::find_if(
        found_, [&](const auto& each) { return each.left == left && each.right == right; });
    if (known == found_.end())
      known = found_.insert(found_.end(), {left, right});
    known->least_ms = std::max(known->least_ms, least_ms);
    known->most_ms = std::min(known->most_ms, most_ms);
  }

  const plan_node& plan_;
  std::size_t left_width_;
  std::vector<distance> found_;
};

/// Both starts and both ends of windows are equal.
std::optional<join_time> window_of(const plan_node& plan, const std::vector<join_key>& keys) {
  const auto find = [&](window_property wanted) -> const join_key* {
    for (const auto& each : keys)
      if (!each.is_null_safe && plan.inputs[0].columns[each.left].window == wanted &&
          plan.inputs[1].columns[each.right].window == wanted)
        return &each;
    return nullptr;
  };
  const auto* end = find(window_property::end);
  if (end == nullptr || find(window_property::start) == nullptr ||
      !follows_watermarks(plan.inputs[0].columns[end->left]) ||
      !follows_watermarks(plan.inputs[1].columns[end->right]))
    return std::nullopt;
  return join_time{true, end->left, end->right, 0, 0};
}

std::optional<join_time> time_of(const plan_node& plan, const join_node& join) {
  if (find_updating(plan.inputs[0]) != nullptr || find_updating(plan.inputs[1]) != nullptr)
    return std::nullopt;
  if (auto by_window = window_of(plan, *join.keys))
    return by_window;
  if (join.kind == join_type::semi || join.kind == join_type::anti)
    return std::nullopt;
  distance_finder finder(plan);
  for (const auto& each : *join.keys)
    finder.take(each);
  if (join.condition)
    for (const auto& each : conjuncts(*join.condition))
      finder.take(each);
  const auto found = finder.bounded();
  if (!found)
    return std::nullopt;
  return join_time{false, found->left, found->right, found->least_ms, found->most_ms};
}

} // namespace

plan_node form_timed_joins(plan_node plan, bool is_batch) {
  for (std::size_t i = 0; i < plan.inputs.size(); ++i)
    plan.inputs[i] =
        form_timed_joins(std::move(plan.inputs[i]), is_batch && !has_versions(plan, i));
  if (auto* join = std::get_if<join_node>(&plan.node); join != nullptr && join->keys)
    join->time = time_of(plan, *join);
  if (is_batch)
    make_final(plan);
  return plan;
}

} // namespace headrace::sql
