#include "libgraph/stream_graph/stream_graph.hpp"

#include "libgraph/job_graph/structure_hash.hpp"
#include "libgraph/spec/keeps_state.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>

namespace headrace::graph {
namespace {

/// Where the rows of a transformation really come from.
struct origin {
  std::int32_t node = 0;
  std::int32_t side = -1;
  std::optional<partitioner_spec> partitioner;
  logical_type type;
  std::int32_t input = 0; ///< of the operator that reads it
};

std::string quoted(const std::string& name) { return '"' + name + '"'; }

class stream_graph_maker {
public:
  stream_graph_maker(const pipeline& program, std::int32_t default_parallelism)
      : program_(program), structure_only_(default_parallelism == 0),
        default_parallelism_(program.settings.parallelism > 0 ? program.settings.parallelism
                                                              : default_parallelism) {}

  result<stream_graph> make() {
    for (const auto& node : program_.transformations)
      HEADRACE_CHECK(add(node));
    if (graph_.nodes.empty())
      return error(errc::invalid_graph, "the job has no operators");
    return std::move(graph_);
  }

private:
  status add(const transformation& node) {
    HEADRACE_TRY(auto inputs, origins_of(node));
    if (const auto* call = std::get_if<operator_call>(&node.call))
      return add_operator(node, *call, inputs);
    if (std::holds_alternative<union_call>(node.call)) {
      for (const auto& input : inputs)
        if (!(input.type == inputs.front().type))
          return error(errc::type_mismatch,
                       "union of different types: " + inputs.front().type.to_sql() + " and " +
                           input.type.to_sql());
    } else if (const auto* partition = std::get_if<partition_call>(&node.call)) {
      for (auto& input : inputs)
        input.partitioner = partition->partitioner;
    } else if (const auto* side = std::get_if<side_output_call>(&node.call)) {
      for (auto& input : inputs) {
        const auto& types = graph_.nodes[static_cast<std::size_t>(input.node)].op.side_types;
        if (side->side < 0 || static_cast<std::size_t>(side->side) >= types.size())
          return error(errc::invalid_graph, "no side output " + std::to_string(side->side));
        input.side = side->side;
        input.partitioner.reset();
        input.type = types[static_cast<std::size_t>(side->side)];
      }
    }
    origins_.push_back(std::move(inputs));
    return {};
  }

  result<std::vector<origin>> origins_of(const transformation& node) const {
    const auto* call = std::get_if<operator_call>(&node.call);
    const auto count = call == nullptr ? 1 : input_count(call->spec);
    if (count > 1 && node.inputs.size() != count)
      return error(errc::invalid_graph, quoted(node.name) + " takes " + std::to_string(count) +
                                            " inputs, has " + std::to_string(node.inputs.size()));
    std::vector<origin> inputs;
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      const auto input = node.inputs[i];
      if (input < 0 || static_cast<std::size_t>(input) >= origins_.size())
        return error(errc::invalid_graph, "input of " + quoted(node.name) + " comes later");
      for (auto found : origins_[static_cast<std::size_t>(input)]) {
        found.input = count > 1 ? static_cast<std::int32_t>(i) : 0;
        inputs.push_back(std::move(found));
      }
    }
    return inputs;
  }

  status add_operator(const transformation& node, const operator_call& call,
                      const std::vector<origin>& inputs) {
    const auto index = static_cast<std::int32_t>(graph_.nodes.size());
    stream_node made;
    made.op = {{}, node.uid, node.name, call.spec, {}, node.output_type, call.side_types};
    made.parallelism = parallelism_of(node);
    made.max_parallelism = node.max_parallelism;
    made.chaining = node.chaining;
    made.slot_sharing_group = slot_sharing_group_of(node, inputs);
    // All of one input are of its type.
    for (const auto& input : inputs)
      if (static_cast<std::size_t>(input.input) == made.op.input_types.size())
        made.op.input_types.push_back(input.type);
    if (made.parallelism < 1 || made.parallelism > max_parallelism_limit)
      return error(errc::invalid_graph, "parallelism of " + quoted(node.name) +
                                            " out of range: " + std::to_string(made.parallelism));
    HEADRACE_CHECK(give_id(made.op, node, inputs));
    for (const auto& input : inputs)
      HEADRACE_CHECK(add_edge(input, index, made));
    graph_.nodes.push_back(std::move(made));
    origins_.push_back({{index, -1, std::nullopt, node.output_type, 0}});
    return {};
  }

