#include "apps/cluster/job_settings.hpp"

#include "libgraph/spec/make_source.hpp"
#include "libactors/base/path.hpp"

#include <algorithm>
#include <map>
#include <string>

namespace headrace::cluster {
namespace {

constexpr std::int64_t unbounded_checkpoint_interval_ms = 10'000;

void apply_checkpoints(const configuration& settings, bool bounded, graph::checkpoint_spec& spec) {
  const graph::checkpoint_spec untouched;
  if (spec.interval_ms == untouched.interval_ms) {
    if (settings.is_set("execution.checkpointing.interval"))
      spec.interval_ms = settings.get_duration("execution.checkpointing.interval").count();
    else if (!bounded)
      spec.interval_ms = unbounded_checkpoint_interval_ms;
    if (settings.is_set("execution.checkpointing.mode"))
      spec.at_least_once = settings.get_text("execution.checkpointing.mode") == "AT_LEAST_ONCE";
  }
  spec.unaligned = spec.unaligned || settings.get_bool("execution.checkpointing.unaligned.enabled");
  if (spec.aligned_timeout_ms == untouched.aligned_timeout_ms)
    spec.aligned_timeout_ms =
        settings.get_duration("execution.checkpointing.aligned-checkpoint-timeout").count();
  if (spec.max_concurrent == untouched.max_concurrent)
    spec.max_concurrent = static_cast<std::int32_t>(
        settings.get_int("execution.checkpointing.max-concurrent-checkpoints"));
  if (spec.timeout_ms == untouched.timeout_ms)
    spec.timeout_ms = settings.get_duration("execution.checkpointing.timeout").count();
  if (spec.min_pause_ms == untouched.min_pause_ms)
    spec.min_pause_ms = settings.get_duration("execution.checkpointing.min-pause").count();
  if (spec.tolerable_failures == untouched.tolerable_failures)
    spec.tolerable_failures = static_cast<std::int32_t>(
        settings.get_int("execution.checkpointing.tolerable-failed-checkpoints"));
  if (spec.retained == untouched.retained)
    spec.retained =
        static_cast<std::int32_t>(settings.get_int("execution.checkpointing.num-retained"));
  if (spec.directory.empty() && settings.is_set("execution.checkpointing.dir")) {
    spec.directory = settings.get_path("execution.checkpointing.dir");
    spec.keep_on_cancel = true; // who names a place wants to find something there
  }
  if (settings.is_set("execution.checkpointing.externalized-checkpoint-retention")) {
    const auto retention =
        settings.get_text("execution.checkpointing.externalized-checkpoint-retention");
    spec.keep_on_cancel = retention == "RETAIN_ON_CANCELLATION";
    spec.keep_on_failure = retention != "NO_EXTERNALIZED_CHECKPOINTS";
  }
  if (spec.savepoint_directory.empty() && settings.is_set("execution.checkpointing.savepoint-dir"))
    spec.savepoint_directory = settings.get_path("execution.checkpointing.savepoint-dir");
  if (spec.restore_from.empty() && settings.is_set("execution.state-recovery.path"))
    spec.restore_from = settings.get_path("execution.state-recovery.path");
  spec.allow_non_restored_state =
      spec.allow_non_restored_state ||
      settings.get_bool("execution.state-recovery.ignore-unclaimed-state");
}

status make_absolute(std::string& directory, const char* key) {
  auto made = absolute_path(directory);
  if (!made)
    return error(errc::bad_option_value, "bad value of option: " + std::string(key),
                 std::move(made).error());
  directory = *std::move(made);
  return {};
}

status make_absolute(graph::checkpoint_spec& spec) {
  HEADRACE_CHECK(make_absolute(spec.directory, "execution.checkpointing.dir"));
  HEADRACE_CHECK(make_absolute(spec.savepoint_directory, "execution.checkpointing.savepoint-dir"));
  return make_absolute(spec.restore_from, "execution.state-recovery.path");
}

graph::restart_spec restart_of(const configuration& settings) {
  graph::restart_spec spec;
  const auto ms = [&](std::string_view key) { return settings.get_duration(key).count(); };
  const auto type = settings.get_text("restart-strategy.type");
  if (type == "none") {
    spec.kind = graph::restart_kind::none;
  } else if (type == "fixed-delay") {
    spec.kind = graph::restart_kind::fixed_delay;
    spec.attempts =
        static_cast<std::int32_t>(settings.get_int("restart-strategy.fixed-delay.attempts"));
    spec.delay_ms = ms("restart-strategy.fixed-delay.delay");
  } else {
    spec.kind = graph::restart_kind::exponential_delay;
    spec.initial_backoff_ms = ms("restart-strategy.exponential-delay.initial-backoff");
    spec.max_backoff_ms = ms("restart-strategy.exponential-delay.max-backoff");
    spec.multiplier = settings.get_real("restart-strategy.exponential-delay.backoff-multiplier");
  }
  return spec;
}

} // namespace

result<bool> is_bounded(const graph::job_graph& job, const graph::job_code& code,
                        const graph::connector_registry& connectors) {
  for (const auto& vertex : job.vertices) {
    for (const auto& node : vertex.operators) {
      const auto* spec = std::get_if<graph::source_spec>(&node.spec);
      if (spec == nullptr)
        continue;
      std::unique_ptr<graph::source> made;
      if (spec->connector.provider.is_none()) {
        HEADRACE_TRY(made, graph::make_source(connectors, *spec, node.output_type));
      } else {
        auto function =
            code.functions.at(static_cast<std::size_t>(spec->connector.provider.index))();
        auto* source = std::get_if<std::unique_ptr<graph::source>>(&function);
        if (source == nullptr)
          return error(errc::graph_mismatch, "job's source is none: " + node.name);
        made = std::move(*source);
      }
      if (made->bounds() == graph::boundedness::unbounded)
        return false;
    }
  }
  return true;
}

namespace {

/// What was there is removed with the first commit: that must be the last, of the whole output.
bool overwrites(const graph::job_graph& job) {
  for (const auto& vertex : job.vertices)
    for (const auto& each : vertex.operators) {
      const auto* sink = std::get_if<graph::sink_spec>(&each.spec);
      if (sink != nullptr && sink->connector.options.contains("sink.overwrite") &&
          sink->connector.options.at("sink.overwrite") == "true")
        return true;
    }
  return false;
}

status apply_max_parallelism(const configuration& settings, graph::job_graph& job) {
  constexpr auto key = "pipeline.max-parallelism";
  if (!settings.is_set(key))
    return {};
  const auto most = static_cast<std::int32_t>(settings.get_int(key));
  for (auto& vertex : job.vertices) {
    if (vertex.max_parallelism_is_fixed)
      continue;
    if (vertex.parallelism > most)
      return error(errc::bad_option_value,
                   "bad value of option: " + std::string(key) + ", got " + std::to_string(most) +
                       ", allowed is no less than the parallelism, which is " +
                       std::to_string(vertex.parallelism) + " of " + vertex.name);
    vertex.max_parallelism = most;
    vertex.max_parallelism_is_fixed = true;
  }
  return {};
}

} // namespace

status apply_settings(const configuration& settings, bool bounded, graph::job_graph& job) {
  const graph::job_graph untouched;
  constexpr auto recovery = "execution.state-recovery.path";
  if (settings.is_set(recovery) && settings.get_path(recovery).empty())
    return error(errc::bad_option_value,
                 "bad value of option: " + std::string(recovery) +
                     ", got \"\", allowed is the directory of a savepoint or "
                     "checkpoint; leave it out to start without state");
  HEADRACE_CHECK(apply_max_parallelism(settings, job));
  apply_checkpoints(settings, bounded, job.checkpoints);
  if (overwrites(job))
    job.checkpoints.interval_ms = untouched.checkpoints.interval_ms;
  if (job.restart == untouched.restart)
    job.restart = restart_of(settings);
  if (job.buffer_timeout_ms == untouched.buffer_timeout_ms)
    job.buffer_timeout_ms = settings.get_duration("execution.buffer-timeout.interval").count();
  if (job.state_backend == untouched.state_backend)
    job.state_backend = settings.get_text("state.backend.type");
  if (job.committer_retries == untouched.committer_retries)
    job.committer_retries = static_cast<std::int32_t>(settings.get_int("sink.committer.retries"));
  job.slot_timeout_ms = settings.get_duration("slot.request.timeout").count();
  job.region_failover = settings.get_text("jobmanager.execution.failover-strategy") == "region";
  return make_absolute(job.checkpoints);
}

std::map<std::string, std::string, std::less<>> job_settings_of(const configuration& cluster) {
  static constexpr std::string_view of_jobs[] = {"execution.",
                                                 "jobmanager.execution.",
                                                 "parallelism.default",
                                                 "pipeline.max-parallelism",
                                                 "restart-strategy.",
                                                 "slot.request.timeout",
                                                 "sink.",
                                                 "state.backend.type",
                                                 "table."};
  // Where one job goes on from is no matter of all.
  static constexpr std::string_view of_one_job = "execution.state-recovery.";
  std::map<std::string, std::string, std::less<>> out;
  for (const auto& [key, value] : cluster.values()) {
    const bool is_of_jobs =
        std::any_of(std::begin(of_jobs), std::end(of_jobs),
                    [&key = key](std::string_view begin) { return key.starts_with(begin); });
    if (!is_of_jobs || key.starts_with(of_one_job))
      continue;
    const bool is_directory =
        key == "execution.checkpointing.dir" || key == "execution.checkpointing.savepoint-dir";
    out[key] = is_directory ? cluster.get_path(key) : value;
  }
  return out;
}

std::int32_t slots_needed(const graph::job_graph& job) {
  std::map<std::string, std::int32_t> widest;
  for (const auto& vertex : job.vertices) {
    auto& most = widest[vertex.slot_sharing_group];
    most = std::max(most, vertex.parallelism);
  }
  std::int32_t sum = 0;
  for (const auto& [group, most] : widest)
    sum += most;
  return sum;
}

} // namespace headrace::cluster
