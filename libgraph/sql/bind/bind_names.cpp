#include "libgraph/sql/bind/expression_binder.hpp"
#include "libgraph/sql/parse/keyword.hpp"
#include "libgraph/sql/parse/printer.hpp"
#include "libgraph/types/value_text.hpp"
#include "libactors/base/text.hpp"

#include <algorithm>

// The leaves of expressions: constants, columns, fields, and calls by name.
namespace headrace::sql {
namespace {

/// The row of the values; NULL when one of them is. COUNT of several counts it.
bound_expression row_without_null(std::vector<bound_expression> values, source_span at) {
  const auto call = [&](std::string function, std::vector<bound_expression> arguments,
                        logical_type type) {
    bound_call made;
    made.function = std::move(function);
    made.arguments = std::move(arguments);
    return bound_expression{std::move(made), std::move(type), at};
  };
  const auto boolean = logical_type::boolean().not_null();
  std::vector<bound_expression> tests;
  std::vector<logical_type::field> fields;
  for (const auto& each : values) {
    tests.push_back(call("IS NOT NULL", {each}, boolean));
    fields.push_back({"EXPR$" + std::to_string(fields.size()), each.type, {}});
  }
  const auto type = logical_type::row(std::move(fields));
  std::vector<bound_expression> parts;
  parts.push_back(call("AND", std::move(tests), boolean));
  parts.push_back(call("ROW", std::move(values), type.not_null()));
  parts.push_back({bound_constant{}, type, at});
  return call("CASE", std::move(parts), type);
}

/// The values as bytes, equal where these are; NULL when one of them is. COUNT(DISTINCT …) of
/// several counts them.
bound_expression row_key(std::vector<bound_expression> values, source_span at) {
  bool may_be_null = false;
  for (const auto& each : values)
    may_be_null |= each.type.is_nullable();
  bound_call made;
  made.function = "$KEY";
  made.arguments = std::move(values);
  const auto type = logical_type::bytes();
  return {std::move(made), may_be_null ? type : type.not_null(), at};
}

/// Whether the constants of a number, or of an array of numbers, lie from 0 to 1.
bool are_parts(const bound_expression& of) {
  if (const auto* constant = std::get_if<bound_constant>(&of.node)) {
    const auto value = constant->text ? graph::parse_double(*constant->text) : std::nullopt;
    return value && *value >= 0 && *value <= 1;
  }
  const auto* call = std::get_if<bound_call>(&of.node);
  const bool is_made = call != nullptr && (call->function == "CAST" || call->function == "ARRAY");
  return !is_made || std::all_of(call->arguments.begin(), call->arguments.end(), are_parts);
}

std::string with_nearest(std::string message, std::string_view wanted,
                         const std::vector<std::string_view>& candidates) {
  if (const auto nearest = nearest_name(wanted, candidates); !nearest.empty())
    message += ", did you mean " + std::string(nearest);
  return message;
}

std::size_t count_code_points(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char byte) {
    return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U;
  }));
}

/// The type that a NULL of no type has as an argument. 'x' and 'c' take it as it is.
std::optional<logical_type> type_of_null(char parameter) {
  switch (parameter) {
  case 'b':
    return logical_type::boolean();
  case 'n':
  case 'i':
    return logical_type::integer();
  case 's':
    return logical_type::string();
  case 'y':
    return logical_type::bytes();
  case 'd':
  case 't':
    return logical_type::timestamp(3);
  case 'v':
    return logical_type::interval_day_time();
  default:
    return std::nullopt;
  }
}

} // namespace

