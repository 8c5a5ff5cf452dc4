#include "libgraph/job_graph/query_parts.hpp"

#include "libgraph/expression/expression_codec.hpp"
#include "libgraph/job_graph/structure_hash.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

namespace headrace::graph {
namespace {

using parts = std::vector<logical_type::field>;

std::string name_of(const logical_type& rows, std::int32_t column) {
  return column < 0 ? std::string() : rows.fields()[static_cast<std::size_t>(column)].name;
}

std::string names_of(const logical_type& rows, const std::vector<std::int32_t>& columns) {
  std::string out;
  for (const auto column : columns)
    out += (out.empty() ? "" : ", ") + name_of(rows, column);
  return out;
}

std::string words_of(const logical_type& rows, const std::vector<group_aggregate_call>& calls) {
  std::string out;
  for (const auto& call : calls) {
    out += (out.empty() ? "" : ", ") + call.function + (call.is_distinct ? "(DISTINCT " : "(");
    out += call.arguments.empty() ? "*" : names_of(rows, call.arguments);
    out += call.filter < 0 ? ")" : ") FILTER " + name_of(rows, call.filter);
  }
  return out;
}

std::string words_of(const logical_type& rows, const std::vector<aggregate_call>& calls) {
  static constexpr const char* kinds[] = {"COUNT",  "SUM",    "MIN",   "MAX",
                                          "MIN_BY", "MAX_BY", "FIRST", "LAST"};
  std::string out;
  for (const auto& call : calls)
    out += (out.empty() ? "" : ", ") + std::string(kinds[static_cast<std::size_t>(call.kind)]) +
           "(" + name_of(rows, call.column) + ")";
  return out;
}

std::string words_of(const logical_type& rows, const std::vector<order_column>& order) {
  std::string out;
  for (const auto& each : order)
    out += (out.empty() ? "" : ", ") + name_of(rows, each.column) +
           (each.is_descending ? " DESC" : "") + (each.nulls_first ? " NULLS FIRST" : "");
  return out;
}

std::string words_of(const logical_type& rows, const over_edge& edge) {
  static constexpr const char* kinds[] = {"all", "rows", "equals", "values"};
  std::string out = kinds[static_cast<std::size_t>(edge.kind)];
  if (edge.kind == over_bound::rows)
    out += fmt::format(" {}", edge.rows);
  if (edge.kind == over_bound::value)
    out += " " + name_of(rows, edge.column);
  return out;
}

/// Short for what has no words: the same in every release.
std::string digest_of(byte_view bytes) {
  return bytes.empty() ? std::string() : fmt::format("#{:016x}", structure_hash(bytes).first);
}

std::string digest_of(const expression& condition) {
  byte_string bytes;
  byte_writer out(bytes);
  put_expression(out, condition);
  return digest_of(bytes);
}

struct part_writer {
  const operator_node& node;
  parts out = {};

  const logical_type& rows(std::size_t input = 0) const { return node.input_types[input]; }
  void put(std::string words) {
    out.push_back({std::move(words), logical_type::boolean().not_null(), {}});
  }
  void put_keys(const std::vector<std::int32_t>& keys) { put("by " + names_of(rows(), keys)); }

