#include "libgraph/sql/flink_settings.hpp"

#include "libactors/base/option.hpp"
#include "libactors/base/text.hpp"

#include <algorithm>
#include <vector>

namespace headrace::sql {
namespace {

constexpr std::string_view jvm = "there is no JVM whose memory it would divide";
constexpr std::string_view display = "rows are shown as headrace run --format says";
constexpr std::string_view batch = "bounded jobs run as streams, too, and give the same rows";
constexpr std::string_view java = "jobs are not made of Java classes";
constexpr std::string_view generated = "no code is generated";
constexpr std::string_view lookups = "lookup joins read their table into memory";
constexpr std::string_view planner = "the optimizer has no such choice";
constexpr std::string_view tuning = "the state backend sizes itself";
constexpr std::string_view plans = "plans are not compiled ahead";
constexpr std::string_view changelog = "the state backends have no changelog";
constexpr std::string_view remote = "clusters are named by --target";
constexpr std::string_view upserts = "no sink here takes updates by key";
constexpr std::string_view merged =
    "execution.checkpointing.file-merging.max-file-size says how much a file has";
constexpr std::string_view buffers =
    "exchanges are bounded by credit in bytes, which adapts itself";

constexpr flink_setting settings[] = {
    {"classloader.*", java},
    {"client.*", remote},
    {"execution.async-state.*", "state is not asked asynchronously"},
    {"execution.attached", "headrace run waits unless --detached is given"},
    {"execution.batch-shuffle-mode", batch},
    {"execution.batch-state-backend.enabled", batch},
    {"execution.batch.*", batch},
    {"execution.buffer-timeout.enabled", "execution.buffer-timeout.interval says it"},
    {"execution.checkpointing.checkpoints-after-tasks-finish",
     "checkpoints go on after tasks have finished", "true"},
    {"execution.checkpointing.cleaner.parallel-mode", "old checkpoints are removed anyway"},
    {"execution.checkpointing.create-subdir", "each job has a directory of its own", "true"},
    {"execution.checkpointing.data-inline-threshold", merged},
    {"execution.checkpointing.file-merging.*", merged},
    {"execution.checkpointing.incremental", "checkpoints are incremental with both backends"},
    {"execution.checkpointing.interval-during-backlog", "sources tell of no backlog"},
    {"execution.checkpointing.local-backup.*", "execution.state-recovery.from-local says it"},
    {"execution.checkpointing.snapshot-compression", "savepoints are compressed"},
    {"execution.checkpointing.storage", "execution.checkpointing.dir says where", "filesystem"},
    {"execution.checkpointing.unaligned.interruptible-timers.enabled",
     "timers fire in bounded pieces"},
    {"execution.checkpointing.unaligned.max-subtasks-per-channel-state-file", merged},
    {"execution.checkpointing.write-buffer-size", merged},
    {"execution.sort-keyed-partition.memory", batch},
    {"execution.sort-partition.memory", batch},
    {"execution.sorted-inputs.*", batch},
    {"execution.target", remote},
    {"metrics.*", "figures are told by REST"},
    {"pipeline.auto-generate-uids", "operators of SQL are found by their place", "true"},
    {"pipeline.auto-watermark-interval", "watermarks come with every batch that advances them"},
    {"pipeline.cached-files", java},
    {"pipeline.classpaths", java},
    {"pipeline.closure-cleaner-level", java},
    {"pipeline.force-avro", java},
    {"pipeline.force-kryo", java},
    {"pipeline.force-kryo-avro", java},
    {"pipeline.generic-types", java},
    {"pipeline.global-job-parameters", java},
    {"pipeline.jars", java},
    {"pipeline.object-reuse", "batches are shared and never changed"},
    {"pipeline.operator-chaining.enabled", "operators that can be are chained", "true"},
    {"pipeline.serialization-config", java},
    {"pipeline.vertex-description-mode", display},
    {"pipeline.vertex-name-include-index-prefix", display},
    {"pipeline.watermark-alignment.*", "sources are not held back for one another"},
    {"restart-strategy.exponential-delay.attempts-before-reset-backoff",
     "the delay grows up to its limit"},
    {"restart-strategy.exponential-delay.jitter-factor", "delays are not spread by chance"},
    {"restart-strategy.exponential-delay.reset-backoff-threshold",
     "a job that ran well begins anew with the first delay"},
    {"scheduler-mode", "jobs are scheduled as they are given"},
    {"sql-client.display.*", display},
    {"sql-client.execution.max-table-result.rows", display},
    {"sql-client.execution.result-mode", display},
    {"sql-client.verbose", "errors tell their causes"},
    {"state.backend.incremental", "checkpoints are incremental with both backends"},
    {"state.backend.rocksdb.block.*", tuning},
    {"state.backend.rocksdb.bloom-filter.*", tuning},
    {"state.backend.rocksdb.checkpoint.transfer.thread.num", tuning},
    {"state.backend.rocksdb.compaction.*", tuning},
    {"state.backend.rocksdb.compression.per.level", tuning},
    {"state.backend.rocksdb.files.open", tuning},
    {"state.backend.rocksdb.incremental-restore-async-compact-after-rescale", tuning},
    {"state.backend.rocksdb.log.*", tuning},
    {"state.backend.rocksdb.manual-compaction.*", tuning},
    {"state.backend.rocksdb.memory.high-prio-pool-ratio", tuning},
    {"state.backend.rocksdb.memory.partitioned-index-filters", tuning},
    {"state.backend.rocksdb.memory.write-buffer-ratio", tuning},
    {"state.backend.rocksdb.metrics.*", "RocksDB's figures are told by REST"},
    {"state.backend.rocksdb.options-factory", java},
    {"state.backend.rocksdb.predefined-options", tuning},
    {"state.backend.rocksdb.rescaling.*", tuning},
    {"state.backend.rocksdb.thread.num", tuning},
    {"state.backend.rocksdb.timer-service.*", tuning},
    {"state.backend.rocksdb.use-bloom-filter", tuning},
    {"state.backend.rocksdb.use-ingest-db-restore-mode", tuning},
    {"state.backend.rocksdb.write-batch-size", tuning},
    {"state.backend.rocksdb.writebuffer.*", tuning},
    {"state.changelog.*", changelog},
    {"state.latency-track.*", "state's times are not measured"},
    {"state.size-track.*", "state's sizes are told by REST"},
    {"table.catalog-store.kind", "catalogs last as long as the session", "generic_in_memory"},
    {"table.display.max-column-width", display},
    {"table.dml-sync", "headrace run waits for each INSERT; the shell has wait"},
    {"table.dynamic-table-options.enabled", "the hint OPTIONS is known", "true"},
    {"table.exec.async-lookup.*", lookups},
    {"table.exec.async-ml-predict.*", "there are no models"},
    {"table.exec.async-scalar.*", "functions are not asynchronous"},
    {"table.exec.async-state.enabled", "state is not asked asynchronously"},
    {"table.exec.async-table.*", "functions are not asynchronous"},
    {"table.exec.async-vector-search.*", "there is no vector search"},
    {"table.exec.deduplicate.insert-update-after-sensitive-enabled",
     "the first row of a key is told as +I", "true"},
    {"table.exec.deduplicate.mini-batch.compact-changes-enabled",
     "deduplication in the order of time tells each version of a key", "false"},
    {"table.exec.delta-join.*", "there is no delta join"},
    {"table.exec.disabled-operators", planner},
    {"table.exec.interval-join.min-cleanup-interval", "rows leave as the watermark passes them"},
    {"table.exec.legacy-cast-behaviour", "CAST behaves as it does by default", "DISABLED|disabled"},
    {"table.exec.local-hash-agg.*", batch},
    {"table.exec.operator-fusion-codegen.enabled", generated},
    {"table.exec.rank.topn-cache-size", "ranks have no cache of their own"},
    {"table.exec.resource.external-buffer-memory", batch},
    {"table.exec.resource.hash-agg.memory", batch},
    {"table.exec.resource.hash-join.memory", batch},
    {"table.exec.resource.sort.memory", batch},
    {"table.exec.simplify-operator-name-enabled", display},
    {"table.exec.sink.keyed-shuffle", upserts},
    {"table.exec.sink.nested-constraint-enforcer", "fields inside of values are not looked at",
     "IGNORE"},
    {"table.exec.sink.require-on-conflict", upserts},
    {"table.exec.sink.rowtime-inserter", "sinks get no times beside the columns"},
    {"table.exec.sink.upsert-materialize", upserts},
    {"table.exec.sink.upsert-materialize-strategy.*", upserts},
    {"table.exec.sort.*", batch},
    {"table.exec.source.cdc-events-duplicate", "changes of a table are taken to come once",
     "false"},
    {"table.exec.spill-compression.*", batch},
    {"table.exec.uid.*", "operators of SQL are found by their place"},
    {"table.exec.unbounded-over.version", "OVER has one implementation"},
    {"table.exec.window-agg.buffer-size-limit", "windows add up as rows come"},
    {"table.generated-code.*", generated},
    {"table.legacy-nested-row-nullability", "fields keep whether they may be NULL", "false"},
    {"table.optimizer.adaptive-broadcast-join.strategy", batch},
    {"table.optimizer.bushy-join-reorder-threshold", planner},
    {"table.optimizer.delta-join.strategy", "there is no delta join"},
    {"table.optimizer.dynamic-filtering.enabled", batch},
    {"table.optimizer.incremental-agg-enabled", planner},
    {"table.optimizer.join-reorder-enabled", "joins run in the order in which they stand"},
    {"table.optimizer.join.broadcast-threshold", "the hint BROADCAST says it"},
    {"table.optimizer.multi-join.enabled", planner},
    {"table.optimizer.multiple-input-enabled", planner},
    {"table.optimizer.reuse-optimize-block-with-digest-enabled", planner},
    {"table.optimizer.reuse-sink-enabled", planner},
    {"table.optimizer.reuse-source-enabled", "equal parts of a job are computed once"},
    {"table.optimizer.reuse-sub-plan-enabled", "equal parts of a job are computed once"},
    {"table.optimizer.runtime-filter.*", batch},
    {"table.optimizer.skewed-join-optimization.*", "the hint SKEW says it"},
    {"table.optimizer.source.*", planner},
    {"table.optimizer.sql2rel.project-merge.enabled", planner},
    {"table.optimizer.union-all-as-breakpoint-enabled", planner},
    {"table.plan.*", plans},
    {"table.resources.download-dir", java},
    {"table.rtas-ctas.atomicity-enabled", "CREATE TABLE AS is a table, and an INSERT", "false"},
    {"table.sql-dialect", "the dialect is Flink's own", "default|DEFAULT"},
    {"taskmanager.memory.flink.size", jvm},
    {"taskmanager.memory.framework.*", jvm},
    {"taskmanager.memory.jvm-metaspace.size", jvm},
    {"taskmanager.memory.jvm-overhead.*", jvm},
    {"taskmanager.memory.managed.consumer-weights", jvm},
    {"taskmanager.memory.managed.fraction", "taskmanager.memory.managed.size says it"},
    {"taskmanager.memory.network.*", buffers},
    {"taskmanager.memory.process.size", jvm},
    {"taskmanager.memory.segment-size", buffers},
    {"taskmanager.memory.task.*", jvm},
    {"taskmanager.network.memory.*", buffers},
};

bool is_for(const flink_setting& each, std::string_view key) {
  if (!each.key.ends_with(".*"))
    return each.key == key;
  const auto begin = each.key.substr(0, each.key.size() - 1);
  return key.size() > begin.size() && key.starts_with(begin);
}

const flink_setting* find_setting(std::string_view key) {
  for (const auto& each : settings)
    if (is_for(each, key))
      return &each;
  return nullptr;
}

bool is_option(std::string_view key) {
  const auto& all = all_options();
  return std::any_of(all.begin(), all.end(), [&](const auto& each) { return each.key == key; });
}

} // namespace

std::span<const flink_setting> all_flink_settings() { return settings; }

bool is_flink_setting(std::string_view key) { return find_setting(key) != nullptr; }

result<std::optional<std::string>> pass_over_setting(std::string_view key, std::string_view value) {
  const auto* found = find_setting(key);
  if (found == nullptr || is_option(key))
    return std::optional<std::string>();
  const auto words = split_text(found->accepted, '|');
  if (!found->accepted.empty() && std::find(words.begin(), words.end(), value) == words.end())
    return error(errc::bad_option_value, "setting " + std::string(key) + " cannot be '" +
                                             std::string(value) +
                                             "' here: " + std::string(found->because));
  return std::optional("SET '" + std::string(key) +
                       "' has no effect: " + std::string(found->because));
}

std::string_view nearest_setting(std::string_view key) {
  std::vector<std::string_view> keys;
  for (const auto& each : all_options())
    keys.push_back(each.key);
  for (const auto& each : settings)
    if (!each.key.ends_with(".*"))
      keys.push_back(each.key);
  return nearest_name(key, keys);
}

} // namespace headrace::sql
