#include "libgraph/sql/bind/interval_value.hpp"
#include "libgraph/sql/plan/query_planner.hpp"
#include "libactors/base/text.hpp"

#include <algorithm>
#include <limits>

// MATCH_RECOGNIZE: what Flink takes of it.
namespace headrace::sql {
namespace {

std::optional<std::size_t> find_variable(const match_node& in, std::string_view name) {
  for (std::size_t i = 0; i < in.variables.size(); ++i)
    if (in.variables[i].name == name)
      return i;
  return std::nullopt;
}

std::string with_nearest_variable(std::string message, std::string_view wanted,
                                  const match_node& in) {
  std::vector<std::string_view> known;
  for (const auto& each : in.variables)
    known.push_back(each.name);
  const auto nearest = nearest_name(wanted, known);
  return message + (nearest.empty() ? "" : ", did you mean " + std::string(nearest));
}

/// What a measure has to do with time.
time_kind time_of(const bound_expression& measure, const pattern_scope& pattern,
                  std::size_t width) {
  if (const auto* column = std::get_if<bound_column>(&measure.node);
      column != nullptr && column->index >= width &&
      pattern.values()[column->index - width].what == pattern_value::kind::match_time)
    return time_kind::row_time;
  const auto* call = std::get_if<bound_call>(&measure.node);
  return call != nullptr && call->function == "PROCTIME" ? time_kind::processing_time
                                                         : time_kind::none;
}

} // namespace

std::optional<query_planner::relation> query_planner::plan_match(const match_recognize& from,
                                                                 source_span at) {
  auto input = plan_table(*from.input);
  if (!input)
    return std::nullopt;
  if (from.all_rows_per_match.value_or(false))
    return unsupported("ALL ROWS PER MATCH is not supported", at);
  if (from.is_anchored_at_start || from.is_anchored_at_end)
    return unsupported("anchors in PATTERN are not supported: ^ and $", from.pattern.at);
  if (!from.subsets.empty())
    return unsupported("SUBSET is not supported", from.subsets[0].label.at);
  match_node made;
  bool is_sound = find_match_rows(from, *input, made);
  is_sound &= flatten_pattern(from.pattern, made);
  if (!is_sound || !check_last_variable(from, made) || !find_skip(from, made))
    return std::nullopt;

  std::vector<std::string> names;
  for (const auto& each : made.variables)
    names.push_back(each.name);
  const auto& columns = input->plan.columns;
  pattern_scope pattern(std::move(names), columns.size());
  const auto& time = columns[made.order[0].column];
  if (time.time == time_kind::row_time)
    pattern.set_time_type((time.type.root() == type_root::timestamp_ltz
                               ? logical_type::timestamp_ltz(3)
                               : logical_type::timestamp(3))
                              .not_null());
  expression_binder binder(input->scope, findings_, &functions_);
  binder.set_pattern(pattern);
  plan_node out;
  out.at = at;
  for (const auto each : made.partition) {
    out.columns.push_back(columns[each]);
    out.columns.back().time = time_kind::none;
    out.columns.back().window.reset();
  }
  is_sound = bind_defines(from, binder, pattern, made);
  pattern.set_current(std::nullopt);
  out.node = std::move(made);
  is_sound &= bind_measures(from, binder, out);
  if (!is_sound)
    return std::nullopt;
  auto& node = std::get<match_node>(out.node);
  node.values = pattern.values();
  for (std::size_t i = 0; i < node.measures.size(); ++i)
    out.columns[node.partition.size() + i].time =
        time_of(node.measures[i], pattern, columns.size());
  out.inputs.push_back(std::move(input->plan));
  auto scope = scope_of(out.columns, {});
  return relation{std::move(out), std::move(scope)};
}

/// PARTITION BY, ORDER BY and WITHIN.
bool query_planner::find_match_rows(const match_recognize& from, const relation& input,
                                    match_node& out) {
  expression_binder binder(input.scope, findings_, &functions_);
  bool is_sound = true;
  const auto column_of = [&](const expression& given, std::string_view clause) {
    const auto bound = binder.bind(given);
    const auto* column = bound ? std::get_if<bound_column>(&bound->node) : nullptr;
    is_sound &= column != nullptr;
    if (bound && column == nullptr)
      unsupported(std::string(clause) + " of MATCH_RECOGNIZE takes columns", given.at);
    return column != nullptr ? std::optional(column->index) : std::nullopt;
  };
  for (const auto& each : from.partition_by)
    if (const auto column = column_of(each, "PARTITION BY"))
      out.partition.push_back(*column);
  for (const auto& each : from.order_by)
    if (const auto column = column_of(each.value, "ORDER BY"))
      out.order.push_back(
          {*column, each.is_descending, each.nulls_first.value_or(!each.is_descending)});
  if (!is_sound)
    return false;
  const bool is_by_time =
      !out.order.empty() && input.plan.columns[out.order[0].column].time != time_kind::none;
  if (!is_by_time || out.order[0].is_descending) {
    const auto at = from.order_by.empty() ? from.pattern.at : from.order_by[0].value.at;
    fail(diagnostic_kind::invalid,
         is_by_time ? "ORDER BY of MATCH_RECOGNIZE is ascending in time"
                    : "ORDER BY of MATCH_RECOGNIZE begins with a time attribute: a column with a "
                      "WATERMARK, or of PROCTIME()",
         at);
    return false;
  }
  if (!from.within)
    return true;
  const auto* given = std::get_if<literal>(&from.within->node);
  const bool is_interval =
      given != nullptr && given->interval && given->interval->from > interval_unit::month;
  const auto within =
      is_interval ? interval_value((given->is_negative ? "-" : "") + given->text, *given->interval)
                  : std::nullopt;
  if (!within || *within <= 0) {
    fail(diagnostic_kind::invalid,
         "WITHIN takes a positive interval of days to seconds such as INTERVAL '10' MINUTES",
         from.within->at);
    return false;
  }
  out.within_ms = *within;
  return true;
}

/// A pattern is variables one behind the other; parentheses without a quantifier mean nothing.
bool query_planner::flatten_pattern(const row_pattern& from, match_node& out) {
  switch (from.written) {
  case row_pattern::kind::variable:
    return add_variable(from, out);
  case row_pattern::kind::alternation:
    return refuse("alternatives in PATTERN are not supported: A | B", from.at);
  case row_pattern::kind::exclusion:
    return refuse("exclusions in PATTERN are not supported: {- A -}", from.at);
  case row_pattern::kind::permutation:
    return refuse("PERMUTE is not supported", from.at);
  case row_pattern::kind::empty:
    return refuse("PATTERN has no variable", from.at);
  case row_pattern::kind::sequence:
    break;
  }
  if (from.is_quantified)
    return refuse("a quantifier behind parentheses is not supported: (A B)+", from.at);
  return std::ranges::all_of(from.parts,
                             [&](const row_pattern& each) { return flatten_pattern(each, out); });
}

bool query_planner::add_variable(const row_pattern& from, match_node& out) {
  const auto invalid = [&](std::string message) {
    fail(diagnostic_kind::invalid, std::move(message), from.at);
    return false;
  };
  if (find_variable(out, from.variable))
    return refuse("a pattern variable stands in PATTERN once, found again: " + from.variable,
                  from.at);
  constexpr auto most = static_cast<std::uint32_t>(std::numeric_limits<std::int32_t>::max());
  if (from.repeat_min > most || from.repeat_max.value_or(0) > most)
    return invalid("pattern quantifier is too large");
  pattern_variable made;
  made.name = from.variable;
  made.repeat_min = static_cast<std::int32_t>(from.repeat_min);
  made.repeat_max.reset();
  if (from.repeat_max)
    made.repeat_max = static_cast<std::int32_t>(*from.repeat_max);
  const bool is_optional = made.repeat_min == 0 && made.repeat_max == 1;
  const bool is_fixed = made.repeat_max == made.repeat_min;
  if (is_optional && from.is_reluctant)
    return refuse("a reluctant optional variable is not supported: " + from.variable + "??",
                  from.at);
  made.is_reluctant = from.is_reluctant;
  made.is_greedy = from.is_quantified && !from.is_reluctant && !is_optional && !is_fixed;
  const bool may_be_left_out = is_optional || (made.repeat_min == 0 && !made.repeat_max);
  if (may_be_left_out && !out.variables.empty() && out.variables.back().is_greedy)
    return refuse("a variable with * or ? does not follow a greedy one, which is not supported: " +
                      out.variables.back().name + " " + from.variable +
                      "; make the first one reluctant",
                  from.at);
  out.variables.push_back(std::move(made));
  return true;
}

bool query_planner::check_last_variable(const match_recognize& from, const match_node& of) {
  if (std::ranges::all_of(of.variables, [](const auto& each) { return each.repeat_min == 0; }))
    return refuse("a pattern that no row matches is not supported: one of its variables has to "
                  "take a row",
                  from.pattern.at);
  if (of.variables.back().is_greedy)
    return refuse("a greedy quantifier does not stand at the end of a pattern, which is not "
                  "supported: " +
                      of.variables.back().name + "; make it reluctant, or end with a variable",
                  from.pattern.at);
  return true;
}

bool query_planner::find_skip(const match_recognize& from, match_node& out) {
  if (from.skip != match_skip::unsaid)
    out.skip = from.skip;
  if (!from.skip_variable)
    return true;
  out.skip_variable = find_variable(out, from.skip_variable->text);
  if (out.skip_variable)
    return true;
  fail(diagnostic_kind::unknown_name,
       with_nearest_variable("unknown pattern variable: " + from.skip_variable->text,
                             from.skip_variable->text, out),
       from.skip_variable->at);
  return false;
}

bool query_planner::bind_defines(const match_recognize& from, expression_binder& binder,
                                 pattern_scope& pattern, match_node& out) {
  bool is_sound = true;
  for (const auto& each : from.defines) {
    const auto place = find_variable(out, each.label.text);
    if (!place) {
      fail(diagnostic_kind::unknown_name,
           with_nearest_variable("pattern variable is not in PATTERN: " + each.label.text,
                                 each.label.text, out),
           each.label.at);
      is_sound = false;
      continue;
    }
    if (out.variables[*place].condition) {
      fail(diagnostic_kind::duplicate_name, "pattern variable is defined twice: " + each.label.text,
           each.label.at);
      is_sound = false;
      continue;
    }
    pattern.set_current(*place);
    out.variables[*place].condition = binder.bind_condition(each.value);
    is_sound &= out.variables[*place].condition.has_value();
  }
  return is_sound;
}

bool query_planner::bind_measures(const match_recognize& from, expression_binder& binder,
                                  plan_node& out) {
  auto& node = std::get<match_node>(out.node);
  if (from.measures.empty())
    return refuse("MATCH_RECOGNIZE needs MEASURES: what a row for a match has", from.pattern.at);
  bool is_sound = true;
  for (const auto& each : from.measures) {
    const bool is_known = std::ranges::any_of(
        out.columns, [&](const plan_column& column) { return column.name == each.label.text; });
    if (is_known) {
      fail(diagnostic_kind::duplicate_name,
           "MATCH_RECOGNIZE gives two columns of this name: " + each.label.text, each.label.at);
      is_sound = false;
    }
    auto bound = binder.bind(each.value);
    is_sound &= bound.has_value();
    if (!bound)
      continue;
    out.columns.push_back({each.label.text, bound->type, time_kind::none, std::nullopt});
    node.measures.push_back(std::move(*bound));
  }
  return is_sound;
}

} // namespace headrace::sql
