#include "libgraph/stream_graph/job_graph_builder.hpp"

#include "libgraph/job_graph/structure_hash.hpp"

#include <algorithm>

namespace headrace::graph {
namespace {

std::size_t index_of(std::int32_t value) { return static_cast<std::size_t>(value); }

const stream_node& node_at(const stream_graph& graph, std::int32_t index) {
  return graph.nodes[index_of(index)];
}

std::size_t input_edges(const stream_graph& graph, std::int32_t node) {
  return static_cast<std::size_t>(std::ranges::count(graph.edges, node, &stream_edge::to));
}

class job_graph_maker {
public:
  job_graph_maker(const stream_graph& graph, const job_settings& settings)
      : graph_(graph), settings_(settings) {}

  result<job_graph> make() {
    place_nodes();
    for (const auto& edge : graph_.edges)
      add_edge(edge);
    for (auto& vertex : job_.vertices)
      vertex.name = chain_name(vertex, 0);
    job_.name = settings_.name;
    job_.restart = settings_.restart;
    job_.checkpoints = settings_.checkpoints;
    job_.buffer_timeout_ms = settings_.buffer_timeout_ms;
    job_.state_backend = settings_.state_backend;
    HEADRACE_CHECK(validate(job_));
    job_.hash = graph_hash(job_);
    return std::move(job_);
  }

private:
  /// Gives each node its vertex: that of the node before it when they chain, else one of its own.
  void place_nodes() {
    std::vector<const stream_edge*> chained(graph_.nodes.size(), nullptr);
    for (const auto& edge : graph_.edges)
      if (is_chainable(graph_, edge, settings_))
        chained[index_of(edge.to)] = &edge;
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      const auto& node = graph_.nodes[i];
      if (chained[i] == nullptr) {
        vertex_of_.push_back(job_.vertices.size());
        job_.vertices.push_back(vertex_for(node));
      } else {
        vertex_of_.push_back(vertex_of_[index_of(chained[i]->from)]);
      }
      auto& vertex = job_.vertices[vertex_of_.back()];
      place_of_.push_back(static_cast<std::int32_t>(vertex.operators.size()));
      vertex.operators.push_back(node.op);
    }
  }

  job_vertex vertex_for(const stream_node& head) const {
    job_vertex vertex;
    vertex.id = {head.op.id.high, head.op.id.low};
    vertex.parallelism = head.parallelism;
    vertex.max_parallelism = head.max_parallelism > 0 ? head.max_parallelism
                             : settings_.max_parallelism > 0
                                 ? settings_.max_parallelism
                                 : derived_max_parallelism(head.parallelism);
    vertex.max_parallelism_is_fixed = head.max_parallelism > 0 || settings_.max_parallelism > 0;
    vertex.slot_sharing_group = head.slot_sharing_group;
    return vertex;
  }

  void add_edge(const stream_edge& edge) {
    auto& from = job_.vertices[vertex_of_[index_of(edge.from)]];
    auto& to = job_.vertices[vertex_of_[index_of(edge.to)]];
    if (is_chainable(graph_, edge, settings_)) {
      from.chain.push_back(
          {place_of_[index_of(edge.from)], edge.side, place_of_[index_of(edge.to)], edge.input});
      return;
    }
    const auto id = result_for(edge);
    from.outputs.push_back({id, place_of_[index_of(edge.from)], edge.side, edge.partitioner,
                            partition_kind::pipelined});
    to.inputs.push_back({id, edge.input});
  }

  /// The rank tells edges apart that join the same ends (a stream united with itself).
  result_id result_for(const stream_edge& edge) const {
    const auto& from = node_at(graph_, edge.from).op.id;
    const auto& to = node_at(graph_, edge.to).op.id;
    const auto& inputs = job_.vertices[vertex_of_[index_of(edge.to)]].inputs;
    byte_string bytes;
    byte_writer out(bytes);
    out.put_bytes("result");
    out.put(from.high);
    out.put(from.low);
    out.put(edge.side);
    out.put(to.high);
    out.put(to.low);
    out.put(edge.input);
    out.put(static_cast<std::uint32_t>(inputs.size()));
    const auto [high, low] = structure_hash(bytes);
    return {high, low};
  }

  /// "source -> map -> (print, file)"
  static std::string chain_name(const job_vertex& vertex, std::int32_t at) {
    std::vector<std::string> behind;
    for (const auto& edge : vertex.chain)
      if (edge.from == at)
        behind.push_back(chain_name(vertex, edge.to));
    auto name = vertex.operators[index_of(at)].name;
    if (behind.empty())
      return name;
    name += behind.size() == 1 ? " -> " : " -> (";
    for (std::size_t i = 0; i < behind.size(); ++i)
      name += (i == 0 ? "" : ", ") + behind[i];
    return behind.size() == 1 ? name : name + ")";
  }

  const stream_graph& graph_;
  const job_settings& settings_;
  job_graph job_;
  std::vector<std::size_t> vertex_of_; ///< by node
  std::vector<std::int32_t> place_of_; ///< by node: index into the vertex's operators
};

} // namespace

bool is_chainable(const stream_graph& graph, const stream_edge& edge,
                  const job_settings& settings) {
  const auto& from = node_at(graph, edge.from);
  const auto& to = node_at(graph, edge.to);
  return settings.chaining && edge.partitioner.kind == partitioner_kind::forward &&
         from.parallelism == to.parallelism && from.max_parallelism == to.max_parallelism &&
         from.slot_sharing_group == to.slot_sharing_group &&
         from.chaining != chaining_policy::never && to.chaining == chaining_policy::always &&
         input_edges(graph, edge.to) == 1;
}

result<job_graph> build_job_graph(const stream_graph& graph, const job_settings& settings) {
  return job_graph_maker(graph, settings).make();
}

result<job_graph> build_job_graph(const pipeline& program, std::int32_t default_parallelism) {
  HEADRACE_TRY(auto graph, make_stream_graph(program, default_parallelism));
  return build_job_graph(graph, program.settings);
}

} // namespace headrace::graph