std::optional<bound_expression> expression_binder::bind_number(const literal& from,
                                                               bool is_negative, source_span at) {
  bound_constant constant;
  constant.text = (is_negative ? "-" : "") + from.text;
  if (from.kind == literal_kind::approximate)
    return bound_expression{std::move(constant), logical_type::float64().not_null(), at};
  const auto point = from.text.find('.');
  const auto scale = point == from.text.npos ? 0 : from.text.size() - point - 1;
  auto digits = from.text;
  if (point != digits.npos)
    digits.erase(point, 1);
  // Leading zeros of a decimal count: 0.908 has four digits.
  const auto written = digits.size();
  digits.erase(0, std::min(digits.find_first_not_of('0'), digits.size()));
  constexpr std::size_t digits_max = 38;
  if (digits.size() > digits_max || scale > digits_max)
    return fail(diagnostic_kind::too_large, "number has more than 38 digits: " + from.text, at);
  if (from.kind == literal_kind::decimal)
    return bound_expression{std::move(constant),
                            logical_type::decimal(static_cast<int>(std::min(written, digits_max)),
                                                  static_cast<int>(scale))
                                .not_null(),
                            at};
  // Compared as text, as all have the same number of digits.
  const auto is_within = [&](std::string_view largest, std::string_view least) {
    const auto bound = is_negative ? least : largest;
    return digits.size() < bound.size() || (digits.size() == bound.size() && digits <= bound);
  };
  auto type = logical_type::decimal(static_cast<int>(std::max<std::size_t>(digits.size(), 1)), 0);
  if (is_within("2147483647", "2147483648"))
    type = logical_type::integer();
  else if (is_within("9223372036854775807", "9223372036854775808"))
    type = logical_type::bigint();
  return bound_expression{std::move(constant), type.not_null(), at};
}

std::optional<bound_expression> expression_binder::bind_node(const literal& from, source_span at) {
  const auto make = [&](const logical_type& type) {
    return bound_expression{
        bound_constant{(from.is_negative ? "-" : "") + from.text, from.interval}, type.not_null(),
        at};
  };
  const auto fraction = [&] {
    const auto point = from.text.find('.');
    return point == from.text.npos ? 0
                                   : std::min(9, static_cast<int>(from.text.size() - point - 1));
  };
  switch (from.kind) {
  case literal_kind::null:
    return bound_expression{bound_constant{}, logical_type::null(), at};
  case literal_kind::boolean:
    return make(logical_type::boolean());
  case literal_kind::integer:
  case literal_kind::decimal:
  case literal_kind::approximate:
    return bind_number(from, false, at);
  case literal_kind::string:
    return make(logical_type::character(static_cast<int>(count_code_points(from.text))));
  case literal_kind::binary:
    return make(logical_type::binary(static_cast<int>(from.text.size() / 2)));
  case literal_kind::date:
    if (!graph::parse_date(from.text))
      return fail(diagnostic_kind::invalid, "expected a date such as DATE '2024-02-29'", at);
    return make(logical_type::date());
  case literal_kind::time:
    if (!graph::parse_time(from.text))
      return fail(diagnostic_kind::invalid, "expected a time such as TIME '12:34:56'", at);
    return make(logical_type::time(fraction()));
  case literal_kind::timestamp:
  case literal_kind::timestamp_ltz:
    if (const auto read = graph::parse_timestamp(from.text);
        !read || (read->offset_seconds && from.kind == literal_kind::timestamp))
      return fail(diagnostic_kind::invalid,
                  "expected a timestamp such as TIMESTAMP '2024-02-29 12:34:56'", at);
    return make(from.kind == literal_kind::timestamp ? logical_type::timestamp(fraction())
                                                     : logical_type::timestamp_ltz(fraction()));
  case literal_kind::interval:
    return make(from.interval && from.interval->from <= interval_unit::month
                    ? logical_type::interval_year_month()
                    : logical_type::interval_day_time());
  }
  return std::nullopt;
}

/// A word of the grammar: a constant that only functions with a place for it take.
std::optional<bound_expression> expression_binder::bind_node(const symbol_argument& from,
                                                             source_span at) {
  return bound_expression{bound_constant{from.text, std::nullopt}, logical_type::null().not_null(),
                          at};
}

