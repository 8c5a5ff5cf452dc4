#include "libgraph/sql/bind/expression_binder.hpp"
#include "libgraph/sql/bind/pattern_scope.hpp"
#include "libgraph/types/value_text.hpp"
#include "libactors/base/text.hpp"

#include <algorithm>

// Columns, navigation and aggregates inside of MATCH_RECOGNIZE.
namespace headrace::sql {
namespace {

/// The column that an expression of a column and its fields is from. What may be missing, as its
/// row may be, is nullable.
bound_column& let_be_missing(bound_expression& in) {
  in.type = in.type.nullable();
  auto* field = std::get_if<bound_field>(&in.node);
  return field != nullptr ? let_be_missing(*field->row) : std::get<bound_column>(in.node);
}

std::string name_of_call(const function_call& from) {
  return from.function.parts.size() == 1 ? in_capitals(from.function.parts[0].text) : std::string();
}

} // namespace

std::optional<std::size_t> pattern_scope::find(std::string_view variable) const {
  const auto found = std::find(variables_.begin(), variables_.end(), variable);
  if (found == variables_.end())
    return std::nullopt;
  return static_cast<std::size_t>(found - variables_.begin());
}

std::size_t pattern_scope::add(pattern_value value) {
  const auto same = std::find(values_.begin(), values_.end(), value);
  const auto place = static_cast<std::size_t>(same - values_.begin());
  if (same == values_.end())
    values_.push_back(std::move(value));
  return width_ + place;
}

/// Notes whose rows a navigation or an aggregate is about: one variable's, or all.
bool expression_binder::note_variable(std::optional<std::size_t> variable, source_span at) {
  if (!navigation_.is_inside || !navigation_.has_variable) {
    navigation_.has_variable = true;
    navigation_.variable = variable;
    return true;
  }
  if (navigation_.variable == variable)
    return true;
  fail(diagnostic_kind::invalid,
       "one navigation or aggregate is about the rows of one pattern variable, found two", at);
  return false;
}

std::optional<bound_expression> expression_binder::bind_pattern_column(const column_reference& from,
                                                                       source_span at) {
  auto path = from.path;
  std::optional<std::size_t> variable;
  if (path.parts.size() > 1) {
    const auto& first = path.parts[0];
    variable = pattern_->find(first.text);
    const auto& columns = scope_.columns();
    const bool is_column = std::any_of(columns.begin(), columns.end(),
                                       [&](const auto& each) { return each.name == first.text; });
    if (variable) {
      path.parts.erase(path.parts.begin());
    } else if (!is_column) {
      const std::vector<std::string_view> known(pattern_->variables().begin(),
                                                pattern_->variables().end());
      const auto nearest = nearest_name(first.text, known);
      return fail(diagnostic_kind::unknown_name,
                  "unknown pattern variable: " + first.text +
                      (nearest.empty() ? "" : ", did you mean " + std::string(nearest)),
                  first.at);
    }
  }
  auto out = resolve({std::move(path)}, at);
  if (!out || !note_variable(variable, at))
    return std::nullopt;
  if (is_in_aggregate_)
    return out;
  const bool is_this_row = pattern_->current() && navigation_.is_last && navigation_.offset == 0 &&
                           (!variable || variable == pattern_->current());
  if (is_this_row)
    return out;
  auto& column = let_be_missing(*out);
  pattern_value value;
  value.what = navigation_.is_last ? pattern_value::kind::last : pattern_value::kind::first;
  value.variable = variable;
  value.offset = navigation_.offset;
  value.column = column.index;
  value.type = scope_.columns()[column.index].type.nullable();
  column.index = pattern_->add(std::move(value));
  return out;
}

/// FIRST(x), LAST(x, 1), PREV(x, 0) and NEXT(x, 0).
std::optional<bound_expression> expression_binder::bind_navigation(const function_call& from,
                                                                   const std::string& function,
                                                                   source_span at) {
  if (navigation_.is_inside)
    return fail(diagnostic_kind::unsupported,
                function + " does not stand inside another navigation or an aggregate", at);
  if (from.arguments.empty() || from.arguments.size() > 2 || from.is_distinct || from.filter ||
      from.over)
    return fail(diagnostic_kind::invalid, function + " takes a value, and perhaps a number of rows",
                at);
  const bool is_physical = function == "PREV" || function == "NEXT";
  std::int32_t offset = is_physical ? 1 : 0;
  if (from.arguments.size() == 2) {
    const auto* given = std::get_if<literal>(&from.arguments[1].value.node);
    const auto count = given != nullptr && given->kind == literal_kind::integer
                           ? graph::parse_integer<std::int32_t>(given->text)
                           : std::nullopt;
    if (!count || *count < 0)
      return fail(diagnostic_kind::invalid, function + " counts rows by a constant number",
                  from.arguments[1].value.at);
    offset = *count;
  }
  if (is_physical && !pattern_->current())
    return fail(diagnostic_kind::invalid, function + " does not stand in MEASURES", at);
  if (is_physical && offset != 0)
    return fail(diagnostic_kind::unsupported,
                function + " would see rows that belong to no variable, which is not supported; "
                           "LAST(A.x, 1) is of the row of A before the current one",
                at);
  navigation_ = {true, function != "FIRST", offset, false, std::nullopt};
  auto out = bind(from.arguments[0].value);
  const bool has_variable = navigation_.has_variable;
  navigation_ = {};
  if (out && !has_variable)
    return fail(diagnostic_kind::invalid, function + " takes a column of a pattern variable", at);
  return out;
}

std::optional<bound_expression>
expression_binder::bind_pattern_aggregate(const function_call& from, const std::string& function,
                                          std::span<const function_signature> ways,
                                          source_span at) {
  if (is_in_aggregate_)
    return fail(diagnostic_kind::invalid,
                "an aggregate does not stand inside another one: " + function, at);
  if (navigation_.is_inside)
    return fail(diagnostic_kind::invalid,
                "an aggregate does not stand inside of FIRST, LAST, PREV or NEXT: " + function, at);
  if (from.is_distinct)
    return fail(diagnostic_kind::unsupported,
                "DISTINCT is not supported in aggregates of MATCH_RECOGNIZE", at);
  if (from.filter || from.over || !from.within_group.empty() ||
      from.nulls != null_treatment::unsaid)
    return fail(diagnostic_kind::unsupported,
                "FILTER, OVER, WITHIN GROUP and the treatment of NULLs are not supported in "
                "MATCH_RECOGNIZE",
                at);
  pattern_value value;
  bool is_sound = true;
  navigation_ = {true, true, 0, false, std::nullopt};
  is_in_aggregate_ = true;
  for (const auto& each : from.arguments) {
    if (std::holds_alternative<star>(each.value.node) && !std::get<star>(each.value.node).of &&
        function == "COUNT" && from.arguments.size() == 1)
      continue;
    auto bound = bind(each.value);
    is_sound &= bound.has_value();
    if (bound)
      value.arguments.push_back(std::move(*bound));
  }
  value.variable = navigation_.variable;
  is_in_aggregate_ = false;
  navigation_ = {};
  if (!is_sound)
    return std::nullopt;
  auto made = apply(ways, from, std::move(value.arguments), at);
  if (!made)
    return std::nullopt;
  value.what = pattern_value::kind::aggregate;
  value.function = function;
  value.arguments = std::move(std::get<bound_call>(made->node).arguments);
  value.type = made->type;
  return bound_expression{bound_column{pattern_->add(std::move(value))}, made->type, at};
}

std::optional<std::optional<bound_expression>>
expression_binder::bind_pattern_call(const function_call& from, source_span at) {
  const auto function = name_of_call(from);
  if (function == "FIRST" || function == "LAST" || function == "PREV" || function == "NEXT")
    return bind_navigation(from, function, at);
  if (function == "CLASSIFIER" || function == "MATCH_NUMBER")
    return fail(diagnostic_kind::unsupported, function + " is not supported", at);
  if (function == "MATCH_PROCTIME" || function == "MATCH_ROWTIME") {
    if (pattern_->current() || navigation_.is_inside)
      return fail(diagnostic_kind::invalid, function + "() stands in MEASURES, by itself", at);
    if (function == "MATCH_PROCTIME")
      return call("PROCTIME", {}, logical_type::timestamp_ltz(3).not_null(), at);
    if (!pattern_->time_type())
      return fail(diagnostic_kind::invalid,
                  "MATCH_ROWTIME() needs ORDER BY a column with a WATERMARK", at);
    pattern_value value;
    value.what = pattern_value::kind::match_time;
    value.type = *pattern_->time_type();
    const auto type = value.type;
    return bound_expression{bound_column{pattern_->add(std::move(value))}, type, at};
  }
  const auto ways = find_function(function);
  if (!ways.empty() && ways[0].kind == function_kind::aggregate)
    return bind_pattern_aggregate(from, function, ways, at);
  return std::nullopt;
}

std::optional<bound_expression> expression_binder::bind_node(const match_semantics& from,
                                                             source_span at) {
  if (pattern_ == nullptr)
    return fail(diagnostic_kind::invalid, "FINAL and RUNNING stand in MATCH_RECOGNIZE", at);
  if (!from.is_final)
    return fail(diagnostic_kind::unsupported, "RUNNING is not supported", at);
  if (pattern_->current())
    return fail(diagnostic_kind::invalid, "FINAL does not stand in DEFINE", at);
  return bind(*from.value);
}

} // namespace headrace::sql
