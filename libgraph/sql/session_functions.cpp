#include "libgraph/sql/bind/type_rules.hpp"
#include "libgraph/sql/sql_session.hpp"
#include "libgraph/user_function/lua_functions.hpp"

#include <algorithm>

// CREATE, ALTER and DROP of functions.
namespace headrace::sql {
namespace {

std::vector<std::string> texts_of(const qualified_name& from) {
  std::vector<std::string> out;
  for (const auto& each : from.parts)
    out.push_back(each.text);
  return out;
}

std::string form_of(const graph::user_function& of) {
  switch (of.form) {
  case graph::user_form::scalar:
    return "scalar";
  case graph::user_form::table:
    return "table";
  case graph::user_form::aggregate:
    break;
  }
  return "aggregate";
}

} // namespace

/// What is taken and returned.
bool sql_session::read_types(const create_function& from, graph::user_function& into) {
  const auto refuse = [&](std::string message, source_span at) {
    fail(diagnostic_kind::invalid, std::move(message), at);
    return false;
  };
  if (!from.parameters || (!from.returns && !from.returned_columns))
    return refuse("a function says what it takes and returns: CREATE FUNCTION " +
                      from.function.parts.back().text + "(a BIGINT) RETURNS BIGINT …",
                  from.function.at);
  const auto read = [&](const std::vector<function_parameter>& listed,
                        std::vector<graph::logical_type::field>& out) {
    bool is_sound = true;
    for (const auto& each : listed) {
      auto type = resolve_type(each.type, *findings_);
      is_sound &= type.has_value();
      if (std::any_of(out.begin(), out.end(),
                      [&](const auto& known) { return known.name == each.label.text; }))
        is_sound = refuse("name comes twice: " + each.label.text, each.label.at);
      if (type)
        out.push_back({each.label.text, std::move(*type), {}});
    }
    return is_sound;
  };
  if (!read(*from.parameters, into.parameters))
    return false;
  if (from.returned_columns) {
    std::vector<graph::logical_type::field> columns;
    if (!read(*from.returned_columns, columns))
      return false;
    if (columns.empty())
      return refuse("a table function returns a column at least", from.function.at);
    into.form = graph::user_form::table;
    into.result = graph::logical_type::row(std::move(columns)).not_null();
    return true;
  }
  auto type = resolve_type(*from.returns, *findings_);
  if (!type)
    return false;
  into.form = from.is_aggregate ? graph::user_form::aggregate : graph::user_form::scalar;
  into.result = std::move(*type);
  return true;
}

std::optional<graph::user_function> sql_session::make_function(const create_function& from) {
  graph::user_function out;
  out.name = from.function.parts.back().text;
  out.is_deterministic = from.is_deterministic.value_or(true);
  if (from.language != function_language::lua)
    return fail(diagnostic_kind::unsupported,
                "functions are written in Lua: … LANGUAGE LUA AS $$ … $$", from.function.at);
  if (!from.resources.empty() || !from.options.empty())
    return fail(diagnostic_kind::invalid, "a function in Lua takes neither USING nor WITH",
                from.function.at);
  if (!read_types(from, out))
    return std::nullopt;
  for (const auto& each : *from.parameters)
    if (!graph::is_lua_name(each.label.text))
      return fail(diagnostic_kind::invalid,
                  "Lua cannot call a parameter so: " + each.label.text +
                      "; take letters, digits and _, and no word of Lua",
                  each.label.at);
  out.source = from.body.text;
  out.limits.memory_bytes = settings_.get_memory_size("table.exec.lua.memory-limit");
  out.limits.instructions =
      static_cast<std::uint64_t>(settings_.get_int("table.exec.lua.instruction-limit"));
  if (const auto checked = graph::check_lua(out); !checked)
    return fail(diagnostic_kind::invalid, checked.error().message, from.body.at);
  return out;
}

sql_session::maybe sql_session::run_node(const create_function& from) {
  const auto known = catalog_.find_function(texts_of(from.function)) != nullptr;
  if (from.is_alter && !known)
    return from.if_not_exists // of ALTER: IF EXISTS
               ? maybe(statement_outcome())
               : fail(diagnostic_kind::unknown_name,
                      "unknown function: " + from.function.parts.back().text, from.function.at);
  auto code = make_function(from);
  if (!code)
    return std::nullopt;
  graph::function_definition made;
  made.code = std::make_shared<const graph::user_function>(std::move(*code));
  for (const auto& each : from.resources)
    made.resources.push_back(each.path.text);
  const auto taken = from.is_alter        ? graph::when_taken::replace
                     : from.if_not_exists ? graph::when_taken::keep
                                          : graph::when_taken::fail;
  if (from.is_system) {
    if (from.function.parts.size() != 1)
      return fail(diagnostic_kind::invalid, "a system function has a name of one part",
                  from.function.at);
    return settle(
        catalog_.create_system_function(from.function.parts[0].text, std::move(made), taken),
        from.function.at);
  }
  const auto path = complete(from.function);
  if (!path)
    return std::nullopt;
  return settle(catalog_.create_function(*path, std::move(made), from.is_temporary, taken),
                from.function.at);
}

sql_session::maybe sql_session::drop_function(const drop& from) {
  if (from.is_system)
    return settle(catalog_.drop_system_function(from.object.parts.back().text, from.if_exists),
                  from.object.at);
  const auto path = catalog_.complete(texts_of(from.object));
  if (!path)
    return from.if_exists
               ? maybe(statement_outcome())
               : fail(diagnostic_kind::unknown_name, path.error().message, from.object.at);
  return settle(catalog_.drop_function(*path, from.is_temporary, from.if_exists), from.object.at);
}

sql_session::maybe sql_session::describe_user_function(const graph::user_function& of) {
  std::string parameters;
  for (const auto& each : of.parameters)
    parameters += (parameters.empty() ? "" : ", ") + each.name + " " + each.type.to_sql();
  text_table out;
  out.columns = {"function name", "kind", "arguments"};
  out.rows.push_back({of.name, form_of(of), std::move(parameters)});
  return out;
}

} // namespace headrace::sql
