#include "libgraph/job_graph/job_settings_codec.hpp"

#include <string>

namespace headrace::graph {
namespace {

capnp::Text::Reader text(const std::string& value) { return {value.data(), value.size()}; }
std::string string_of(capnp::Text::Reader in) { return {in.begin(), in.size()}; }

void put(const restart_spec& restart, schema::Restart::Builder out) {
  out.setKind(static_cast<std::uint8_t>(restart.kind));
  out.setAttempts(restart.attempts);
  out.setDelayMs(restart.delay_ms);
  out.setFailuresMax(restart.failures_max);
  out.setIntervalMs(restart.interval_ms);
  out.setInitialBackoffMs(restart.initial_backoff_ms);
  out.setMaxBackoffMs(restart.max_backoff_ms);
  out.setMultiplier(restart.multiplier);
  out.setJitter(restart.jitter);
  out.setResetAfterMs(restart.reset_after_ms);
}

void put(const checkpoint_spec& checkpoints, schema::Checkpoints::Builder out) {
  out.setIntervalMs(checkpoints.interval_ms);
  out.setTimeoutMs(checkpoints.timeout_ms);
  out.setMinPauseMs(checkpoints.min_pause_ms);
  out.setTolerableFailures(checkpoints.tolerable_failures);
  out.setRetained(checkpoints.retained);
  out.setAtLeastOnce(checkpoints.at_least_once);
  out.setUnaligned(checkpoints.unaligned);
  out.setAlignedTimeoutMs(checkpoints.aligned_timeout_ms);
  out.setMaxConcurrent(checkpoints.max_concurrent);
  out.setKeepOnCancel(checkpoints.keep_on_cancel);
  out.setDirectory(text(checkpoints.directory));
  out.setRestoreFrom(text(checkpoints.restore_from));
  out.setKeepOnFailure(checkpoints.keep_on_failure);
  out.setSavepointDirectory(text(checkpoints.savepoint_directory));
  out.setAllowNonRestoredState(checkpoints.allow_non_restored_state);
  auto hooks = out.initMasterHooks(static_cast<unsigned>(checkpoints.master_hooks.size()));
  for (std::size_t i = 0; i < checkpoints.master_hooks.size(); ++i) {
    auto hook = hooks[static_cast<unsigned>(i)];
    hook.setIdentifier(text(checkpoints.master_hooks[i].identifier));
    hook.setFunction(checkpoints.master_hooks[i].function);
  }
}

result<restart_spec> restart_of(schema::Restart::Reader in) {
  restart_spec restart;
  if (in.getKind() > static_cast<std::uint8_t>(restart_kind::exponential_delay))
    return error(errc::malformed_message,
                 "unknown restart strategy: " + std::to_string(in.getKind()));
  restart.kind = static_cast<restart_kind>(in.getKind());
  restart.attempts = in.getAttempts();
  restart.delay_ms = in.getDelayMs();
  restart.failures_max = in.getFailuresMax();
  restart.interval_ms = in.getIntervalMs();
  restart.initial_backoff_ms = in.getInitialBackoffMs();
  restart.max_backoff_ms = in.getMaxBackoffMs();
  restart.multiplier = in.getMultiplier();
  restart.jitter = in.getJitter();
  restart.reset_after_ms = in.getResetAfterMs();
  return restart;
}

checkpoint_spec checkpoints_of(schema::Checkpoints::Reader in) {
  checkpoint_spec checkpoints;
  checkpoints.interval_ms = in.getIntervalMs();
  checkpoints.timeout_ms = in.getTimeoutMs();
  checkpoints.min_pause_ms = in.getMinPauseMs();
  checkpoints.tolerable_failures = in.getTolerableFailures();
  checkpoints.retained = in.getRetained();
  checkpoints.at_least_once = in.getAtLeastOnce();
  checkpoints.unaligned = in.getUnaligned();
  checkpoints.aligned_timeout_ms = in.getAlignedTimeoutMs();
  checkpoints.max_concurrent = in.getMaxConcurrent();
  checkpoints.keep_on_cancel = in.getKeepOnCancel();
  checkpoints.directory = string_of(in.getDirectory());
  checkpoints.restore_from = string_of(in.getRestoreFrom());
  checkpoints.keep_on_failure = in.getKeepOnFailure();
  checkpoints.savepoint_directory = string_of(in.getSavepointDirectory());
  checkpoints.allow_non_restored_state = in.getAllowNonRestoredState();
  for (const auto hook : in.getMasterHooks())
    checkpoints.master_hooks.push_back({string_of(hook.getIdentifier()), hook.getFunction()});
  return checkpoints;
}

} // namespace

void write_settings(const job_graph& job, schema::JobGraph::Builder out) {
  put(job.restart, out.initRestart());
  put(job.checkpoints, out.initCheckpoints());
  out.setBufferTimeoutMs(job.buffer_timeout_ms);
  out.setSlotTimeoutMs(job.slot_timeout_ms);
  out.setStateBackend(text(job.state_backend));
  out.setRegionFailover(job.region_failover);
  out.setCommitterRetries(job.committer_retries);
}

status read_settings(schema::JobGraph::Reader in, job_graph& job) {
  HEADRACE_TRY(job.restart, restart_of(in.getRestart()));
  job.checkpoints = checkpoints_of(in.getCheckpoints());
  job.buffer_timeout_ms = in.getBufferTimeoutMs();
  job.slot_timeout_ms = in.getSlotTimeoutMs();
  job.state_backend = string_of(in.getStateBackend());
  job.region_failover = in.getRegionFailover();
  job.committer_retries = in.getCommitterRetries();
  return {};
}

} // namespace headrace::graph
