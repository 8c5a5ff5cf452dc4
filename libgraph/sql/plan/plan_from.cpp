#include "libgraph/connector/file_metadata.hpp"
#include "libgraph/connector/source.hpp"
#include "libgraph/sql/parse/parser.hpp"
#include "libgraph/sql/plan/query_planner.hpp"
#include "libactors/base/text.hpp"

#include <algorithm>
#include <numeric>

// What stands in FROM: tables, views, sub-queries. Joins are in plan_join.cpp.
namespace headrace::sql {
namespace {

constexpr std::size_t view_depth_max = 50;
/// What views and common tables come to in one statement, each counted where it is read.
constexpr std::size_t operators_max = 20'000;

/// Behind a table's name: its malformed records.
constexpr std::string_view errors_suffix = "$errors";

/// Behind a view's name: the rows that its windows drop, as they are over.
constexpr std::string_view late_suffix = "$late";

bool is_beside(const std::string& label, std::string_view suffix) {
  return label.size() > suffix.size() && label.ends_with(suffix);
}

/// The aggregate that a query gives the groups of, perhaps computed further; null: there is none.
plan_node* find_groups(plan_node& plan) {
  auto* out = &plan;
  while (std::holds_alternative<calc_node>(out->node))
    out = &out->inputs[0];
  return std::holds_alternative<aggregate_node>(out->node) ? out : nullptr;
}

/// Lets the aggregate of a query by windows keep the columns of rows that come too late: all that
/// its window function is over. Nothing changes of a query that has no such aggregate.
void keep_late_columns(plan_node& query) {
  auto* groups = find_groups(query);
  if (groups == nullptr)
    return;
  std::vector<plan_node*> calcs;
  auto* below = &groups->inputs[0];
  for (; std::holds_alternative<calc_node>(below->node); below = &below->inputs[0])
    calcs.push_back(below);
  const auto* windows = std::get_if<window_node>(&below->node);
  if (windows == nullptr || windows->shape.is_processing_time)
    return;
  const auto columns = below->inputs[0].columns;
  std::vector<std::size_t> places(columns.size());
  std::iota(places.begin(), places.end(), std::size_t{0});
  for (auto each = calcs.rbegin(); each != calcs.rend(); ++each) {
    auto& items = std::get<calc_node>((*each)->node).items;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      items.push_back({bound_column{places[i]}, columns[i].type, {}});
      (*each)->columns.push_back(columns[i]);
      places[i] = items.size() - 1;
    }
  }
  std::get<aggregate_node>(groups->node).late = std::move(places);
}

std::size_t count_operators(const plan_node& in) {
  std::size_t out = 1;
  for (const auto& each : in.inputs)
    out += count_operators(each);
  return out;
}

std::vector<std::string> texts_of(const qualified_name& from) {
  std::vector<std::string> out;
  for (const auto& each : from.parts)
    out.push_back(each.text);
  return out;
}

} // namespace

std::optional<graph::named_relation> query_planner::find_relation(const qualified_name& name) {
  auto path = texts_of(name);
  if (path.size() == 1)
    path.insert(path.begin(), names_.database);
  if (path.size() == 2)
    path.insert(path.begin(), names_.catalog);
  auto found = catalog_.find(path);
  if (!found)
    return fail(diagnostic_kind::unknown_name, found.error().message, name.at);
  return std::move(*found);
}

std::shared_ptr<const graph::user_function> query_planner::find_function(const qualified_name& name,
                                                                         bool is_system) const {
  auto path = texts_of(name);
  if (is_system) {
    const auto* found = path.size() == 1 ? catalog_.find_system_function(path[0]) : nullptr;
    return found != nullptr ? found->code : nullptr;
  }
  if (path.size() == 1)
    path.insert(path.begin(), names_.database);
  if (path.size() == 2)
    path.insert(path.begin(), names_.catalog);
  const auto* found = catalog_.find_function(path);
  return found != nullptr ? found->code : nullptr;
}

