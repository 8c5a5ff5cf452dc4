#include "apps/cluster/job_settings.hpp"

#include <doctest/doctest.h>

#include <filesystem>

namespace headrace::cluster {
namespace {

graph::job_graph with(std::initializer_list<std::pair<const char*, const char*>> values,
                      bool bounded = true, graph::job_graph job = {}) {
  configuration settings;
  for (const auto& [key, value] : values)
    REQUIRE(settings.set(key, value));
  REQUIRE(apply_settings(settings, bounded, job));
  return job;
}

TEST_SUITE_BEGIN("apps/cluster/job_settings");

TEST_CASE("checkpoints are taken every ten seconds of unbounded jobs, unless something is said") {
  CHECK(with({}, true).checkpoints.interval_ms == 0);
  CHECK(with({}, false).checkpoints.interval_ms == 10'000);
  CHECK(with({{"execution.checkpointing.interval", "3 s"}}, false).checkpoints.interval_ms == 3000);
  CHECK(with({{"execution.checkpointing.interval", "0"}}, false).checkpoints.interval_ms == 0);
}

TEST_CASE("what a job overwrites is removed by the last commit, which no checkpoint is before") {
  graph::job_graph job;
  job.vertices.emplace_back().operators.emplace_back().spec =
      graph::sink_spec{{"file", {{"sink.overwrite", "true"}}, {}}};
  const auto interval_of = [&] {
    return with({{"execution.checkpointing.interval", "3 s"}}, true, job).checkpoints.interval_ms;
  };

  CHECK(interval_of() == 0);
  job.vertices[0].operators[0].spec = graph::sink_spec{{"file", {{"sink.overwrite", "false"}}, {}}};
  CHECK(interval_of() == 3000);
}

TEST_CASE("what the job itself says goes before settings") {
  graph::job_graph job;
  job.checkpoints.interval_ms = 500;
  job.checkpoints.directory = "/own";

  const auto out =
      with({{"execution.checkpointing.interval", "3 s"}, {"execution.checkpointing.dir", "/other"}},
           false, job);

  CHECK(out.checkpoints.interval_ms == 500);
  CHECK(out.checkpoints.directory == "/own");
  CHECK_FALSE(out.checkpoints.keep_on_cancel);
}

TEST_CASE("a maximum of the parallelism is for operators that set none, and above all of these") {
  graph::job_graph job;
  auto& own = job.vertices.emplace_back();
  own.max_parallelism = 64;
  own.max_parallelism_is_fixed = true;
  job.vertices.emplace_back().parallelism = 4;

  const auto unset = with({}, true, job);
  CHECK(unset.vertices[1].max_parallelism == 128);
  CHECK_FALSE(unset.vertices[1].max_parallelism_is_fixed);
  const auto set = with({{"pipeline.max-parallelism", "1000"}}, true, job);
  CHECK(set.vertices[0].max_parallelism == 64);
  CHECK(set.vertices[1].max_parallelism == 1000);
  CHECK(set.vertices[1].max_parallelism_is_fixed);

  configuration few;
  REQUIRE(few.set("pipeline.max-parallelism", "3"));
  CHECK(apply_settings(few, true, job).error().code == errc::bad_option_value);
}

TEST_CASE("checkpoints in a directory that was named stay there when the job is canceled") {
  const auto out = with({{"execution.checkpointing.dir", "/checkpoints"}});

  CHECK(out.checkpoints.directory == "/checkpoints");
  CHECK(out.checkpoints.keep_on_cancel);
  CHECK_FALSE(with({}).checkpoints.keep_on_cancel);
}

TEST_CASE("checkpoints are aligned unless something else is said") {
  CHECK_FALSE(with({}).checkpoints.unaligned);
  const auto out = with({{"execution.checkpointing.unaligned.enabled", "true"},
                         {"execution.checkpointing.aligned-checkpoint-timeout", "200 ms"}});
  CHECK(out.checkpoints.unaligned);
  CHECK(out.checkpoints.aligned_timeout_ms == 200);
  CHECK(out.checkpoints.max_concurrent == 1);
  CHECK(with({{"execution.checkpointing.max-concurrent-checkpoints", "3"}})
            .checkpoints.max_concurrent == 3);
}

TEST_CASE("how often a commit is tried again may be said") {
  CHECK(with({}).committer_retries == 10);
  CHECK(with({{"sink.committer.retries", "0"}}).committer_retries == 0);
}

TEST_CASE("how long checkpoints stay may be said, and where savepoints go and come from") {
  constexpr auto retention = "execution.checkpointing.externalized-checkpoint-retention";
  CHECK(with({{retention, "RETAIN_ON_CANCELLATION"}}).checkpoints.keep_on_cancel);
  const auto deleted =
      with({{"execution.checkpointing.dir", "/c"}, {retention, "DELETE_ON_CANCELLATION"}})
          .checkpoints;
  CHECK_FALSE(deleted.keep_on_cancel);
  CHECK(deleted.keep_on_failure);
  CHECK_FALSE(with({{retention, "NO_EXTERNALIZED_CHECKPOINTS"}}).checkpoints.keep_on_failure);

  const auto out = with({{"execution.checkpointing.savepoint-dir", "/savepoints"},
                         {"execution.state-recovery.path", "/savepoints/one"},
                         {"execution.state-recovery.ignore-unclaimed-state", "true"}});
  CHECK(out.checkpoints.savepoint_directory == "/savepoints");
  CHECK(out.checkpoints.restore_from == "/savepoints/one");
  CHECK(out.checkpoints.allow_non_restored_state);
}

TEST_CASE("a path of state that is empty does not start a job without state") {
  graph::job_graph job;
  configuration settings;
  REQUIRE(settings.set("execution.state-recovery.path", ""));

  const auto refused = apply_settings(settings, true, job);

  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == errc::bad_option_value);
  CHECK(refused.error().message.ends_with("leave it out to start without state"));
}

TEST_CASE("directories that the job itself names become absolute, and must be of this machine") {
  graph::job_graph job;
  job.checkpoints.directory = "own";
  job.checkpoints.savepoint_directory = "file:///savepoints";
  job.checkpoints.restore_from = "./savepoint-1/";

  const auto out = with({}, true, job);

  const auto here = std::filesystem::current_path().string();
  CHECK(out.checkpoints.directory == here + "/own");
  CHECK(out.checkpoints.savepoint_directory == "/savepoints");
  CHECK(out.checkpoints.restore_from == here + "/savepoint-1");

  job.checkpoints.savepoint_directory = "s3://bucket/savepoints";
  const auto refused = apply_settings({}, true, job);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == errc::bad_option_value);
  CHECK(to_string(refused.error()).find("execution.checkpointing.savepoint-dir") !=
        std::string::npos);
}

TEST_CASE("restart strategies are read with what belongs to them") {
  CHECK(with({{"restart-strategy.type", "none"}}).restart.kind == graph::restart_kind::none);
  const auto fixed = with({{"restart-strategy.type", "fixed-delay"},
                           {"restart-strategy.fixed-delay.attempts", "7"},
                           {"restart-strategy.fixed-delay.delay", "2 s"}})
                         .restart;
  CHECK(fixed.kind == graph::restart_kind::fixed_delay);
  CHECK(fixed.attempts == 7);
  CHECK(fixed.delay_ms == 2000);
  CHECK(with({}).restart == graph::restart_spec());
}

TEST_SUITE_END();

} // namespace
} // namespace headrace::cluster
