#pragma once

#include "libgraph/function/function.hpp"
#include "libgraph/job_graph/job_graph.hpp"

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace headrace::graph {

/// Whether an operator may run in one task with those before and behind it.
enum class chaining_policy : std::uint8_t {
  always,
  head,  ///< not with those before it
  never, ///< alone
};

/// A call that makes an operator.
struct operator_call {
  operator_spec spec;
  std::vector<logical_type> side_types;
};
/// Merges its inputs, which are of one type.
struct union_call {};
/// Says how the rows of its input find their subtask. Without one an edge is forward between equal
/// parallelism, else rebalance.
struct partition_call {
  partitioner_spec partitioner;
};
/// Takes a side output of its input instead of the main one.
struct side_output_call {
  std::int32_t side = 0;
};

/// One call of the API, as it was made. Names earlier ones by index.
struct transformation {
  std::string name;
  std::string uid;
  /// Of SQL: a table that is written with the rows of the operator, or that it reads; else empty.
  /// With `place` it tells the operator from others that are alike.
  std::string statement;
  std::int32_t place = 0;
  std::variant<operator_call, union_call, partition_call, side_output_call> call;
  std::vector<std::int32_t> inputs; ///< of an operator of two inputs: in their order
  logical_type output_type;
  std::int32_t parallelism = 0;     ///< 0: the job's default
  std::int32_t max_parallelism = 0; ///< 0: the job's
  std::string slot_sharing_group;   ///< empty: that of the inputs, if they agree, else "default"
  chaining_policy chaining = chaining_policy::always;
};

/// How a job is to be run, where its graph does not say.
struct job_settings {
  std::string name = "job";
  std::int32_t parallelism = 0;     ///< 0: what the one who runs it says
  std::int32_t max_parallelism = 0; ///< 0: derived from each operator's parallelism
  bool chaining = true;
  restart_spec restart;
  checkpoint_spec checkpoints;
  std::int64_t buffer_timeout_ms = 10;
  std::string state_backend = "hashmap";
};

/// What a program described: its transformations (inputs before those that use them), the functions
/// that they name, and its settings. Filled by the typed API or a planner; a value.
struct pipeline {
  std::vector<transformation> transformations;
  function_table functions;
  job_settings settings;

  /// @returns the index of the new transformation
  std::int32_t add(transformation node) {
    transformations.push_back(std::move(node));
    return static_cast<std::int32_t>(transformations.size() - 1);
  }
  function_ref add(function_factory factory) {
    functions.push_back(std::move(factory));
    return {static_cast<std::int32_t>(functions.size() - 1)};
  }
  transformation& at(std::int32_t index) {
    return transformations[static_cast<std::size_t>(index)];
  }
};

} // namespace headrace::graph