  std::int32_t parallelism_of(const transformation& node) const {
    if (structure_only_)
      return 1;
    return node.parallelism > 0 ? node.parallelism : default_parallelism_;
  }

  std::string slot_sharing_group_of(const transformation& node,
                                    const std::vector<origin>& inputs) const {
    if (!node.slot_sharing_group.empty())
      return node.slot_sharing_group;
    std::string group = "default";
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const auto& found = graph_.nodes[static_cast<std::size_t>(inputs[i].node)].slot_sharing_group;
      if (i > 0 && found != group)
        return "default";
      group = found;
    }
    return group;
  }

  status give_id(operator_node& op, const transformation& node, const std::vector<origin>& inputs) {
    // One without state must not be found where a checkpoint has some.
    const bool is_seen_through = !node.statement.empty() && !keeps_state(op.spec);
    byte_string bytes;
    byte_writer out(bytes);
    if (!op.uid.empty()) {
      if (const auto [other, fresh] = uids_.emplace(op.uid, op.name); !fresh)
        return error(errc::duplicate_uid, "duplicate uid " + quoted(op.uid) + ": operators " +
                                              quoted(other->second) + " and " + quoted(op.name));
      op.id = id_of_uid(op.uid);
    } else {
      out.put_bytes(is_seen_through ? "passing" : "place");
      out.put(static_cast<std::uint8_t>(op.spec.index()));
      if (node.statement.empty() || !std::holds_alternative<sink_spec>(op.spec))
        for (const auto& input : inputs)
          put_source(out, input);
      if (!node.statement.empty()) {
        out.put_bytes(node.statement);
        out.put(node.place);
      }
      out.put(ranks_[bytes]++);
      const auto [high, low] = structure_hash(bytes);
      op.id = {high, low};
    }
    byte_string seen;
    byte_writer to(seen);
    if (is_seen_through) {
      for (const auto& input : inputs)
        put_source(to, input);
    } else {
      to.put(op.id.high);
      to.put(op.id.low);
    }
    seen_as_.push_back(std::move(seen));
    return {};
  }

  /// What of an input goes into the id of who reads it.
  void put_source(byte_writer& out, const origin& input) const {
    out.put_raw(seen_as_[static_cast<std::size_t>(input.node)]);
    if (input.side >= 0)
      out.put(input.side);
    if (input.input > 0)
      out.put(input.input);
  }

  status add_edge(const origin& input, std::int32_t to, const stream_node& made) {
    const auto& from = graph_.nodes[static_cast<std::size_t>(input.node)];
    const bool equal = from.parallelism == made.parallelism;
    auto partitioner = input.partitioner.value_or(
        partitioner_spec{equal ? partitioner_kind::forward : partitioner_kind::rebalance, {}, {}});
    if (partitioner.kind == partitioner_kind::forward && !equal)
      return error(errc::invalid_graph,
                   "forward does not allow a change of parallelism: " + quoted(from.op.name) +
                       " has " + std::to_string(from.parallelism) + ", " + quoted(made.op.name) +
                       " has " + std::to_string(made.parallelism) +
                       "; use rebalance or rescale between them");
    graph_.edges.push_back({input.node, input.side, to, input.input, std::move(partitioner)});
    return {};
  }

  const pipeline& program_;
  bool structure_only_;
  std::int32_t default_parallelism_;
  stream_graph graph_;
  std::vector<std::vector<origin>> origins_; ///< by transformation
  std::vector<byte_string> seen_as_;         ///< by node: what it is in the ids behind it
  std::map<byte_string, std::uint32_t> ranks_;
  std::unordered_map<std::string, std::string> uids_; ///< to the operator's name
};

} // namespace

result<stream_graph> make_stream_graph(const pipeline& program, std::int32_t default_parallelism) {
  return stream_graph_maker(program, default_parallelism).make();
}

} // namespace headrace::graph
