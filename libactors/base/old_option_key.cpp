#include "libactors/base/old_option_key.hpp"

#include <algorithm>

namespace headrace {
namespace {

constexpr old_option_key keys[] = {
    {"execution.buffer-timeout", "execution.buffer-timeout.interval"},
    {"execution.checkpointing.alignment-timeout",
     "execution.checkpointing.aligned-checkpoint-timeout"},
    {"execution.checkpointing.checkpoints-after-tasks-finish.enabled",
     "execution.checkpointing.checkpoints-after-tasks-finish"},
    {"execution.checkpointing.unaligned", "execution.checkpointing.unaligned.enabled"},
    {"execution.savepoint.ignore-unclaimed-state",
     "execution.state-recovery.ignore-unclaimed-state"},
    {"execution.savepoint.path", "execution.state-recovery.path"},
    {"jobmanager.web.address", "rest.bind-address"},
    {"jobmanager.web.port", "rest.port"},
    {"pipeline.operator-chaining", "pipeline.operator-chaining.enabled"},
    {"restart-strategy", "restart-strategy.type"},
    {"savepoints.state.backend.fs.dir", "execution.checkpointing.savepoint-dir"},
    {"state.backend", "state.backend.type"},
    {"state.backend.fs.checkpointdir", "execution.checkpointing.dir"},
    {"state.backend.fs.memory-threshold", "execution.checkpointing.data-inline-threshold"},
    {"state.backend.fs.write-buffer-size", "execution.checkpointing.write-buffer-size"},
    {"state.backend.local-recovery", "execution.state-recovery.from-local"},
    {"state.checkpoint-storage", "execution.checkpointing.storage"},
    {"state.checkpoint.cleaner.parallel-mode", "execution.checkpointing.cleaner.parallel-mode"},
    {"state.checkpoints.create-subdir", "execution.checkpointing.create-subdir"},
    {"state.checkpoints.dir", "execution.checkpointing.dir"},
    {"state.checkpoints.num-retained", "execution.checkpointing.num-retained"},
    {"state.savepoints.dir", "execution.checkpointing.savepoint-dir"},
    {"state.storage.fs.memory-threshold", "execution.checkpointing.data-inline-threshold"},
    {"state.storage.fs.write-buffer-size", "execution.checkpointing.write-buffer-size"},
    {"taskmanager.memory.size", "taskmanager.memory.managed.size"},
    {"taskmanager.tmp.dirs", "io.tmp.dirs"},
    {"web.address", "rest.bind-address"},
    {"web.port", "rest.port"},
};

} // namespace

std::span<const old_option_key> all_old_option_keys() { return keys; }

std::string_view current_option_key(std::string_view key) {
  const auto* found = std::find_if(std::begin(keys), std::end(keys),
                                   [&](const auto& each) { return each.old == key; });
  return found == std::end(keys) ? key : found->current;
}

} // namespace headrace
