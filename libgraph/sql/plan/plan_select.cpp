#include "libgraph/sql/plan/conditions.hpp"
#include "libgraph/sql/plan/grouping.hpp"
#include "libgraph/sql/plan/over.hpp"
#include "libgraph/sql/plan/query_planner.hpp"
#include "libgraph/sql/plan/time_distance.hpp"
#include "libgraph/types/value_text.hpp"

#include <algorithm>
#include <set>
#include <utility>

// SELECT: WHERE, GROUP BY, HAVING, the list, DISTINCT, and the columns that ORDER BY needs.
namespace headrace::sql {
namespace {

/// FROM a, b WHERE …: the condition may be that of the join.
void keep_times_of(plan_node& rows, const bound_expression& where) {
  const auto* join = std::get_if<join_node>(&rows.node);
  if (join == nullptr || join->kind != join_type::inner)
    return;
  conditions all = conjuncts(where);
  if (join->condition)
    all.push_back(*join->condition);
  keep_times(rows, all_of(std::move(all)));
}

/// "a", "a0", "a1" where a name comes several times.
void make_unique(std::vector<std::string>& names) {
  std::set<std::string, std::less<>> taken(names.begin(), names.end());
  std::set<std::string, std::less<>> seen;
  for (auto& each : names) {
    if (seen.insert(each).second)
      continue;
    for (std::size_t i = 0;; ++i) {
      auto made = each + std::to_string(i);
      if (!taken.insert(made).second)
        continue;
      each = std::move(made);
      seen.insert(each);
      break;
    }
  }
}

/// The parts of an AND, or the whole.
std::vector<expression> conjuncts(const expression& of) {
  const auto* both = std::get_if<operation>(&of.node);
  if (both == nullptr || both->kind != operator_kind::and_)
    return {of};
  return both->operands;
}

/// IN (query), EXISTS, and comparisons with ANY or ALL of a query, also behind NOT.
bool is_query_condition(const expression& of) {
  if (const auto* each = std::get_if<operation>(&of.node))
    return each->kind == operator_kind::not_ && is_query_condition(each->operands[0]);
  if (const auto* compared = std::get_if<quantified_comparison>(&of.node))
    return compared->rows.has_value();
  return std::holds_alternative<in_query>(of.node) || std::holds_alternative<exists>(of.node);
}

bool is_first_of(const bound_expression& key, const group_window& window) {
  const auto* column = std::get_if<bound_column>(&key.node);
  return column != nullptr && column->index == window.first_column;
}

/// What ORDER BY may name: a column of the output, by its name or number.
std::optional<std::size_t> output_column(const expression& wanted,
                                         const std::vector<std::string>& names) {
  if (const auto* column = std::get_if<column_reference>(&wanted.node);
      column != nullptr && column->path.parts.size() == 1) {
    const auto& text = column->path.parts[0].text;
    const auto found = std::find(names.begin(), names.end(), text);
    if (found != names.end() && std::find(found + 1, names.end(), text) == names.end())
      return static_cast<std::size_t>(found - names.begin());
  }
  return std::nullopt;
}

/// Of a finding on an unknown column.
bool is_about(std::string_view message, const std::string& column) {
  const auto named = "unknown column: " + column;
  return message == named || message.starts_with(named + ",");
}

bool is_ordinal(const expression& from) {
  const auto* number = std::get_if<literal>(&from.node);
  return number != nullptr && number->kind == literal_kind::integer;
}

} // namespace

plan_node one_row(source_span at) {
  plan_node out;
  out.at = at;
  values_node rows;
  rows.rows.push_back(
      {{bound_constant{"0", std::nullopt}, logical_type::integer().not_null(), at}});
  out.node = std::move(rows);
  out.columns.push_back({"", logical_type::integer().not_null(), time_kind::none, std::nullopt});
  return out;
}

/// A name that WHERE or GROUP BY do not find may be an alias: says so.
void query_planner::explain_alias(const select& from, std::size_t first_finding) {
  for (auto i = first_finding; i < findings_.size(); ++i) {
    auto& each = findings_[i];
    if (each.kind != diagnostic_kind::unknown_name)
      continue;
    for (const auto& item : from.items)
      if (item.alias && is_about(each.message, item.alias->text))
        each.message = "an alias of SELECT is not known here: " + item.alias->text +
                       "; repeat its expression, or select from a sub-query";
  }
}

std::optional<query_planner::relation>
query_planner::plan_where(relation input, const expression& condition,
                          std::vector<bound_expression>* correlations) {
  std::vector<bound_expression> kept;
  std::vector<const expression*> queries;
  const auto parts = conjuncts(condition);
  bool is_sound = true;
  {
    expression_binder binder(input.scope, findings_, &functions_);
    allow_queries(binder, input);
    for (const auto& each : parts) {
      if (is_query_condition(each)) {
        queries.push_back(&each);
        continue;
      }
      auto bound = binder.bind_condition(each, true);
      is_sound &= bound.has_value();
      if (!bound)
        continue;
      bool is_correlated = false;
      visit_columns(*bound, [&](const bound_column& column) {
        is_correlated |= column.index >= column_scope::outer_first;
      });
      (is_correlated ? *correlations : kept).push_back(std::move(*bound));
    }
  }
  if (!kept.empty()) {
    const auto at = join(kept.front().at, kept.back().at);
    auto all = all_of(std::move(kept));
    all->at = at;
    keep_times_of(input.plan, *all);
    input.plan = filtered(std::move(input.plan), std::move(*all));
  }
  for (const auto* each : queries) {
    auto joined = plan_query_condition(input, *each);
    is_sound &= joined.has_value();
    if (joined)
      input = std::move(*joined);
  }
  return is_sound ? std::optional(std::move(input)) : std::nullopt;
}

bool query_planner::expand_star(const star& from, source_span at, const relation& input,
                                expression_binder& binder, std::vector<select_output>& out) {
  const auto& columns = input.scope.columns();
  const auto before = out.size();
  const bool is_of_table = from.of && from.of->parts.size() == 1 &&
                           std::any_of(columns.begin(), columns.end(), [&](const auto& each) {
                             return each.table == from.of->parts[0].text;
                           });
  if (from.of && !is_of_table) {
    // All fields of a row.
    auto row = binder.bind({column_reference{*from.of}, from.of->at});
    if (!row)
      return false;
    if (row->type.root() != type_root::row) {
      fail(diagnostic_kind::type_mismatch,
           "only a table and a ROW have columns for *, found " + row->type.nullable().to_sql(), at);
      return false;
    }
    for (std::size_t i = 0; i < row->type.child_count(); ++i) {
      auto type = row->type.child(i);
      bound_field field;
      field.row = *row;
      field.index = i;
      out.push_back({{std::move(field), row->type.is_nullable() ? type.nullable() : type, at},
                     row->type.fields()[i].name});
    }
    return true;
  }
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const bool is_wanted =
        from.of ? columns[i].table == from.of->parts[0].text : !columns[i].is_hidden;
    if (is_wanted)
      out.push_back({{bound_column{i}, columns[i].type, at}, columns[i].name});
  }
  if (out.size() == before) {
    fail(diagnostic_kind::invalid, "* has no columns here: there is no FROM", at);
    return false;
  }
  return true;
}

