#include "libgraph/data/row_format.hpp"
#include "libgraph/expression/program.hpp"
#include "libgraph/sql/bind/expression_translator.hpp"
#include "libgraph/sql/plan/query_planner.hpp"
#include "libgraph/types/value_text.hpp"
#include "libactors/base/digest.hpp"

#include <algorithm>

// Queries around SELECT: WITH, VALUES, set operations, ORDER BY, LIMIT.
namespace headrace::sql {
namespace {

std::vector<std::string> names_of(const std::vector<plan_column>& columns) {
  std::vector<std::string> out;
  for (const auto& each : columns)
    out.push_back(each.name);
  return out;
}

} // namespace

std::vector<bound_expression> identity_items(const std::vector<plan_column>& columns) {
  std::vector<bound_expression> out;
  for (std::size_t i = 0; i < columns.size(); ++i)
    out.push_back({bound_column{i}, columns[i].type, {}});
  return out;
}

plan_node filtered(plan_node input, bound_expression condition) {
  plan_node out;
  out.at = condition.at;
  out.columns = input.columns;
  out.node = calc_node{std::move(condition), identity_items(input.columns)};
  out.inputs.push_back(std::move(input));
  return out;
}

namespace {

bool calls_user(const bound_expression& in) {
  const auto* call = std::get_if<bound_call>(&in.node);
  if (call == nullptr) {
    const auto* field = std::get_if<bound_field>(&in.node);
    return field != nullptr && calls_user(*field->row);
  }
  bool out = call->user != nullptr;
  for_each_child(*call, [&](const bound_expression& each) { out = out || calls_user(each); });
  return out;
}

/// What names no column, as its value; where that is not to be had yet, as it is written.
std::string constant_text(const bound_expression& from) {
  if (calls_user(from))
    return to_string(from);
  const auto translated = translate_expression(from, "UTC");
  if (!translated || !graph::is_constant(*translated))
    return to_string(from);
  const auto value = graph::evaluate_constant(*translated, {});
  if (!value)
    return to_string(from);
  if ((*value)->is_null(0))
    return "NULL";
  std::string out;
  graph::format_value(**value, 0, out);
  return out;
}

} // namespace

std::string computed_name(std::string name, const bound_expression& from) {
  bool is_constant = true;
  visit_columns(from, [&](const bound_column&) { is_constant = false; });
  if (!is_constant)
    return name;
  const auto* literal = std::get_if<bound_constant>(&from.node);
  auto value = literal == nullptr || literal->interval ? constant_text(from)
                                                       : literal->text.value_or("NULL");
  constexpr std::size_t shown_max = 40;
  if (value.size() > shown_max) // told apart by what they are as a whole
    value = value.substr(0, shown_max) + "#" + sha256_hex(value).substr(0, 16);
  return std::move(name) + " = " + value;
}

plan_node projected(plan_node input, std::vector<bound_expression> items,
                    std::vector<std::string> names) {
  plan_node out;
  out.at = input.at;
  for (std::size_t i = 0; i < items.size(); ++i) {
    plan_column made{std::move(names[i]), items[i].type, time_kind::none, std::nullopt};
    if (const auto* passed = std::get_if<bound_column>(&items[i].node)) {
      made.time = input.columns[passed->index].time;
      made.window = input.columns[passed->index].window;
    } else if (const auto* call = std::get_if<bound_call>(&items[i].node);
               call != nullptr && call->function == "PROCTIME") {
      made.time = time_kind::processing_time;
    }
    out.columns.push_back(std::move(made));
  }
  out.node = calc_node{std::nullopt, std::move(items)};
  out.inputs.push_back(std::move(input));
  return out;
}

std::nullopt_t query_planner::fail(diagnostic_kind kind, std::string message, source_span at) {
  findings_.push_back({kind, std::move(message), at});
  return std::nullopt;
}

column_scope query_planner::scope_of(const std::vector<plan_column>& columns,
                                     const std::string& table) {
  column_scope out;
  for (const auto& each : columns)
    out.add(table, each.name, each.type);
  return out;
}

std::optional<plan_node> query_planner::plan_collected(const query& from) {
  auto rows = plan_query(from);
  if (!rows)
    return std::nullopt;
  plan_node out;
  out.columns = rows->columns;
  out.at = from.at;
  out.node = sink_node{};
  out.inputs.push_back(std::move(*rows));
  return out;
}

std::optional<plan_node> query_planner::plan_query(const query& from) {
  const auto known = common_tables_.size();
  bool is_sound = true;
  if (from.is_recursive)
    is_sound = refuse("WITH RECURSIVE is not supported", from.at);
  for (const auto& each : from.with)
    is_sound &= plan_common_table(each);
  std::optional<ordered> body;
  if (is_sound)
    body = plan_body(from);
  common_tables_.erase(common_tables_.begin() + static_cast<std::ptrdiff_t>(known),
                       common_tables_.end());
  sort_node sort;
  if (from.limit) {
    sort.limit = plan_count(*from.limit, "LIMIT");
    is_sound &= sort.limit.has_value();
  }
  if (from.offset) {
    const auto offset = plan_count(*from.offset, "OFFSET");
    is_sound &= offset.has_value();
    sort.offset = offset.value_or(0);
  }
  if (!body || !is_sound)
    return std::nullopt;
  auto out = std::move(body->plan);
  if (!body->keys.empty() || from.limit || sort.offset > 0) {
    sort.keys = std::move(body->keys);
    plan_node sorted;
    sorted.at = from.at;
    sorted.columns = out.columns;
    sorted.node = std::move(sort);
    sorted.inputs.push_back(std::move(out));
    out = std::move(sorted);
  }
  if (body->visible < out.columns.size()) {
    auto items = identity_items(out.columns);
    auto names = names_of(out.columns);
    items.resize(body->visible);
    names.resize(body->visible);
    out = projected(std::move(out), std::move(items), std::move(names));
  }
  return out;
}

bool query_planner::plan_common_table(const common_table& from) {
  auto rows = plan_query(*from.rows);
  if (!rows)
    return false;
  if (!from.columns.empty() && !rename_columns(rows->columns, from.columns, from.label.at))
    return false;
  common_tables_.push_back({from.label.text, std::move(*rows)});
  return true;
}

bool query_planner::rename_columns(std::vector<plan_column>& columns,
                                   const std::vector<name>& names, source_span at) {
  if (names.size() != columns.size()) {
    fail(diagnostic_kind::invalid,
         "list names " + std::to_string(names.size()) + " columns, the query has " +
             std::to_string(columns.size()),
         at);
    return false;
  }
  for (std::size_t i = 0; i < names.size(); ++i)
    columns[i].name = names[i].text;
  return true;
}

std::optional<query_planner::ordered> query_planner::plan_body(const query& from) {
  if (const auto* node = std::get_if<select>(&from.body))
    return plan_select(*node, from.order_by, from.at);
  std::optional<plan_node> rows;
  if (const auto* constants = std::get_if<values>(&from.body)) {
    rows = plan_values(*constants, from.at);
  } else if (const auto* set = std::get_if<set_operation>(&from.body)) {
    rows = plan_set(*set, from.at);
  } else if (const auto* table = std::get_if<explicit_table>(&from.body)) {
    table_reference reference;
    reference.table = table->table;
    if (auto found = plan_named(reference, table->table.at))
      rows = std::move(found->plan);
  } else {
    rows = plan_query(*std::get<box<query>>(from.body));
  }
  return rows ? order_rows(std::move(*rows), from.order_by) : std::nullopt;
}

bool query_planner::check_order(const logical_type& type, source_span at) {
  if (type.width_bytes() > 0)
    return true;
  fail(diagnostic_kind::type_mismatch,
       "ORDER BY takes numbers, texts and times, found " + type.nullable().to_sql(), at);
  return false;
}

std::optional<query_planner::ordered> query_planner::order_rows(plan_node plan,
                                                                const std::vector<order_item>& by) {
  ordered out;
  out.visible = plan.columns.size();
  const auto scope = scope_of(plan.columns, {});
  expression_binder binder(scope, findings_, &functions_);
  auto items = identity_items(plan.columns);
  auto names = names_of(plan.columns);
  for (const auto& each : by) {
    sort_key key;
    key.is_descending = each.is_descending;
    key.nulls_first = each.nulls_first.value_or(!each.is_descending);
    const auto* number = std::get_if<literal>(&each.value.node);
    if (number != nullptr && number->kind == literal_kind::integer) {
      const auto ordinal = graph::parse_integer<std::int64_t>(number->text);
      if (!ordinal || *ordinal < 1 || static_cast<std::size_t>(*ordinal) > out.visible)
        return fail(diagnostic_kind::invalid,
                    "ORDER BY counts columns from 1 to " + std::to_string(out.visible) +
                        ", found " + number->text,
                    each.value.at);
      key.column = static_cast<std::size_t>(*ordinal) - 1;
    } else {
      auto bound = binder.bind(each.value);
      if (!bound)
        return std::nullopt;
      const auto same = std::find(items.begin(), items.end(), *bound);
      key.column = static_cast<std::size_t>(same - items.begin());
      if (same == items.end()) {
        names.push_back("$o" + std::to_string(items.size() - out.visible));
        items.push_back(std::move(*bound));
      }
    }
    if (!check_order(items[key.column].type, each.value.at))
      return std::nullopt;
    out.keys.push_back(key);
  }
  out.plan = items.size() == out.visible
                 ? std::move(plan)
                 : projected(std::move(plan), std::move(items), std::move(names));
  return out;
}

std::optional<std::int64_t> query_planner::plan_count(const expression& from,
                                                      std::string_view word) {
  const auto* number = std::get_if<literal>(&from.node);
  if (number != nullptr && number->kind == literal_kind::integer)
    if (const auto value = graph::parse_integer<std::int64_t>(number->text))
      return *value;
  return fail(diagnostic_kind::invalid, std::string(word) + " takes a number of rows", from.at);
}

std::optional<plan_node> query_planner::plan_values(const values& from, source_span at) {
  const column_scope nothing;
  expression_binder binder(nothing, findings_, &functions_);
  values_node made;
  bool is_sound = true;
  for (const auto& row : from.rows) {
    made.rows.emplace_back();
    for (const auto& each : row) {
      auto bound = binder.bind(each);
      is_sound &= bound.has_value();
      if (bound)
        made.rows.back().push_back(std::move(*bound));
    }
  }
  if (!is_sound)
    return std::nullopt;
  const auto width = made.rows[0].size();
  plan_node out;
  out.at = at;
  for (const auto& row : made.rows)
    if (row.size() != width)
      return fail(diagnostic_kind::invalid,
                  "rows of VALUES have " + std::to_string(width) + " and " +
                      std::to_string(row.size()) + " columns",
                  row.empty() ? at : row[0].at);
  for (std::size_t i = 0; i < width; ++i) {
    std::vector<logical_type> types;
    for (const auto& row : made.rows)
      types.push_back(row[i].type);
    auto common = common_type(types);
    if (!common)
      return fail(diagnostic_kind::type_mismatch,
                  "values of column " + std::to_string(i + 1) +
                      " have no type in common: " + types[0].nullable().to_sql() + " and others",
                  made.rows[0][i].at);
    for (auto& row : made.rows)
      row[i] = expression_binder::cast_to(std::move(row[i]), *common);
    out.columns.push_back(
        {"EXPR$" + std::to_string(i), std::move(*common), time_kind::none, std::nullopt});
  }
  out.node = std::move(made);
  return out;
}

plan_node query_planner::cast_columns(plan_node plan, const std::vector<logical_type>& types) {
  auto items = identity_items(plan.columns);
  bool is_same = true;
  for (std::size_t i = 0; i < items.size(); ++i) {
    is_same &= is_same_but_null(items[i].type, types[i]);
    items[i] = expression_binder::cast_to(std::move(items[i]), types[i]);
  }
  if (is_same)
    return plan;
  auto names = names_of(plan.columns);
  return projected(std::move(plan), std::move(items), std::move(names));
}

std::optional<plan_node> query_planner::plan_set(const set_operation& from, source_span at) {
  std::vector<plan_node> inputs;
  for (const auto& each : from.operands)
    if (auto rows = plan_query(each))
      inputs.push_back(std::move(*rows));
  if (inputs.size() != from.operands.size())
    return std::nullopt;
  const auto width = inputs[0].columns.size();
  for (std::size_t i = 1; i < inputs.size(); ++i)
    if (inputs[i].columns.size() != width)
      return fail(diagnostic_kind::invalid,
                  "queries of a set operation have " + std::to_string(width) + " and " +
                      std::to_string(inputs[i].columns.size()) + " columns",
                  from.operands[i].at);
  plan_node out;
  out.at = at;
  std::vector<logical_type> common;
  for (std::size_t i = 0; i < width; ++i) {
    std::vector<logical_type> types;
    bool is_row_time = true;
    for (const auto& each : inputs) {
      types.push_back(each.columns[i].type);
      is_row_time &= each.columns[i].time == time_kind::row_time;
    }
    auto type = common_type(types);
    if (!type)
      return fail(diagnostic_kind::type_mismatch,
                  "column " + std::to_string(i + 1) + " of the set operation has no type in " +
                      "common: " + types[0].nullable().to_sql() + " and others",
                  at);
    common.push_back(*type);
    out.columns.push_back({inputs[0].columns[i].name, std::move(*type),
                           is_row_time ? time_kind::row_time : time_kind::none, std::nullopt});
  }
  out.node = set_node{from.kind, from.is_all};
  for (auto& each : inputs)
    out.inputs.push_back(cast_columns(std::move(each), common));
  return out;
}

} // namespace headrace::sql
