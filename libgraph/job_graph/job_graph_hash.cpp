#include "libgraph/expression/expression_codec.hpp"
#include "libgraph/job_graph/job_graph.hpp"
#include "libgraph/job_graph/structure_hash.hpp"
#include "libactors/base/bytes.hpp"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <unordered_set>

namespace headrace::graph {
namespace {

void put_columns(byte_writer& out, const std::vector<std::int32_t>& columns) {
  out.put_varint(columns.size());
  for (const auto column : columns)
    out.put(column);
}

void put_connector(byte_writer& out, const connector_spec& connector) {
  out.put_bytes(connector.name);
  out.put(connector.provider.index);
  out.put_varint(connector.options.size());
  for (const auto& [key, value] : connector.options) {
    out.put_bytes(key);
    out.put_bytes(value);
  }
}

void put_watermarks(byte_writer& out, const watermark_spec& watermarks) {
  out.put(watermarks.kind);
  out.put(watermarks.bound_ms);
  out.put(watermarks.idle_timeout_ms);
  out.put(static_cast<std::uint8_t>(watermarks.on_event));
  out.put(watermarks.assigner.index);
  out.put(watermarks.time_column);
  if (watermarks.kind == watermark_kind::generated)
    out.put(watermarks.generator.index);
}

void put_aggregation(byte_writer& out, const aggregation& aggregates) {
  out.put(aggregates.function.index);
  out.put_varint(aggregates.calls.size());
  for (const auto& call : aggregates.calls) {
    out.put(call.kind);
    out.put(call.column);
  }
  aggregates.result_type.encode(out);
}

void put_order(byte_writer& out, const std::vector<order_column>& order) {
  out.put_varint(order.size());
  for (const auto& each : order) {
    out.put(each.column);
    out.put(static_cast<std::uint8_t>(each.is_descending));
    out.put(static_cast<std::uint8_t>(each.nulls_first));
  }
}

void put_window(byte_writer& out, const window_spec& window) {
  out.put(window.kind);
  out.put(window.size_ms);
  out.put(window.slide_ms);
  out.put(window.offset_ms);
  out.put(window.allowed_lateness_ms);
  // Left out where they say nothing, so that older graphs keep their hashes.
  if (window.is_processing_time || !window.time_zone.empty()) {
    out.put(static_cast<std::uint8_t>(window.is_processing_time));
    out.put_bytes(window.time_zone);
  }
}

void put_calls(byte_writer& out, const std::vector<group_aggregate_call>& calls) {
  out.put_varint(calls.size());
  for (const auto& call : calls) {
    out.put_bytes(call.function);
    put_columns(out, call.arguments);
    out.put(call.filter);
    out.put(static_cast<std::uint8_t>(call.is_distinct));
    if (!call.definition.empty()) // older graphs keep their hashes
      out.put_bytes(call.definition);
  }
}

void put_expressions(byte_writer& out, const std::vector<expression>& from) {
  out.put_varint(from.size());
  for (const auto& each : from)
    put_expression(out, each);
}

/// Left out where rows are worked on as they come, so that older graphs keep their hashes.
void put_mini_batch(byte_writer& out, const mini_batch_spec& from) {
  if (!from.is_on())
    return;
  out.put(from.rows_max);
  out.put(from.latency_ms);
}

struct spec_hasher {
  byte_writer& out;