std::optional<query_planner::relation> query_planner::plan_table(const table_expression& from) {
  if (const auto* named = std::get_if<table_reference>(&from.node);
      named != nullptr && !check_table_hints(named->hints, findings_))
    return std::nullopt;
  if (from.system_time)
    return unsupported("FOR SYSTEM_TIME AS OF is not supported yet", from.system_time->at);
  auto out = std::visit([&](const auto& node) { return plan_node_of(node, from.at); }, from.node);
  if (!out || !from.alias)
    return out;
  auto alias = *from.alias;
  // The only column of UNNEST has the name of its table.
  if (std::holds_alternative<unnest>(from.node) && alias.columns.empty() &&
      out->plan.columns.size() == 1)
    alias.columns.push_back(alias.label);
  return apply_alias(std::move(*out), alias);
}

std::optional<query_planner::relation> query_planner::plan_node_of(const derived_table& from,
                                                                   source_span /*at*/) {
  auto rows = plan_query(*from.rows); // LATERAL has nothing before it to name
  if (!rows)
    return std::nullopt;
  auto scope = scope_of(rows->columns, {});
  return relation{std::move(*rows), std::move(scope)};
}

std::optional<query_planner::relation> query_planner::plan_node_of(const function_table& from,
                                                                   source_span at) {
  const auto* call = std::get_if<function_call>(&from.call.node);
  if (call == nullptr)
    return unsupported("expected a call of a table function", at);
  if (from.is_lateral || find_any_function(call->function) != nullptr) {
    relation input;
    input.plan = one_row(at);
    return plan_table_function(std::move(input), from, join_type::inner, std::nullopt, at);
  }
  return plan_window(*call, from.call.at);
}

std::optional<query_planner::relation> query_planner::apply_alias(relation made,
                                                                  const table_alias& alias) {
  if (!alias.columns.empty() && !rename_columns(made.plan.columns, alias.columns, alias.label.at))
    return std::nullopt;
  made.scope = scope_of(made.plan.columns, alias.label.text);
  return made;
}

std::optional<query_planner::relation> query_planner::plan_named(const table_reference& from,
                                                                 source_span at) {
  const auto& label = from.table.parts.back().text;
  if (from.table.parts.size() == 1)
    for (auto each = common_tables_.rbegin(); each != common_tables_.rend(); ++each)
      if (each->name == label) {
        auto rows = put_in(each->plan, label, at);
        return rows ? std::optional(relation{*rows, scope_of(rows->columns, label)}) : std::nullopt;
      }
  if (is_beside(label, errors_suffix) && !is_known(from.table))
    return plan_dead_letters(from, at);
  if (is_beside(label, late_suffix) && !is_known(from.table))
    return plan_late(from, at);
  const auto found = find_relation(from.table);
  if (!found)
    return std::nullopt;
  auto rows = plan_relation(*found, from.hints, at);
  if (!rows)
    return std::nullopt;
  auto scope = scope_of(rows->columns, label);
  return relation{std::move(*rows), std::move(scope)};
}

std::optional<query_planner::relation> query_planner::plan_dead_letters(const table_reference& from,
                                                                        source_span at) {
  auto table = from.table;
  auto& name = table.parts.back().text;
  name.resize(name.size() - errors_suffix.size());
  const auto found = find_relation(table);
  if (!found)
    return std::nullopt;
  auto rows = plan_relation(*found, from.hints, at);
  if (!rows)
    return std::nullopt;
  const auto* read = &*rows;
  while (read->inputs.size() == 1)
    read = &read->inputs[0];
  const auto* scan = std::get_if<scan_node>(&read->node);
  const auto errors = scan == nullptr ? std::string() : [&] {
    const auto option = scan->options.find("errors");
    return option == scan->options.end() ? std::string() : option->second;
  }();
  if (!std::holds_alternative<graph::table_definition>(found->definition) || errors != "table")
    return fail(diagnostic_kind::invalid,
                "no malformed records are kept of " + name +
                    ": it is to be a table WITH ('errors' = 'table')",
                at);
  plan_node out;
  out.at = at;
  for (const auto& each : graph::dead_letter_type()->fields())
    out.columns.push_back({each.name, each.type, time_kind::none, std::nullopt});
  out.node = dead_letter_node{};
  out.inputs.push_back(std::move(*rows));
  auto scope = scope_of(out.columns, from.table.parts.back().text);
  return relation{std::move(out), std::move(scope)};
}

