#include "libgraph/sql/bind/expression_binder.hpp"
#include "libgraph/sql/bind/interval_value.hpp"
#include "libgraph/types/value_text.hpp"
#include "libactors/base/text.hpp"

#include <algorithm>

// Calls with OVER, and the windows of rows that they are over; what tells of GROUP BY's window.
namespace headrace::sql {

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
  if (function == "LAG" && arguments.size() > 1 &&
      !std::holds_alternative<bound_constant>(arguments[1].node))
    return fail(diagnostic_kind::invalid, "LAG looks back by a constant number of rows",
                arguments[1].at);
  if (function == "LAG" && arguments.size() > 2)
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

bool expression_binder::bind_frame(const window_frame& from, source_span at, bound_over& out) {
  const auto refuse = [&](std::string message, source_span where) {
    fail(diagnostic_kind::invalid, std::move(message), where);
    return false;
  };
  out.is_rows = from.is_rows;
  if (from.end && from.end->kind != frame_bound_kind::current_row)
    return refuse("a window over a stream ends with CURRENT ROW", at);
  if (from.start.kind == frame_bound_kind::unbounded_preceding)
    return true;
  if (from.start.kind == frame_bound_kind::current_row) {
    out.preceding = 0;
    return true;
  }
  if (from.start.kind != frame_bound_kind::preceding || !from.start.offset)
    return refuse("a window over a stream begins with PRECEDING or CURRENT ROW", at);
  const auto* given = std::get_if<literal>(&from.start.offset->node);
  if (from.is_rows) {
    const auto count = given != nullptr && given->kind == literal_kind::integer
                           ? graph::parse_integer<std::int64_t>(given->text)
                           : std::nullopt;
    if (!count)
      return refuse("ROWS takes a number of rows", from.start.offset->at);
    out.preceding = *count;
    return true;
  }
  if (given != nullptr && given->interval && given->interval->from > interval_unit::month &&
      !given->is_negative)
    out.preceding = interval_value(given->text, *given->interval);
  if (!out.preceding || *out.preceding < 0)
    return refuse("RANGE takes an interval such as INTERVAL '10' MINUTES", from.start.offset->at);
  return true;
}

} // namespace headrace::sql
