#include "libgraph/sql/bind/expression_binder.hpp"
#include "libgraph/sql/bind/interval_value.hpp"
#include "libgraph/types/value_text.hpp"
#include "libactors/base/text.hpp"

#include <algorithm>

// Calls with OVER, and the windows of rows that they are over; what tells of GROUP BY's window.
namespace headrace::sql {
namespace {

bool is_positive(const bound_expression& number) {
  const auto* given = std::get_if<bound_constant>(&number.node);
  const auto value = given != nullptr && given->text
                         ? graph::parse_integer<std::int64_t>(*given->text)
                         : std::nullopt;
  return value.value_or(0) > 0;
}

} // namespace

std::optional<window_function> group_window::kind_of(const function_call& call) {
  if (call.function.parts.size() != 1 || call.over)
    return std::nullopt;
  const auto name = in_capitals(call.function.parts[0].text);
  if (name == "TUMBLE")
    return window_function::tumble;
  if (name == "HOP")
    return window_function::hop;
  if (name == "SESSION")
    return window_function::session;
  return std::nullopt;
}

std::optional<std::optional<bound_expression>>
expression_binder::bind_group_window(const function_call& from, source_span at) {
  if (from.function.parts.size() != 1)
    return std::nullopt;
  auto word = in_capitals(from.function.parts[0].text);
  const auto cut = word.find('_');
  const auto told = cut == word.npos ? std::string() : word.substr(cut + 1);
  word.resize(std::min(cut, word.size()));
  const bool is_window = word == "TUMBLE" || word == "HOP" || word == "SESSION";
  const bool is_known =
      told.empty() || told == "START" || told == "END" || told == "ROWTIME" || told == "PROCTIME";
  if (!is_window || !is_known)
    return std::nullopt;
  const auto shown = in_capitals(from.function.parts[0].text);
  const bool is_same = group_window_ != nullptr && group_window_->call != nullptr &&
                       in_capitals(group_window_->call->function.parts[0].text) == word &&
                       group_window_->call->arguments == from.arguments;
  if (!is_same)
    return fail(diagnostic_kind::invalid,
                shown + (told.empty() ? " stands in GROUP BY, or in FROM over a table"
                                      : " needs " + word + " with the same arguments in GROUP BY"),
                at);
  const auto place = group_window_->first_column + (told == "END"       ? 1U
                                                    : told == "ROWTIME" ? 2U
                                                                        : 0U);
  if (told == "PROCTIME")
    return call("PROCTIME", {}, logical_type::timestamp_ltz(3).not_null(), at);
  return bound_expression{bound_column{place}, scope_.columns()[place].type, at};
}

std::optional<bound_expression>
expression_binder::bind_over_call(const function_call& from, const std::string& function,
                                  std::span<const function_signature> ways, source_span at) {
  const auto kind = ways[0].kind;
  if (kind == function_kind::scalar)
    return fail(diagnostic_kind::invalid,
                "OVER is for aggregates and functions that rank, not for " + function, at);
  if (named_windows_ == nullptr || is_in_window_ || is_in_aggregate_)
    return fail(diagnostic_kind::invalid,
                "a function with OVER does not stand here: " + function +
                    "; select it in a sub-query, or filter by QUALIFY",
                at);
  if (!from.within_group.empty() || from.nulls != null_treatment::unsaid || from.filter)
    return fail(diagnostic_kind::unsupported,
                "FILTER, WITHIN GROUP and the treatment of NULLs are not supported with OVER", at);
  is_in_window_ = true;
  std::vector<bound_expression> arguments;
  bool is_sound = true;
  for (const auto& each : from.arguments) {
    if (std::holds_alternative<star>(each.value.node) && function == "COUNT" &&
        from.arguments.size() == 1 && !from.is_distinct)
      continue;
    auto bound = bind(each.value);
    is_sound &= bound.has_value();
    if (bound)
      arguments.push_back(std::move(*bound));
  }
  const auto wanted = resolve_window(**from.over);
  auto window = wanted ? bind_window(*wanted) : std::nullopt;
  is_in_window_ = false;
  if (!is_sound || !window)
    return std::nullopt;
  if (kind == function_kind::ranking) {
    if (window->order_by.empty())
      return fail(diagnostic_kind::invalid, function + " needs ORDER BY in its OVER (…)", at);
    if (wanted->frame)
      return fail(diagnostic_kind::invalid, function + " takes no ROWS or RANGE", at);
  }
  const bool is_beside = function == "LAG" || function == "LEAD";
  if (is_beside && arguments.size() > 1 &&
      !std::holds_alternative<bound_constant>(arguments[1].node))
    return fail(diagnostic_kind::invalid,
                function + " looks " + (function == "LAG" ? "back" : "ahead") +
                    " by a constant number of rows",
                arguments[1].at);
  if (function == "NTILE" && arguments.size() == 1 && !is_positive(arguments[0]))
    return fail(diagnostic_kind::invalid, "NTILE takes a number of buckets, from 1",
                arguments[0].at);
  if (is_beside && arguments.size() > 2)
    arguments[2] = cast_to(std::move(arguments[2]), arguments[0].type);
  auto out = apply(ways, from, std::move(arguments), at);
  if (!out)
    return out;
  auto& made = std::get<bound_call>(out->node);
  made.is_aggregate = false;
  made.over = std::move(*window);
  return out;
}

/// A name of the WINDOW clause stands for what it has there.
std::optional<window_specification>
expression_binder::resolve_window(const window_specification& from) {
  if (!from.base)
    return from;
  const auto found =
      std::find_if(named_windows_->begin(), named_windows_->end(),
                   [&](const named_window& each) { return each.label.text == from.base->text; });
  if (found == named_windows_->end()) {
    fail(diagnostic_kind::unknown_name, "unknown window: " + from.base->text, from.base->at);
    return std::nullopt;
  }
  // What it is based on stands before it: a chain ends.
  if (found->window.base &&
      (found == named_windows_->begin() ||
       std::none_of(named_windows_->begin(), found, [&](const named_window& each) {
         return each.label.text == found->window.base->text;
       }))) {
    fail(diagnostic_kind::unknown_name, "unknown window: " + found->window.base->text,
         found->window.base->at);
    return std::nullopt;
  }
  auto out = resolve_window(found->window);
  if (!out || from.is_reference)
    return out;
  const bool is_changed = !from.partition_by.empty() ||
                          (!from.order_by.empty() && !out->order_by.empty()) || out->frame;
  if (is_changed) {
    fail(diagnostic_kind::invalid,
         "a window that is based on another adds ORDER BY or a frame that it has not: " +
             from.base->text,
         from.base->at);
    return std::nullopt;
  }
  if (!from.order_by.empty())
    out->order_by = from.order_by;
  out->frame = from.frame;
  return out;
}

std::optional<bound_over> expression_binder::bind_window(const window_specification& from) {
  bound_over out;
  bool is_sound = true;
  for (const auto& each : from.partition_by) {
    auto bound = bind(each);
    is_sound &= bound.has_value();
    if (bound)
      out.partition_by.push_back(std::move(*bound));
  }
  for (const auto& each : from.order_by) {
    auto bound = bind(each.value);
    is_sound &= bound.has_value();
    if (!bound)
      continue;
    out.order_by.push_back(std::move(*bound));
    out.directions.push_back({each.is_descending, each.nulls_first.value_or(!each.is_descending)});
  }
  if (from.frame)
    is_sound &= bind_frame(*from.frame, from.at, out);
  return is_sound ? std::optional(std::move(out)) : std::nullopt;
}

namespace {

bool is_preceding(const frame_bound& bound) {
  return bound.kind == frame_bound_kind::preceding ||
         bound.kind == frame_bound_kind::unbounded_preceding;
}

bool is_following(const frame_bound& bound) {
  return bound.kind == frame_bound_kind::following ||
         bound.kind == frame_bound_kind::unbounded_following;
}

/// Why two bounds make no window; empty: they do.
std::string_view refusal_of(const frame_bound& start, const frame_bound& end) {
  if (start.kind == frame_bound_kind::unbounded_following)
    return "a window does not begin with UNBOUNDED FOLLOWING";
  if (end.kind == frame_bound_kind::unbounded_preceding)
    return "a window does not end with UNBOUNDED PRECEDING";
  const bool is_turned = (is_following(start) && !is_following(end)) ||
                         (start.kind == frame_bound_kind::current_row && is_preceding(end));
  return is_turned ? "a window does not end before it begins" : "";
}

/// A type in which a distance can be added to a number without leaving it.
logical_type wide(const logical_type& of) {
  if (of.root() == type_root::bigint)
    return graph::logical_type::decimal(20, 0);
  return is_exact_integer(of.root()) ? logical_type::bigint() : of;
}

const literal* literal_of(const frame_bound& bound) {
  return bound.offset ? std::get_if<literal>(&bound.offset->node) : nullptr;
}

} // namespace

bool expression_binder::bind_frame(const window_frame& from, source_span at, bound_over& out) {
  const auto refuse = [&](std::string message, source_span where) {
    fail(diagnostic_kind::invalid, std::move(message), where);
    return false;
  };
  out.is_rows = from.is_rows;
  const auto end = from.end.value_or(frame_bound{frame_bound_kind::current_row, {}});
  if (const auto refusal = refusal_of(from.start, end); !refusal.empty())
    return refuse(std::string(refusal), at);
  if (!bind_edge(from.start, out, out.frame.first) || !bind_edge(end, out, out.frame.last))
    return false;
  // What is known once time has passed a row.
  const auto& first = out.frame.first;
  if (end.kind != frame_bound_kind::current_row || first.kind == graph::over_bound::unbounded)
    return true;
  const auto* given = literal_of(from.start);
  if (first.kind != graph::over_bound::value)
    out.preceding = -first.rows;
  else if (given != nullptr && given->interval && given->interval->from > interval_unit::month)
    out.preceding = interval_value(given->text, *given->interval);
  return true;
}

/// One end of a window.
bool expression_binder::bind_edge(const frame_bound& from, bound_over& out,
                                  graph::over_edge& edge) {
  const auto refuse = [&](std::string message) {
    fail(diagnostic_kind::invalid, std::move(message), from.offset->at);
    return false;
  };
  if (from.kind == frame_bound_kind::current_row) {
    edge.kind = out.is_rows ? graph::over_bound::rows : graph::over_bound::peers;
    return true;
  }
  edge.kind = graph::over_bound::unbounded;
  if (!from.offset)
    return true;
  const auto* given = literal_of(from);
  if (out.is_rows) {
    const auto count = given != nullptr && given->kind == literal_kind::integer
                           ? graph::parse_integer<std::int64_t>(given->text)
                           : std::nullopt;
    if (!count)
      return refuse("ROWS takes a number of rows");
    edge = {graph::over_bound::rows, is_preceding(from) ? -*count : *count};
    return true;
  }
  const bool is_distance =
      given != nullptr && !given->is_negative &&
      (given->interval
           ? interval_value(given->text, *given->interval).value_or(-1) >= 0
           : given->kind == literal_kind::integer || given->kind == literal_kind::decimal ||
                 given->kind == literal_kind::approximate);
  if (!is_distance)
    return refuse("RANGE takes an interval such as INTERVAL '10' MINUTES, or a number");
  if (out.order_by.size() != 1)
    return refuse("RANGE by a distance takes ORDER BY of one number or time");
  auto distance = bind(*from.offset);
  if (!distance)
    return false;
  auto& order = out.order_by[0];
  const bool is_added = is_preceding(from) == out.directions[0].is_descending;
  const auto kind = is_added ? operator_kind::plus : operator_kind::minus;
  const auto base = out.bounds.empty() ? wide(order.type) : order.type; // widened already
  const auto type = arithmetic_type(kind, base, wide(distance->type));
  if (!type)
    return refuse("RANGE by " + distance->type.nullable().to_sql() + " does not fit ORDER BY of " +
                  order.type.nullable().to_sql());
  order = cast_to(std::move(order), *type);
  for (auto& each : out.bounds)
    each = cast_to(std::move(each), *type);
  auto bound = call(is_added ? "+" : "-",
                    {order, cast_to(std::move(*distance), wide(distance->type))}, *type, order.at);
  edge = {graph::over_bound::value, 0, static_cast<std::int32_t>(out.bounds.size())};
  out.bounds.push_back(std::move(bound));
  return true;
}

} // namespace headrace::sql
