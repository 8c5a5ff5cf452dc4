#include "libgraph/sql/bind/function_table.hpp"
#include "libgraph/sql/parse/lexer.hpp"
#include "libgraph/sql/sql_session.hpp"
#include "libactors/base/text.hpp"

#include <algorithm>

// SHOW CONNECTORS, DESCRIBE of what is no table, and ALTER of catalogs and databases.
namespace headrace::sql {
namespace {

std::vector<std::string> texts_of(const qualified_name& from) {
  std::vector<std::string> out;
  for (const auto& each : from.parts)
    out.push_back(each.text);
  return out;
}

std::string type_of(const option_declaration& option) {
  if (!option.one_of.empty()) {
    std::string out(option.one_of);
    for (auto at = out.find('|'); at != std::string::npos; at = out.find('|', at + 3))
      out.replace(at, 1, ", ");
    return out;
  }
  switch (option.type) {
  case option_type::boolean:
    return "true, false";
  case option_type::integer:
    return "whole number";
  case option_type::real:
    return "number";
  case option_type::text:
    return "text";
  case option_type::path:
    return "path";
  case option_type::duration:
    return "duration";
  case option_type::memory_size:
    return "size";
  }
  return {};
}

std::string kinds_of(const graph::connector_description& of) {
  std::vector<std::string> kinds;
  if (of.source)
    kinds.emplace_back("source");
  if (of.sink)
    kinds.emplace_back("sink");
  if (of.format)
    kinds.emplace_back("format");
  return join_text(kinds, ", ");
}

/// "number, [number]".
std::string parameters_of(const function_signature& of) {
  std::string out;
  bool is_optional = false;
  for (const char letter : of.parameters) {
    if (letter == '|') {
      is_optional = true;
      continue;
    }
    if (letter == '*') {
      out += ", …";
      continue;
    }
    if (!out.empty())
      out += ", ";
    out += is_optional ? "[" : "";
    out += parameter_text(letter);
    out += is_optional ? "]" : "";
  }
  return out;
}

text_table options_table(const graph::object_options& options) {
  text_table out;
  out.columns = {"key", "value"};
  for (const auto& [key, value] : options)
    out.rows.push_back({key, value});
  return out;
}

} // namespace

sql_session::maybe sql_session::show_connectors(const show& from) {
  text_table out;
  out.columns = {"connector name", "kind"};
  for (const auto& each : connectors_)
    if (is_wanted(from, each.name))
      out.rows.push_back({each.name, kinds_of(each)});
  return out;
}

sql_session::maybe sql_session::describe_connector(const describe& from) {
  const auto& wanted = from.id->text;
  const auto& all = connectors_;
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const auto& each) { return each.name == wanted; });
  if (found == all.end()) {
    std::vector<std::string_view> names;
    for (const auto& each : all)
      names.push_back(each.name);
    const auto nearest = nearest_name(wanted, names);
    return fail(diagnostic_kind::unknown_name,
                "unknown connector: " + wanted +
                    (nearest.empty() ? "; SHOW CONNECTORS lists them"
                                     : ", did you mean " + std::string(nearest)),
                from.id->at);
  }
  text_table out;
  out.columns = {"option", "of", "type", "default", "description"};
  const auto add = [&](const char* of,
                       const std::optional<std::vector<option_declaration>>& options) {
    if (options)
      for (const auto& each : *options)
        out.rows.push_back({std::string(each.key), of, type_of(each),
                            std::string(each.default_text), std::string(each.description)});
  };
  add("source", found->source);
  add("sink", found->sink);
  add("format", found->format);
  return out;
}

sql_session::maybe sql_session::describe_function(const describe& from) {
  if (const auto* user = catalog_.find_function(texts_of(from.object)))
    return describe_user_function(*user->code);
  const auto name = in_capitals(from.object.parts.back().text);
  const auto ways = find_function(name);
  if (ways.empty()) {
    std::vector<std::string_view> names;
    for (const auto& each : all_functions())
      names.push_back(each.name);
    const auto nearest = nearest_name(name, names);
    return fail(diagnostic_kind::unknown_name,
                "unknown function: " + from.object.parts.back().text +
                    (nearest.empty() ? "" : ", did you mean " + std::string(nearest)),
                from.object.at);
  }
  text_table out;
  out.columns = {"function name", "kind", "arguments"};
  for (const auto& each : ways)
    out.rows.push_back({std::string(each.name),
                        each.kind == function_kind::scalar      ? "scalar"
                        : each.kind == function_kind::aggregate ? "aggregate"
                                                                : "with OVER",
                        parameters_of(each)});
  return out;
}

sql_session::maybe sql_session::describe_owner(const describe& from) {
  const auto path = texts_of(from.object);
  const auto options = from.kind == describe_kind::catalog ? catalog_.catalog_options(path[0])
                                                           : catalog_.database_options(path);
  if (!options)
    return fail(diagnostic_kind::unknown_name, options.error().message, from.object.at);
  return options_table(*options);
}

sql_session::maybe sql_session::alter_owner(const alter& from) {
  const auto path = texts_of(from.object);
  const bool is_catalog = from.kind == object_kind::catalog;
  const auto found =
      is_catalog ? catalog_.catalog_options(path[0]) : catalog_.database_options(path);
  if (!found)
    return fail(diagnostic_kind::unknown_name, found.error().message, from.object.at);
  auto options = *found;
  if (const auto* set = std::get_if<set_options>(&from.action)) {
    for (const auto& each : set->options)
      options.insert_or_assign(each.key.text, each.value.text);
  } else if (const auto* reset = std::get_if<reset_options>(&from.action)) {
    for (const auto& each : reset->keys)
      options.erase(each.text);
  } else if (const auto* comment = std::get_if<set_comment>(&from.action)) {
    options.insert_or_assign("comment", comment->comment.text);
  } else {
    return fail(diagnostic_kind::unsupported, "this change is not supported", at_);
  }
  return settle(is_catalog ? catalog_.set_catalog_options(path[0], std::move(options))
                           : catalog_.set_database_options(path, std::move(options)),
                from.object.at);
}

} // namespace headrace::sql
