#include "libgraph/sql/bind/type_rules.hpp"
#include "libgraph/sql/sql_session.hpp"
#include "libgraph/user_function/lua_functions.hpp"
#include "libgraph/user_function/native_function.hpp"

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

/// The same function, but for names and whether values may be NULL.
bool are_alike(const graph::user_function& said, const graph::user_function& known) {
  const auto is_same = [](const graph::logical_type& one, const graph::logical_type& other) {
    return one.nullable() == other.nullable();
  };
  const auto are_same_fields = [&](const std::vector<graph::logical_type::field>& one,
                                   const std::vector<graph::logical_type::field>& other) {
    return std::equal(
        one.begin(), one.end(), other.begin(), other.end(),
        [&](const auto& left, const auto& right) { return is_same(left.type, right.type); });
  };
  if (said.form != known.form || !are_same_fields(said.parameters, known.parameters))
    return false;
  return said.form == graph::user_form::table
             ? are_same_fields(said.result.fields(), known.result.fields())
             : is_same(said.result, known.result);
}

/// "(STRING, BIGINT) RETURNS TABLE (word STRING)".
std::string signature_of(const graph::user_function& of) {
  std::string out;
  for (const auto& each : of.parameters)
    out += (out.empty() ? "" : ", ") + each.type.nullable().to_sql();
  out = "(" + out + ") RETURNS ";
  if (of.form != graph::user_form::table)
    return out + (of.form == graph::user_form::aggregate ? "AGGREGATE " : "") +
           of.result.nullable().to_sql();
  std::string columns;
  for (const auto& each : of.result.fields())
    columns += (columns.empty() ? "" : ", ") + each.name + " " + each.type.nullable().to_sql();
  return out + "TABLE (" + columns + ")";
}

graph::logical_type with_names(const graph::logical_type& row, const graph::logical_type& names) {
  auto fields = row.fields();
  for (std::size_t i = 0; i < fields.size(); ++i)
    fields[i].name = names.fields()[i].name;
  return graph::logical_type::row(std::move(fields)).not_null();
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
  if (!from.options.empty())
    return fail(diagnostic_kind::invalid, "a function takes no WITH", from.function.at);
  switch (from.language) {
  case function_language::lua:
    return make_lua_function(from);
  case function_language::cpp:
    return make_native_function(from);
  default:
    return fail(diagnostic_kind::unsupported,
                "functions are written in Lua, … LANGUAGE LUA AS $$ … $$, or in C++, … AS 'name' "
                "LANGUAGE CPP USING LIBRARY 'path.so'",
                from.function.at);
  }
}

std::optional<graph::user_function> sql_session::make_lua_function(const create_function& from) {
  graph::user_function out;
  out.name = from.function.parts.back().text;
  out.is_deterministic = from.is_deterministic.value_or(true);
  if (!from.resources.empty())
    return fail(diagnostic_kind::invalid, "a function in Lua takes no USING", from.function.at);
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

std::optional<graph::loaded_function>
sql_session::find_native_function(const create_function& from) {
  const bool is_own = from.resources.empty() && !own_library_.empty();
  if (from.is_text ||
      (!is_own && (from.resources.size() != 1 || from.resources[0].kind != "LIBRARY")))
    return fail(diagnostic_kind::invalid,
                "a function in C++ is one of a library: … AS 'name' LANGUAGE CPP USING LIBRARY "
                "'path.so'",
                from.function.at);
  if (!is_own && files_ == nullptr)
    return fail(diagnostic_kind::unsupported,
                "libraries are not loaded here: functions of a job lie in the job object, leave "
                "out USING",
                from.resources[0].path.at);
  auto loaded =
      is_own ? graph::find_native_function(own_library_, from.body.text)
             : graph::load_native_function(*files_, from.resources[0].path.text, from.body.text);
  if (!loaded)
    return fail(diagnostic_kind::invalid, to_string(loaded.error()),
                is_own ? from.body.at : from.resources[0].path.at);
  if (!is_own)
    libraries_.insert_or_assign(loaded->digest, from.resources[0].path.text);
  return std::move(*loaded);
}

std::optional<graph::user_function> sql_session::make_native_function(const create_function& from) {
  const auto loaded = find_native_function(from);
  if (!loaded)
    return std::nullopt;
  const auto& code = *loaded->code;
  graph::user_function out;
  out.name = from.function.parts.back().text;
  out.language = graph::user_language::cpp;
  out.form = code.form;
  out.is_deterministic = from.is_deterministic.value_or(true);
  out.has_retract = code.has_retract;
  out.has_merge = code.has_merge;
  out.source = loaded->digest;
  out.symbol = from.body.text;
  out.result = code.result;
  for (std::size_t i = 0; i < code.parameters.size(); ++i)
    out.parameters.push_back({"arg" + std::to_string(i + 1), code.parameters[i], {}});
  if (from.parameters || from.returns || from.returned_columns) {
    graph::user_function said;
    if (!read_types(from, said))
      return std::nullopt;
    if (!are_alike(said, out))
      return fail(diagnostic_kind::type_mismatch,
                  "the library says otherwise: " + signature_of(out) + ", not " +
                      signature_of(said),
                  from.function.at);
    for (std::size_t i = 0; i < out.parameters.size(); ++i)
      out.parameters[i] = said.parameters[i];
    if (out.form == graph::user_form::table)
      out.result = with_names(out.result, said.result);
  }
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
