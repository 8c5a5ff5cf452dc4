#include "libscheduler/execution_graph/pipelined_region.hpp"

#include <algorithm>
#include <numeric>

namespace headrace::scheduler {

namespace {

/// Disjoint sets of tasks.
class task_sets {
public:
  explicit task_sets(std::int32_t count) : parent_(static_cast<std::size_t>(count)) {
    std::iota(parent_.begin(), parent_.end(), 0);
  }
  task_index root_of(task_index task) {
    while (at(task) != task) {
      at(task) = at(at(task));
      task = at(task);
    }
    return task;
  }
  /// The smaller root stays, so that regions are numbered in the graph's order.
  void unite(task_index a, task_index b) {
    a = root_of(a);
    b = root_of(b);
    at(std::max(a, b)) = std::min(a, b);
  }

private:
  task_index& at(task_index task) { return parent_[static_cast<std::size_t>(task)]; }
  std::vector<task_index> parent_;
};

} // namespace

pipelined_regions::pipelined_regions(const execution_graph& graph) {
  task_sets sets(graph.task_count());
  for (const job_edge& edge : graph.edges()) {
    if (edge.kind != graph::partition_kind::pipelined)
      continue;
    for (std::int32_t consumer = 0; consumer < edge.pattern.consumers; ++consumer) {
      const subtask_range producers = edge.pattern.producers_of(consumer);
      // In an all-to-all edge everyone meets the first producer.
      const bool is_repeated =
          edge.pattern.pattern == distribution_pattern::all_to_all && consumer > 0;
      const std::int32_t last = is_repeated ? producers.first + 1 : producers.last;
      for (std::int32_t producer = producers.first; producer < last; ++producer)
        sets.unite(graph.task_at(edge.producer, producer), graph.task_at(edge.consumer, consumer));
    }
  }

  region_of_.assign(static_cast<std::size_t>(graph.task_count()), -1);
  for (task_index task = 0; task < graph.task_count(); ++task) {
    const task_index root = sets.root_of(task);
    if (root == task) {
      region_of_[static_cast<std::size_t>(task)] = region_count();
      tasks_.emplace_back();
    }
    region_of_[static_cast<std::size_t>(task)] = region_of(root);
    tasks_[static_cast<std::size_t>(region_of(root))].push_back(task);
  }

  consumers_.resize(tasks_.size());
  for (const job_edge& edge : graph.edges()) {
    if (edge.kind == graph::partition_kind::pipelined)
      continue;
    for (std::int32_t producer = 0; producer < edge.pattern.producers; ++producer) {
      auto& consumers =
          consumers_[static_cast<std::size_t>(region_of(graph.task_at(edge.producer, producer)))];
      const subtask_range range = edge.pattern.consumers_of(producer);
      for (std::int32_t consumer = range.first; consumer < range.last; ++consumer)
        consumers.push_back(region_of(graph.task_at(edge.consumer, consumer)));
    }
  }
  for (auto& consumers : consumers_) {
    std::sort(consumers.begin(), consumers.end());
    consumers.erase(std::unique(consumers.begin(), consumers.end()), consumers.end());
  }
}

} // namespace headrace::scheduler
