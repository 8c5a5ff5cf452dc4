#include "libgraph/catalog/catalog_table.hpp"

#include "libactors/base/text.hpp"

#include <algorithm>
#include <set>

namespace headrace::graph {
namespace {

std::string in_backticks(std::string_view name) {
  std::string out = "`";
  for (const char letter : name) {
    out.push_back(letter);
    if (letter == '`')
      out.push_back(letter);
  }
  return out + "`";
}

error unknown_column(const table_definition& table, const std::string& name,
                     const std::string& whose) {
  std::vector<std::string_view> names;
  for (const auto& each : table.columns)
    names.push_back(each.name);
  const auto nearest = nearest_name(name, names);
  return {errc::bad_usage, "unknown column of " + whose + ": " + name +
                               (nearest.empty() ? "" : ", did you mean " + std::string(nearest))};
}

/// Each name once, and each a column.
status check_names(const table_definition& table, const std::vector<std::string>& names,
                   const std::string& whose) {
  std::set<std::string_view> seen;
  for (const auto& each : names) {
    if (!seen.insert(each).second)
      return error(errc::bad_usage, "column is twice in " + whose + ": " + each);
    if (!table.find_column(each))
      return unknown_column(table, each, whose);
  }
  return {};
}

} // namespace

std::string object_path::to_sql() const {
  return in_backticks(catalog) + "." + in_backticks(database) + "." + in_backticks(object);
}

logical_type table_definition::row_type() const {
  std::vector<logical_type::field> fields;
  for (const auto& each : columns)
    fields.push_back({each.name, each.type, each.comment});
  return logical_type::row(std::move(fields)).not_null();
}

std::optional<std::size_t> table_definition::find_column(std::string_view name) const {
  for (std::size_t i = 0; i < columns.size(); ++i)
    if (columns[i].name == name)
      return i;
  return std::nullopt;
}

/// The time of rows: its column may have been changed since.
status check_watermark(const table_definition& table) {
  constexpr int milliseconds = 3;
  if (!table.watermark || table.watermark->column.find('.') != std::string::npos)
    return {};
  const auto place = table.find_column(table.watermark->column);
  if (!place)
    return unknown_column(table, table.watermark->column, "WATERMARK");
  const auto& type = table.columns[*place].type;
  const bool is_time =
      type.root() == type_root::timestamp || type.root() == type_root::timestamp_ltz;
  if (!is_time || type.precision() > milliseconds)
    return error(errc::bad_usage, "WATERMARK FOR " + table.watermark->column +
                                      " needs a TIMESTAMP(3) or TIMESTAMP_LTZ(3), found " +
                                      type.nullable().to_sql() + ": DROP WATERMARK before");
  return {};
}

status check_table(const table_definition& table) {
  std::set<std::string_view> seen;
  for (const auto& each : table.columns)
    if (!seen.insert(each.name).second)
      return error(errc::bad_usage, "column is there twice: " + each.name);
  HEADRACE_CHECK(check_names(table, table.primary_key, "the primary key"));
  for (const auto& each : table.primary_key) {
    const auto& column = table.columns[*table.find_column(each)];
    if (column.kind != column_kind::physical)
      return error(errc::bad_usage, "primary key needs physical columns: " + each);
    if (column.type.is_nullable())
      return error(errc::bad_usage, "primary key needs columns that are NOT NULL: " + each);
  }
  HEADRACE_CHECK(check_names(table, table.partitioned_by, "PARTITIONED BY"));
  const auto physical =
      std::count_if(table.columns.begin(), table.columns.end(),
                    [](const table_column& each) { return each.kind == column_kind::physical; });
  if (!table.partitioned_by.empty() &&
      static_cast<std::ptrdiff_t>(table.partitioned_by.size()) >= physical)
    return error(errc::bad_usage, "PARTITIONED BY leaves no column for the files");
  if (std::all_of(table.columns.begin(), table.columns.end(),
                  [](const table_column& each) { return each.kind == column_kind::computed; }))
    return error(errc::bad_usage, "a table needs a column that is not computed");
  return check_watermark(table);
}

} // namespace headrace::graph
