#include "libgraph/sql/optimize/optimizer.hpp"
#include "libactors/base/assert.hpp"

#include <algorithm>

namespace headrace::sql {
namespace {

using column_set = std::vector<bool>;

/// A plan with fewer columns, and where each of the old ones is now.
struct pruned {
  plan_node plan;
  std::vector<std::size_t> places; ///< by old index; of those that are gone: no meaning
};

column_set all_of(std::size_t count) { return column_set(count, true); }

void add_columns(const bound_expression& from, column_set& into) {
  visit_columns(from, [&](const bound_column& column) { into[column.index] = true; });
}

void move_columns(bound_expression& in, const std::vector<std::size_t>& places) {
  visit_columns(in, [&](bound_column& column) { column.index = places[column.index]; });
}

/// Keeps those columns of the plan itself that are wanted.
template <class T>
std::vector<T> kept(std::vector<T> from, const column_set& wanted) {
  std::vector<T> out;
  for (std::size_t i = 0; i < from.size(); ++i)
    if (wanted[i])
      out.push_back(std::move(from[i]));
  return out;
}

std::vector<std::size_t> places_of(const column_set& wanted, std::size_t base = 0) {
  std::vector<std::size_t> out;
  std::size_t next = base;
  for (const bool is_wanted : wanted) {
    out.push_back(next);
    next += is_wanted ? 1 : 0;
  }
  return out;
}

pruned prune(plan_node plan, column_set wanted);

void move_shape(window_shape& shape, const std::vector<std::size_t>& places) {
  shape.time_column = places[shape.time_column];
}

void move_items(std::vector<aggregate_item>& items, const std::vector<std::size_t>& places) {
  for (auto& each : items) {
    for (auto& argument : each.arguments)
      argument = places[argument];
    if (each.filter)
      each.filter = places[*each.filter];
  }
}

void add_items(const std::vector<aggregate_item>& items, column_set& into) {
  for (const auto& each : items) {
    for (const auto argument : each.arguments)
      into[argument] = true;
    if (each.filter)
      into[*each.filter] = true;
  }
}

/// Prunes one kind of node: `wanted` are its columns, and stays as it is unless the node needs
/// more.
class node_pruner {
public:
  node_pruner(plan_node& plan, column_set& wanted) : plan_(plan), wanted_(wanted) {}

