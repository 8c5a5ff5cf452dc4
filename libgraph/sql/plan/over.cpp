#include "libgraph/sql/plan/over.hpp"

#include "libgraph/sql/plan/query_planner.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace headrace::sql {
namespace {

bool is_over(const bound_expression& in) {
  const auto* call = std::get_if<bound_call>(&in.node);
  return call != nullptr && call->over.has_value();
}

/// The columns that windows and arguments name: the input's, and what is computed for them.
class projection {
public:
  explicit projection(const plan_node& input) : items_(identity_items(input.columns)) {
    for (const auto& each : input.columns)
      names_.push_back(each.name);
  }
  std::size_t place_of(const bound_expression& value) {
    const auto same = std::find_if(items_.begin(), items_.end(), [&](const auto& each) {
      return each.node == value.node && each.type == value.type;
    });
    const auto out = static_cast<std::size_t>(same - items_.begin());
    if (same == items_.end()) {
      names_.push_back(computed_name("$" + std::to_string(out), value));
      items_.push_back(value);
    }
    return out;
  }
  plan_node over(plan_node input) && {
    if (items_.size() == input.columns.size())
      return input;
    return projected(std::move(input), std::move(items_), std::move(names_));
  }

private:
  std::vector<bound_expression> items_;
  std::vector<std::string> names_;
};

aggregate_item item_of(const bound_call& call, const logical_type& type) {
  aggregate_item out;
  out.function = call.function;
  out.is_distinct = call.is_distinct;
  out.type = type;
  return out;
}

over_node window_of(const bound_call& call, projection& columns, const plan_node& input) {
  const auto& from = **call.over;
  over_node out;
  for (const auto& each : from.partition_by)
    out.partition.push_back(columns.place_of(each));
  for (std::size_t i = 0; i < from.order_by.size(); ++i)
    out.order.push_back({columns.place_of(from.order_by[i]), from.directions[i].is_descending,
                         from.directions[i].nulls_first});
  if (!runs_with_row(item_of(call, logical_type::null())))
    return out; // what looks ahead, or ranks, is of all rows
  out.is_rows = from.is_rows;
  out.preceding = from.preceding;
  out.frame = from.frame;
  const bool is_in_time = !out.order.empty() && out.order[0].column < input.columns.size() &&
                          is_over_time(out, input) && ends_with_row(out);
  for (auto* each : {&out.frame.first, &out.frame.last}) {
    if (each->kind != graph::over_bound::value)
      continue;
    const auto& bound = from.bounds[static_cast<std::size_t>(each->column)];
    each->column = is_in_time ? -1 : static_cast<std::int32_t>(columns.place_of(bound));
  }
  return out;
}

bool is_same_window(const over_node& left, const over_node& right) {
  return left.partition == right.partition && left.order == right.order &&
         left.is_rows == right.is_rows && left.preceding == right.preceding &&
         left.frame == right.frame;
}

} // namespace

void over_rewriter::collect(const bound_expression& in) {
  if (is_over(in)) {
    if (std::find(calls_.begin(), calls_.end(), in) == calls_.end())
      calls_.push_back(in);
    return;
  }
  if (const auto* field = std::get_if<bound_field>(&in.node))
    collect(*field->row);
  else if (const auto* call = std::get_if<bound_call>(&in.node))
    for_each_child(*call, [&](const bound_expression& each) { collect(each); });
}

plan_node over_rewriter::build(plan_node input) {
  projection columns(input);
  std::vector<over_node> windows;
  std::vector<std::pair<std::size_t, std::size_t>> found; // window and item, by call
  for (const auto& each : calls_) {
    const auto& call = std::get<bound_call>(each.node);
    auto window = window_of(call, columns, input);
    auto item = item_of(call, each.type);
    for (const auto& argument : call.arguments)
      item.arguments.push_back(columns.place_of(argument));
    const auto same = std::find_if(windows.begin(), windows.end(), [&](const over_node& known) {
      return is_same_window(known, window);
    });
    const auto index = static_cast<std::size_t>(same - windows.begin());
    if (same == windows.end())
      windows.push_back(std::move(window));
    found.emplace_back(index, windows[index].items.size());
    windows[index].items.push_back(std::move(item));
  }
  const auto at = input.at;
  auto out = std::move(columns).over(std::move(input));
  std::vector<std::size_t> begins;
  for (auto& each : windows) {
    plan_node made;
    made.at = at;
    made.columns = out.columns;
    begins.push_back(made.columns.size());
    for (const auto& item : each.items)
      made.columns.push_back({"w" + std::to_string(begins.size() - 1) + "$o" +
                                  std::to_string(made.columns.size() - begins.back()),
                              item.type, time_kind::none, std::nullopt});
    made.node = std::move(each);
    made.inputs.push_back(std::move(out));
    out = std::move(made);
  }
  for (const auto& [window, item] : found)
    places_.push_back(begins[window] + item);
  return out;
}

void over_rewriter::rewrite(bound_expression& in) const {
  if (is_over(in)) {
    const auto same = std::find(calls_.begin(), calls_.end(), in);
    const auto place = places_[static_cast<std::size_t>(same - calls_.begin())];
    in.node = bound_column{place};
    return;
  }
  if (auto* field = std::get_if<bound_field>(&in.node))
    rewrite(*field->row);
  else if (auto* call = std::get_if<bound_call>(&in.node))
    for_each_child(*call, [&](bound_expression& each) { rewrite(each); });
}

bool is_over_time(const over_node& node, const plan_node& input) {
  return node.order.size() == 1 && !node.order[0].is_descending &&
         input.columns[node.order[0].column].time != time_kind::none;
}

bool ends_with_row(const over_node& node) {
  const auto& last = node.frame.last;
  const bool is_row = last.kind == graph::over_bound::peers ||
                      (last.kind == graph::over_bound::rows && last.rows == 0);
  return is_row &&
         (node.frame.first.kind == graph::over_bound::unbounded || node.preceding.has_value());
}

bool runs_with_row(const aggregate_item& item) {
  static constexpr std::array names{
      std::string_view("AVG"),         std::string_view("COUNT"),
      std::string_view("FIRST_VALUE"), std::string_view("LISTAGG"),
      std::string_view("MAX"),         std::string_view("MIN"),
      std::string_view("STDDEV_POP"),  std::string_view("STDDEV_SAMP"),
      std::string_view("SUM"),         std::string_view("VAR_POP"),
      std::string_view("VAR_SAMP")};
  static constexpr std::array more{std::string_view("DENSE_RANK"), std::string_view("LAG"),
                                   std::string_view("LAST_VALUE"), std::string_view("RANK"),
                                   std::string_view("ROW_NUMBER")};
  const bool takes_distinct = std::find(names.begin(), names.end(), item.function) != names.end();
  return takes_distinct ||
         (!item.is_distinct && std::find(more.begin(), more.end(), item.function) != more.end());
}

bool runs_at_end(const aggregate_item& item) {
  static constexpr std::array more{std::string_view("CUME_DIST"), std::string_view("LEAD"),
                                   std::string_view("NTILE"), std::string_view("PERCENT_RANK")};
  return runs_with_row(item) || std::find(more.begin(), more.end(), item.function) != more.end();
}

} // namespace headrace::sql