  template <class T>
  void operator()(const T& /*keeps no state of keys, or that of a function*/) {}
  void operator()(const window_aggregate_spec& spec) {
    if (!spec.aggregates.function.is_none())
      return;
    put_keys(spec.key_columns);
    put(describe(spec.window));
    put(words_of(rows(), spec.aggregates.calls));
  }
  void operator()(const group_aggregate_spec& spec) {
    if (spec.phase == aggregate_phase::local)
      return;
    const auto& counted =
        spec.phase == aggregate_phase::global ? spec.other_end : node.input_types.front();
    put_keys(spec.key_columns);
    put(words_of(counted, spec.calls));
  }
  void operator()(const rank_spec& spec) {
    put_keys(spec.key_columns);
    put(spec.order.empty() ? "as they come" : "ordered by " + words_of(rows(), spec.order));
    put(fmt::format("ranks {} to {}{}", spec.first, spec.last,
                    spec.prefers_latest ? ", the latest of equal ones" : ""));
  }
  void operator()(const window_table_spec& spec) {
    if (spec.key_columns.empty())
      return;
    put_keys(spec.key_columns);
    put(describe(spec.window));
  }
  void operator()(const window_group_spec& spec) {
    put_keys(spec.key_columns);
    put(words_of(rows(), spec.calls));
    put("windows by " + name_of(rows(), spec.start_column)); // which tells what they are
    if (!spec.time_zone.empty())
      put("windows in " + spec.time_zone);
  }
  void operator()(const session_group_spec& spec) {
    put_keys(spec.key_columns);
    put(describe(spec.window));
    put(words_of(rows(), spec.calls));
  }
  void operator()(const over_spec& spec) {
    put_keys(spec.key_columns);
    if (spec.frame)
      put(fmt::format("from {} to {}, ordered by {}", words_of(rows(), spec.frame->first),
                      words_of(rows(), spec.frame->last), words_of(rows(), spec.order)));
    put(fmt::format("{} {} PRECEDING, ordered by {}", spec.is_rows ? "ROWS" : "RANGE",
                    spec.preceding < 0 ? "UNBOUNDED" : std::to_string(spec.preceding),
                    name_of(rows(), spec.time_column)));
    put(words_of(rows(), spec.calls));
  }
  void operator()(const join_spec& spec) {
    static constexpr const char* kinds[] = {"INNER", "LEFT", "RIGHT", "FULL", "SEMI", "ANTI"};
    std::string keys;
    for (std::size_t i = 0; i < spec.left.key_columns.size(); ++i)
      keys += (i > 0 ? ", " : "") + name_of(rows(), spec.left.key_columns[i]) + " = " +
              name_of(rows(1), spec.right.key_columns[i]);
    put("by " + keys);
    put(std::string(kinds[static_cast<std::size_t>(spec.kind)]) + " JOIN " +
        digest_of(spec.condition));
  }
  void operator()(const timed_join_spec& spec) {
    (*this)(spec.join);
    put((spec.is_by_window    ? "of windows, "
         : spec.is_by_version ? "of versions, "
                              : fmt::format("{} to {} ms apart, ", spec.least_ms, spec.most_ms)) +
        name_of(rows(), spec.left_time) + " and " + name_of(rows(1), spec.right_time));
  }
  void operator()(const match_spec& spec) {
    static constexpr const char* skips[] = {"PAST LAST ROW", "TO NEXT ROW", "TO FIRST", "TO LAST"};
    put_keys(spec.key_columns);
    std::string pattern;
    byte_string bytes;
    byte_writer conditions(bytes);
    for (const auto& each : spec.variables) {
      pattern += (pattern.empty() ? "" : " ") + each.name;
      if (each.repeat_min != 1 || each.repeat_max != 1)
        pattern += fmt::format("{{{},{}}}{}", each.repeat_min,
                               each.repeat_max < 0 ? "" : std::to_string(each.repeat_max),
                               each.is_greedy ? "" : "?");
      put_expression(conditions, each.condition);
    }
    for (const auto& each : spec.values) {
      conditions.put(each.what);
      conditions.put(each.variable);
      conditions.put(each.offset);
      conditions.put(each.column);
      conditions.put_bytes(each.function);
      for (const auto& argument : each.arguments)
        put_expression(conditions, argument);
    }
    put("PATTERN (" + pattern + ") " + digest_of(bytes));
    put(fmt::format("ordered by {} {}, AFTER MATCH SKIP {} {}, WITHIN {} ms",
                    name_of(rows(), spec.time_column), words_of(rows(), spec.order),
                    skips[static_cast<std::size_t>(spec.skip)], spec.skip_variable,
                    spec.within_ms));
  }
};

} // namespace

std::string describe(const window_spec& window) {
  static constexpr const char* kinds[] = {"TUMBLE", "HOP", "END", "CUMULATE", "SESSION"};
  std::string out = kinds[static_cast<std::size_t>(window.kind)];
  if (window.size_ms != 0)
    out += fmt::format(" of {} ms", window.size_ms);
  if (window.slide_ms != 0)
    out += fmt::format(" each {} ms", window.slide_ms);
  if (window.offset_ms != 0)
    out += fmt::format(" from {} ms", window.offset_ms);
  if (window.is_processing_time)
    out += " by the clock";
  return window.time_zone.empty() ? out : out + " in " + window.time_zone;
}

std::vector<logical_type::field> query_parts(const operator_node& node) {
  part_writer writer{node};
  std::visit(writer, node.spec);
  return std::move(writer.out);
}

} // namespace headrace::graph
