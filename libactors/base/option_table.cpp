#include "libactors/base/option.hpp"

namespace headrace {

// Keys and meanings are Flink's where both have the thing; an empty default is derived or off, as
// the description says. Durations are in milliseconds, sizes in bytes. Sorted by key.
const std::vector<option_declaration>& all_options() {
  using enum option_type;
  static const std::vector<option_declaration> table = {
      {"cluster.id", text, "default", "Name of the cluster; nodes of another one are refused"},
      {"cluster.services.shutdown-timeout", duration, "30 s",
       "How long a process that was told to stop may take for it, the last checkpoints of its jobs "
       "included; then it ends at once",
       100, 3'600'000},
      {"execution.buffer-timeout.interval", duration, "10 ms",
       "How long a partly filled output buffer may wait while input keeps coming; 0 sends at once",
       0, 60'000},
      {"execution.checkpointing.aligned-checkpoint-timeout", duration, "0 ms",
       "How long after its trigger an unaligned checkpoint is tried with aligned barriers first, "
       "which stores nothing that is in flight; needs execution.checkpointing.unaligned.enabled",
       0},
      {"execution.checkpointing.dir", path, "",
       "Directory of checkpoints; those of a job that was canceled or failed stay there. Without "
       "one they are kept in the job manager's io.tmp.dirs, and go with it"},
      {"execution.checkpointing.externalized-checkpoint-retention", text, "",
       "Whether checkpoints stay when their job is canceled (RETAIN_ON_CANCELLATION), only when it "
       "has failed (DELETE_ON_CANCELLATION), or never (NO_EXTERNALIZED_CHECKPOINTS); unset: the "
       "first where execution.checkpointing.dir is set, else the second",
       std::nullopt, std::nullopt,
       "RETAIN_ON_CANCELLATION|DELETE_ON_CANCELLATION|NO_EXTERNALIZED_CHECKPOINTS"},
      {"execution.checkpointing.file-merging.enabled", boolean, "true",
       "Whether the tasks of a task manager write their parts of a checkpoint into few files "
       "together, instead of one each"},
      {"execution.checkpointing.file-merging.max-file-size", memory_size, "32 mb",
       "Such a file takes no further part once it has this size; a part is never split",
       std::int64_t{1} << 20U},
      {"execution.checkpointing.interval", duration, "",
       "Time between the starts of two checkpoints; unset: 10 s for unbounded jobs, off for "
       "bounded ones; 0 turns checkpoints off",
       0},
      {"execution.checkpointing.max-concurrent-checkpoints", integer, "1",
       "How many checkpoints may be under way at once; more than one only with aligned barriers. "
       "With execution.checkpointing.min-pause there is never more than one",
       1, 100},
      {"execution.checkpointing.min-pause", duration, "0 ms",
       "Least time between the end of a checkpoint and the start of the next", 0},
      {"execution.checkpointing.mode", text, "EXACTLY_ONCE",
       "Whether barriers are aligned, so that each record counts once in the state", std::nullopt,
       std::nullopt, "EXACTLY_ONCE|AT_LEAST_ONCE"},
      {"execution.checkpointing.num-retained", integer, "1",
       "How many completed checkpoints are kept", 1, 1'000},
      {"execution.checkpointing.savepoint-dir", path, "",
       "Directory that savepoints go to unless their order names one; unset: "
       "execution.checkpointing.dir, or where checkpoints are without it"},
      {"execution.checkpointing.timeout", duration, "10 min",
       "After this time a checkpoint that is not complete is given up", 10},
      {"execution.checkpointing.tolerable-failed-checkpoints", integer, "0",
       "How many checkpoints may fail in a row before the job is restarted", 0, 1'000'000},
      {"execution.checkpointing.unaligned.enabled", boolean, "false",
       "Whether barriers overtake what waits under back pressure, which is stored with the "
       "checkpoint; not with AT_LEAST_ONCE, and not of savepoints"},
      {"execution.runtime-mode", text, "streaming",
       "How a SQL query runs. batch: of tables that end, each row once, as it is in the end; then "
       "no "
       "row is updated, and none is too late",
       std::nullopt, std::nullopt, "streaming|batch|STREAMING|BATCH"},
      {"execution.state-recovery.from-local", boolean, "true",
       "Keep a copy of what a task writes into checkpoints on its task manager's disk, and restore "
       "from that a task that comes back there; RocksDB links its files instead of copying them"},
      {"execution.state-recovery.ignore-unclaimed-state", boolean, "false",
       "Leave out state of a savepoint or checkpoint that the job has no operator for"},
      {"execution.state-recovery.path", path, "",
       "Directory of a savepoint or checkpoint whose state a job starts with"},
      {"heartbeat.interval", duration, "1 s", "Time between two heartbeats to a peer", 10, 60'000},
      {"heartbeat.timeout", duration, "10 s",
       "A peer that is silent for so long is lost; at least twice heartbeat.interval", 50,
       3'600'000},
      {"high-availability.storageDir", path, "",
       "Directory where a job manager keeps job graphs, artifacts and checkpoints, so that the "
       "next "
       "one runs its jobs on; unset: jobmanager below io.tmp.dirs"},
      {"io.tmp.dirs", path, "",
       "Directory of working files, which go with the process; what killed processes left there is "
       "removed by the next one of the same role. Unset: headrace-<user id> in the system's "
       "temporary directory"},
      {"jobmanager.bind-host", text, "127.0.0.1",
       "Address that the job manager listens on; others than loopback need a shared secret or TLS"},
      {"jobmanager.execution.failover-strategy", text, "region",
       "What is restarted after a task failed: the region that it belongs to, or the whole job",
       std::nullopt, std::nullopt, "region|full"},
      {"jobmanager.rpc.address", text, "",
       "Host of the job manager that task managers register at; unset: 127.0.0.1. Must be set for "
       "a "
       "job manager whose jobmanager.bind-host is 0.0.0.0 or ::"},
      {"jobmanager.rpc.port", integer, "6123", "Port of the job manager's messages", 0, 65'535},
      {"log.file", path, "", "File that log lines are added to; unset: standard error"},
      {"log.level", text, "info", "Least severe lines that are logged", std::nullopt, std::nullopt,
       "trace|debug|info|warn|error|off"},
      {"parallelism.default", integer, "",
       "Subtasks of an operator that sets none itself; unset: the number of cores in a mini "
       "cluster, else 1",
       1, 32'768},
      {"pipeline.max-parallelism", integer, "",
       "Key groups of operators that set none themselves: the most subtasks that a job can ever go "
       "on with from its savepoints; unset: one and a half times the parallelism, as a power of "
       "two "
       "of at least 128",
       1, 32'768},
      {"pipeline.name", text, "",
       "Name of the jobs that SQL statements make; unset: what the statement does"},
      {"rest.bind-address", text, "127.0.0.1",
       "IP address that the REST interface listens on; 0.0.0.0: all of the machine's, for anyone "
       "who can reach it"},
      {"rest.port", integer, "8081", "Port of the REST interface; 0: any free one", 0, 65'535},
      {"restart-strategy.exponential-delay.backoff-multiplier", real, "1.5",
       "By how much the delay grows after each failure", 1, 100},
      {"restart-strategy.exponential-delay.initial-backoff", duration, "100 ms",
       "Delay of the second restart; the first is at once", 1},
      {"restart-strategy.exponential-delay.max-backoff", duration, "1 min",
       "The most that the delay grows to", 1},
      {"restart-strategy.fixed-delay.attempts", integer, "1",
       "How often a job is restarted before it has failed for good", 1},
      {"restart-strategy.fixed-delay.delay", duration, "1 s", "Delay of a restart", 0},
      {"restart-strategy.type", text, "exponential-delay",
       "What happens after a failure; none: the job has failed", std::nullopt, std::nullopt,
       "exponential-delay|fixed-delay|none"},
      {"security.shared-secret", text, "",
       "What all nodes of a cluster know, and prove to each other when they connect"},
      {"security.shared-secret-file", path, "",
       "File with the shared secret, in place of security.shared-secret"},
      {"security.ssl.internal.ca", path, "",
       "PEM file of the private CA that has signed the certificates of this cluster's nodes"},
      {"security.ssl.internal.certificate", path, "", "PEM file of this node's certificate chain"},
      {"security.ssl.internal.enabled", boolean, "false",
       "Whether nodes speak with each other over TLS, and show each other certificates"},
      {"security.ssl.internal.key", path, "", "PEM file of this node's private key"},
      {"sink.committer.retries", integer, "10",
       "How often a sink that cannot commit what a checkpoint has prepared tries again, after 0.1 "
       "s "
       "and then twice as long each time, at most 10 s, before its task fails",
       0, 1'000'000},
      {"slot.request.timeout", duration, "5 min",
       "A job that waits longer for a slot fails, and says how many are missing", 10},
      {"state.backend.rocksdb.localdir", path, "",
       "Directory of RocksDB's files, which go with the process; unset: io.tmp.dirs"},
      {"state.backend.rocksdb.memory.fixed-per-tm", memory_size, "",
       "Memory of all RocksDB instances of a task manager together, for block cache and write "
       "buffers; unset: see state.backend.rocksdb.memory.managed",
       std::int64_t{4} << 20U},
      {"state.backend.rocksdb.memory.managed", boolean, "true",
       "Whether RocksDB takes as much memory as half of taskmanager.memory.managed.size, beside "
       "what batches take; else 512 MB"},
      {"state.backend.rocksdb.read-threads", integer, "16",
       "How many threads of a task manager, at most, read rows of RocksDB for its subtasks where "
       "reads wait for the disk, so that a batch's rows are read many at once; 0: none",
       0, 256},
      {"state.backend.type", text, "hashmap",
       "Where keyed state lives: hashmap, in memory; rocksdb, on local disk, with incremental "
       "checkpoints",
       std::nullopt, std::nullopt, "hashmap|rocksdb"},
      {"table.exec.lua.instruction-limit", integer, "100000000",
       "How many instructions of Lua one call of a user's function may take; 0: any number. Of "
       "functions made from then on",
       0},
      {"table.exec.lua.memory-limit", memory_size, "64 mb",
       "How much memory a user's function in Lua may have in each subtask. Of functions made from "
       "then on",
       std::int64_t{1} << 20U},
      {"table.exec.mini-batch.allow-latency", duration, "0",
       "How long rows wait at most to be worked on together; must be set with "
       "table.exec.mini-batch.enabled",
       0},
      {"table.exec.mini-batch.enabled", boolean, "false",
       "Whether group aggregates, joins and ranks of SQL queries gather rows and work on them "
       "together, so that of all changes of a key only what they come to is told"},
      {"table.exec.mini-batch.size", integer, "-1",
       "How many rows an operator gathers at most; must be set with table.exec.mini-batch.enabled",
       -1},
      {"table.exec.resource.default-parallelism", integer, "-1",
       "Subtasks of the operators of SQL queries that set none themselves, whatever "
       "parallelism.default and -p say; -1: these say it",
       -1, 32'768},
      {"table.exec.sink.not-null-enforcer", text, "ERROR",
       "What becomes of a row that has NULL in a column of a table that is NOT NULL: the job "
       "fails, "
       "or the row is left out",
       std::nullopt, std::nullopt, "ERROR|DROP"},
      {"table.exec.sink.type-length-enforcer", text, "IGNORE",
       "What becomes of texts and bytes that have another length than the type of a table's column "
       "says, as those of a source may: they are written as they are, cut and filled up, or the "
       "job fails",
       std::nullopt, std::nullopt, "IGNORE|TRIM_PAD|ERROR"},
      {"table.exec.source.idle-timeout", duration, "0",
       "After how long without rows a part of a table with a watermark no longer holds others "
       "back; "
       "0: never",
       0},
      {"table.exec.state.ttl", duration, "0",
       "After how long without a change what an operator of a SQL query keeps of a key is "
       "forgotten: a group, a row of a join, the rows of a rank, what OVER carries; 0: never",
       0},
      {"table.local-time-zone", text, "UTC",
       "Time zone of SQL sessions: what TIMESTAMP_LTZ is read and shown in"},
      {"table.optimizer.agg-phase-strategy", text, "AUTO",
       "Whether aggregates are summed up before the exchange, too: AUTO, with mini-batches; "
       "TWO_PHASE, wherever they can be merged; ONE_PHASE, never",
       std::nullopt, std::nullopt, "AUTO|ONE_PHASE|TWO_PHASE"},
      {"table.optimizer.distinct-agg.split.bucket-num", integer, "1024",
       "Over how many groups the values of a split DISTINCT are spread", 1, 65'536},
      {"table.optimizer.distinct-agg.split.enabled", boolean, "false",
       "Whether aggregates with DISTINCT are computed in two steps, by value first, so that a key "
       "with many rows is not worked on by one task alone"},
      {"table.optimizer.non-deterministic-update.strategy", text, "IGNORE",
       "What becomes of queries that compute NOW(), RAND(), UUID() and their kin over rows that "
       "are "
       "updated, so that what is taken back may differ from what was given: they run, with a "
       "warning (IGNORE), or are refused (TRY_RESOLVE)",
       std::nullopt, std::nullopt, "IGNORE|TRY_RESOLVE"},
      {"task.cancellation.timeout", duration, "3 min",
       "After this time a task that does not end takes its process down; 0 waits for ever", 0},
      {"taskmanager.bind-host", text, "127.0.0.1",
       "Address that a task manager listens on; others than loopback need a shared secret or TLS"},
      {"taskmanager.host", text, "",
       "Address that a task manager gives to others; unset: taskmanager.bind-host. Must be set "
       "when "
       "that is 0.0.0.0 or ::"},
      {"taskmanager.memory.managed.size", memory_size, "",
       "Memory of all slots of a task manager together, for state and batches; unset: 40 % of the "
       "machine's, of all task managers in a mini cluster",
       std::int64_t{16} << 20U},
      {"taskmanager.network.compression", boolean, "false",
       "Compress batches on their way to other processes; for networks slower than about 1 Gbit/s"},
      {"taskmanager.numberOfTaskSlots", integer, "",
       "Slots that a task manager offers; unset: the number of cores", 1, 1'024},
      {"taskmanager.resource-id", text, "",
       "Name of a task manager, its own in the cluster: when it is started again under it, on the "
       "same machine, it finds its local copies of state; unset: drawn at random, and the copies "
       "go "
       "with the process"},
      {"taskmanager.rpc.port", integer, "0",
       "Port of a task manager's messages and data; 0: any free one", 0, 65'535},
      {"taskmanager.state.local.root-dirs", path, "",
       "Directory of local copies of state; RocksDB can link its files when they are on the same "
       "file system; unset: state.backend.rocksdb.localdir, or io.tmp.dirs"},
  };
  return table;
}

} // namespace headrace
