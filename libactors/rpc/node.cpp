#include "libactors/rpc/node.hpp"

#include "libactors/base/thread_pool_executor.hpp"
#include "libactors/rpc/node_base.hpp"
#include "libactors/rpc/node_wake_service.hpp"

#include <caf/atom.hpp>

#include <algorithm>
#include <thread>

namespace headrace::actors {
namespace {

using std::chrono::milliseconds;

/// How long a thread that asks waits beyond the deadline of its ask.
constexpr milliseconds answer_grace{5'000};
/// Messages that one actor takes before the next one's turn.
constexpr int messages_a_turn = 16;

std::unique_ptr<caf::actor_system_config> make_config(const node_options& options) {
  auto config = std::make_unique<caf::actor_system_config>();
  const auto threads = options.scheduler_threads > 0
                           ? static_cast<std::size_t>(options.scheduler_threads)
                           : std::max<std::size_t>(1, std::thread::hardware_concurrency());
  // The default, stealing, starves all others when two actors exchange messages without a pause;
  // and without a bound one actor that always has a message keeps its thread.
  config->set("scheduler.policy", caf::atom("sharing"));
  config->set("scheduler.max-throughput", messages_a_turn);
  config->set("scheduler.max-threads", threads);
  return config;
}

class threaded_node final : public node_base<node> {
public:
  threaded_node(std::shared_ptr<node_core> core, thread_pool_executor& blocking)
      : node_base(std::move(core)), blocking_(blocking) {
    core_->start();
  }

  ~threaded_node() override {
    if (shut_down()) {
      core_->finish();
    } else {
      // A stuck actor's thread still uses it, and to wait for that thread may take for ever.
      static_cast<void>(new std::shared_ptr<node_core>(core_));
    }
  }

  result<any_message> ask_and_wait(const address& to, const any_message& what, milliseconds timeout,
                                   fencing_token fence) override {
    return begin_ask(to, what, timeout, fence)->wait(timeout + answer_grace);
  }

  bool shut_down() override {
    const auto& time = core_->environment.time;
    const auto end_us = time.now_us() + core_->options.shutdown_deadline.count() * 1'000;
    const auto left = [&] {
      return milliseconds(std::max<std::int64_t>(0, (end_us - time.now_us()) / 1'000));
    };
    core_->begin_stop();
    const bool ended = core_->await_root_end(left());
    if (!ended) {
      for (const auto& each : core_->registry.snapshot(time.now_us())) {
        core_->environment.log.error("actor did not end in time",
                                     {{"endpoint", each.name},
                                      {"state", std::string(name_of(each.state))},
                                      {"in_turn_ms", std::to_string(each.in_turn_us / 1'000)},
                                      {"queue", std::to_string(each.queue_depth)}});
      }
    }
    if (!blocking_.shut_down(left())) {
      core_->environment.log.error("a blocking step did not return in time");
    }
    return ended;
  }

private:
  thread_pool_executor& blocking_;
};

} // namespace

std::unique_ptr<node> make_node(node_options options) {
  auto config = make_config(options);
  auto time = std::make_unique<system_clock>();
  auto wakes = std::make_unique<node_wake_service>(*time);
  auto blocking = std::make_unique<thread_pool_executor>(options.executor_threads);
  auto& executor = *blocking;
  node_seams seams{.time = std::move(time),
                   .blocking = std::move(blocking),
                   .random = make_system_random(),
                   .wakes = std::move(wakes),
                   .detaches = true};
  return std::make_unique<threaded_node>(
      std::make_shared<node_core>(std::move(options), std::move(seams), std::move(config)),
      executor);
}

} // namespace headrace::actors