bool query_planner::bind_items(const select& from, const relation& input, expression_binder& binder,
                               std::vector<select_output>& out) {
  bool is_sound = true;
  for (const auto& each : from.items) {
    if (const auto* all = std::get_if<star>(&each.value.node)) {
      is_sound &= expand_star(*all, each.value.at, input, binder, out);
      continue;
    }
    auto bound = binder.bind(each.value);
    is_sound &= bound.has_value();
    if (!bound)
      continue;
    std::string label = "EXPR$" + std::to_string(out.size());
    if (each.alias)
      label = each.alias->text;
    else if (const auto* column = std::get_if<column_reference>(&each.value.node))
      label = column->path.parts.back().text;
    else if (const auto* field = std::get_if<field_access>(&each.value.node))
      label = field->field.text;
    out.push_back({std::move(*bound), std::move(label)});
  }
  return is_sound;
}

std::optional<std::vector<bound_expression>> query_planner::bind_keys(const select& from,
                                                                      const group_window& window,
                                                                      expression_binder& binder) {
  std::vector<bound_expression> out;
  bool is_sound = true;
  for (const auto& each : from.group_by) {
    for (const auto& key : each.expressions) {
      auto bound = binder.bind(key);
      is_sound &= bound.has_value();
      if (bound && window.call != nullptr && is_first_of(*bound, window)) {
        // The window is all three columns of it.
        for (std::size_t i = 0; i < 3; ++i)
          out.push_back(binder.column(window.first_column + i, key.at));
        continue;
      }
      if (bound && std::find(out.begin(), out.end(), *bound) == out.end())
        out.push_back(std::move(*bound));
    }
  }
  return is_sound ? std::optional(std::move(out)) : std::nullopt;
}

