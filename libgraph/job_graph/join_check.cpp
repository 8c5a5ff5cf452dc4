#include "libgraph/job_graph/join_check.hpp"

#include "libgraph/expression/program.hpp"
#include "libgraph/job_graph/aggregation_check.hpp"

#include <utility>
#include <vector>

namespace headrace::graph {
namespace {

error mismatch(const std::string& where, const std::string& what) {
  return {errc::type_mismatch, where + ": " + what};
}

status check_keys_alike(const std::string& where, const std::vector<std::int32_t>& one,
                        const std::vector<std::int32_t>& other, const logical_type& left,
                        const logical_type& right) {
  if (one.size() != other.size())
    return error(errc::invalid_graph, where + ": " + std::to_string(one.size()) +
                                          " keys of the left side, " +
                                          std::to_string(other.size()) + " of the right one");
  for (std::size_t i = 0; i < one.size(); ++i) {
    const auto& from = left.child(static_cast<std::size_t>(one[i]));
    const auto& to = right.child(static_cast<std::size_t>(other[i]));
    if (!(from.nullable() == to.nullable()))
      return mismatch(where, "keys of different types: " + from.nullable().to_sql() + " and " +
                                 to.nullable().to_sql());
  }
  return {};
}

status check_condition(const std::string& where, const expression& condition,
                       const logical_type& over, const std::string& time_zone) {
  if (condition.is_empty())
    return {};
  const auto made = expression_program::compile(over, condition, {}, {time_zone});
  if (!made)
    return error(made.error().code, where + ": " + made.error().message);
  return {};
}

/// What the time of rows may be: milliseconds.
bool is_time(const logical_type& type) {
  return (type.root() == type_root::timestamp || type.root() == type_root::timestamp_ltz) &&
         type.physical() == physical_type::int64;
}

/// Of one side, whose columns begin at `first` of the output.
status check_side(const std::string& where, const logical_type& side, const logical_type& out,
                  std::size_t first, bool may_be_missing) {
  for (std::size_t i = 0; i < side.child_count(); ++i) {
    const auto& given = side.child(i);
    const auto& wanted = out.child(first + i);
    if (!(given.nullable() == wanted.nullable()) ||
        (!wanted.is_nullable() && (may_be_missing || given.is_nullable())))
      return mismatch(where, "column " + std::to_string(first + i) + " leaves as another type: " +
                                 given.to_sql() + " to " + wanted.to_sql());
  }
  return {};
}

} // namespace

logical_type joined_type(const logical_type& left, const logical_type& right) {
  auto fields = left.fields();
  const auto& more = right.fields();
  fields.insert(fields.end(), more.begin(), more.end());
  return logical_type::row(std::move(fields)).not_null();
}

status check_join(const std::string& where, const join_spec& spec, const logical_type& left,
                  const logical_type& right, const logical_type& out) {
  if (spec.left.state_ttl_ms < 0 || spec.right.state_ttl_ms < 0)
    return error(errc::invalid_graph, where + ": negative time to live of state");
  HEADRACE_CHECK(check_mini_batch(where, spec.mini_batch));
  HEADRACE_CHECK(
      check_keys_alike(where, spec.left.key_columns, spec.right.key_columns, left, right));
  if (spec.null_safe.size() != spec.left.key_columns.size())
    return error(errc::invalid_graph, where + ": a flag for each key is wanted");
  const bool is_left_alone = spec.kind == join_kind::semi || spec.kind == join_kind::anti;
  const auto width = left.child_count() + (is_left_alone ? 0 : right.child_count());
  if (out.child_count() != width)
    return mismatch(where, "a join of " + std::to_string(width) + " columns gives " +
                               std::to_string(out.child_count()));
  const bool has_full = spec.kind == join_kind::full;
  HEADRACE_CHECK(check_side(where, left, out, 0, has_full || spec.kind == join_kind::right));
  if (!is_left_alone)
    HEADRACE_CHECK(check_side(where, right, out, left.child_count(),
                              has_full || spec.kind == join_kind::left));
  return check_condition(where, spec.condition, joined_type(left, right), spec.time_zone);
}

status check_timed_join(const std::string& where, const timed_join_spec& spec,
                        const logical_type& left, const logical_type& right) {
  const auto& join = spec.join;
  const bool retracts = join.left.retracts || join.right.retracts;
  if ((retracts && !spec.is_by_version) || join.left.state_ttl_ms != 0 ||
      join.right.state_ttl_ms != 0)
    return error(errc::invalid_graph, where + ": rows of a join by time only come");
  if (!is_time(left.child(static_cast<std::size_t>(spec.left_time))) ||
      !is_time(right.child(static_cast<std::size_t>(spec.right_time))))
    return mismatch(where, "a join by time has timestamps of up to 3 digits for times");
  const bool is_plain = join.kind == join_kind::inner || join.kind == join_kind::left;
  if (spec.is_by_version && (spec.is_by_window || !is_plain))
    return error(errc::invalid_graph, where + ": a join with versions is an inner or a left join");
  const bool is_left_alone = join.kind == join_kind::semi || join.kind == join_kind::anti;
  if (spec.least_ms > spec.most_ms || (!spec.is_by_window && is_left_alone))
    return error(errc::invalid_graph, where + ": bounds of a join by distance are in order, and "
                                              "both sides leave it");
  return {};
}

status check_lookup_join(const std::string& where, const lookup_join_spec& spec,
                         const logical_type& in, const logical_type& out) {
  if (spec.kind != join_kind::inner && spec.kind != join_kind::left)
    return error(errc::invalid_graph, where + ": a lookup join is an inner or a left join");
  if (spec.table.name.empty())
    return error(errc::invalid_graph, where + ": a table without connector");
  std::vector<logical_type::field> fields;
  for (const auto each : spec.fields)
    fields.push_back(spec.table_type.fields()[static_cast<std::size_t>(each)]);
  const auto table = logical_type::row(std::move(fields)).not_null();
  for (const auto each : spec.table_key_columns)
    if (each < 0 || static_cast<std::size_t>(each) >= table.child_count())
      return error(errc::invalid_graph,
                   where + ": key of the table out of range: " + std::to_string(each));
  HEADRACE_CHECK(check_keys_alike(where, spec.key_columns, spec.table_key_columns, in, table));
  const auto width = in.child_count();
  if (out.child_count() != width + table.child_count())
    return mismatch(where, "a join of " + std::to_string(width + table.child_count()) +
                               " columns gives " + std::to_string(out.child_count()));
  HEADRACE_CHECK(check_side(where, in, out, 0, false));
  HEADRACE_CHECK(check_side(where, table, out, width, spec.kind == join_kind::left));
  return check_condition(where, spec.condition, out, spec.time_zone);
}

} // namespace headrace::graph