std::optional<bound_expression> expression_binder::unknown_column(const name& wanted,
                                                                  std::string_view table) {
  std::vector<std::string_view> candidates;
  for (const auto& each : scope_.columns())
    if (table.empty() || each.table == table)
      candidates.push_back(each.name);
  auto message =
      "unknown column" + (table.empty() ? "" : " of " + std::string(table)) + ": " + wanted.text;
  return fail(diagnostic_kind::unknown_name,
              with_nearest(std::move(message), wanted.text, candidates), wanted.at);
}

std::optional<bound_expression> expression_binder::bind_node(const column_reference& from,
                                                             source_span at) {
  if (pattern_ != nullptr)
    return bind_pattern_column(from, at);
  const auto known = findings_.size();
  auto own = resolve(from, at);
  if (own || scope_.outer() == nullptr || findings_.size() == known ||
      findings_[known].kind != diagnostic_kind::unknown_name)
    return own;
  std::vector<diagnostic> inner;
  auto outer = expression_binder(*scope_.outer(), inner).resolve(from, at);
  if (!outer)
    return own;
  findings_.erase(findings_.begin() + static_cast<std::ptrdiff_t>(known), findings_.end());
  visit_columns(*outer, [](bound_column& column) { column.index += column_scope::outer_first; });
  return outer;
}

/// table.column.field…, else column.field…
std::optional<bound_expression> expression_binder::resolve(const column_reference& from,
                                                           source_span at) {
  const auto& parts = from.path.parts;
  const auto& columns = scope_.columns();
  const auto find = [&](std::string_view table, std::string_view column) {
    std::vector<std::size_t> out;
    for (std::size_t i = 0; i < columns.size(); ++i)
      if (columns[i].name == column &&
          (table.empty() ? !columns[i].is_hidden : columns[i].table == table))
        out.push_back(i);
    return out;
  };
  const bool names_table =
      parts.size() > 1 && std::any_of(columns.begin(), columns.end(), [&](const auto& each) {
        return each.table == parts[0].text;
      });
  std::size_t used = 1;
  std::vector<std::size_t> found;
  if (names_table) {
    found = find(parts[0].text, parts[1].text);
    used = 2;
  }
  if (found.empty()) {
    if (auto alone = find({}, parts[0].text); !alone.empty()) {
      found = std::move(alone);
      used = 1;
    }
  }
  if (found.empty() && names_table)
    return unknown_column(parts[1], parts[0].text);
  if (found.empty() && parts.size() > 1) {
    std::vector<std::string_view> candidates;
    for (const auto& each : columns) {
      candidates.push_back(each.table);
      candidates.push_back(each.name);
    }
    return fail(
        diagnostic_kind::unknown_name,
        with_nearest("unknown table or column: " + parts[0].text, parts[0].text, candidates),
        parts[0].at);
  }
  if (found.empty())
    return unknown_column(parts[0], {});
  if (found.size() > 1) {
    std::string tables;
    for (const auto index : found)
      tables += (tables.empty() ? "" : ", ") + columns[index].table;
    return fail(diagnostic_kind::ambiguous_name,
                "column is in several tables: " + columns[found[0]].name + ", in " + tables, at);
  }
  maybe out = bound_expression{bound_column{found[0]}, columns[found[0]].type, at};
  for (; out && used < parts.size(); ++used)
    out = bind_field(std::move(*out), parts[used]);
  return out;
}

std::optional<bound_expression> expression_binder::bind_field(bound_expression row,
                                                              const name& field) {
  if (row.type.root() != type_root::row)
    return fail(diagnostic_kind::type_mismatch,
                "only a ROW has fields, found " + row.type.nullable().to_sql(), field.at);
  const auto index = row.type.field_index(field.text);
  if (index < 0) {
    std::vector<std::string_view> candidates;
    for (const auto& each : row.type.fields())
      candidates.push_back(each.name);
    return fail(diagnostic_kind::unknown_name,
                with_nearest("unknown field: " + field.text, field.text, candidates), field.at);
  }
  const auto place = static_cast<std::size_t>(index);
  auto type = row.type.child(place);
  if (row.type.is_nullable())
    type = type.nullable();
  const auto at = join(row.at, field.at);
  bound_field out;
  out.row = std::move(row);
  out.index = place;
  return bound_expression{std::move(out), std::move(type), at};
}