  void operator()(scan_node& node) {
    if (keeps_malformed(node)) // which records are none does not depend on the query
      wanted_ = all_of(wanted_.size());
    need_one();
    node.fields = kept(std::move(node.fields), wanted_);
  }
  void operator()(values_node& node) {
    need_one();
    for (auto& row : node.rows)
      row = kept(std::move(row), wanted_);
  }
  void operator()(watermark_node& node) {
    wanted_[node.column] = true;
    take_exactly(0, wanted_);
    node.column = places_of(wanted_)[node.column];
  }
  void operator()(calc_node& node) {
    need_one();
    node.items = kept(std::move(node.items), wanted_);
    column_set below(plan_.inputs[0].columns.size(), false);
    for (const auto& each : node.items)
      add_columns(each, below);
    if (node.condition)
      add_columns(*node.condition, below);
    const auto places = take_input(0, std::move(below));
    for (auto& each : node.items)
      move_columns(each, places);
    if (node.condition)
      move_columns(*node.condition, places);
  }
  void operator()(aggregate_node& node) {
    std::fill_n(wanted_.begin(), node.key_count, true);
    need_one();
    node.items =
        kept(std::move(node.items),
             {wanted_.begin() + static_cast<std::ptrdiff_t>(node.key_count), wanted_.end()});
    column_set below(plan_.inputs[0].columns.size(), false);
    std::fill_n(below.begin(), node.key_count, true);
    add_items(node.items, below);
    move_items(node.items, take_input(0, std::move(below)));
  }
  void operator()(window_node& node) {
    auto below = column_set(wanted_.begin(), wanted_.end() - window_columns);
    below[node.shape.time_column] = true;
    for (const auto each : node.partition)
      below[each] = true;
    std::copy(below.begin(), below.end(), wanted_.begin());
    std::fill(wanted_.end() - window_columns, wanted_.end(), true);
    take_exactly(0, below);
    const auto places = places_of(below);
    move_shape(node.shape, places);
    for (auto& each : node.partition)
      each = places[each];
  }
  void operator()(window_aggregate_node& node) {
    const auto fixed = node.keys.size() + node.properties.size();
    std::fill_n(wanted_.begin(), fixed, true);
    if (!node.late.empty()) // one operator for all who read it
      wanted_ = all_of(wanted_.size());
    node.items = kept(std::move(node.items),
                      {wanted_.begin() + static_cast<std::ptrdiff_t>(fixed), wanted_.end()});
    column_set below(plan_.inputs[0].columns.size(), false);
    if (node.carried)
      below[node.carried->start] = below[node.carried->end] = true;
    else
      below[node.shape.time_column] = true;
    for (const auto each : node.keys)
      below[each] = true;
    for (const auto each : node.late)
      below[each] = true;
    add_items(node.items, below);
    const auto places = take_input(0, std::move(below));
    for (auto& each : node.late)
      each = places[each];
    if (node.carried)
      node.carried = carried_bounds{places[node.carried->start], places[node.carried->end]};
    else
      move_shape(node.shape, places);
    for (auto& each : node.keys)
      each = places[each];
    move_items(node.items, places);
  }
  void operator()(join_node& node) {
    const auto left = plan_.inputs[0].columns.size();
    auto all = wanted_;
    all.resize(left + plan_.inputs[1].columns.size(), false);
    if (node.condition)
      add_columns(*node.condition, all);
    for (const auto& each : node.keys.value_or(std::vector<join_key>())) {
      all[each.left] = true;
      all[left + each.right] = true;
    }
    const auto middle = all.begin() + static_cast<std::ptrdiff_t>(left);
    column_set one(all.begin(), middle);
    column_set other(middle, all.end());
    for (auto* each : {&one, &other})
      if (std::none_of(each->begin(), each->end(), [](bool is_wanted) { return is_wanted; }))
        each->front() = true;
    std::copy(one.begin(), one.end(), wanted_.begin());
    if (wanted_.size() > left)
      std::copy(other.begin(), other.end(), wanted_.begin() + static_cast<std::ptrdiff_t>(left));
    take_exactly(0, one);
    take_exactly(1, other);
    auto places = places_of(one);
    if (node.keys) {
      const auto right = places_of(other);
      for (auto& each : *node.keys)
        each = {places[each.left], right[each.right], each.is_null_safe};
    }
    for (const auto each : places_of(other, plan_.inputs[0].columns.size()))
      places.push_back(each);
    if (node.condition)
      move_columns(*node.condition, places);
  }
  void operator()(lookup_join_node& node) {
    const auto left = plan_.inputs[0].columns.size();
    if (node.condition)
      add_columns(*node.condition, wanted_);
    for (const auto& each : node.keys) {
      wanted_[each.left] = true;
      wanted_[left + each.right] = true;
    }
    const auto middle = wanted_.begin() + static_cast<std::ptrdiff_t>(left);
    const column_set one(wanted_.begin(), middle);
    const column_set other(middle, wanted_.end());
    take_exactly(0, one);
    node.table.fields = kept(std::move(node.table.fields), other);
    const auto places = places_of(wanted_);
    const auto left_places = places_of(one);
    const auto right_places = places_of(other);
    if (node.condition)
      move_columns(*node.condition, places);
    for (auto& each : node.keys)
      each = {left_places[each.left], right_places[each.right], each.is_null_safe};
  }
  void operator()(correlate_node& node) {
    need_one();
    const auto middle = wanted_.begin() + static_cast<std::ptrdiff_t>(node.passed.size());
    node.passed = kept(std::move(node.passed), {wanted_.begin(), middle});
    node.fields = kept(std::move(node.fields), {middle, wanted_.end()});
    column_set below(plan_.inputs[0].columns.size(), false);
    for (const auto each : node.passed)
      below[each] = true;
    for (const auto& each : node.arguments)
      add_columns(each, below);
    if (std::none_of(below.begin(), below.end(), [](bool is_wanted) { return is_wanted; }))
      below.front() = true;
    const auto places = take_input(0, std::move(below));
    for (auto& each : node.passed)
      each = places[each];
    for (auto& each : node.arguments)
      move_columns(each, places);
  }
  void operator()(late_node& /*node*/) {
    wanted_ = all_of(wanted_.size());
    take_input(0, all_of(plan_.inputs[0].columns.size()));
  }
  void operator()(version_join_node& node) {
    const auto left = plan_.inputs[0].columns.size();
    if (node.condition)
      add_columns(*node.condition, wanted_);
    for (const auto& each : node.keys) {
      wanted_[each.left] = true;
      wanted_[left + each.right] = true;
    }
    for (const auto each : node.primary_key.value_or(std::vector<std::size_t>()))
      wanted_[left + each] = true;
    wanted_[node.left_time] = true;
    wanted_[left + node.right_time] = true;
    const auto middle = wanted_.begin() + static_cast<std::ptrdiff_t>(left);
    const column_set one(wanted_.begin(), middle);
    const column_set other(middle, wanted_.end());
    take_exactly(0, one);
    take_exactly(1, other);
    const auto left_places = places_of(one);
    const auto right_places = places_of(other);
    if (node.condition)
      move_columns(*node.condition, places_of(wanted_));
    for (auto& each : node.keys)
      each = {left_places[each.left], right_places[each.right], each.is_null_safe};
    node.left_time = left_places[node.left_time];
    node.right_time = right_places[node.right_time];
    if (node.primary_key)
      for (auto& each : *node.primary_key)
        each = right_places[each];
  }
  /// As other readers of the table have it, so that there is one source.
  void operator()(dead_letter_node& /*node*/) {
    wanted_ = all_of(wanted_.size());
    take_input(0, all_of(plan_.inputs[0].columns.size()));
  }
  void operator()(set_node& node) {
    if (node.kind != set_operator::union_ || !node.is_all)
      wanted_ = all_of(wanted_.size()); // rows are compared as a whole
    need_one();
    for (std::size_t i = 0; i < plan_.inputs.size(); ++i)
      take_exactly(i, wanted_);
  }
  void operator()(sort_node& node) {
    for (const auto& each : node.keys)
      wanted_[each.column] = true;
    need_one();
    take_exactly(0, wanted_);
    const auto places = places_of(wanted_);
    for (auto& each : node.keys)
      each.column = places[each.column];
  }
  void operator()(over_node& node) {
    auto below = passed_columns(node.partition, node.order);
    const auto width = static_cast<std::ptrdiff_t>(below.size());
    if (std::none_of(wanted_.begin() + width, wanted_.end(),
                     [](bool is_wanted) { return is_wanted; }))
      wanted_[below.size()] = true;
    node.items = kept(std::move(node.items), {wanted_.begin() + width, wanted_.end()});
    add_items(node.items, below);
    const auto bounds = {&node.frame.first, &node.frame.last};
    for (const auto* each : bounds)
      if (each->column >= 0)
        below[static_cast<std::size_t>(each->column)] = true;
    const auto places = pass_on(below, node.partition, node.order);
    move_items(node.items, places);
    for (auto* each : bounds)
      if (each->column >= 0)
        each->column = static_cast<std::int32_t>(places[static_cast<std::size_t>(each->column)]);
  }
  void operator()(rank_node& node) {
    const auto below = passed_columns(node.partition, node.order);
    if (node.outputs_rank)
      node.outputs_rank = wanted_.back();
    const auto places = pass_on(below, node.partition, node.order);
    if (node.window_end)
      node.window_end = places[*node.window_end];
  }
  void operator()(match_node& node) {
    const auto keys = node.partition.size();
    std::fill_n(wanted_.begin(), keys, true);
    need_one();
    node.measures = kept(std::move(node.measures),
                         {wanted_.begin() + static_cast<std::ptrdiff_t>(keys), wanted_.end()});
    const auto width = plan_.inputs[0].columns.size();
    // The input's columns, and behind them the values.
    column_set used(width + node.values.size(), false);
    for (const auto& each : node.measures)
      add_columns(each, used);
    for (const auto& each : node.variables)
      if (each.condition)
        add_columns(*each.condition, used);
    const column_set used_values(used.begin() + static_cast<std::ptrdiff_t>(width), used.end());
    node.values = kept(std::move(node.values), used_values);
    column_set below(used.begin(), used.begin() + static_cast<std::ptrdiff_t>(width));
    for (const auto each : node.partition)
      below[each] = true;
    for (const auto& each : node.order)
      below[each.column] = true;
    for (const auto& each : node.values) {
      if (each.what == pattern_value::kind::first || each.what == pattern_value::kind::last)
        below[each.column] = true;
      for (const auto& argument : each.arguments)
        add_columns(argument, below);
    }
    auto places = take_input(0, std::move(below));
    for (const auto each : places_of(used_values, plan_.inputs[0].columns.size()))
      places.push_back(each);
    move_match(node, places);
  }
  void operator()(sink_node& /*node*/) { take_exactly(0, all_of(wanted_.size())); }

private:
  static constexpr std::ptrdiff_t window_columns = 3;

