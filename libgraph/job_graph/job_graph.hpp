#pragma once

#include "libgraph/spec/operator_spec.hpp"
#include "libactors/base/ids.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace headrace::graph {

/// One operator inside a job vertex.
struct operator_node {
  operator_id id; ///< stable: from the uid, or from its place in the graph
  std::string uid;
  std::string name;
  operator_spec spec;
  std::vector<logical_type> input_types; ///< one an input
  logical_type output_type;
  std::vector<logical_type> side_types; ///< one a side output
  friend bool operator==(const operator_node&, const operator_node&) = default;
};

/// Connects an output of a chained operator to the next one in the chain.
struct chain_edge {
  std::int32_t from = 0;  ///< index into job_vertex::operators
  std::int32_t side = -1; ///< -1: main output
  std::int32_t to = 0;
  std::int32_t input = 0;
  friend bool operator==(const chain_edge&, const chain_edge&) = default;
};

enum class partition_kind : std::uint8_t {
  pipelined, ///< rows flow while the producer runs
  blocking,  ///< consumable when the producer has finished
};

/// An output of a vertex that leaves it: an intermediate result with one partition a subtask.
struct result_output {
  result_id id;
  std::int32_t from = 0; ///< operator in the chain
  std::int32_t side = -1;
  partitioner_spec partitioner;
  partition_kind kind = partition_kind::pipelined;
  friend bool operator==(const result_output&, const result_output&) = default;
};

/// An input gate of a vertex: consumes one intermediate result.
struct result_input {
  result_id id;
  std::int32_t input = 0; ///< which input of the chain's head; several gates may feed one (union)
  friend bool operator==(const result_input&, const result_input&) = default;
};

/// A chain of operators that runs as one subtask, `parallelism` times. operators[0] is the head.
struct job_vertex {
  vertex_id id;
  std::string name;
  std::int32_t parallelism = 1;
  std::int32_t max_parallelism = 128;
  /// Whether the user set it; a derived one gives way to that of a restored checkpoint.
  bool max_parallelism_is_fixed = false;
  std::string slot_sharing_group = "default";
  std::vector<operator_node> operators;
  std::vector<chain_edge> chain;
  std::vector<result_input> inputs;
  std::vector<result_output> outputs;
  friend bool operator==(const job_vertex&, const job_vertex&) = default;
};

enum class restart_kind : std::uint8_t { none, fixed_delay, failure_rate, exponential_delay };
/// Durations in milliseconds.
struct restart_spec {
  restart_kind kind = restart_kind::exponential_delay;
  std::int32_t attempts = 1;             ///< fixed delay: restarts at the most
  std::int64_t delay_ms = 1000;          ///< fixed delay, failure rate: before each restart
  std::int32_t failures_max = 1;         ///< failure rate: at most so many …
  std::int64_t interval_ms = 60'000;     ///< … in this time
  std::int64_t initial_backoff_ms = 100; ///< exponential: the first restart is at once, then this
  std::int64_t max_backoff_ms = 60'000;
  double multiplier = 1.5;
  double jitter = 0.1;
  std::int64_t reset_after_ms = 3'600'000; ///< without failure: back to the initial back-off
  friend bool operator==(const restart_spec&, const restart_spec&) = default;
};

/// A master hook of the job, by the function that makes it.
struct master_hook_spec {
  std::string identifier; ///< in checkpoints: unique in the job
  std::int32_t function = 0;
  friend bool operator==(const master_hook_spec&, const master_hook_spec&) = default;
};

struct checkpoint_spec {
  std::int64_t interval_ms = 0; ///< 0: off
  std::int64_t timeout_ms = 600'000;
  std::int64_t min_pause_ms = 0;
  std::int32_t tolerable_failures = 0; ///< consecutive; more fail the job. -1: any number
  std::int32_t retained = 1;
  bool at_least_once = false;
  /// Barriers overtake rows that wait, which are stored. Savepoints are aligned all the same.
  bool unaligned = false;
  std::int64_t aligned_timeout_ms = 0; ///< of unaligned ones: tried aligned for so long
  /// Under way at once; one where they are unaligned, or with a pause between them.
  std::int32_t max_concurrent = 1;
  bool keep_on_cancel = false;
  bool keep_on_failure = true;
  std::string directory;    ///< empty: kept below the cluster's own directory
  std::string restore_from; ///< a checkpoint's directory to start from; empty: none
  bool allow_non_restored_state = false;
  std::string savepoint_directory; ///< where savepoints go by default; empty: to `directory`
  std::vector<master_hook_spec> master_hooks;
  friend bool operator==(const checkpoint_spec&, const checkpoint_spec&) = default;
};

/// An artifact that executors fetch by digest from the blob server.
struct artifact {
  std::string name;
  artifact_digest digest; ///< 64 hex digits, SHA-256
  std::uint64_t size_bytes = 0;
  friend bool operator==(const artifact&, const artifact&) = default;
};

/// What a job is: its vertices in topological order and how it is to be run. A value.
struct job_graph {
  job_id id;
  std::string name;
  std::vector<job_vertex> vertices;
  std::vector<std::string> arguments; ///< of the client, for the job object's entry function
  std::vector<artifact> artifacts;    ///< the first is the job object, when there is one
  std::string hash;                   ///< of the vertices, hex: executors must build the same graph
  restart_spec restart;
  checkpoint_spec checkpoints;
  std::int64_t buffer_timeout_ms = 10;
  std::int64_t slot_timeout_ms = 300'000;
  std::string state_backend = "hashmap";
  bool region_failover = true;
  std::int32_t committer_retries = 10; ///< of a sink's commit, before its task fails
  friend bool operator==(const job_graph&, const job_graph&) = default;
};

/// Checks what every later step relies on: ids unique, edges in range, topological order, each
/// result consumed by one gate, types that fit, forward edges with equal parallelism, parallelism
/// within max_parallelism, settings of checkpoints that go together.
/// @errors invalid_graph, type_mismatch, duplicate_uid, bad_option_value
status validate(const job_graph& job);
/// Checks one vertex by itself: all of the above but what only other vertices tell.
/// @errors invalid_graph, type_mismatch
status validate(const job_vertex& vertex);

/// Returns the hash over operators, edges and types; not over id, name, parallelism or settings,
/// nor over what follows from them (chains; whether an edge is forward or rebalance): the client
/// and an executor may differ in the default parallelism. 32 hex digits of the whole, a colon, and
/// 8 digits an operator, in the order of operator ids, so that a difference can be named.
std::string graph_hash(const job_graph& job);
/// Says in words where `rebuilt` differs from the graph that has the hash `wanted`; empty: it does
/// not.
std::string graph_difference(const job_graph& rebuilt, std::string_view wanted);

/// Flink's rule for an operator without a maximum of its own: the power of two at or above 1.5
/// times the parallelism, in [128, 32768].
std::int32_t derived_max_parallelism(std::int32_t parallelism);
inline constexpr std::int32_t max_parallelism_limit = 32'768;

} // namespace headrace::graph
