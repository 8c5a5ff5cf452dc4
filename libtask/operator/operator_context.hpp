#pragma once

#include "libtask/mailbox/task_metrics.hpp"
#include "libgraph/connector/registry.hpp"
#include "libgraph/data/buffer.hpp"
#include "libgraph/function/function.hpp"
#include "libgraph/spec/operator_spec.hpp"
#include "libactors/base/bytes.hpp"
#include "libactors/base/clock.hpp"
#include "libactors/base/file_system.hpp"
#include "libactors/base/ids.hpp"
#include "libactors/base/log.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace headrace::task {

/// What operators may ask of the subtask they run in. Called on its mailbox, or where the operator
/// is opened; every callback runs on the mailbox, and not at all once the task has ended.
class operator_services {
public:
  virtual ~operator_services() = default;
  /// Runs `step` on the executor (it may block, and must not touch the operator), then `then` in a
  /// turn of the task.
  virtual void run_blocking(std::function<void()> step, std::function<void()> then) = 0;
  /// Runs `action` in a turn of the task after `delay`.
  virtual void after(std::chrono::milliseconds delay, std::function<void()> action) = 0;
  /// Gives what any thread may call at any time, also when the task has ended: the task, if it is
  /// there, takes a turn soon. What calls it tells nothing by it, and leaves that where the
  /// operator looks for it.
  virtual std::function<void()> waker() = 0;
  /// Sends an event to the operator's coordinator at the job master.
  virtual void send_to_coordinator(operator_id from, byte_string event) = 0;
  /// Fails the task, after the turn.
  virtual void fail(error cause) = 0;
};

/// What an operator is made with. What is referred to lives longer than the operator.
struct operator_context {
  std::string task_name;
  std::int32_t subtask = 0;
  std::int32_t parallelism = 1;
  std::int32_t max_parallelism = 128;
  std::int32_t attempt = 0;
  bool checkpointing = false; ///< the job takes checkpoints, the final one at least
  const headrace::clock& time;
  headrace::file_system& files;
  const graph::connector_registry& connectors;
  operator_services& services;
  task_metrics& metrics;
  std::shared_ptr<const graph::job_code> code;  ///< null: the job has no functions
  std::shared_ptr<graph::memory_budget> memory; ///< null: not counted
  headrace::logger log;
  headrace::job_id job{};
  bool periodic_checkpoints = false; ///< checkpoints come before the end of input, too
  bool is_fresh = false;             ///< the task starts without a checkpoint
  std::int32_t committer_retries = 10;
  std::string operator_name = {}; ///< of the one that is made

  /// What a function gets when it opens.
  graph::function_context for_function(graph::state_provider* keyed_state = nullptr,
                                       const graph::restored_raw_state* raw = nullptr,
                                       graph::operator_state_provider* operator_state = nullptr,
                                       graph::blocking_steps* blocking = nullptr) const {
    return {task_name, subtask,        parallelism,   attempt,       log,     keyed_state,
            raw,       operator_state, operator_name, &metrics.user, blocking};
  }
};

/// A seed for what is random in an operator: another one for each attempt of each subtask.
inline std::uint64_t random_seed(const operator_context& context) {
  const auto place = static_cast<std::uint64_t>(context.subtask) << 32U |
                     static_cast<std::uint32_t>(context.attempt);
  return mix64(mix64(place) + static_cast<std::uint64_t>(context.time.now_us()));
}

/// Makes a fresh instance of a function of the job.
/// @errors graph_mismatch  no function of that index, or one of another kind
template <class Function>
result<std::unique_ptr<Function>> make_function(const operator_context& context,
                                                graph::function_ref which) {
  if (context.code == nullptr || which.index < 0 ||
      static_cast<std::size_t>(which.index) >= context.code->functions.size())
    return error(errc::graph_mismatch,
                 "job code has no such function: " + std::to_string(which.index));
  auto made = context.code->functions[static_cast<std::size_t>(which.index)]();
  auto* wanted = std::get_if<std::unique_ptr<Function>>(&made);
  if (wanted == nullptr || *wanted == nullptr)
    return error(errc::graph_mismatch,
                 "function of the job code is of another kind: " + std::to_string(which.index));
  return std::move(*wanted);
}

} // namespace headrace::task
