#include "libgraph/sql/parse/printer.hpp"
#include "libgraph/sql/plan/query_planner.hpp"
#include "libgraph/sql/plan/table_planner.hpp"
#include "libgraph/sql/sql_session.hpp"

// CREATE, DROP and ALTER of catalogs, databases, tables and views.
namespace headrace::sql {
namespace {

using graph::when_taken;

when_taken taken_of(bool if_not_exists, bool replaces) {
  return if_not_exists ? when_taken::keep : replaces ? when_taken::replace : when_taken::fail;
}

std::vector<std::string> texts_of(const qualified_name& from) {
  std::vector<std::string> out;
  for (const auto& each : from.parts)
    out.push_back(each.text);
  return out;
}

graph::object_options options_of(const std::vector<option_setting>& from) {
  graph::object_options out;
  for (const auto& each : from)
    out.insert_or_assign(each.key.text, each.value.text);
  return out;
}

} // namespace

sql_session::maybe sql_session::run_node(const create_table& from) {
  const auto path = complete(from.table);
  auto table = table_planner(catalog_, *findings_).plan(from);
  if (!path || !table)
    return std::nullopt;
  const auto taken = taken_of(from.if_not_exists, from.replaces);
  if (!from.as)
    return settle(catalog_.create_table(*path, std::move(*table), from.is_temporary, taken),
                  from.table.at);
  if (from.if_not_exists && catalog_.find(std::vector{path->catalog, path->database, path->object}))
    return statement_outcome(); // nothing is made, so nothing is filled
  // Tried on a copy: without its rows the table is not made.
  auto tried = *this;
  if (!settle(tried.catalog_.create_table(*path, std::move(*table), from.is_temporary, taken),
              from.table.at))
    return std::nullopt;
  insert rows;
  rows.table = from.table;
  rows.rows = *from.as;
  if (!from.columns.empty()) {
    // By name: declared columns that the query has not are NULL.
    query_planner planner(catalog_, *findings_);
    planner.keep_texts(views_);
    planner.set_batch(is_batch_mode(settings_));
    const auto given = planner.plan(*from.as);
    for (std::size_t i = 0; given && i < given->columns.size(); ++i)
      rows.columns.push_back({{{given->columns[i].name, from.table.at}}, from.table.at});
  }
  rows.at = at_;
  auto out = tried.run_node(rows);
  views_ = tried.views_;
  if (out)
    catalog_ = std::move(tried.catalog_);
  return out;
}

sql_session::maybe sql_session::run_node(const create_view& from) {
  const auto path = complete(from.view);
  query_planner planner(catalog_, *findings_);
  planner.keep_texts(views_);
  planner.set_batch(is_batch_mode(settings_));
  auto rows = planner.plan(from.rows);
  if (!path || !rows)
    return std::nullopt;
  graph::view_definition made;
  made.query = to_sql(from.rows);
  made.catalog = catalog_.current_catalog();
  made.database = catalog_.current_database();
  made.comment = from.comment ? from.comment->text : std::string();
  if (!from.columns.empty() && from.columns.size() != rows->columns.size())
    return fail(diagnostic_kind::invalid,
                "view names " + std::to_string(from.columns.size()) + " columns, the query has " +
                    std::to_string(rows->columns.size()),
                from.columns[0].label.at);
  for (std::size_t i = 0; i < rows->columns.size(); ++i) {
    const bool is_named = !from.columns.empty();
    made.columns.push_back(
        {is_named ? from.columns[i].label.text : rows->columns[i].name,
         rows->columns[i].type,
         graph::column_kind::physical,
         {},
         {},
         false,
         is_named && from.columns[i].comment ? from.columns[i].comment->text : std::string()});
  }
  const auto taken = taken_of(from.if_not_exists, from.replaces);
  // The view may take the place of what it reads.
  if (from.replaces || from.is_temporary) {
    auto tried = catalog_;
    if (tried.create_view(*path, made, from.is_temporary, taken) &&
        query_planner::is_over_itself(tried, *path))
      return fail(diagnostic_kind::invalid, "view would be over itself: " + path->object,
                  from.view.at);
  }
  return settle(catalog_.create_view(*path, std::move(made), from.is_temporary, taken),
                from.view.at);
}

sql_session::maybe sql_session::run_node(const create_catalog& from) {
  return settle(catalog_.create_catalog(from.catalog.text, options_of(from.options),
                                        taken_of(from.if_not_exists, false)),
                from.catalog.at);
}

sql_session::maybe sql_session::run_node(const create_database& from) {
  return settle(catalog_.create_database(texts_of(from.database), options_of(from.options),
                                         taken_of(from.if_not_exists, false)),
                from.database.at);
}

sql_session::maybe sql_session::run_node(const drop& from) {
  const auto path = texts_of(from.object);
  const auto at = from.object.at;
  switch (from.kind) {
  case object_kind::catalog:
    return settle(catalog_.drop_catalog(path[0], from.if_exists), at);
  case object_kind::database:
    return settle(catalog_.drop_database(path, from.if_exists, from.cascades), at);
  case object_kind::function:
    return drop_function(from);
  case object_kind::table:
  case object_kind::view:
    break;
  }
  const auto whole = catalog_.complete(path);
  if (!whole)
    return from.if_exists ? maybe(statement_outcome())
                          : fail(diagnostic_kind::unknown_name, whole.error().message, at);
  return settle(from.kind == object_kind::view
                    ? catalog_.drop_view(*whole, from.is_temporary, from.if_exists)
                    : catalog_.drop_table(*whole, from.is_temporary, from.if_exists),
                at);
}

sql_session::maybe sql_session::rename_relation(const alter& from) {
  const auto path = complete(from.object);
  if (!path)
    return std::nullopt;
  const auto& wanted = std::get<rename_object>(from.action).to;
  auto to = *path;
  if (wanted.parts.size() > 1) {
    const auto whole = complete(wanted);
    if (!whole)
      return std::nullopt;
    to = *whole;
  }
  to.object = wanted.parts.back().text;
  if (auto tried = catalog_; tried.rename(*path, to) && query_planner::is_over_itself(tried, to))
    return fail(diagnostic_kind::invalid, "view would be over itself: " + to.object, wanted.at);
  return settle(catalog_.rename(*path, to), from.object.at);
}

sql_session::maybe sql_session::alter_view(const alter& from) {
  const auto* rows = std::get_if<set_query>(&from.action);
  if (rows == nullptr)
    return fail(diagnostic_kind::unsupported, "this change of a view is not supported", at_);
  const auto found = query_planner(catalog_, *findings_).find_relation(from.object);
  if (!found)
    return std::nullopt;
  create_view made;
  made.is_temporary = found->is_temporary;
  made.replaces = true;
  made.view = from.object;
  made.rows = rows->rows;
  return run_node(made);
}

sql_session::maybe sql_session::run_node(const alter& from) {
  if (from.kind != object_kind::table && from.kind != object_kind::view)
    return alter_owner(from);
  if (from.if_exists && !catalog_.find(texts_of(from.object)))
    return statement_outcome();
  if (std::holds_alternative<rename_object>(from.action))
    return rename_relation(from);
  if (from.kind == object_kind::view)
    return alter_view(from);
  auto found = query_planner(catalog_, *findings_).find_relation(from.object);
  if (!found)
    return std::nullopt;
  auto* table = std::get_if<graph::table_definition>(&found->definition);
  if (table == nullptr)
    return fail(diagnostic_kind::invalid, "is a view: " + found->path.object, from.object.at);
  auto changed = table_planner(catalog_, *findings_).plan(from, std::move(*table));
  if (!changed)
    return std::nullopt;
  return settle(catalog_.create_table(found->path, std::move(*changed), found->is_temporary,
                                      when_taken::replace),
                from.object.at);
}

} // namespace headrace::sql