std::optional<bound_expression> expression_binder::bind_node(const subquery& from, source_span at) {
  if (plan_query_value_)
    return plan_query_value_(from, at);
  return fail(diagnostic_kind::unsupported,
              "a query that stands for a value is supported in WHERE, and in the list of a SELECT "
              "without groups",
              at);
}

std::optional<bound_expression> expression_binder::bind_query_test(expression test,
                                                                   std::string_view word) {
  const bool null_is_false = std::exchange(null_is_false_, false);
  if (plan_query_test_)
    return plan_query_test_(test, null_is_false);
  return fail(diagnostic_kind::unsupported,
              std::string(word) + " is supported in WHERE, HAVING, and in the list of a SELECT",
              test.at);
}

std::optional<bound_expression> expression_binder::bind_node(const exists& from, source_span at) {
  return bind_query_test({from, at}, "EXISTS");
}

std::optional<bound_expression> expression_binder::bind_node(const in_query& from, source_span at) {
  return bind_query_test({from, at}, "IN (query)");
}

std::optional<bound_expression> expression_binder::bind_node(const quantified_comparison& from,
                                                             source_span at) {
  if (!from.rows)
    return fail(diagnostic_kind::unsupported,
                "ANY and ALL are supported of a query; a list is written with IN", at);
  return bind_query_test({from, at}, "ANY or ALL of a query");
}

std::optional<bound_expression> expression_binder::bind_node(const field_access& from,
                                                             source_span) {
  auto row = bind(*from.value);
  return row ? bind_field(std::move(*row), from.field) : std::nullopt;
}

std::optional<bound_expression> expression_binder::bind_node(const item_access& from,
                                                             source_span at) {
  auto value = bind(*from.value);
  auto index = bind(*from.index);
  if (!value || !index)
    return std::nullopt;
  const auto root = value->type.root();
  logical_type type = logical_type::null();
  if (root == type_root::array && (is_exact_integer(index->type.root()))) {
    *index = cast_to(std::move(*index), logical_type::integer());
    type = value->type.child(0);
  } else if (root == type_root::map) {
    if (!is_comparable(index->type, value->type.child(0)))
      return fail(diagnostic_kind::type_mismatch,
                  "key of the map is " + value->type.child(0).nullable().to_sql() + ", found " +
                      index->type.nullable().to_sql(),
                  index->at);
    *index = cast_to(std::move(*index), value->type.child(0));
    type = value->type.child(1);
  } else {
    return fail(diagnostic_kind::type_mismatch,
                "only an ARRAY (by an integer) and a MAP have items, found " +
                    value->type.nullable().to_sql() + " and " + index->type.nullable().to_sql(),
                at);
  }
  std::vector<bound_expression> arguments;
  arguments.push_back(std::move(*value));
  arguments.push_back(std::move(*index));
  return call("ITEM", std::move(arguments), type.nullable(), at);
}

std::optional<bound_expression> expression_binder::bind_node(const row_constructor& from,
                                                             source_span at) {
  auto items = bind_all(from.items);
  if (!items)
    return std::nullopt;
  std::vector<logical_type::field> fields;
  for (std::size_t i = 0; i < items->size(); ++i)
    fields.push_back({"EXPR$" + std::to_string(i), (*items)[i].type, {}});
  return call("ROW", std::move(*items), logical_type::row(std::move(fields)).not_null(), at);
}