  static void move_match(match_node& node, const std::vector<std::size_t>& places) {
    for (auto& each : node.partition)
      each = places[each];
    for (auto& each : node.order)
      each.column = places[each.column];
    for (auto& each : node.measures)
      move_columns(each, places);
    for (auto& each : node.variables)
      if (each.condition)
        move_columns(*each.condition, places);
    for (auto& each : node.values) {
      if (each.what == pattern_value::kind::first || each.what == pattern_value::kind::last)
        each.column = places[each.column];
      for (auto& argument : each.arguments)
        move_columns(argument, places);
    }
  }

  /// Of a node that passes its input's columns on, with more behind: those that it needs.
  column_set passed_columns(const std::vector<std::size_t>& partition,
                            const std::vector<sort_key>& order) {
    const auto width = plan_.inputs[0].columns.size();
    column_set below(wanted_.begin(), wanted_.begin() + static_cast<std::ptrdiff_t>(width));
    for (const auto each : partition)
      below[each] = true;
    for (const auto& each : order)
      below[each.column] = true;
    if (std::none_of(below.begin(), below.end(), [](bool is_wanted) { return is_wanted; }))
      below.front() = true;
    return below;
  }
  std::vector<std::size_t> pass_on(const column_set& below, std::vector<std::size_t>& partition,
                                   std::vector<sort_key>& order) {
    std::copy(below.begin(), below.end(), wanted_.begin());
    take_exactly(0, below);
    auto places = places_of(below);
    for (auto& each : partition)
      each = places[each];
    for (auto& each : order)
      each.column = places[each.column];
    return places;
  }
  /// A row without columns could not be counted.
  void need_one() {
    if (!wanted_.empty() &&
        std::none_of(wanted_.begin(), wanted_.end(), [](bool is_wanted) { return is_wanted; }))
      wanted_.front() = true;
  }
  /// Prunes an input as far as it goes; gives where its columns are now.
  std::vector<std::size_t> take_input(std::size_t index, column_set below) {
    auto made = prune(std::move(plan_.inputs[index]), std::move(below));
    plan_.inputs[index] = std::move(made.plan);
    return made.places;
  }
  /// Likewise, and drops what the input kept beyond that: for nodes that pass columns on.
  void take_exactly(std::size_t index, const column_set& below) {
    auto names = std::vector<plan_column>();
    for (std::size_t i = 0; i < below.size(); ++i)
      if (below[i])
        names.push_back(plan_.inputs[index].columns[i]);
    const auto places = take_input(index, below);
    auto& input = plan_.inputs[index];
    if (input.columns.size() == names.size())
      return;
    plan_node calc;
    calc.at = input.at;
    calc_node node;
    for (std::size_t i = 0; i < below.size(); ++i)
      if (below[i])
        node.items.push_back({bound_column{places[i]}, input.columns[places[i]].type, {}});
    calc.columns = std::move(names);
    calc.node = std::move(node);
    calc.inputs.push_back(std::move(input));
    plan_.inputs[index] = std::move(calc);
  }

  plan_node& plan_;
  column_set& wanted_;
};

pruned prune(plan_node plan, column_set wanted) {
  HEADRACE_ASSERT(wanted.size() == plan.columns.size(), "a flag for each column");
  std::visit(node_pruner(plan, wanted), plan.node);
  plan.columns = kept(std::move(plan.columns), wanted);
  return {std::move(plan), places_of(wanted)};
}

} // namespace

bool keeps_malformed(const scan_node& scan) {
  const auto found = scan.options.find("errors");
  return found != scan.options.end() && found->second == "table";
}

plan_node prune_columns(plan_node plan) {
  auto wanted = all_of(plan.columns.size());
  return prune(std::move(plan), std::move(wanted)).plan;
}

} // namespace headrace::sql
