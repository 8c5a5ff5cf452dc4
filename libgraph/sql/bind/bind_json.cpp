#include "libgraph/sql/bind/expression_binder.hpp"
#include "libactors/base/text.hpp"

// JSON in expressions, and OVERLAPS. What is said by words of the grammar goes to the functions as
// constant texts (libgraph/expression/kernel/json_search.cpp, json_text.cpp).
namespace headrace::sql {
namespace {

bound_expression word_of(std::string_view word, source_span at) {
  bound_constant made;
  made.text = std::string(word);
  return {std::move(made), logical_type::character(static_cast<int>(word.size())).not_null(), at};
}

std::string_view word_of(json_behavior behavior) {
  switch (behavior) {
  case json_behavior::null:
    return "NULL";
  case json_behavior::error:
    return "ERROR";
  case json_behavior::empty_array:
    return "EMPTY ARRAY";
  case json_behavior::empty_object:
    return "EMPTY OBJECT";
  case json_behavior::default_:
    return "DEFAULT";
  case json_behavior::true_:
    return "TRUE";
  case json_behavior::false_:
    return "FALSE";
  case json_behavior::unknown:
    return "UNKNOWN";
  }
  return {};
}

std::string_view word_of(json_wrapper wrapper) {
  switch (wrapper) {
  case json_wrapper::conditional:
    return "CONDITIONAL";
  case json_wrapper::unconditional:
    return "UNCONDITIONAL";
  default:
    return "WITHOUT";
  }
}

bool is_array_of_texts(const logical_type& type) {
  return type.root() == type_root::array && is_character(type.child(0).root());
}

} // namespace

/// (a, b) OVERLAPS (c, d): the ends of each period in either order, the second one perhaps an
/// interval. Periods that touch overlap.
std::optional<bound_expression> expression_binder::bind_overlaps(const operation& from,
                                                                 source_span at) {
  std::vector<bound_expression> ends;
  for (const auto& each : from.operands) {
    const auto* period = std::get_if<row_constructor>(&each.node);
    if (period == nullptr || period->items.size() != 2)
      return fail(diagnostic_kind::invalid,
                  "OVERLAPS takes two periods such as (begin, end) or (begin, INTERVAL '1' DAY)",
                  each.at);
    auto bound = bind_all(period->items);
    if (!bound)
      return std::nullopt;
    if (is_interval((*bound)[1].type.root())) {
      auto type = arithmetic_type(operator_kind::plus, (*bound)[0].type, (*bound)[1].type);
      if (!type)
        return fail(diagnostic_kind::type_mismatch,
                    "a period begins with a time, found " + (*bound)[0].type.nullable().to_sql(),
                    (*bound)[0].at);
      std::vector<bound_expression> both{(*bound)[0], std::move((*bound)[1])};
      (*bound)[1] = call("+", std::move(both), std::move(*type), each.at);
    }
    for (auto& end : *bound)
      ends.push_back(std::move(end));
  }
  std::vector<logical_type> types;
  for (const auto& each : ends)
    types.push_back(each.type);
  const auto common = common_type(types);
  if (!common)
    return fail(diagnostic_kind::type_mismatch, "the periods of OVERLAPS have no type in common",
                at);
  for (auto& each : ends)
    each = cast_to(std::move(each), *common);
  const auto pick = [&](std::string_view function, std::size_t period) {
    std::vector<bound_expression> both{ends[2 * period], ends[2 * period + 1]};
    return call(std::string(function), std::move(both), *common, at);
  };
  const auto boolean =
      common->is_nullable() ? logical_type::boolean() : logical_type::boolean().not_null();
  const auto is_behind = [&](std::size_t one, std::size_t other) {
    std::vector<bound_expression> both{pick("GREATEST", one), pick("LEAST", other)};
    return call(">=", std::move(both), boolean, at);
  };
  std::vector<bound_expression> both{is_behind(0, 1), is_behind(1, 0)};
  return call("AND", std::move(both), boolean, at);
}

std::optional<bound_expression> expression_binder::bind_is_json(const operation& from,
                                                                source_span at) {
  auto value = bind(from.operands[0]);
  if (!value)
    return std::nullopt;
  if (!is_character(value->type.root()))
    return fail(diagnostic_kind::type_mismatch,
                "IS JSON takes a STRING, found " + value->type.nullable().to_sql(), value->at);
  std::string_view form;
  bool is_negated = false;
  switch (from.kind) {
  case operator_kind::is_not_json_object:
    is_negated = true;
    [[fallthrough]];
  case operator_kind::is_json_object:
    form = "OBJECT";
    break;
  case operator_kind::is_not_json_array:
    is_negated = true;
    [[fallthrough]];
  case operator_kind::is_json_array:
    form = "ARRAY";
    break;
  case operator_kind::is_not_json_scalar:
    is_negated = true;
    [[fallthrough]];
  case operator_kind::is_json_scalar:
    form = "SCALAR";
    break;
  default:
    is_negated = from.kind == operator_kind::is_not_json;
    form = "VALUE";
  }
  const auto boolean = logical_type::boolean().not_null();
  std::vector<bound_expression> arguments{std::move(*value), word_of(form, at)};
  auto out = call("IS JSON", std::move(arguments), boolean, at);
  if (!is_negated)
    return out;
  std::vector<bound_expression> inner{std::move(out)};
  return call("NOT", std::move(inner), boolean, at);
}

std::optional<bound_expression> expression_binder::bind_node(const json_call& from,
                                                             source_span at) {
  if (from.function == "JSON_OBJECTAGG" || from.function == "JSON_ARRAYAGG")
    return bind_json_aggregate(from, at);
  if (from.filter)
    return fail(diagnostic_kind::invalid, "FILTER is for aggregates: " + from.function, at);
  if (from.function == "JSON_OBJECT" || from.function == "JSON_ARRAY")
    return bind_json_made(from, at);
  return bind_json_search(from, at);
}

std::optional<bound_expression>
expression_binder::bind_json_default(const std::optional<json_default>& from,
                                     const logical_type& type, source_span at) {
  bound_expression nothing{bound_constant{}, type.nullable(), at};
  if (!from || from->behavior != json_behavior::default_)
    return nothing;
  auto value = bind(**from->value);
  if (!value)
    return std::nullopt;
  const logical_type both[] = {value->type, type};
  if (!common_type(both) && !is_castable(value->type, type))
    return fail(diagnostic_kind::type_mismatch,
                "the default is " + value->type.nullable().to_sql() + ", expected " +
                    type.nullable().to_sql(),
                value->at);
  return cast_to(std::move(*value), type);
}

/// JSON_VALUE, JSON_QUERY, JSON_EXISTS.
std::optional<bound_expression> expression_binder::bind_json_search(const json_call& from,
                                                                    source_span at) {
  if (from.arguments.size() != 2)
    return fail(diagnostic_kind::type_mismatch,
                from.function + " takes a text and a path, found " +
                    std::to_string(from.arguments.size()) + " arguments",
                at);
  auto arguments = bind_all(from.arguments);
  if (!arguments)
    return std::nullopt;
  for (auto& each : *arguments) {
    if (!is_character(each.type.root()) && each.type.root() != type_root::null)
      return fail(diagnostic_kind::type_mismatch,
                  from.function + " takes STRINGs, found " + each.type.nullable().to_sql(),
                  each.at);
    each = cast_to(std::move(each), logical_type::string());
  }
  const auto behavior_of = [](const std::optional<json_default>& said, json_behavior usual) {
    return said ? said->behavior : usual;
  };
  if (from.function == "JSON_EXISTS") {
    const auto on_error = behavior_of(from.on_error, json_behavior::false_);
    if (on_error == json_behavior::default_ || on_error == json_behavior::null ||
        on_error == json_behavior::empty_array || on_error == json_behavior::empty_object)
      return fail(diagnostic_kind::invalid,
                  "JSON_EXISTS takes TRUE, FALSE, UNKNOWN or ERROR ON ERROR", at);
    arguments->push_back(word_of(word_of(on_error), at));
    return call("JSON_EXISTS", std::move(*arguments), logical_type::boolean(), at);
  }
  auto type = logical_type::string();
  if (from.returning) {
    const auto resolved = resolve_type(*from.returning, findings_);
    if (!resolved)
      return std::nullopt;
    type = resolved->nullable();
  }
  const auto on_empty = behavior_of(from.on_empty, json_behavior::null);
  const auto on_error = behavior_of(from.on_error, json_behavior::null);
  if (from.function == "JSON_QUERY") {
    if (!is_character(type.root()) && !is_array_of_texts(type))
      return fail(diagnostic_kind::invalid,
                  "JSON_QUERY returns STRING or ARRAY<STRING>, not " + type.to_sql(),
                  from.returning->at);
    for (const auto each : {on_empty, on_error})
      if (each != json_behavior::null && each != json_behavior::error &&
          each != json_behavior::empty_array && each != json_behavior::empty_object)
        return fail(diagnostic_kind::invalid,
                    "JSON_QUERY takes NULL, ERROR, EMPTY ARRAY or EMPTY OBJECT here", at);
    if (is_array_of_texts(type) &&
        (on_empty == json_behavior::empty_object || on_error == json_behavior::empty_object))
      return fail(diagnostic_kind::invalid, "an ARRAY is no EMPTY OBJECT", at);
    arguments->push_back(word_of(word_of(from.wrapper), at));
    arguments->push_back(word_of(word_of(on_empty), at));
    arguments->push_back(word_of(word_of(on_error), at));
    return call("JSON_QUERY", std::move(*arguments), std::move(type), at);
  }
  switch (type.root()) {
  case type_root::boolean:
  case type_root::integer:
  case type_root::double_:
  case type_root::varchar:
    break;
  default:
    return fail(diagnostic_kind::invalid,
                "JSON_VALUE returns STRING, BOOLEAN, INTEGER or DOUBLE, not " + type.to_sql() +
                    "; CAST its result",
                from.returning->at);
  }
  for (const auto each : {on_empty, on_error})
    if (each != json_behavior::null && each != json_behavior::error &&
        each != json_behavior::default_)
      return fail(diagnostic_kind::invalid, "JSON_VALUE takes NULL, ERROR or DEFAULT here", at);
  auto if_empty = bind_json_default(from.on_empty, type, at);
  auto if_error = bind_json_default(from.on_error, type, at);
  if (!if_empty || !if_error)
    return std::nullopt;
  arguments->push_back(word_of(word_of(on_empty), at));
  arguments->push_back(word_of(word_of(on_error), at));
  arguments->push_back(std::move(*if_empty));
  arguments->push_back(std::move(*if_error));
  return call("JSON_VALUE", std::move(*arguments), std::move(type), at);
}

/// JSON_OBJECT and JSON_ARRAY: first a text with a letter for NULLs ('N' kept, 'A' left out) and
/// one for each value: 'j' is JSON already, 't' a text that must be, 'v' anything else.
std::optional<bound_expression> expression_binder::bind_json_made(const json_call& from,
                                                                  source_span at) {
  const bool is_object = from.function == "JSON_OBJECT";
  const bool keeps_nulls =
      from.nulls == json_nulls::unsaid ? is_object : from.nulls == json_nulls::null;
  std::string letters = keeps_nulls ? "N" : "A";
  std::vector<bound_expression> arguments;
  bool is_sound = true;
  const auto add_value = [&](const expression& value) {
    const auto* made = std::get_if<json_call>(&value.node);
    const auto* called = std::get_if<function_call>(&value.node);
    const bool is_text = called != nullptr && called->arguments.size() == 1 &&
                         called->function.parts.size() == 1 &&
                         in_capitals(called->function.parts[0].text) == "JSON";
    auto bound = bind(is_text ? called->arguments[0].value : value);
    is_sound &= bound.has_value();
    if (!bound)
      return;
    letters +=
        made != nullptr && (made->function == "JSON_OBJECT" || made->function == "JSON_ARRAY") ? 'j'
        : is_text                                                                              ? 't'
                  : 'v';
    if (is_text && !is_character(bound->type.root())) {
      fail(diagnostic_kind::type_mismatch,
           "JSON takes a STRING, found " + bound->type.nullable().to_sql(), bound->at);
      is_sound = false;
    }
    arguments.push_back(std::move(*bound));
  };
  for (const auto& each : from.pairs) {
    auto key = bind(each.key);
    is_sound &= key.has_value();
    if (key && (!is_character(key->type.root()) || key->type.is_nullable())) {
      fail(diagnostic_kind::type_mismatch,
           "a key of JSON_OBJECT is a STRING that is never NULL, found " + key->type.to_sql(),
           key->at);
      is_sound = false;
    }
    if (key)
      arguments.push_back(std::move(*key));
    add_value(each.value);
  }
  for (const auto& each : from.arguments)
    add_value(each);
  if (!is_sound)
    return std::nullopt;
  arguments.insert(arguments.begin(), word_of(letters, at));
  return call(from.function, std::move(arguments), logical_type::string().not_null(), at);
}

/// As texts of JSON with commas between them: JSON_ARRAYAGG(x) is '[' || LISTAGG(x as JSON) || ']'.
std::optional<bound_expression> expression_binder::bind_json_aggregate(const json_call& from,
                                                                       source_span at) {
  if (!allows_aggregates_ || is_in_aggregate_)
    return fail(diagnostic_kind::invalid,
                (is_in_aggregate_ ? "an aggregate does not stand inside another one: "
                                  : "an aggregate does not stand here: ") +
                    from.function,
                at);
  const bool is_object = from.function == "JSON_OBJECTAGG";
  if (is_object ? from.pairs.size() != 1 : from.arguments.size() != 1)
    return fail(diagnostic_kind::invalid,
                from.function + (is_object ? " takes one pair: KEY k VALUE v" : " takes one value"),
                at);
  const auto& value = is_object ? from.pairs[0].value : from.arguments[0];
  const auto* made = std::get_if<json_call>(&value.node);
  const bool is_json =
      made != nullptr && (made->function == "JSON_OBJECT" || made->function == "JSON_ARRAY");
  is_in_aggregate_ = true;
  auto part = bind(value);
  maybe key = is_object ? bind(from.pairs[0].key) : std::nullopt;
  maybe filter = from.filter ? bind_condition(**from.filter) : std::nullopt;
  is_in_aggregate_ = false;
  if (!part || (is_object && !key) || (from.filter && !filter))
    return std::nullopt;
  if (key && !is_character(key->type.root()))
    return fail(diagnostic_kind::type_mismatch,
                "a key of JSON_OBJECTAGG is a STRING, found " + key->type.nullable().to_sql(),
                key->at);
  const auto text = logical_type::string();
  const auto of = [&](std::string_view function, std::vector<bound_expression> arguments,
                      const logical_type& type) {
    return call(std::string(function), std::move(arguments), type, at);
  };
  const auto with_default = [&](bound_expression from_value, std::string_view otherwise) {
    if (!from_value.type.is_nullable())
      return from_value;
    std::vector<bound_expression> both{std::move(from_value),
                                       cast_to(word_of(otherwise, at), text)};
    return of("COALESCE", std::move(both), text.not_null());
  };
  if (!is_json) {
    const auto type = part->type.is_nullable() ? text : text.not_null();
    std::vector<bound_expression> one{std::move(*part)};
    *part = of("JSON_STRING", std::move(one), type);
  }
  const bool keeps_nulls =
      from.nulls == json_nulls::unsaid ? is_object : from.nulls == json_nulls::null;
  if (keeps_nulls)
    *part = with_default(std::move(*part), "null");
  if (key) {
    // A row without a key gives no member.
    const auto key_type = key->type.is_nullable() ? text : text.not_null();
    const auto type = key->type.is_nullable() ? text : part->type;
    std::vector<bound_expression> one{std::move(*key)};
    std::vector<bound_expression> member{of("JSON_STRING", std::move(one), key_type),
                                         word_of(":", at), std::move(*part)};
    *part = of("||", std::move(member), type);
  }
  std::vector<bound_expression> listed{std::move(*part), cast_to(word_of(",", at), text)};
  auto list = of("LISTAGG", std::move(listed), text);
  auto& aggregate = std::get<bound_call>(list.node);
  aggregate.is_aggregate = true;
  if (filter)
    aggregate.filter = std::move(*filter);
  std::vector<bound_expression> whole{cast_to(word_of(is_object ? "{" : "[", at), text),
                                      with_default(std::move(list), ""),
                                      cast_to(word_of(is_object ? "}" : "]", at), text)};
  auto out = of("||", std::move(whole), text.not_null());
  if (!is_object)
    return out;
  // Members by their names, the last one of a name.
  std::vector<bound_expression> query{std::move(out), word_of("$", at), word_of("WITHOUT", at),
                                      word_of("NULL", at), word_of("NULL", at)};
  return of("JSON_QUERY", std::move(query), text);
}

} // namespace headrace::sql