std::optional<bound_expression> expression_binder::bind_node(const collection_constructor& from,
                                                             source_span at) {
  if (from.rows)
    return fail(diagnostic_kind::unsupported, "collection of a query is not supported", at);
  auto items = bind_all(from.items);
  if (!items)
    return std::nullopt;
  if (items->empty())
    return fail(diagnostic_kind::unsupported, "empty collection has no type: CAST it", at);
  const bool is_map = from.kind == collection_kind::map;
  const std::size_t step = is_map ? 2 : 1;
  std::vector<logical_type> children;
  for (std::size_t place = 0; place < step; ++place) {
    std::vector<logical_type> types;
    for (auto i = place; i < items->size(); i += step)
      types.push_back((*items)[i].type);
    auto common = common_type(types);
    if (!common)
      return fail(diagnostic_kind::type_mismatch, "items of the collection have no type in common",
                  at);
    for (auto i = place; i < items->size(); i += step)
      (*items)[i] = cast_to(std::move((*items)[i]), *common);
    children.push_back(std::move(*common));
  }
  if (is_map)
    return call("MAP", std::move(*items), logical_type::map(children[0], children[1]).not_null(),
                at);
  const bool is_array = from.kind == collection_kind::array;
  return call(is_array ? "ARRAY" : "MULTISET", std::move(*items),
              (is_array ? logical_type::array(children[0]) : logical_type::multiset(children[0]))
                  .not_null(),
              at);
}

std::optional<bound_expression> expression_binder::unknown_function(const function_call& from) {
  std::vector<std::string_view> candidates;
  for (const auto& each : all_functions())
    candidates.push_back(each.name);
  const auto shown = to_sql(from.function);
  return fail(diagnostic_kind::unknown_name,
              with_nearest("unknown function: " + shown, in_capitals(shown), candidates),
              from.function.at);
}

std::optional<bound_expression> expression_binder::bind_current_database(const function_call& from,
                                                                         source_span at) {
  if (!from.arguments.empty() || from.is_distinct || from.filter || from.over)
    return fail(diagnostic_kind::invalid, "CURRENT_DATABASE takes no arguments", at);
  if (functions_ == nullptr)
    return fail(diagnostic_kind::unsupported, "CURRENT_DATABASE does not stand here", at);
  return bound_expression{bound_constant{functions_->database, std::nullopt},
                          logical_type::string().not_null(), at};
}

std::optional<bound_expression> expression_binder::bind_node(const function_call& from,
                                                             source_span at) {
  const auto function =
      from.function.parts.size() == 1 ? in_capitals(from.function.parts[0].text) : std::string();
  if (pattern_ != nullptr)
    if (auto told = bind_pattern_call(from, at))
      return std::move(*told);
  if (auto told = bind_group_window(from, at))
    return std::move(*told);
  const auto find_user = [&](bool is_system) {
    return functions_ != nullptr ? functions_->find(from.function, is_system) : nullptr;
  };
  if (auto user = find_user(true))
    return bind_user_call(from, std::move(user), at);
  if (function == "CURRENT_DATABASE")
    return bind_current_database(from, at);
  const auto ways = find_function(function);
  if (function == "APPROX_COUNT_DISTINCT" && from.arguments.size() == 1 && !from.is_distinct) {
    auto exact = from; // what is counted is kept anyway
    exact.function.parts[0].text = "COUNT";
    exact.is_distinct = true;
    return bind_node(exact, at);
  }
  if (ways.empty()) {
    auto user = find_user(false);
    return user ? bind_user_call(from, std::move(user), at) : unknown_function(from);
  }
  if (from.over)
    return bind_over_call(from, function, ways, at);
  if (!from.within_group.empty())
    return fail(diagnostic_kind::unsupported,
                function + " takes no WITHIN GROUP, as in Flink: values are in the order in which "
                           "their rows come",
                at);
  if (from.nulls != null_treatment::unsaid)
    return fail(diagnostic_kind::unsupported, "the treatment of NULLs is not supported here", at);
  const auto kind = ways[0].kind;
  if (kind == function_kind::ranking)
    return fail(diagnostic_kind::invalid, function + " needs OVER (…)", at);
  const bool is_aggregate = kind == function_kind::aggregate;
  if (is_aggregate && (!allows_aggregates_ || is_in_aggregate_))
    return fail(diagnostic_kind::invalid,
                is_in_aggregate_ ? "an aggregate does not stand inside another one: " + function
                                 : "an aggregate does not stand here: " + function,
                at);
  if (from.is_distinct && !is_aggregate)
    return fail(diagnostic_kind::invalid, "DISTINCT is for aggregates: " + function, at);
  if (from.filter && !is_aggregate)
    return fail(diagnostic_kind::invalid, "FILTER is for aggregates: " + function, at);
  const bool was_in_aggregate = is_in_aggregate_;
  is_in_aggregate_ |= is_aggregate;
  std::vector<bound_expression> arguments;
  bool is_sound = true;
  for (const auto& each : from.arguments) {
    if (each.label) {
      fail(diagnostic_kind::unsupported, "named arguments are for table functions", each.label->at);
      is_sound = false;
      continue;
    }
    // COUNT(*) counts rows: without arguments.
    if (std::holds_alternative<star>(each.value.node) && function == "COUNT" &&
        from.arguments.size() == 1 && !from.is_distinct)
      continue;
    auto bound = bind(each.value);
    is_sound &= bound.has_value();
    if (bound)
      arguments.push_back(std::move(*bound));
  }
  maybe filter;
  if (from.filter) {
    filter = bind_condition(**from.filter);
    is_sound &= filter.has_value();
  }
  is_in_aggregate_ = was_in_aggregate;
  if (!is_sound)
    return std::nullopt;
  if (function == "COUNT" && arguments.size() > 1)
    arguments = {from.is_distinct ? row_key(std::move(arguments), at)
                                  : row_without_null(std::move(arguments), at)};
  auto out = apply(ways, from, std::move(arguments), at);
  if (out && filter)
    std::get<bound_call>(out->node).filter = std::move(*filter);
  return out;
}

