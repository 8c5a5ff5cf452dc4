#include "libgraph/sql/plan/time_distance.hpp"

#include "libgraph/sql/bind/interval_value.hpp"
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

  std::vector<join_time> bounded() const {
    std::vector<join_time> out;
    for (const auto& each : found_)
      if (each.least_ms > -unbounded && each.most_ms < unbounded && each.least_ms <= each.most_ms)
        out.push_back({false, each.left, each.right, each.least_ms, each.most_ms});
    return out;
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

} // namespace

bool follows_watermarks(const plan_column& column) {
  const bool is_milliseconds = (column.type.root() == type_root::timestamp ||
                                column.type.root() == type_root::timestamp_ltz) &&
                               column.type.precision() <= 3;
  return is_milliseconds &&
         (column.time == time_kind::row_time || column.window == window_property::end ||
          column.window == window_property::time);
}

std::vector<join_time> find_distances(const plan_node& join, std::span<const join_key> keys,
                                      const std::optional<bound_expression>& condition) {
  distance_finder finder(join);
  for (const auto& each : keys)
    finder.take(each);
  if (condition)
    for (const auto& each : conjuncts(*condition))
      finder.take(each);
  return finder.bounded();
}

void keep_times(plan_node& join, const std::optional<bound_expression>& condition) {
  const auto kind = std::get<join_node>(join.node).kind;
  const auto found = find_distances(join, {}, condition);
  if (found.size() != 1)
    return;
  const auto keep = [&](std::size_t at, const plan_column& from) {
    join.columns[at].time = from.time;
  };
  const auto& time = found[0];
  if (kind == join_type::inner || kind == join_type::left)
    keep(time.left, join.inputs[0].columns[time.left]);
  if (kind == join_type::inner || kind == join_type::right)
    keep(join.inputs[0].columns.size() + time.right, join.inputs[1].columns[time.right]);
}

const plan_node* find_untimed(const plan_node& plan) {
  const auto* join = std::get_if<join_node>(&plan.node);
  if (join != nullptr && !join->time &&
      std::any_of(plan.columns.begin(), plan.columns.end(),
                  [](const plan_column& each) { return each.time == time_kind::row_time; }))
    return &plan;
  for (const auto& each : plan.inputs)
    if (const auto* found = find_untimed(each))
      return found;
  return nullptr;
}

} // namespace headrace::sql
