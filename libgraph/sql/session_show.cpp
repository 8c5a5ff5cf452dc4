#include "libgraph/sql/bind/function_table.hpp"
#include "libgraph/sql/parse/lexer.hpp"
#include "libgraph/sql/plan/query_planner.hpp"
#include "libgraph/sql/sql_session.hpp"
#include "libactors/base/text.hpp"

#include <algorithm>
#include <set>

// SHOW and DESCRIBE.
namespace headrace::sql {
namespace {

using graph::column_kind;

std::vector<std::string> texts_of(const std::optional<qualified_name>& from) {
  std::vector<std::string> out;
  if (from)
    for (const auto& each : from->parts)
      out.push_back(each.text);
  return out;
}

text_table names_table(const show& from, std::string title, const std::vector<std::string>& names) {
  text_table out;
  out.columns = {std::move(title)};
  for (const auto& each : names)
    if (is_wanted(from, each))
      out.rows.push_back({each});
  return out;
}

std::string extras_of(const graph::table_column& column) {
  switch (column.kind) {
  case column_kind::physical:
    return {};
  case column_kind::computed:
    return "AS " + column.expression;
  case column_kind::metadata:
    break;
  }
  std::string out = "METADATA";
  if (column.metadata_key != column.name)
    out += " FROM " + quote(column.metadata_key, '\'');
  return out + (column.is_virtual ? " VIRTUAL" : "");
}

text_table columns_table(const show* filter, const std::vector<graph::table_column>& columns,
                         const graph::table_definition* table) {
  text_table out;
  out.columns = {"name", "type", "null", "key", "extras", "watermark"};
  std::string key;
  if (table != nullptr && !table->primary_key.empty())
    key = "PRI(" + join_text(table->primary_key, ", ") + ")";
  for (const auto& each : columns) {
    if (filter != nullptr && !is_wanted(*filter, each.name))
      continue;
    const bool is_key =
        table != nullptr && std::find(table->primary_key.begin(), table->primary_key.end(),
                                      each.name) != table->primary_key.end();
    const bool has_watermark =
        table != nullptr && table->watermark && table->watermark->column == each.name;
    out.rows.push_back({each.name, each.type.nullable().to_sql(),
                        each.type.is_nullable() ? "TRUE" : "FALSE", is_key ? key : std::string(),
                        extras_of(each),
                        has_watermark ? table->watermark->expression : std::string()});
  }
  return out;
}

std::string name_list(const std::vector<std::string>& names) {
  std::vector<std::string> quoted;
  for (const auto& each : names)
    quoted.push_back("`" + each + "`");
  return "(" + join_text(quoted, ", ") + ")";
}

std::string create_text(const graph::named_relation& of, const graph::table_definition& table) {
  std::vector<std::string> lines;
  for (const auto& each : table.columns) {
    auto line = "  " + quote_name(each.name) + " " +
                (each.kind == column_kind::computed ? std::string() : each.type.to_sql());
    if (each.kind != column_kind::physical)
      line += (each.kind == column_kind::computed ? "" : " ") + extras_of(each);
    if (!each.comment.empty())
      line += " COMMENT " + quote(each.comment, '\'');
    lines.push_back(std::move(line));
  }
  if (table.watermark)
    lines.push_back("  WATERMARK FOR " + quote_name(table.watermark->column) + " AS " +
                    table.watermark->expression);
  if (!table.primary_key.empty())
    lines.push_back("  PRIMARY KEY " + name_list(table.primary_key) + " NOT ENFORCED");
  std::string out = "CREATE " + std::string(of.is_temporary ? "TEMPORARY " : "") + "TABLE " +
                    of.path.to_sql() + " (\n" + join_text(lines, ",\n") + "\n)";
  if (!table.comment.empty())
    out += " COMMENT " + quote(table.comment, '\'');
  if (!table.partitioned_by.empty())
    out += " PARTITIONED BY " + name_list(table.partitioned_by);
  std::vector<std::string> options;
  for (const auto& [key, value] : table.options)
    options.push_back("  " + quote(key, '\'') + " = " + quote(value, '\''));
  if (!options.empty())
    out += " WITH (\n" + join_text(options, ",\n") + "\n)";
  return out;
}

std::string create_text(const graph::named_relation& of, const graph::view_definition& view) {
  std::vector<std::string> names;
  for (const auto& each : view.columns)
    names.push_back(each.name);
  return "CREATE " + std::string(of.is_temporary ? "TEMPORARY " : "") + "VIEW " + of.path.to_sql() +
         " " + name_list(names) + " AS " + view.query;
}

/// LIKE: % is any text, _ any letter.
bool is_like(std::string_view text, std::string_view pattern) {
  std::size_t at = 0;
  std::size_t in = 0;
  std::size_t star = pattern.npos;
  std::size_t retry = 0;
  while (at < text.size()) {
    if (in < pattern.size() && pattern[in] == '%') {
      star = in++;
      retry = at;
    } else if (in < pattern.size() && (pattern[in] == '_' || pattern[in] == text[at])) {
      ++in;
      ++at;
    } else if (star != pattern.npos) {
      in = star + 1;
      at = ++retry;
    } else {
      return false;
    }
  }
  while (in < pattern.size() && pattern[in] == '%')
    ++in;
  return in == pattern.size();
}

} // namespace

bool is_wanted(const show& from, std::string_view text) {
  switch (from.filter) {
  case show_filter::none:
    return true;
  case show_filter::like:
    return is_like(text, from.pattern.text) != from.is_filter_negated;
  case show_filter::ilike:
    break;
  }
  return is_like(in_lower_case(text), in_lower_case(from.pattern.text)) != from.is_filter_negated;
}

sql_session::maybe sql_session::show_create(const show& from) {
  const auto found = query_planner(catalog_, *findings_).find_relation(*from.in);
  if (!found)
    return std::nullopt;
  const bool wants_view = from.kind == show_kind::create_view;
  const bool is_view = std::holds_alternative<graph::view_definition>(found->definition);
  if (wants_view != is_view)
    return fail(diagnostic_kind::invalid,
                found->path.object + (is_view ? " is a view: write SHOW CREATE VIEW"
                                              : " is a table: write SHOW CREATE TABLE"),
                from.in->at);
  text_table out;
  out.columns = {"result"};
  out.rows.push_back({std::visit(
      [&](const auto& definition) { return create_text(*found, definition); }, found->definition)});
  return out;
}

sql_session::maybe sql_session::show_columns(const show& from) {
  const auto found = query_planner(catalog_, *findings_).find_relation(*from.in);
  if (!found)
    return std::nullopt;
  const auto* table = std::get_if<graph::table_definition>(&found->definition);
  return columns_table(&from,
                       table != nullptr
                           ? table->columns
                           : std::get<graph::view_definition>(found->definition).columns,
                       table);
}

sql_session::maybe sql_session::show_partitions(const show& from) {
  const auto found = query_planner(catalog_, *findings_).find_relation(*from.in);
  if (!found)
    return std::nullopt;
  const auto* table = std::get_if<graph::table_definition>(&found->definition);
  if (table == nullptr || table->partitioned_by.empty())
    return fail(diagnostic_kind::invalid,
                (table == nullptr ? "a view has no partitions: " : "table is not partitioned: ") +
                    found->path.object,
                from.in->at);
  const auto option = [&](std::string_view key, std::string otherwise) {
    const auto at = table->options.find(key);
    return at == table->options.end() ? std::move(otherwise) : at->second;
  };
  const auto connector = option("connector", {});
  if (connector != "filesystem" && connector != "file")
    return fail(diagnostic_kind::unsupported,
                "connector '" + connector + "' has no partitions: only 'filesystem' has them",
                from.in->at);
  partition_listing listing{option("path", {}),
                            table->partitioned_by,
                            option("partition.default-name", "__DEFAULT_PARTITION__"),
                            {}};
  for (const auto& each : from.partition) {
    const auto& key = each.column.text;
    if (std::find(listing.keys.begin(), listing.keys.end(), key) == listing.keys.end())
      return fail(diagnostic_kind::unknown_name, "table is not partitioned by " + key,
                  each.column.at);
    const auto* value = each.value ? std::get_if<literal>(&each.value->node) : nullptr;
    if (value == nullptr)
      return fail(diagnostic_kind::invalid, "SHOW PARTITIONS wants a literal for " + key,
                  each.column.at);
    const bool is_null = value->kind == literal_kind::null;
    listing.fixed[key] = is_null || value->text.empty() ? listing.missing : value->text;
  }
  text_table out;
  out.columns = {"partition name"};
  out.listing = std::move(listing);
  return out;
}

sql_session::maybe sql_session::run_node(const show& from) {
  const auto path = texts_of(from.in);
  const auto at = from.in ? from.in->at : at_;
  const auto listed = [&](const char* title,
                          const result<std::vector<std::string>>& names) -> maybe {
    if (!names)
      return fail(diagnostic_kind::unknown_name, names.error().message, at);
    return names_table(from, title, *names);
  };
  switch (from.kind) {
  case show_kind::catalogs:
    return names_table(from, "catalog name", catalog_.catalogs());
  case show_kind::databases:
    return listed("database name",
                  catalog_.databases(path.empty() ? catalog_.current_catalog() : path[0]));
  case show_kind::tables:
    return listed("table name", catalog_.tables(path));
  case show_kind::views:
    return listed("view name", catalog_.views(path));
  case show_kind::functions: {
    std::set<std::string> names{"current_database"};
    for (const auto& each : all_functions())
      if (each.name.find('-') == each.name.npos) // the planner's own
        names.insert(in_lower_case(each.name));
    for (auto& each : catalog_.functions())
      names.insert(in_lower_case(each));
    return names_table(from, "function name", {names.begin(), names.end()});
  }
  case show_kind::user_functions:
    return names_table(from, "function name", catalog_.functions());
  case show_kind::current_catalog:
    return names_table({}, "current catalog name", {catalog_.current_catalog()});
  case show_kind::current_database:
    return names_table({}, "current database name", {catalog_.current_database()});
  case show_kind::columns:
    return show_columns(from);
  case show_kind::create_table:
  case show_kind::create_view:
    return show_create(from);
  case show_kind::partitions:
    return show_partitions(from);
  case show_kind::connectors:
    return show_connectors(from);
  default:
    return fail(diagnostic_kind::unsupported, "this SHOW is not supported yet", at_);
  }
}

sql_session::maybe sql_session::run_node(const describe& from) {
  switch (from.kind) {
  case describe_kind::table:
    break;
  case describe_kind::connector:
    return describe_connector(from);
  case describe_kind::function:
    return describe_function(from);
  case describe_kind::catalog:
  case describe_kind::database:
    return describe_owner(from);
  case describe_kind::job:
    return fail(diagnostic_kind::unsupported, "this DESCRIBE is not supported yet", at_);
  }
  const auto found = query_planner(catalog_, *findings_).find_relation(from.object);
  if (!found)
    return std::nullopt;
  const auto* table = std::get_if<graph::table_definition>(&found->definition);
  return columns_table(nullptr,
                       table != nullptr
                           ? table->columns
                           : std::get<graph::view_definition>(found->definition).columns,
                       table);
}

} // namespace headrace::sql