logical_type expression_binder::type_by_constants(std::string_view function,
                                                  const logical_type& type,
                                                  std::vector<bound_expression>& arguments) {
  if ((function == "ROUND" || function == "TRUNCATE") && type.root() == type_root::decimal) {
    const auto& from = arguments[0].type;
    const auto* constant =
        arguments.size() > 1 ? std::get_if<bound_constant>(&arguments[1].node) : nullptr;
    if (arguments.size() > 1 && (constant == nullptr || !constant->text))
      return type;
    const auto digits = arguments.size() > 1 ? graph::parse_integer<std::int32_t>(*constant->text)
                                             : std::optional<std::int32_t>(0);
    if (!digits || *digits >= from.scale())
      return from;
    const int kept = std::max(*digits, 0);
    return logical_type::decimal(std::min(38, 1 + from.precision() - from.scale() + kept), kept);
  }
  // A day and hours are a point in time.
  if (function == "TIMESTAMPADD" && type.root() == type_root::date) {
    const auto& unit = *std::get<bound_constant>(arguments[0].node).text;
    if (unit == "HOUR" || unit == "MINUTE" || unit == "SECOND") {
      arguments[2] = cast_to(std::move(arguments[2]), logical_type::timestamp(6));
      return arguments[2].type;
    }
  }
  return type;
}

/// Numbers as they are computed with; percentages are parts of 1, and there.
bool expression_binder::fit_percentile(std::vector<bound_expression>& arguments) {
  const auto& given = arguments[1];
  const bool is_array = given.type.root() == type_root::array;
  const auto& each = is_array ? given.type.child(0) : given.type;
  if (given.type.is_nullable() || each.is_nullable() || !is_numeric(each.root()) ||
      !are_parts(given)) {
    fail(diagnostic_kind::type_mismatch,
         "percentage of PERCENTILE is a number from 0 to 1 that is NOT NULL, or an ARRAY of them",
         given.at);
    return false;
  }
  const auto real = logical_type::float64();
  arguments[0] = cast_to(std::move(arguments[0]), real);
  arguments[1] = cast_to(std::move(arguments[1]), is_array ? logical_type::array(real) : real);
  if (arguments.size() > 2)
    arguments[2] = cast_to(std::move(arguments[2]), logical_type::bigint());
  return true;
}