/// Finds what one element of ORDER BY is of the output, or adds a column for it.
bool query_planner::bind_order(const order_item& from, bool is_distinct, expression_binder& binder,
                               std::vector<select_output>& items, std::vector<std::string>& names,
                               ordered& out) {
  sort_key key;
  key.is_descending = from.is_descending;
  key.nulls_first = from.nulls_first.value_or(!from.is_descending);
  if (is_ordinal(from.value)) {
    const auto number = graph::parse_integer<std::int64_t>(std::get<literal>(from.value.node).text);
    if (!number || *number < 1 || static_cast<std::size_t>(*number) > out.visible) {
      fail(diagnostic_kind::invalid,
           "ORDER BY counts columns from 1 to " + std::to_string(out.visible), from.value.at);
      return false;
    }
    key.column = static_cast<std::size_t>(*number) - 1;
  } else if (const auto column = output_column(from.value, names)) {
    key.column = *column;
  } else {
    auto bound = binder.bind(from.value);
    if (!bound)
      return false;
    const auto same = std::find_if(items.begin(), items.end(),
                                   [&](const select_output& item) { return item.value == *bound; });
    key.column = static_cast<std::size_t>(same - items.begin());
    if (same == items.end()) {
      if (is_distinct) {
        fail(diagnostic_kind::invalid, "ORDER BY of SELECT DISTINCT takes what is selected alone",
             from.value.at);
        return false;
      }
      names.push_back("$o" + std::to_string(items.size() - out.visible));
      items.push_back({std::move(*bound), names.back()});
    }
  }
  if (!check_order(items[key.column].value.type, from.value.at))
    return false;
  out.keys.push_back(key);
  return true;
}

/// Binds QUALIFY, which may name what is selected by its alias.
std::optional<bound_expression>
query_planner::bind_qualify(const select& from, const relation& input,
                            const std::vector<select_output>& items) {
  auto scope = input.scope;
  const auto width = scope.columns().size();
  std::vector<std::size_t> aliased;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const auto& known = scope.columns();
    if (std::any_of(known.begin(), known.end(),
                    [&](const auto& each) { return each.name == items[i].name; }))
      continue;
    scope.add({}, items[i].name, items[i].value.type);
    aliased.push_back(i);
  }
  expression_binder binder(scope, findings_, &functions_);
  binder.allow_aggregates(true);
  binder.allow_windows(from.windows);
  auto out = binder.bind_condition(*from.qualify);
  if (out)
    replace_columns(*out, [&](const bound_column& column) -> std::optional<bound_expression> {
      if (column.index < width)
        return std::nullopt;
      return items[aliased[column.index - width]].value;
    });
  return out;
}

/// What functions with OVER need below the outputs, then QUALIFY.
plan_node query_planner::plan_windows(plan_node rows, std::vector<bound_expression>& outputs,
                                      std::optional<bound_expression> qualify) {
  over_rewriter rewriter;
  for (const auto& each : outputs)
    rewriter.collect(each);
  if (qualify)
    rewriter.collect(*qualify);
  if (rewriter.has_calls()) {
    rows = rewriter.build(std::move(rows));
    for (auto& each : outputs)
      rewriter.rewrite(each);
    if (qualify)
      rewriter.rewrite(*qualify);
  }
  return qualify ? filtered(std::move(rows), std::move(*qualify)) : std::move(rows);
}

/// The aggregate and HAVING; the outputs are then over its rows.
std::optional<plan_node> query_planner::plan_groups(plan_node rows,
                                                    std::vector<bound_expression> keys,
                                                    std::vector<bound_expression>& outputs,
                                                    std::optional<bound_expression> having,
                                                    std::optional<bound_expression>* qualify) {
  const auto columns = rows.columns;
  grouping_rewriter rewriter(columns, std::move(keys), findings_);
  bool is_sound = true;
  for (auto& each : outputs) {
    auto made = rewriter.rewrite(std::move(each));
    is_sound &= made.has_value();
    if (made)
      each = std::move(*made);
  }
  for (auto* each : {&having, qualify})
    if (each != nullptr && *each) {
      *each = rewriter.rewrite(std::move(**each));
      is_sound &= each->has_value();
    }
  if (!is_sound)
    return std::nullopt;
  rows = std::move(rewriter).finish(std::move(rows));
  return having ? filtered(std::move(rows), std::move(*having)) : std::move(rows);
}

std::optional<query_planner::ordered>
query_planner::plan_select(const select& from, const std::vector<order_item>& order_by,
                           source_span at) {
  select_hints hints(from.hints, findings_);
  auto* const outer = std::exchange(hints_, &hints);
  auto out = plan_hinted_select(from, order_by, at);
  hints_ = outer;
  const bool is_sound = hints.is_sound() && (!out || hints.check_used());
  return is_sound ? std::move(out) : std::nullopt;
}

