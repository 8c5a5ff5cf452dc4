#pragma once

#include "libgraph/api/connectors.hpp"
#include "libgraph/api/parameters.hpp"
#include "libgraph/api/watermark_strategy.hpp"
#include "libgraph/connector/registry.hpp"
#include "libgraph/data/stream_element.hpp"
#include "libgraph/transformation/pipeline.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace headrace::api {

using graph::master_hook;

template <class T>
class stream;

/// When a job is restarted after a failure.
namespace restart {
graph::restart_spec none();
graph::restart_spec fixed_delay(std::int32_t attempts, std::chrono::milliseconds delay);
/// Fails the job when more than `failures` happen within `interval`.
graph::restart_spec failure_rate(std::int32_t failures, std::chrono::milliseconds interval,
                                 std::chrono::milliseconds delay);
/// At once at first, then after ever longer pauses.
graph::restart_spec exponential_delay(std::chrono::milliseconds initial,
                                      std::chrono::milliseconds most, double multiplier = 1.5,
                                      double jitter = 0.1);
} // namespace restart

/// What the one who runs a job has for it.
struct job_surroundings {
  /// For tables of SQL; outlives the environment; null: there are none.
  const graph::connector_registry* connectors = nullptr;
  /// SHA-256 of the job object, in which SQL finds functions; empty: it was not loaded.
  std::string object_digest{};
};

/// What a job is described in: its sources start here, its settings are set here. Made by the one
/// who runs the job and given to HEADRACE_JOB; streams refer to it. One thread.
class environment {
public:
  explicit environment(std::vector<std::string> arguments = {}, job_surroundings around = {});
  environment(const environment&) = delete;
  environment& operator=(const environment&) = delete;

  const parameters& arguments() const { return arguments_; }
  const job_surroundings& around() const { return around_; }

  // ---- settings; each gives the environment for the next call ----
  environment& set_job_name(std::string name);
  /// Of operators without their own. @throws graph::failure  below 1 or above 32768
  environment& set_parallelism(std::int32_t parallelism);
  environment& set_max_parallelism(std::int32_t max_parallelism);
  environment&
  enable_checkpointing(std::chrono::milliseconds interval,
                       graph::barrier_alignment mode = graph::barrier_alignment::exactly_once);
  /// Lets barriers overtake rows that wait under back pressure, which are then stored with the
  /// checkpoint; tried with aligned barriers for so long before.
  environment& enable_unaligned_checkpoints(
      std::chrono::milliseconds aligned_timeout = std::chrono::milliseconds(0));
  /// Everything about checkpoints, for what enable_checkpointing leaves at its default.
  graph::checkpoint_spec& checkpoints() { return program_.settings.checkpoints; }
  /// A hook that is called as each checkpoint begins, for a system outside the job; its state in
  /// checkpoints and savepoints is found by the identifier. See `master_hook`.
  environment& add_master_hook(std::string identifier,
                               std::function<std::unique_ptr<graph::master_hook>()> make);
  environment& set_restart_strategy(graph::restart_spec strategy);
  environment& set_buffer_timeout(std::chrono::milliseconds timeout);
  environment& disable_chaining();
  /// "hashmap", which is the default.
  environment& set_state_backend(std::string name);

  // ---- sources ----
  template <class T>
  stream<T> from_source(source_of<T> source, std::string name = {});
  /// With event times and watermarks made where the rows are read.
  template <class T>
  stream<T> from_source(source_of<T> source, const watermark_strategy<T>& watermarks,
                        std::string name = {});
  template <class T>
  stream<T> from_collection(std::vector<T> values) {
    return from_source(collection_source(std::move(values)));
  }

  /// What was described so far; for those who run the job, and for tests.
  graph::pipeline& program() { return program_; }

private:
  std::int32_t add_source(graph::connector_spec connector, graph::watermark_spec watermarks,
                          graph::logical_type type, std::int32_t parallelism, std::string name);

  parameters arguments_;
  job_surroundings around_;
  graph::pipeline program_;
};

} // namespace headrace::api
