#include "libgraph/sql/plan/query_planner.hpp"
#include "libactors/base/text.hpp"

#include <algorithm>

namespace headrace::sql {
namespace {

bound_expression null_of(const logical_type& type, source_span at) {
  return {bound_constant{}, type.nullable(), at};
}

/// A name or value of a partition, as it stands in a path.
void append_escaped(std::string_view text, std::string& out) {
  for (const char letter : text) {
    if (letter == '/')
      out += "%2F";
    else if (letter == '=')
      out += "%3D";
    else if (letter == '%')
      out += "%25";
    else
      out += letter;
  }
}

/// KEY=VALUE/… of the one partition that the statement names; empty when the query decides, too.
std::string fixed_partition(const graph::table_definition& table,
                            const std::vector<const graph::table_column*>& persisted,
                            const std::vector<std::optional<bound_expression>>& fixed) {
  const auto missing = table.options.find("partition.default-name");
  std::string out;
  for (const auto& key : table.partitioned_by) {
    const bound_constant* value = nullptr;
    for (std::size_t i = 0; i < persisted.size(); ++i)
      if (persisted[i]->name == key && fixed[i])
        value = std::get_if<bound_constant>(&fixed[i]->node);
    if (value == nullptr)
      return {};
    out += out.empty() ? "" : "/";
    append_escaped(key, out);
    out += '=';
    if (value->text)
      append_escaped(*value->text, out);
    else
      out += missing != table.options.end() ? missing->second : "__DEFAULT_PARTITION__";
  }
  return out;
}

} // namespace

std::optional<plan_node> query_planner::plan(const insert& from) {
  bool is_sound = true;
  if (from.on_conflict)
    is_sound = refuse("ON CONFLICT is not supported yet", from.at);
  const auto found = find_relation(from.table);
  auto rows = plan_query(from.rows);
  if (!found || !rows || !is_sound)
    return std::nullopt;
  const auto* table = std::get_if<graph::table_definition>(&found->definition);
  if (table == nullptr)
    return fail(diagnostic_kind::invalid, "a view takes no rows: " + found->path.object,
                from.table.at);
  sink_node sink;
  sink.table = found->path;
  sink.options = table->options;
  for (const auto& each : from.hints)
    if (in_capitals(each.label.text) == "OPTIONS")
      for (const auto& option : each.arguments)
        if (option.key)
          sink.options.insert_or_assign(option.key->text, option.value.text);
  if (!sink.options.contains("connector"))
    return fail(diagnostic_kind::invalid,
                "table has no connector: " + found->path.object + "; say WITH ('connector' = '…')",
                from.table.at);
  if (!put_partitions(found->path, *table, sink.options, from.table.at) ||
      !set_overwrite(from, sink))
    return std::nullopt;
  persisted_columns persisted;
  for (const auto& each : table->columns) {
    if (each.kind == graph::column_kind::metadata && !each.is_virtual)
      return unsupported("no connector takes metadata yet: column " + each.name, from.table.at);
    if (each.kind != graph::column_kind::physical)
      continue;
    if (std::find(table->primary_key.begin(), table->primary_key.end(), each.name) !=
        table->primary_key.end())
      sink.primary_key.push_back(persisted.size());
    persisted.push_back(&each);
  }

  const auto fixed = bind_partition(from, *table, persisted);
  if (!fixed)
    return std::nullopt;
  persisted_columns free; // of the query
  for (std::size_t i = 0; i < persisted.size(); ++i)
    if (!(*fixed)[i])
      free.push_back(persisted[i]);
  const auto matched = match_columns(from.columns, free);
  if (!matched)
    return std::nullopt;
  std::vector<std::optional<std::size_t>> source(persisted.size());
  for (std::size_t i = 0, next = 0; i < persisted.size(); ++i)
    if (!(*fixed)[i])
      source[i] = (*matched)[next++];
  const auto wanted = from.columns.empty() ? free.size() : from.columns.size();
  if (wanted != rows->columns.size())
    return fail(diagnostic_kind::invalid,
                "the query has " + std::to_string(rows->columns.size()) + " columns, " +
                    (from.columns.empty() ? "table " + found->path.object + " takes "
                                          : std::string("the list names ")) +
                    std::to_string(wanted),
                from.rows.at);
  auto fitted = fit_rows(from, std::move(*rows), persisted, source, *fixed);
  if (!fitted)
    return std::nullopt;
  if (from.overwrites)
    if (const auto only = fixed_partition(*table, persisted, *fixed); !only.empty())
      sink.options.insert_or_assign("sink.overwrite.partition", only);
  plan_node out;
  out.at = from.at;
  out.columns = fitted->columns;
  // Where the query may give NULL, and the table takes none, the two differ.
  for (std::size_t i = 0; i < persisted.size(); ++i)
    if (!persisted[i]->type.is_nullable())
      out.columns[i].type = out.columns[i].type.not_null();
  out.node = std::move(sink);
  out.inputs.push_back(std::move(*fitted));
  return out;
}

std::optional<std::vector<std::optional<bound_expression>>>
query_planner::bind_partition(const insert& from, const graph::table_definition& table,
                              const persisted_columns& persisted) {
  std::vector<std::optional<bound_expression>> out(persisted.size());
  bool is_sound = true;
  std::vector<std::string_view> seen;
  for (const auto& each : from.partition) {
    const auto& label = each.column.text;
    if (std::find(seen.begin(), seen.end(), label) != seen.end()) {
      is_sound = false;
      fail(diagnostic_kind::duplicate_name, "PARTITION names a column twice: " + label,
           each.column.at);
      continue;
    }
    seen.push_back(label);
    if (std::find(table.partitioned_by.begin(), table.partitioned_by.end(), label) ==
        table.partitioned_by.end()) {
      is_sound = false;
      const std::vector<std::string_view> names(table.partitioned_by.begin(),
                                                table.partitioned_by.end());
      const auto nearest = nearest_name(label, names);
      fail(diagnostic_kind::unknown_name,
           "table is not partitioned by " + label +
               (nearest.empty() ? "" : ", did you mean " + std::string(nearest)),
           each.column.at);
      continue;
    }
    if (!each.value)
      continue; // the query gives it
    const auto place = std::find_if(persisted.begin(), persisted.end(),
                                    [&](const auto* column) { return column->name == label; });
    const column_scope nothing;
    auto value = expression_binder(nothing, findings_, &functions_).bind(*each.value);
    is_sound &= value.has_value() && place != persisted.end();
    if (value && place != persisted.end())
      out[static_cast<std::size_t>(place - persisted.begin())] = std::move(*value);
  }
  return is_sound ? std::optional(std::move(out)) : std::nullopt;
}

bool query_planner::set_overwrite(const insert& from, sink_node& into) {
  if (!from.overwrites)
    return true;
  const auto& connector = into.options.at("connector");
  if (connector != "filesystem" && connector != "file")
    return refuse("connector '" + connector + "' has nothing to overwrite: INSERT INTO adds rows",
                  from.at);
  into.options.insert_or_assign("sink.overwrite", "true");
  return true;
}

/// Which column of the query each of the table's gets; none: NULL.
std::optional<std::vector<std::optional<std::size_t>>>
query_planner::match_columns(const std::vector<qualified_name>& listed,
                             const persisted_columns& persisted) {
  std::vector<std::optional<std::size_t>> out(persisted.size());
  for (std::size_t i = 0; i < out.size() && listed.empty(); ++i)
    out[i] = i;
  bool is_sound = true;
  for (std::size_t i = 0; i < listed.size(); ++i) {
    const auto& label = listed[i].parts.back();
    const auto place = std::find_if(persisted.begin(), persisted.end(),
                                    [&](const auto* each) { return each->name == label.text; });
    if (place == persisted.end() || listed[i].parts.size() != 1) {
      std::vector<std::string_view> names;
      for (const auto* each : persisted)
        names.push_back(each->name);
      const auto nearest = nearest_name(label.text, names);
      is_sound = false;
      fail(diagnostic_kind::unknown_name,
           "table has no such column to be written: " + label.text +
               (nearest.empty() ? "" : ", did you mean " + std::string(nearest)),
           label.at);
      continue;
    }
    auto& into = out[static_cast<std::size_t>(place - persisted.begin())];
    if (into) {
      is_sound = false;
      fail(diagnostic_kind::duplicate_name, "column is listed twice: " + label.text, label.at);
    }
    into = i;
  }
  return is_sound ? std::optional(std::move(out)) : std::nullopt;
}

/// The rows as the table takes them: in its order, of its types.
std::optional<plan_node>
query_planner::fit_rows(const insert& from, plan_node rows, const persisted_columns& persisted,
                        const std::vector<std::optional<std::size_t>>& source,
                        const std::vector<std::optional<bound_expression>>& fixed) {
  std::vector<bound_expression> items;
  std::vector<std::string> names;
  bool is_sound = true;
  for (std::size_t i = 0; i < persisted.size(); ++i) {
    const auto& column = *persisted[i];
    names.push_back(column.name);
    auto value = fixed[i]    ? *fixed[i]
                 : source[i] ? bound_expression{bound_column{*source[i]},
                                                rows.columns[*source[i]].type, from.rows.at}
                             : null_of(column.type, from.at);
    if (!is_implicitly_castable(value.type, column.type)) {
      is_sound = false;
      fail(diagnostic_kind::type_mismatch,
           "column " + column.name + " is " + column.type.nullable().to_sql() +
               ", the query gives " + value.type.nullable().to_sql() + "; CAST it",
           from.rows.at);
      continue;
    }
    const bool is_null = value.type.root() == type_root::null || (!source[i] && !fixed[i]);
    if (is_null && !column.type.is_nullable()) {
      is_sound = false;
      fail(diagnostic_kind::invalid, "column is NOT NULL and gets no value: " + column.name,
           source[i] ? from.rows.at : from.table.at);
      continue;
    }
    items.push_back(expression_binder::cast_to(std::move(value), column.type));
  }
  if (!is_sound)
    return std::nullopt;
  return projected(std::move(rows), std::move(items), std::move(names));
}

} // namespace headrace::sql