std::optional<query_planner::relation> query_planner::plan_late(const table_reference& from,
                                                                source_span at) {
  auto name = from.table;
  auto& label = name.parts.back().text;
  label.resize(label.size() - late_suffix.size());
  const auto found = find_relation(name);
  if (!found)
    return std::nullopt;
  views_->late.insert(found->path);
  views_->known.erase(found->path); // it may be known without
  const auto* view = std::get_if<graph::view_definition>(&found->definition);
  auto rows = view == nullptr ? std::nullopt : plan_view(found->path, *view, at);
  if (view != nullptr && !rows)
    return std::nullopt;
  auto* groups = rows ? find_groups(*rows) : nullptr;
  if (groups == nullptr || std::get<aggregate_node>(groups->node).late.empty())
    return fail(diagnostic_kind::invalid,
                "no rows are late for " + label +
                    ": it is to be a view that groups rows by windows of event time, "
                    "without GROUPING SETS",
                at);
  plan_node out;
  out.at = at;
  for (const auto each : std::get<aggregate_node>(groups->node).late) {
    auto column = groups->inputs[0].columns[each];
    column.time = time_kind::none;
    column.window.reset();
    out.columns.push_back(std::move(column));
  }
  out.node = late_node{};
  auto below = std::move(*groups);
  out.inputs.push_back(std::move(below));
  auto scope = scope_of(out.columns, from.table.parts.back().text);
  return relation{std::move(out), std::move(scope)};
}

bool query_planner::is_known(const qualified_name& name) {
  std::vector<diagnostic> ignored;
  return query_planner(catalog_, ignored).find_relation(name).has_value();
}

std::optional<plan_node> query_planner::plan_relation(const graph::named_relation& found,
                                                      const std::vector<hint>& hints,
                                                      source_span at) {
  if (const auto* table = std::get_if<graph::table_definition>(&found.definition))
    return plan_scan(found.path, *table, hints, at);
  return plan_view(found.path, std::get<graph::view_definition>(found.definition), at);
}

/// A view or a common table once more: plans are trees, so that they grow by it.
std::optional<plan_node> query_planner::put_in(const plan_node& rows, const std::string& label,
                                               source_span at) {
  views_->operators += count_operators(rows);
  if (views_->operators <= operators_max)
    return rows;
  if (views_->refusal.empty())
    views_->refusal = "views and tables of WITH come to more than " +
                      std::to_string(operators_max) + " operators in this statement, with " +
                      label + ": read each of them less often, or keep the rows of one in a table";
  return fail(diagnostic_kind::too_large, views_->refusal, at);
}

std::optional<plan_node> query_planner::plan_view(const graph::object_path& path,
                                                  const graph::view_definition& view,
                                                  source_span at) {
  auto known = views_->known.find(path);
  if (known == views_->known.end()) {
    auto made = plan_new_view(path, view);
    known = views_->known.emplace(path, std::move(made)).first;
  }
  if (!known->second.rows)
    return fail(diagnostic_kind::invalid, known->second.failure, at);
  return put_in(*known->second.rows, path.object, at);
}

