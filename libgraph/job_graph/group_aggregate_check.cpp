#include "libgraph/job_graph/aggregation_check.hpp"
#include "libgraph/user_function/user_function.hpp"

#include <algorithm>
#include <array>

namespace headrace::graph {
namespace {

bool is_number(const logical_type& type) {
  return type.root() >= type_root::tinyint && type.root() <= type_root::decimal;
}
bool has_order(const logical_type& type) {
  return type.width_bytes() > 0; // fixed widths and strings
}
bool is_text(const logical_type& type) {
  return type.root() == type_root::character || type.root() == type_root::varchar;
}

/// A function and what it takes and gives.
struct known_function {
  std::string_view name;
  std::size_t least;
  std::size_t most;
  bool (*takes)(const logical_type& first, const logical_type& result);
};

bool gives_number(const logical_type& first, const logical_type& result) {
  return is_number(first) && is_number(result) &&
         (first.root() == type_root::decimal) == (result.root() == type_root::decimal);
}
bool gives_same(const logical_type& first, const logical_type& result) {
  return has_order(first) && first.nullable() == result.nullable();
}
bool gives_text(const logical_type& first, const logical_type& result) {
  return is_text(first) && is_text(result);
}
bool gives_array(const logical_type& first, const logical_type& result) {
  return result.root() == type_root::array && first.nullable() == result.child(0).nullable();
}
bool gives_multiset(const logical_type& first, const logical_type& result) {
  return has_order(first) && result.root() == type_root::multiset &&
         first.nullable() == result.child(0).nullable();
}
/// DOUBLE of a DOUBLE, or several.
bool gives_percentile(const logical_type& first, const logical_type& result) {
  const auto& each = result.root() == type_root::array ? result.child(0) : result;
  return first.root() == type_root::double_ && each.root() == type_root::double_;
}
bool gives_count(const logical_type&, const logical_type& result) {
  return result.root() == type_root::bigint;
}

constexpr std::array functions{
    known_function{"ARRAY_AGG", 1, 1, gives_array},
    known_function{"AVG", 1, 1, gives_number},
    known_function{"COLLECT", 1, 1, gives_multiset},
    known_function{"COUNT", 0, 1, gives_count},
    known_function{"FIRST_VALUE", 1, 1, gives_same},
    known_function{"LAST_VALUE", 1, 1, gives_same},
    known_function{"LISTAGG", 1, 2, gives_text},
    known_function{"MAX", 1, 1, gives_same},
    known_function{"MIN", 1, 1, gives_same},
    known_function{"PERCENTILE", 2, 3, gives_percentile},
    known_function{"STDDEV_POP", 1, 1, gives_number},
    known_function{"STDDEV_SAMP", 1, 1, gives_number},
    known_function{"SUM", 1, 1, gives_number},
    known_function{"VAR_POP", 1, 1, gives_number},
    known_function{"VAR_SAMP", 1, 1, gives_number},
};

error invalid(const std::string& where, const std::string& what) {
  return {errc::invalid_graph, where + ": " + what};
}

/// Of a user's aggregate.
status check_user_call(const std::string& where, const group_aggregate_call& call,
                       const logical_type& in, const logical_type& result) {
  HEADRACE_TRY(const auto function, decode_user_function(call.definition));
  if (function.form != user_form::aggregate || function.parameters.size() != call.arguments.size())
    return invalid(where,
                   call.function + " of " + std::to_string(call.arguments.size()) + " arguments");
  for (std::size_t i = 0; i < call.arguments.size(); ++i) {
    const auto& given = in.child(static_cast<std::size_t>(call.arguments[i])).nullable();
    if (!(function.parameters[i].type.nullable() == given))
      return error(errc::type_mismatch, where + ": argument " + std::to_string(i + 1) + " of " +
                                            call.function + " is " + given.to_sql());
  }
  const bool is_sound =
      function.result.nullable() == result.nullable() &&
      (!call.is_distinct || (call.arguments.size() == 1 && has_order(function.parameters[0].type)));
  if (!is_sound)
    return error(errc::type_mismatch,
                 where + ": no " + call.function + " as " + result.nullable().to_sql());
  return {};
}

/// What stands behind the first argument.
bool are_further_sound(const group_aggregate_call& call, const logical_type& in,
                       const logical_type& result) {
  const auto type_at = [&](std::size_t i) {
    return in.child(static_cast<std::size_t>(call.arguments[i]));
  };
  if (call.function == "PERCENTILE")
    return type_at(1).nullable() == result.nullable() &&
           (call.arguments.size() < 3 || type_at(2).root() == type_root::bigint);
  return call.arguments.size() < 2 || is_text(type_at(1));
}

status check_call(const std::string& where, const group_aggregate_call& call,
                  const logical_type& in, const logical_type& result) {
  const auto* const known =
      std::find_if(functions.begin(), functions.end(),
                   [&](const known_function& each) { return each.name == call.function; });
  const bool is_user = !call.definition.empty();
  if (known == functions.end() && !is_user)
    return invalid(where, "aggregate cannot be run: " + call.function);
  if (!is_user && (call.arguments.size() < known->least || call.arguments.size() > known->most))
    return invalid(where,
                   call.function + " of " + std::to_string(call.arguments.size()) + " arguments");
  const auto is_column = [&](std::int32_t column) {
    return column >= 0 && static_cast<std::size_t>(column) < in.child_count();
  };
  for (const auto column : call.arguments)
    if (!is_column(column))
      return invalid(where, "aggregated column out of range: column " + std::to_string(column) +
                                " of " + in.to_sql());
  if (call.filter != -1 &&
      (!is_column(call.filter) ||
       in.child(static_cast<std::size_t>(call.filter)).root() != type_root::boolean))
    return invalid(where, "filter is no BOOLEAN column: " + std::to_string(call.filter));
  if (is_user)
    return check_user_call(where, call, in, result);
  const auto first = call.arguments.empty() ? logical_type::null()
                                            : in.child(static_cast<std::size_t>(call.arguments[0]));
  if (!known->takes(first, result) || !are_further_sound(call, in, result) ||
      (call.is_distinct && !has_order(first)))
    return error(errc::type_mismatch, where + ": no " + call.function + " of " +
                                          first.nullable().to_sql() + " as " +
                                          result.nullable().to_sql());
  return {};
}

/// What a group of calls takes lies in one value of at most this size.
constexpr std::size_t group_bytes_max = std::size_t{64} << 10U;
constexpr std::size_t group_bytes_least = 24; ///< beside the calls
constexpr std::size_t counted_bytes = 8;
constexpr std::size_t wide_bytes = 16; ///< further ones, of all but COUNT

/// Bytes that a call takes of it; none where it has a state of its own.
std::size_t bytes_of(const group_aggregate_call& call, const logical_type& in, bool retracts) {
  if (!call.definition.empty() || lists_values(call.function))
    return 0;
  const bool keeps_value = call.function == "MIN" || call.function == "MAX" ||
                           call.function == "FIRST_VALUE" || call.function == "LAST_VALUE";
  if (keeps_value) {
    const auto& type = in.child(static_cast<std::size_t>(call.arguments[0]));
    if (retracts || type.physical() == physical_type::string || type.width_bytes() <= 0)
      return 0;
  }
  return counted_bytes + (call.function == "COUNT" ? 0 : wide_bytes);
}

status check_whole(const std::string& where, const group_aggregate_spec& spec,
                   const logical_type& in, const logical_type& out) {
  const auto keys = spec.key_columns.size();
  if (out.child_count() != keys + spec.calls.size())
    return invalid(where, std::to_string(keys) + " keys and " + std::to_string(spec.calls.size()) +
                              " aggregates for " + std::to_string(out.child_count()) + " columns");
  for (std::size_t i = 0; i < keys; ++i)
    if (!(in.child(static_cast<std::size_t>(spec.key_columns[i])) == out.child(i)))
      return error(errc::type_mismatch, where + ": key " + std::to_string(i) +
                                            " leaves as another type: " + out.child(i).to_sql());
  HEADRACE_CHECK(check_group_calls(where, spec.calls, in, out, keys));
  return check_group_size(where, spec.calls, in, spec.input_retracts);
}

/// Between the phases stand the keys, and what the calls have come to.
status check_partial(const std::string& where, const logical_type& keyed, std::size_t keys,
                     const logical_type& partial) {
  bool is_sound = partial.child_count() == keys + 1 && keyed.child_count() >= keys &&
                  partial.child(keys) == logical_type::bytes().not_null();
  for (std::size_t i = 0; is_sound && i < keys; ++i)
    is_sound = partial.child(i) == keyed.child(i);
  if (!is_sound)
    return error(errc::type_mismatch,
                 where + ": phases of an aggregate do not go together: " + partial.to_sql());
  return {};
}

} // namespace

bool lists_values(std::string_view function) {
  return function == "LISTAGG" || function == "ARRAY_AGG" || function == "COLLECT" ||
         function == "PERCENTILE";
}

status check_mini_batch(const std::string& where, const mini_batch_spec& spec) {
  if (spec.rows_max < 0 || spec.latency_ms < 0 || (spec.is_on() && spec.latency_ms == 0))
    return invalid(where, "a mini-batch of " + std::to_string(spec.rows_max) + " rows, after " +
                              std::to_string(spec.latency_ms) + " ms");
  return {};
}

status check_group_size(const std::string& where, const std::vector<group_aggregate_call>& calls,
                        const logical_type& in, bool retracts) {
  std::size_t bytes = group_bytes_least;
  for (const auto& each : calls)
    bytes += bytes_of(each, in, retracts);
  if (bytes <= group_bytes_max)
    return {};
  return invalid(where,
                 std::to_string(calls.size()) +
                     " aggregates of one group are too many, about 2700 fit: compute some of "
                     "them in a query of their own, and join it by the keys");
}

status check_group_aggregate(const std::string& where, const group_aggregate_spec& spec,
                             const logical_type& in, const logical_type& out) {
  const auto keys = spec.key_columns.size();
  if (spec.state_ttl_ms < 0)
    return invalid(where, "negative time to live of state");
  HEADRACE_CHECK(check_mini_batch(where, spec.mini_batch));
  if (spec.phase == aggregate_phase::single)
    return check_whole(where, spec, in, out);
  if (spec.other_end.root() != type_root::row)
    return invalid(where, "a phase of an aggregate without the other one");
  if (spec.phase == aggregate_phase::local) {
    HEADRACE_CHECK(check_whole(where, spec, in, spec.other_end));
    return check_partial(where, spec.other_end, keys, out);
  }
  HEADRACE_CHECK(check_partial(where, out, keys, in));
  if (out.child_count() != keys + spec.calls.size())
    return invalid(where, "keys and aggregates are not the output: " + out.to_sql());
  return check_group_calls(where, spec.calls, spec.other_end, out, keys);
}

status check_salt(const std::string& where, const salt_spec& spec, const logical_type& in,
                  const logical_type& out) {
  if (spec.buckets < 1 || spec.buckets > salt_spec::buckets_max)
    return invalid(where, "buckets are 1 to " + std::to_string(salt_spec::buckets_max) +
                              ", found " + std::to_string(spec.buckets));
  if (spec.columns.empty() != spec.is_in_each)
    return invalid(where, "rows are dealt out by columns, or are in each bucket");
  const auto width = in.child_count();
  bool is_sound =
      out.child_count() == width + 1 && out.child(width) == logical_type::integer().not_null();
  for (std::size_t i = 0; is_sound && i < width; ++i)
    is_sound = in.child(i) == out.child(i);
  if (!is_sound)
    return error(errc::type_mismatch, where + ": rows leave as others than with a bucket behind: " +
                                          in.to_sql() + " to " + out.to_sql());
  return {};
}

status check_group_calls(const std::string& where, const std::vector<group_aggregate_call>& calls,
                         const logical_type& in, const logical_type& out, std::size_t first) {
  for (std::size_t i = 0; i < calls.size(); ++i)
    HEADRACE_CHECK(check_call(where, calls[i], in, out.child(first + i)));
  return {};
}

} // namespace headrace::graph
