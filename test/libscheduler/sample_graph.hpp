#pragma once

#include "libgraph/job_graph/job_graph.hpp"

#include <cstdint>
#include <memory>
#include <string>

namespace headrace::testing {

/// Builds job graphs of named vertices for tests of the scheduler. Ids follow from positions.
class sample_graph {
public:
  sample_graph() {
    job_.id = {7, 7};
    job_.name = "sample";
  }

  std::int32_t add(const std::string& name, std::int32_t parallelism,
                   const std::string& group = "default") {
    const auto position = static_cast<std::int32_t>(job_.vertices.size());
    graph::job_vertex vertex;
    vertex.id = {1, static_cast<std::uint64_t>(position) + 1};
    vertex.name = name;
    vertex.parallelism = parallelism;
    vertex.slot_sharing_group = group;
    graph::operator_node head;
    head.id = {2, static_cast<std::uint64_t>(position) + 1};
    head.uid = name;
    head.name = name;
    head.spec = graph::filter_spec{};
    vertex.operators.push_back(std::move(head));
    job_.vertices.push_back(std::move(vertex));
    return position;
  }

  void connect(std::int32_t from, std::int32_t to,
               graph::partitioner_kind partitioner = graph::partitioner_kind::hash,
               graph::partition_kind kind = graph::partition_kind::pipelined) {
    graph::job_vertex& producer = at(from);
    graph::result_output output;
    output.id = {3, ++results_};
    output.partitioner.kind = partitioner;
    output.kind = kind;
    producer.outputs.push_back(output);
    at(to).inputs.push_back({output.id, 0});
  }

  graph::job_vertex& at(std::int32_t position) {
    return job_.vertices[static_cast<std::size_t>(position)];
  }
  graph::job_graph& job() { return job_; }
  std::shared_ptr<const graph::job_graph> share() const {
    return std::make_shared<const graph::job_graph>(job_);
  }

private:
  graph::job_graph job_;
  std::uint64_t results_ = 0;
};

} // namespace headrace::testing
