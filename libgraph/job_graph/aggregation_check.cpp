#include "libgraph/job_graph/aggregation_check.hpp"

#include <algorithm>

namespace headrace::graph {
namespace {

error invalid(const std::string& where, const std::string& what) {
  return {errc::invalid_graph, where + ": " + what};
}

bool is_number(const logical_type& type) {
  switch (type.root()) {
  case type_root::tinyint:
  case type_root::smallint:
  case type_root::integer:
  case type_root::bigint:
  case type_root::float_:
  case type_root::double_:
  case type_root::decimal:
  case type_root::interval_year_month:
  case type_root::interval_day_time:
    return true;
  default:
    return false;
  }
}

/// Whether a built-in aggregate can keep such a value.
bool is_kept_by_aggregates(const logical_type& type) {
  switch (type.physical()) {
  case physical_type::none:
  case physical_type::list:
  case physical_type::map:
  case physical_type::row:
    return false;
  default:
    return true;
  }
}

status check_column(const std::string& where, std::int32_t column, const logical_type& in) {
  if (column >= 0 && static_cast<std::size_t>(column) < in.child_count())
    return {};
  return invalid(where, "aggregated column out of range: column " + std::to_string(column) +
                            " of " + in.to_sql());
}

/// Says why a built-in aggregate cannot be over a column that is there.
status check_call(const std::string& where, const aggregate_call& call,
                  const std::vector<std::int32_t>& keys, const logical_type& in) {
  if (call.kind == aggregate_kind::count)
    return {};
  const auto index = static_cast<std::size_t>(call.column);
  const auto& type = in.child(index);
  const auto column = "column " + in.fields()[index].name + " is " + type.to_sql();
  if (call.kind == aggregate_kind::sum && !is_number(type))
    return error(errc::type_mismatch, where + ": only numbers can be summed, but " + column);
  const bool is_key =
      call.kind == aggregate_kind::first && std::ranges::count(keys, call.column) != 0;
  if (!is_key && !is_kept_by_aggregates(type))
    return error(errc::type_mismatch, where +
                                          ": a built-in aggregate keeps no such values, reduce or "
                                          "aggregate with a function does: " +
                                          column);
  return {};
}

} // namespace

status check_aggregation(const std::string& where, const aggregation& aggregates,
                         const std::vector<std::int32_t>& keys, const logical_type& in,
                         const logical_type& out) {
  const auto& result =
      aggregates.result_type.root() == type_root::null ? out : aggregates.result_type;
  if (result.root() != type_root::row)
    return invalid(where, "aggregates give no row: " + result.to_sql());
  if (!aggregates.function.is_none())
    return aggregates.calls.empty() ? status()
                                    : invalid(where, "an aggregate function and built-in calls");
  if (aggregates.calls.empty())
    return invalid(where, "no aggregate");
  const auto whole_rows = [](const aggregate_call& call) {
    return call.kind == aggregate_kind::min_by || call.kind == aggregate_kind::max_by;
  };
  for (const auto& call : aggregates.calls) {
    if (call.kind != aggregate_kind::count || call.column != -1)
      HEADRACE_CHECK(check_column(where, call.column, in));
    HEADRACE_CHECK(check_call(where, call, keys, in));
  }
  if (std::ranges::any_of(aggregates.calls, whole_rows)) {
    if (aggregates.calls.size() != 1)
      return invalid(where, "min_by or max_by beside other aggregates");
    if (result.child_count() > in.child_count())
      return invalid(where, "min_by or max_by gives more columns than come in");
    for (std::int32_t i = 0; static_cast<std::size_t>(i) < result.child_count(); ++i)
      HEADRACE_CHECK(check_call(where, {aggregate_kind::last, i}, keys, in));
    return {};
  }
  if (aggregates.calls.size() != result.child_count())
    return invalid(where, std::to_string(aggregates.calls.size()) + " aggregates for " +
                              std::to_string(result.child_count()) + " columns");
  return {};
}

} // namespace headrace::graph