/// Takes the first way that fits; else says why the nearest one does not.
std::optional<bound_expression> expression_binder::apply(std::span<const function_signature> ways,
                                                         const function_call& from,
                                                         std::vector<bound_expression> arguments,
                                                         source_span at) {
  const std::string function(ways[0].name);
  const bool counts_rows = function == "COUNT" && arguments.empty() && !from.arguments.empty();
  const auto is_symbol = [](const bound_expression& each) {
    return each.type.root() == type_root::null && !each.type.is_nullable();
  };
  std::string why;
  source_span why_at = at;
  for (const auto& way : ways) {
    if (!counts_rows && !takes_count(way, arguments.size())) {
      if (why.empty())
        why = function + " does not take " + std::to_string(arguments.size()) +
              (arguments.size() == 1 ? " argument" : " arguments");
      continue;
    }
    std::vector<logical_type> types;
    bool is_fit = true;
    for (std::size_t i = 0; i < arguments.size() && is_fit; ++i) {
      const auto letter = parameter_at(way, i);
      is_fit = letter == 'k' ? is_symbol(arguments[i])
                             : !is_symbol(arguments[i]) && fits(letter, arguments[i].type);
      if (!is_fit) {
        why = "argument " + std::to_string(i + 1) + " of " + function + " is " +
              std::string(parameter_text(letter)) + ", found " +
              (is_symbol(arguments[i]) ? "a word" : arguments[i].type.nullable().to_sql());
        why_at = arguments[i].at;
      } else if (letter != 'k') {
        types.push_back(arguments[i].type);
      }
    }
    if (!is_fit)
      continue;
    const auto give_type = [&](std::size_t i, const std::optional<logical_type>& wanted) {
      if (!wanted || arguments[i].type.root() != type_root::null || is_symbol(arguments[i]))
        return;
      arguments[i] = cast_to(std::move(arguments[i]), *wanted);
      types[i] = arguments[i].type;
    };
    const bool has_words = types.size() != arguments.size();
    for (std::size_t i = 0; i < arguments.size() && !has_words; ++i)
      give_type(i, type_of_null(parameter_at(way, i)));
    auto type = way.result(types);
    const bool is_aggregate = way.kind == function_kind::aggregate;
    if (!has_words && (is_aggregate || (type && type->root() == type_root::null))) {
      for (std::size_t i = 0; i < arguments.size(); ++i)
        give_type(i, logical_type::integer());
      type = way.result(types);
    }
    if (!type) {
      why = "arguments of " + function + " have no type in common";
      continue;
    }
    *type = type_by_constants(function, *type, arguments);
    if (function == "PERCENTILE" && !fit_percentile(arguments))
      return std::nullopt;
    const auto is_null = [](const logical_type& each) { return each.is_nullable(); };
    bool is_nullable = way.nulls == null_rule::always;
    if (way.nulls == null_rule::any)
      is_nullable = std::any_of(types.begin(), types.end(), is_null);
    else if (way.nulls == null_rule::all)
      is_nullable = std::all_of(types.begin(), types.end(), is_null);
    // What results in a common type is cast to it.
    if (way.result != nullptr && (function == "COALESCE" || function == "IFNULL" ||
                                  function == "GREATEST" || function == "LEAST"))
      for (auto& each : arguments)
        each = cast_to(std::move(each), *type);
    if (function == "IF")
      for (std::size_t i = 1; i < arguments.size(); ++i)
        arguments[i] = cast_to(std::move(arguments[i]), *type);
    auto out =
        call(function, std::move(arguments), is_nullable ? type->nullable() : type->not_null(), at);
    auto& made = std::get<bound_call>(out.node);
    made.is_aggregate = way.kind == function_kind::aggregate;
    made.is_distinct = from.is_distinct;
    return out;
  }
  return fail(diagnostic_kind::type_mismatch, std::move(why), why_at);
}

} // namespace headrace::sql
