#include "libgraph/sql/optimize/changelog.hpp"
#include "libgraph/sql/optimize/optimizer.hpp"
#include "libgraph/sql/plan/conditions.hpp"
#include "libgraph/types/value_text.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace headrace::sql {
namespace {

/// The ranks that conditions leave.
struct rank_range {
  std::int64_t first = 1;
  std::optional<std::int64_t> last;
};

std::optional<std::int64_t> number_of(const bound_expression& from) {
  if (const auto* call = std::get_if<bound_call>(&from.node);
      call != nullptr && call->function == "CAST" && is_exact_integer(from.type.root()))
    return number_of(call->arguments[0]);
  const auto* constant = std::get_if<bound_constant>(&from.node);
  if (constant == nullptr || !constant->text || !is_exact_integer(from.type.root()))
    return std::nullopt;
  return graph::parse_integer<std::int64_t>(*constant->text);
}

bool is_column(const bound_expression& from, std::size_t index) {
  const auto* column = std::get_if<bound_column>(&from.node);
  return column != nullptr && column->index == index;
}

/// Narrows the range by a condition of the kind `rank <= 10`. @returns whether it is of that kind
bool narrow(const bound_expression& condition, std::size_t rank, rank_range& range) {
  const auto* call = std::get_if<bound_call>(&condition.node);
  if (call == nullptr || call->arguments.size() != 2)
    return false;
  const bool is_turned = is_column(call->arguments[1], rank);
  if (!is_turned && !is_column(call->arguments[0], rank))
    return false;
  const auto bound = number_of(call->arguments[is_turned ? 0 : 1]);
  if (!bound || *bound < 0 || *bound == std::numeric_limits<std::int64_t>::max())
    return false;
  auto sign = call->function;
  if (is_turned && sign != "=")
    sign[0] = sign[0] == '<' ? '>' : '<';
  const auto end_at = [&](std::int64_t last) {
    range.last = std::min(range.last.value_or(last), last);
  };
  if (sign == "<=" || sign == "=")
    end_at(*bound);
  if (sign == "<")
    end_at(*bound - 1);
  if (sign == ">=" || sign == "=")
    range.first = std::max(range.first, *bound);
  if (sign == ">")
    range.first = std::max(range.first, *bound + 1);
  return sign == "<=" || sign == "=" || sign == "<" || sign == ">=" || sign == ">";
}

/// One rank over a time attribute is the first or the last row of each partition.
void form_deduplication(const plan_node& input, rank_node& node) {
  if (node.last != 1 || node.order.size() != 1 || find_updating(input) != nullptr)
    return;
  const auto time = input.columns[node.order[0].column].time;
  if (time == time_kind::none)
    return;
  node.prefers_latest = node.order[0].is_descending;
  if (time == time_kind::processing_time)
    node.order.clear(); // rows come in the order of their processing
}

/// Ranks of whole windows are given once.
void form_window_rank(const plan_node& input, rank_node& node) {
  const auto* shape = find_shape(input);
  if (shape == nullptr || shape->is_processing_time || find_updating(input) != nullptr)
    return;
  bool has_start = false;
  std::optional<std::size_t> end;
  for (const auto each : node.partition) {
    has_start |= input.columns[each].window == window_property::start;
    if (input.columns[each].window == window_property::end)
      end = each;
  }
  if (!has_start || !end)
    return;
  node.window_end = end;
  node.is_zoned = shape->is_zoned;
}

/// The first row of each partition by event time is known when the watermark has passed it: numbers
/// in that order, and the condition, give it once, with its time.
bool is_first_in_time(const plan_node& input, const rank_node& node) {
  return node.last == 1 && !node.window_end && node.order.size() == 1 &&
         !node.order[0].is_descending &&
         input.columns[node.order[0].column].time == time_kind::row_time &&
         find_updating(input) == nullptr;
}

std::optional<plan_node> form(plan_node& plan) {
  auto& calc = std::get<calc_node>(plan.node);
  const auto& below = plan.inputs[0];
  const auto* over = std::get_if<over_node>(&below.node);
  if (over == nullptr || !calc.condition || over->items.size() != 1 ||
      over->items[0].function != "ROW_NUMBER")
    return std::nullopt;
  const auto rank = below.columns.size() - 1;
  rank_range range;
  conditions others;
  for (auto& each : conjuncts(*calc.condition))
    if (!narrow(each, rank, range))
      others.push_back(std::move(each));
  if (!range.last || *range.last < range.first)
    return std::nullopt;
  rank_node made;
  made.partition = over->partition;
  made.order = over->order;
  made.first = range.first;
  made.last = *range.last;
  form_deduplication(below.inputs[0], made);
  form_window_rank(below.inputs[0], made);
  if (is_first_in_time(below.inputs[0], made))
    return std::nullopt;
  calc.condition = all_of(std::move(others));
  bool is_read = false;
  const auto type = below.columns[rank].type;
  const auto use = [&](bound_expression& in) {
    replace_columns(in, [&](const bound_column& column) -> std::optional<bound_expression> {
      if (column.index != rank)
        return std::nullopt;
      is_read = true;
      if (made.first != made.last)
        return std::nullopt;
      return bound_expression{bound_constant{std::to_string(made.first), std::nullopt}, type, {}};
    });
  };
  for (auto& each : calc.items)
    use(each);
  if (calc.condition)
    use(*calc.condition);
  made.outputs_rank = is_read && made.first != made.last;
  plan_node ranked;
  ranked.at = below.at;
  ranked.columns = below.columns;
  if (!made.outputs_rank)
    ranked.columns.pop_back();
  for (auto& each : ranked.columns) {
    if (!made.window_end)
      each.window.reset();
    if (each.window != window_property::time)
      each.time = time_kind::none;
  }
  ranked.node = std::move(made);
  ranked.inputs = std::move(plan.inputs[0].inputs);
  plan.inputs[0] = std::move(ranked);
  return std::move(plan);
}

} // namespace

plan_node form_rank(plan_node plan) {
  if (std::holds_alternative<calc_node>(plan.node))
    if (auto made = form(plan))
      return std::move(*made);
  return plan;
}

} // namespace headrace::sql