std::optional<query_planner::ordered>
query_planner::plan_hinted_select(const select& from, const std::vector<order_item>& order_by,
                                  source_span at) {
  std::optional<relation> input = relation{one_row(at), {}};
  if (from.from)
    input = plan_table(**from.from);
  if (!input)
    return std::nullopt;
  bool is_sound = true;

  auto first_finding = findings_.size();
  auto plain = *input; // what the rest is bound over when WHERE is wrong
  if (from.where) {
    input = plan_where(std::move(*input), *from.where);
    explain_alias(from, first_finding);
    is_sound &= input.has_value();
    if (!input)
      input = std::move(plain);
  }
  first_finding = findings_.size();
  group_window window;
  plain = *input;
  input = plan_group_window(std::move(*input), from, window);
  is_sound &= input.has_value();
  if (!input)
    input = std::move(plain);
  expression_binder binder(input->scope, findings_, &functions_);
  binder.set_group_window(window);
  allow_queries(binder, *input);
  std::optional<std::vector<bound_expression>> keys{std::in_place};
  if (!has_grouping_sets(from))
    keys = bind_keys(from, window, binder);
  explain_alias(from, first_finding);
  is_sound &= keys.has_value();

  binder.allow_aggregates(true);
  std::optional<bound_expression> having;
  if (from.having) {
    having = binder.bind_condition(*from.having, true);
    is_sound &= having.has_value();
  }
  binder.allow_windows(from.windows);
  std::vector<select_output> items;
  is_sound &= bind_items(from, *input, binder, items);
  std::optional<bound_expression> qualify;
  if (from.qualify) {
    qualify = bind_qualify(from, *input, items);
    is_sound &= qualify.has_value();
  }
  std::vector<std::string> names;
  for (const auto& each : items)
    names.push_back(each.name);
  make_unique(names);

  ordered out;
  out.visible = items.size();
  for (const auto& each : order_by)
    is_sound &= bind_order(each, from.is_distinct, binder, items, names, out);
  if (!is_sound)
    return std::nullopt;

  const bool is_grouped =
      from.has_group_by || from.having || (qualify && has_aggregate(*qualify)) ||
      std::any_of(items.begin(), items.end(), [](auto& each) { return has_aggregate(each.value); });
  auto rows = std::move(input->plan);
  std::vector<bound_expression> outputs;
  for (auto& each : items)
    outputs.push_back(std::move(each.value));
  std::vector<bound_expression*> every;
  for (auto& each : outputs)
    every.push_back(&each);
  for (auto* each : {&having, &qualify})
    if (*each)
      every.push_back(&**each);
  std::vector<bound_expression> groupings;
  for (const auto* each : every)
    find_groupings(*each, groupings);
  if (has_grouping_sets(from) || !groupings.empty()) {
    const auto sets = plan_sets(rows, from, binder, every);
    bool is_found = sets.has_value();
    for (auto* each : every)
      is_found = is_found && find_keys(*each, *sets, false);
    if (!is_found)
      return std::nullopt;
    keys->clear();
    for (auto i = sets->first_key; i < rows.columns.size(); ++i)
      keys->push_back({bound_column{i}, rows.columns[i].type, at});
  }
  const auto table = from.from ? label_of(**from.from) : std::string();
  if (is_grouped) {
    auto grouped =
        plan_groups(std::move(rows), std::move(*keys), outputs, std::move(having), &qualify);
    if (!grouped)
      return std::nullopt;
    rows = std::move(*grouped);
    auto& groups = std::holds_alternative<aggregate_node>(rows.node) ? rows : rows.inputs[0];
    hints_->apply(std::get<aggregate_node>(groups.node), table);
  }
  rows = plan_windows(std::move(rows), outputs, std::move(qualify));
  if (from.is_distinct)
    for (auto& each : outputs)
      each = canonical_key(std::move(each));
  out.plan = projected(std::move(rows), std::move(outputs), std::move(names));
  if (from.is_distinct) {
    plan_node distinct;
    distinct.at = at;
    distinct.columns = out.plan.columns;
    for (auto& each : distinct.columns)
      each.time = time_kind::none;
    aggregate_node groups;
    groups.key_count = distinct.columns.size();
    hints_->apply(groups, table);
    distinct.node = std::move(groups);
    distinct.inputs.push_back(std::move(out.plan));
    out.plan = std::move(distinct);
  }
  return out;
}

} // namespace headrace::sql