query_planner::planned_view query_planner::plan_new_view(const graph::object_path& path,
                                                         const graph::view_definition& view) {
  auto& open = views_->open;
  if (std::find(open.begin(), open.end(), path) != open.end()) {
    views_->has_cycle = true;
    views_->refusal = "view is over itself: " + path.object;
    return {std::nullopt, views_->refusal};
  }
  if (open.size() >= view_depth_max) {
    views_->refusal = "views refer to each other through more than " +
                      std::to_string(view_depth_max) + " levels: " + open.front().object +
                      " down to " + path.object;
    return {std::nullopt, views_->refusal};
  }
  std::uint32_t number = 0;
  if (views_->texts != nullptr) {
    views_->texts->push_back({path.object, view.query});
    number = static_cast<std::uint32_t>(views_->texts->size());
  }
  const auto parsed = parse_query(view.query, number);
  std::vector<diagnostic> inner = parsed.findings;
  std::optional<plan_node> rows;
  if (parsed.value) {
    query_planner planner(catalog_, {view.catalog, view.database}, inner);
    planner.views_ = views_;
    open.push_back(path);
    rows = planner.plan_query(*parsed.value);
    open.pop_back();
  }
  if (!rows && !views_->refusal.empty())
    return {std::nullopt, views_->refusal};
  if (!rows)
    return {std::nullopt, "view has no meaning any more: " + path.object + ": " +
                              (inner.empty() ? std::string("it is no query") : inner[0].message)};
  if (rows->columns.size() != view.columns.size())
    return {std::nullopt,
            "tables of the view have other columns than when it was made: " + path.object};
  for (std::size_t i = 0; i < view.columns.size(); ++i)
    rows->columns[i].name = view.columns[i].name;
  if (views_->late.contains(path))
    keep_late_columns(*rows);
  return {std::move(rows), {}};
}

bool query_planner::is_over_itself(const graph::catalog_store& catalog,
                                   const graph::object_path& path) {
  const auto found = catalog.find(std::vector{path.catalog, path.database, path.object});
  const auto* view = found ? std::get_if<graph::view_definition>(&found->definition) : nullptr;
  if (view == nullptr)
    return false;
  std::vector<diagnostic> findings;
  query_planner planner(catalog, findings);
  planner.plan_view(found->path, *view, {});
  return planner.views_->has_cycle;
}

namespace {

/// Columns of metadata under their own names and types, all in the order of the table.
plan_node named_metadata(plan_node scan, const graph::table_definition& table) {
  std::vector<bound_expression> items;
  std::vector<std::string> names;
  for (const auto& each : table.columns) {
    if (each.kind == graph::column_kind::computed)
      continue;
    const auto name = each.kind == graph::column_kind::metadata
                          ? graph::metadata_field(each.metadata_key)
                          : each.name;
    const auto found = std::find_if(scan.columns.begin(), scan.columns.end(),
                                    [&](const plan_column& column) { return column.name == name; });
    const auto place = static_cast<std::size_t>(found - scan.columns.begin());
    items.push_back(
        expression_binder::cast_to({bound_column{place}, found->type, scan.at}, each.type));
    names.push_back(each.name);
  }
  return projected(std::move(scan), std::move(items), std::move(names));
}

/// What the connector has of a key, where it fits the column. As Flink says it.
std::optional<logical_type> find_metadata(const graph::object_path& path,
                                          const graph::table_column& column,
                                          const graph::object_options& options,
                                          std::string& refusal) {
  const auto& connector = options.at("connector");
  const bool is_file = connector == "filesystem" || connector == "file";
  const auto type =
      is_file ? graph::file_metadata_type(column.metadata_key) : std::optional<logical_type>();
  if (type && is_castable(*type, column.type))
    return type;
  const auto of =
      "'" + column.metadata_key + "' in column '" + column.name + "' of table " + path.object;
  if (type)
    refusal = "invalid data type for metadata key " + of + ": " + column.type.to_sql() +
              " does not take " + type->to_sql();
  else if (is_file)
    refusal = "invalid metadata key " + of + "; connector '" + connector + "' has " +
              join_text(std::vector<std::string>(graph::file_metadata_keys.begin(),
                                                 graph::file_metadata_keys.end()),
                        ", ");
  else
    refusal = "invalid metadata key " + of + ": connector '" + connector + "' gives no metadata";
  return std::nullopt;
}

} // namespace

