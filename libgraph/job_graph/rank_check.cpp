#include "libgraph/job_graph/aggregation_check.hpp"

namespace headrace::graph {
namespace {

error invalid(const std::string& where, const std::string& what) {
  return {errc::invalid_graph, where + ": " + what};
}

} // namespace

status check_order(const std::string& where, const std::vector<order_column>& order,
                   const logical_type& in) {
  for (const auto& each : order) {
    if (each.column < 0 || static_cast<std::size_t>(each.column) >= in.child_count())
      return invalid(where, "ordered by a column out of range: column " +
                                std::to_string(each.column) + " of " + in.to_sql());
    const auto& type = in.child(static_cast<std::size_t>(each.column));
    if (type.width_bytes() <= 0)
      return error(errc::type_mismatch,
                   where + ": ordered by what has no order: " + type.nullable().to_sql());
  }
  return {};
}

status check_rank(const std::string& where, const rank_spec& spec, const logical_type& in,
                  const logical_type& out) {
  HEADRACE_CHECK(check_order(where, spec.order, in));
  if (spec.first < 1 || spec.last < spec.first)
    return invalid(where, "no such ranks: " + std::to_string(spec.first) + " to " +
                              std::to_string(spec.last));
  const bool keeps_rows = !spec.order.empty() || spec.input_retracts || spec.prefers_latest;
  const bool is_by_window = spec.window_end_column != -1; // then put in order at its end
  if (keeps_rows && !is_by_window && spec.last > rank_spec::kept_ranks_max)
    return invalid(where, "ranks beyond " + std::to_string(rank_spec::kept_ranks_max) +
                              " are not kept, found " + std::to_string(spec.last));
  if (spec.prefers_latest && (spec.last > 1 || spec.input_retracts))
    return invalid(where, "the latest of equal rows is preferred for one rank alone, of rows that "
                          "are not taken back");
  if (spec.state_ttl_ms < 0)
    return invalid(where, "negative time to live of state");
  HEADRACE_CHECK(check_mini_batch(where, spec.mini_batch));
  if (spec.mini_batch.is_on() &&
      (spec.last > 1 || spec.input_retracts || spec.window_end_column != -1))
    return invalid(where, "a mini-batch is of one rank, of rows that are not taken back");
  if (spec.window_end_column != -1) {
    const bool is_there = spec.window_end_column >= 0 &&
                          static_cast<std::size_t>(spec.window_end_column) < in.child_count();
    if (!is_there ||
        in.child(static_cast<std::size_t>(spec.window_end_column)).root() != type_root::timestamp)
      return invalid(where, "end of windows is no TIMESTAMP column: " +
                                std::to_string(spec.window_end_column));
    if (spec.input_retracts)
      return invalid(where, "ranks of windows over rows that are taken back");
  }
  const auto width = in.child_count();
  bool is_same = out.child_count() == width + (spec.outputs_rank ? 1U : 0U);
  for (std::size_t i = 0; is_same && i < width; ++i)
    is_same = in.child(i) == out.child(i);
  if (is_same && spec.outputs_rank)
    is_same = out.child(width) == logical_type::bigint().not_null();
  if (!is_same)
    return error(errc::type_mismatch,
                 where + ": ranked rows leave as others: " + in.to_sql() + " to " + out.to_sql());
  return {};
}

} // namespace headrace::graph
