#include "libgraph/api/environment.hpp"

#include "libgraph/connector/sink.hpp"
#include "libgraph/connector/source.hpp"
#include "libgraph/function/failure.hpp"

namespace headrace::api {
namespace {

std::int32_t checked_parallelism(std::int32_t parallelism) {
  if (parallelism < 1 || parallelism > graph::max_parallelism_limit)
    throw graph::failure({errc::invalid_graph,
                          "parallelism out of range: " + std::to_string(parallelism) +
                              ", allowed 1 to " + std::to_string(graph::max_parallelism_limit)});
  return parallelism;
}

} // namespace

namespace restart {

graph::restart_spec none() {
  graph::restart_spec out;
  out.kind = graph::restart_kind::none;
  return out;
}

graph::restart_spec fixed_delay(std::int32_t attempts, std::chrono::milliseconds delay) {
  graph::restart_spec out;
  out.kind = graph::restart_kind::fixed_delay;
  out.attempts = attempts;
  out.delay_ms = delay.count();
  return out;
}

graph::restart_spec failure_rate(std::int32_t failures, std::chrono::milliseconds interval,
                                 std::chrono::milliseconds delay) {
  graph::restart_spec out;
  out.kind = graph::restart_kind::failure_rate;
  out.failures_max = failures;
  out.interval_ms = interval.count();
  out.delay_ms = delay.count();
  return out;
}

graph::restart_spec exponential_delay(std::chrono::milliseconds initial,
                                      std::chrono::milliseconds most, double multiplier,
                                      double jitter) {
  graph::restart_spec out;
  out.kind = graph::restart_kind::exponential_delay;
  out.initial_backoff_ms = initial.count();
  out.max_backoff_ms = most.count();
  out.multiplier = multiplier;
  out.jitter = jitter;
  return out;
}

} // namespace restart

environment::environment(std::vector<std::string> arguments, job_surroundings around)
    : arguments_(std::move(arguments)), around_(std::move(around)) {}

environment& environment::set_job_name(std::string name) {
  program_.settings.name = std::move(name);
  return *this;
}

environment& environment::set_parallelism(std::int32_t parallelism) {
  program_.settings.parallelism = checked_parallelism(parallelism);
  return *this;
}

environment& environment::set_max_parallelism(std::int32_t max_parallelism) {
  program_.settings.max_parallelism = checked_parallelism(max_parallelism);
  return *this;
}

environment& environment::enable_checkpointing(std::chrono::milliseconds interval,
                                               graph::barrier_alignment mode) {
  program_.settings.checkpoints.interval_ms = interval.count();
  program_.settings.checkpoints.at_least_once = mode == graph::barrier_alignment::at_least_once;
  return *this;
}

environment& environment::enable_unaligned_checkpoints(std::chrono::milliseconds aligned_timeout) {
  program_.settings.checkpoints.unaligned = true;
  program_.settings.checkpoints.aligned_timeout_ms = aligned_timeout.count();
  return *this;
}

environment&
environment::add_master_hook(std::string identifier,
                             std::function<std::unique_ptr<graph::master_hook>()> make) {
  const auto made =
      program_.add([make = std::move(make)]() -> graph::any_function { return make(); });
  program_.settings.checkpoints.master_hooks.push_back({std::move(identifier), made.index});
  return *this;
}

environment& environment::set_restart_strategy(graph::restart_spec strategy) {
  program_.settings.restart = strategy;
  return *this;
}

environment& environment::set_buffer_timeout(std::chrono::milliseconds timeout) {
  program_.settings.buffer_timeout_ms = timeout.count();
  return *this;
}

environment& environment::disable_chaining() {
  program_.settings.chaining = false;
  return *this;
}

environment& environment::set_state_backend(std::string name) {
  program_.settings.state_backend = std::move(name);
  return *this;
}

std::int32_t environment::add_source(graph::connector_spec connector,
                                     graph::watermark_spec watermarks, graph::logical_type type,
                                     std::int32_t parallelism, std::string name) {
  graph::transformation node;
  node.name = std::move(name);
  node.parallelism = parallelism;
  node.output_type = std::move(type);
  node.call = graph::operator_call{graph::source_spec{std::move(connector), watermarks}, {}};
  return program_.add(std::move(node));
}

} // namespace headrace::api