std::optional<plan_node> query_planner::plan_scan(const graph::object_path& path,
                                                  const graph::table_definition& table,
                                                  const std::vector<hint>& hints, source_span at) {
  scan_node scan;
  scan.table = path;
  scan.options = table.options;
  for (const auto& each : hints)
    if (in_capitals(each.label.text) == "OPTIONS")
      for (const auto& option : each.arguments)
        if (option.key)
          scan.options.insert_or_assign(option.key->text, option.value.text);
  if (!scan.options.contains("connector"))
    return fail(diagnostic_kind::invalid,
                "table has no connector: " + path.object + "; say WITH ('connector' = '…')", at);
  if (!put_partitions(path, table, scan.options, at))
    return std::nullopt;
  const auto options = scan.options;
  plan_node out;
  out.at = at;
  std::vector<logical_type::field> fields;
  const auto add = [&](const std::string& name, const logical_type& type) {
    scan.fields.push_back(fields.size());
    fields.push_back({name, type, {}});
    out.columns.push_back({name, type, time_kind::none, std::nullopt});
  };
  for (const auto& each : table.columns)
    if (each.kind == graph::column_kind::physical)
      add(each.name, each.type);
  std::vector<std::string> keys;
  for (const auto& each : table.columns) {
    if (each.kind != graph::column_kind::metadata ||
        std::find(keys.begin(), keys.end(), each.metadata_key) != keys.end())
      continue;
    std::string refusal;
    const auto type = find_metadata(path, each, scan.options, refusal);
    if (!type)
      return fail(diagnostic_kind::invalid, std::move(refusal), at);
    keys.push_back(each.metadata_key);
    add(graph::metadata_field(each.metadata_key), *type);
  }
  if (!keys.empty())
    scan.options.insert_or_assign(std::string(graph::metadata_option), join_text(keys, ","));
  scan.record = logical_type::row(std::move(fields)).not_null();
  out.node = std::move(scan);

  if (!keys.empty())
    out = named_metadata(std::move(out), table);
  const bool has_computed = out.columns.size() != table.columns.size();
  if (has_computed) {
    const auto scope = scope_of(out.columns, path.object);
    std::vector<bound_expression> items;
    std::vector<std::string> names;
    std::size_t read = 0;
    for (const auto& each : table.columns) {
      names.push_back(each.name);
      if (each.kind != graph::column_kind::computed) {
        items.push_back({bound_column{read}, out.columns[read].type, at});
        ++read;
        continue;
      }
      std::vector<diagnostic> inner;
      expression_binder binder(scope, inner, &functions_);
      const auto parsed = parse_expression(each.expression);
      auto bound = parsed.value ? binder.bind(*parsed.value) : std::nullopt;
      if (!bound)
        return fail(diagnostic_kind::invalid,
                    "computed column has no meaning: " + each.name +
                        (inner.empty() ? "" : ": " + inner[0].message),
                    at);
      items.push_back(std::move(*bound));
    }
    out = projected(std::move(out), std::move(items), std::move(names));
  }
  auto marked = std::optional(std::move(out));
  if (table.watermark)
    marked = add_watermark(std::move(*marked), *table.watermark, at);
  if (!marked || !apply_watermark_options(*marked, path.object, options, at))
    return std::nullopt;
  return marked;
}

/// Connectors get the columns of PARTITIONED BY as an option.
bool query_planner::put_partitions(const graph::object_path& path,
                                   const graph::table_definition& table,
                                   graph::object_options& into, source_span at) {
  if (table.partitioned_by.empty())
    return true;
  const auto& connector = into.at("connector");
  if (connector != "filesystem" && connector != "file")
    return refuse("connector '" + connector + "' has no partitions: leave out PARTITIONED BY of " +
                      path.object,
                  at);
  into.insert_or_assign("partition.keys", join_text(table.partitioned_by, ","));
  return true;
}

} // namespace headrace::sql
