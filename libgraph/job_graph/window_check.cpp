#include "libgraph/job_graph/aggregation_check.hpp"

namespace headrace::graph {
namespace {

constexpr std::size_t bounds = 3; ///< start, end, last millisecond
constexpr int milliseconds = 3;

error invalid(const std::string& where, const std::string& what) {
  return {errc::invalid_graph, where + ": " + what};
}

bool is_column(const logical_type& type, std::int32_t column) {
  return column >= 0 && static_cast<std::size_t>(column) < type.child_count();
}

bool is_time(const logical_type& type) {
  return type.root() == type_root::timestamp || type.root() == type_root::timestamp_ltz;
}

/// The input's columns begin the output.
bool passes_on(const logical_type& in, const logical_type& out) {
  if (out.child_count() < in.child_count())
    return false;
  for (std::size_t i = 0; i < in.child_count(); ++i)
    if (!(in.child(i) == out.child(i)))
      return false;
  return true;
}

bool ends_with_bounds(const logical_type& out) {
  const auto width = out.child_count();
  if (width < bounds)
    return false;
  for (auto i = width - bounds; i < width; ++i)
    if (!is_time(out.child(i)) || out.child(i).precision() != milliseconds)
      return false;
  return true;
}

status mismatch(const std::string& where, const logical_type& in, const logical_type& out) {
  return error(errc::type_mismatch,
               where + ": columns do not fit: " + in.to_sql() + " to " + out.to_sql());
}

/// Keys, results, bounds.
status check_groups(const std::string& where, const std::vector<std::int32_t>& keys,
                    const std::vector<group_aggregate_call>& calls, const logical_type& in,
                    const logical_type& out) {
  if (out.child_count() != keys.size() + calls.size() + bounds || !ends_with_bounds(out))
    return mismatch(where, in, out);
  for (std::size_t i = 0; i < keys.size(); ++i)
    if (!(in.child(static_cast<std::size_t>(keys[i])) == out.child(i)))
      return mismatch(where, in, out);
  return check_group_calls(where, calls, in, out, keys.size());
}

/// What a function that ranks gives; none: it is no such function.
std::optional<type_root> rank_type(const group_aggregate_call& call, bool is_whole) {
  const auto& name = call.function;
  if (name == "ROW_NUMBER" || name == "RANK" || name == "DENSE_RANK" ||
      (is_whole && name == "NTILE"))
    return type_root::bigint;
  if (is_whole && (name == "PERCENT_RANK" || name == "CUME_DIST"))
    return type_root::double_;
  return std::nullopt;
}

status check_edge(const std::string& where, const over_edge& edge, const over_spec& spec,
                  const logical_type& in) {
  if (edge.kind != over_bound::value)
    return {};
  if (spec.order.empty() || !is_column(in, edge.column) ||
      !(in.child(static_cast<std::size_t>(edge.column)).nullable() ==
        in.child(static_cast<std::size_t>(spec.order[0].column)).nullable()))
    return invalid(where, "end of a window is no value of its order: column " +
                              std::to_string(edge.column));
  return {};
}

status check_frame(const std::string& where, const over_spec& spec, const logical_type& in) {
  if (!spec.frame)
    return {};
  if (spec.time_column == -1)
    return invalid(where, "a whole partition without a time when it is complete");
  HEADRACE_CHECK(check_order(where, spec.order, in));
  HEADRACE_CHECK(check_edge(where, spec.frame->first, spec, in));
  return check_edge(where, spec.frame->last, spec, in);
}

} // namespace

status check_time(const std::string& where, std::int32_t column, const logical_type& in) {
  if (!is_column(in, column) || !is_time(in.child(static_cast<std::size_t>(column))))
    return invalid(where, "time is no column of TIMESTAMP: " + std::to_string(column) + " of " +
                              in.to_sql());
  return {};
}

status check_window(const std::string& where, const window_spec& window) {
  if (window.allowed_lateness_ms < 0)
    return invalid(where, "negative allowed lateness");
  if (window.kind == window_kind::end_of_stream)
    return {};
  if (window.size_ms <= 0)
    return invalid(where, "window size not positive: " + std::to_string(window.size_ms) + " ms");
  const bool has_slide =
      window.kind == window_kind::sliding || window.kind == window_kind::cumulating;
  if (has_slide && window.slide_ms <= 0)
    return invalid(where, "window slide not positive: " + std::to_string(window.slide_ms) + " ms");
  return {};
}

status check_window_table(const std::string& where, const window_table_spec& spec,
                          const logical_type& in, const logical_type& out) {
  HEADRACE_CHECK(check_window(where, spec.window));
  if (spec.window.kind == window_kind::end_of_stream)
    return invalid(where, "a window without bounds has none to tell");
  const bool has_slide =
      spec.window.kind == window_kind::sliding || spec.window.kind == window_kind::cumulating;
  if (has_slide && spec.window.size_ms % spec.window.slide_ms != 0)
    return invalid(where, "window size is no multiple of the slide");
  if (!spec.window.is_processing_time)
    HEADRACE_CHECK(check_time(where, spec.time_column, in));
  if ((spec.window.kind == window_kind::session) == spec.key_columns.empty())
    return invalid(where, "sessions, and they alone, are by key");
  for (const auto column : spec.key_columns)
    if (!is_column(in, column))
      return invalid(where, "key column out of range: " + std::to_string(column));
  if (!passes_on(in, out) || out.child_count() != in.child_count() + bounds ||
      !ends_with_bounds(out))
    return mismatch(where, in, out);
  return {};
}

status check_window_group(const std::string& where, const window_group_spec& spec,
                          const logical_type& in, const logical_type& out) {
  HEADRACE_CHECK(check_time(where, spec.start_column, in));
  HEADRACE_CHECK(check_time(where, spec.end_column, in));
  HEADRACE_CHECK(check_groups(where, spec.key_columns, spec.calls, in, out));
  return check_group_size(where, spec.calls, in, false);
}

status check_session_group(const std::string& where, const session_group_spec& spec,
                           const logical_type& in, const logical_type& out) {
  HEADRACE_CHECK(check_window(where, spec.window));
  if (spec.window.kind != window_kind::session)
    return invalid(where, "windows of a kind that this operator does not find");
  if (!spec.window.is_processing_time)
    HEADRACE_CHECK(check_time(where, spec.time_column, in));
  return check_groups(where, spec.key_columns, spec.calls, in, out);
}

status check_over(const std::string& where, const over_spec& spec, const logical_type& in,
                  const logical_type& out) {
  if (spec.time_column != -1)
    HEADRACE_CHECK(check_time(where, spec.time_column, in));
  if (spec.preceding < -1)
    return invalid(where, "negative size of a window");
  if (spec.state_ttl_ms < 0)
    return invalid(where, "negative time to live of state");
  HEADRACE_CHECK(check_frame(where, spec, in));
  const auto width = in.child_count();
  if (!passes_on(in, out) || out.child_count() != width + spec.calls.size())
    return mismatch(where, in, out);
  for (std::size_t i = 0; i < spec.calls.size(); ++i) {
    const auto& call = spec.calls[i];
    const auto& result = out.child(width + i);
    if (const auto wanted = rank_type(call, spec.frame.has_value())) {
      const std::size_t arguments = call.function == "NTILE" ? 1 : 0;
      if (call.arguments.size() != arguments || result.root() != *wanted)
        return mismatch(where, in, out);
      for (const auto column : call.arguments)
        if (!is_column(in, column))
          return invalid(where, "argument out of range: " + std::to_string(column));
      continue;
    }
    if (call.function == "LAG" || (spec.frame && call.function == "LEAD")) {
      for (const auto column : call.arguments)
        if (!is_column(in, column))
          return invalid(where, "argument out of range: " + std::to_string(column));
      if (call.arguments.empty() ||
          !(in.child(static_cast<std::size_t>(call.arguments[0])).nullable() == result.nullable()))
        return mismatch(where, in, out);
      continue;
    }
    HEADRACE_CHECK(check_group_calls(where, {call}, in, logical_type::row({{"c", result, {}}}), 0));
    const bool is_list = call.function == "LISTAGG";
    if (call.filter != -1 || (lists_values(call.function) && !is_list))
      return invalid(where, "no OVER with FILTER or " + call.function);
    if (!call.is_distinct)
      continue;
    if (call.function == "LAST_VALUE" || (call.arguments.size() != 1 && !is_list))
      return invalid(where, "no OVER with DISTINCT of this " + call.function);
    const auto& type = in.child(static_cast<std::size_t>(call.arguments[0]));
    if (type.physical() != physical_type::string && type.width_bytes() == 0)
      return invalid(where, "no OVER with DISTINCT of " + type.nullable().to_sql());
  }
  return {};
}

} // namespace headrace::graph