  void operator()(const source_spec& spec) {
    put_connector(out, spec.connector);
    put_watermarks(out, spec.watermarks);
  }
  void operator()(const row_function_spec& spec) { out.put(spec.function.index); }
  void operator()(const filter_spec& spec) { out.put(spec.function.index); }
  void operator()(const project_spec& spec) { put_columns(out, spec.columns); }
  void operator()(const watermarks_spec& spec) { put_watermarks(out, spec.watermarks); }
  void operator()(const keyed_process_spec& spec) {
    out.put(spec.function.index);
    put_columns(out, spec.key_columns);
  }
  void operator()(const keyed_aggregate_spec& spec) {
    put_columns(out, spec.key_columns);
    put_aggregation(out, spec.aggregates);
  }
  void operator()(const window_aggregate_spec& spec) {
    put_columns(out, spec.key_columns);
    put_window(out, spec.window);
    put_aggregation(out, spec.aggregates);
    out.put(spec.window_function.index);
    out.put(spec.late_side);
  }
  void operator()(const sink_spec& spec) { put_connector(out, spec.connector); }
  void operator()(const calc_spec& spec) {
    put_expression(out, spec.condition);
    out.put_varint(spec.outputs.size());
    for (const auto& each : spec.outputs)
      put_expression(out, each);
    out.put_bytes(spec.time_zone);
  }
  void operator()(const group_aggregate_spec& spec) {
    put_columns(out, spec.key_columns);
    put_calls(out, spec.calls);
    out.put(static_cast<std::uint8_t>(spec.input_retracts));
    out.put(static_cast<std::uint8_t>(spec.emits_update_before));
    out.put(spec.state_ttl_ms);
    put_mini_batch(out, spec.mini_batch);
    if (spec.phase != aggregate_phase::single) {
      out.put(spec.phase);
      spec.other_end.encode(out);
    }
  }
  void operator()(const join_spec& spec) {
    out.put(spec.kind);
    for (const auto* side : {&spec.left, &spec.right}) {
      put_columns(out, side->key_columns);
      out.put(static_cast<std::uint8_t>(side->retracts));
      out.put(side->state_ttl_ms);
    }
    for (const auto flag : spec.null_safe)
      out.put(flag);
    put_expression(out, spec.condition);
    out.put_bytes(spec.time_zone);
    put_mini_batch(out, spec.mini_batch);
  }
  void operator()(const timed_join_spec& spec) {
    (*this)(spec.join);
    out.put(static_cast<std::uint8_t>(spec.is_by_window));
    if (spec.is_by_version) // jobs without one keep their hash
      out.put(static_cast<std::uint8_t>(spec.is_by_version));
    out.put(spec.left_time);
    out.put(spec.right_time);
    out.put(spec.least_ms);
    out.put(spec.most_ms);
  }
  void operator()(const lookup_join_spec& spec) {
    out.put(spec.kind);
    put_connector(out, spec.table);
    spec.table_type.encode(out);
    for (const auto* columns : {&spec.fields, &spec.key_columns, &spec.table_key_columns})
      put_columns(out, *columns);
    put_expression(out, spec.condition);
    out.put_bytes(spec.time_zone);
  }
  void operator()(const rank_spec& spec) {
    put_columns(out, spec.key_columns);
    put_order(out, spec.order);
    out.put(spec.first);
    out.put(spec.last);
    for (const bool flag :
         {spec.prefers_latest, spec.outputs_rank, spec.input_retracts, spec.emits_update_before})
      out.put(static_cast<std::uint8_t>(flag));
    out.put(spec.state_ttl_ms);
    out.put(spec.window_end_column);
    out.put_bytes(spec.time_zone);
    put_mini_batch(out, spec.mini_batch);
  }
  void operator()(const window_table_spec& spec) {
    put_window(out, spec.window);
    out.put(spec.time_column);
    put_columns(out, spec.key_columns);
  }
  void operator()(const window_group_spec& spec) {
    put_columns(out, spec.key_columns);
    put_calls(out, spec.calls);
    out.put(spec.start_column);
    out.put(spec.end_column);
    out.put(static_cast<std::uint8_t>(spec.is_processing_time));
    out.put_bytes(spec.time_zone);
  }
  void operator()(const session_group_spec& spec) {
    put_columns(out, spec.key_columns);
    put_calls(out, spec.calls);
    put_window(out, spec.window);
    out.put(spec.time_column);
  }
  void operator()(const over_spec& spec) {
    put_columns(out, spec.key_columns);
    out.put(spec.time_column);
    out.put(static_cast<std::uint8_t>(spec.is_rows));
    out.put(spec.preceding);
    put_calls(out, spec.calls);
    if (spec.state_ttl_ms > 0)
      out.put(spec.state_ttl_ms);
    if (!spec.frame)
      return;
    put_order(out, spec.order);
    for (const auto& each : {spec.frame->first, spec.frame->last}) {
      out.put(each.kind);
      out.put(each.rows);
      out.put(each.column);
    }
  }
  void operator()(const co_process_spec& spec) {
    out.put(spec.function.index);
    put_columns(out, spec.key_columns);
    put_columns(out, spec.second_key_columns);
    out.put(static_cast<std::uint8_t>(spec.is_broadcast));
  }
  void operator()(const async_wait_spec& spec) {
    out.put(spec.function.index);
    out.put(static_cast<std::uint8_t>(spec.is_ordered));
    out.put(spec.timeout_ms);
    out.put(spec.capacity);
    out.put(spec.retry.attempts_max);
    out.put(spec.retry.delay_ms);
    out.put(spec.retry.delay_ms_max);
    out.put(spec.retry.multiplier);
  }
  void operator()(const salt_spec& spec) {
    put_columns(out, spec.columns);
    out.put(spec.buckets);
    out.put(static_cast<std::uint8_t>(spec.is_in_each));
  }
  void operator()(const correlate_spec& spec) {
    out.put(spec.kind);
    out.put_bytes(spec.function);
    out.put_bytes(spec.definition);
    out.put_varint(spec.arguments.size());
    for (const auto& each : spec.arguments)
      put_expression(out, each);
    out.put(static_cast<std::uint8_t>(spec.has_ordinality));
    spec.result_type.encode(out);
    put_columns(out, spec.passed);
    put_columns(out, spec.fields);
    out.put_bytes(spec.time_zone);
  }
  void operator()(const match_spec& spec) {
    put_columns(out, spec.key_columns);
    out.put(spec.time_column);
    put_order(out, spec.order);
    out.put_varint(spec.variables.size());
    for (const auto& each : spec.variables) {
      out.put_bytes(each.name);
      out.put(each.repeat_min);
      out.put(each.repeat_max);
      out.put(static_cast<std::uint8_t>(each.is_greedy));
      put_expression(out, each.condition);
    }
    out.put_varint(spec.values.size());
    for (const auto& each : spec.values) {
      out.put(each.what);
      out.put(each.variable);
      out.put(each.offset);
      out.put(each.column);
      out.put_bytes(each.function);
      put_expressions(out, each.arguments);
      each.type.encode(out);
    }
    put_expressions(out, spec.measures);
    out.put(spec.within_ms);
    out.put(spec.skip);
    out.put(spec.skip_variable);
    out.put_bytes(spec.time_zone);
  }
};

void put_types(byte_writer& out, const std::vector<logical_type>& types) {
  out.put_varint(types.size());
  for (const auto& type : types)
    type.encode(out);
}

byte_string canonical(const operator_node& node) {
  byte_string bytes;
  byte_writer out(bytes);
  out.put(node.id.high);
  out.put(node.id.low);
  put_types(out, node.input_types);
  node.output_type.encode(out);
  put_types(out, node.side_types);
  out.put(static_cast<std::uint8_t>(node.spec.index()));
  std::visit(spec_hasher{out}, node.spec);
  return bytes;
}

/// One input of an operator, wherever its producer runs. Forward and rebalance are one: which of
/// the two an edge is follows from the parallelism.
byte_string canonical_edge(const operator_id& from, std::int32_t side, std::int32_t input,
                           const partitioner_spec& partitioner) {
  byte_string bytes;
  byte_writer out(bytes);
  out.put(from.high);
  out.put(from.low);
  out.put(side);
  out.put(input);
  out.put(partitioner.kind == partitioner_kind::rebalance ? partitioner_kind::forward
                                                          : partitioner.kind);
  put_columns(out, partitioner.key_columns);
  out.put(partitioner.function.index);
  return bytes;
}

struct operator_digest {
  const operator_node* node = nullptr;
  std::vector<byte_string> edges;
  byte_string whole; ///< 16 bytes
};

void put_hash(byte_string& to, byte_view bytes) {
  const auto [high, low] = structure_hash(bytes);
  byte_writer out(to);
  out.put(high);
  out.put(low);
}

/// One digest an operator, by id, with the edges that lead to it.
std::map<operator_id, operator_digest> digests_of(const job_graph& job) {
  std::map<operator_id, operator_digest> digests;
  std::unordered_map<result_id, std::pair<operator_id, const result_output*>> results;
  for (const auto& vertex : job.vertices) {
    for (const auto& node : vertex.operators)
      digests[node.id].node = &node;
    for (const auto& output : vertex.outputs)
      results[output.id] = {vertex.operators[static_cast<std::size_t>(output.from)].id, &output};
  }
  for (const auto& vertex : job.vertices) {
    const auto id_at = [&](std::int32_t i) {
      return vertex.operators[static_cast<std::size_t>(i)].id;
    };
    for (const auto& edge : vertex.chain)
      digests[id_at(edge.to)].edges.push_back(
          canonical_edge(id_at(edge.from), edge.side, edge.input, {}));
    for (const auto& input : vertex.inputs)
      if (const auto found = results.find(input.id); found != results.end())
        digests[id_at(0)].edges.push_back(canonical_edge(found->second.first,
                                                         found->second.second->side, input.input,
                                                         found->second.second->partitioner));
  }
  for (auto& [id, digest] : digests) {
    std::ranges::sort(digest.edges);
    auto bytes = canonical(*digest.node);
    for (const auto& edge : digest.edges)
      byte_writer(bytes).put_bytes(edge);
    put_hash(digest.whole, bytes);
  }
  return digests;
}

std::string short_digest(const operator_digest& digest) {
  std::uint64_t word = 0;
  std::memcpy(&word, digest.whole.data(), sizeof(word));
  return to_hex(0, word).substr(24);
}

} // namespace

std::string graph_hash(const job_graph& job) {
  const auto digests = digests_of(job);
  byte_string all;
  std::string shorts;
  for (const auto& [id, digest] : digests) {
    all += digest.whole;
    shorts += short_digest(digest);
  }
  const auto [high, low] = structure_hash(all);
  return to_hex(high, low) + ":" + shorts;
}

std::string graph_difference(const job_graph& rebuilt, std::string_view wanted) {
  const auto own = graph_hash(rebuilt);
  if (own == wanted)
    return {};
  constexpr std::size_t digits = 8;
  std::unordered_set<std::string> given;
  const auto colon = std::min(wanted.find(':'), wanted.size());
  for (std::size_t at = colon + 1; at + digits <= wanted.size(); at += digits)
    given.emplace(wanted.substr(at, digits));
  const auto digests = digests_of(rebuilt);
  std::string words = "submitted with " + std::to_string(given.size()) +
                      " operators, rebuilt with " + std::to_string(digests.size());
  for (const auto& vertex : rebuilt.vertices)
    for (const auto& node : vertex.operators)
      if (!given.contains(short_digest(digests.at(node.id))))
        return words + ", first difference at operator \"" + node.name + "\"";
  return words + ", of which all were submitted too";
}

} // namespace headrace::graph
