#include "libscheduler/checkpoint/checkpoint_coordinator_endpoint.hpp"

#include <utility>

namespace headrace::scheduler {

namespace {

/// How many calls of master hooks wait for one that does not return.
constexpr std::size_t hook_calls_most = 16;

} // namespace

void checkpoint_coordinator_endpoint::carry_out(const trigger_hooks& what) {
  const auto stored = std::make_shared<byte_string>();
  on_hooks(
      what.checkpoint,
      [stored, id = what.checkpoint, timestamp = now_ms()](master_hooks& hooks) -> status {
        HEADRACE_TRY(const auto states, hooks.trigger(id, timestamp));
        *stored = encode_hook_states(states);
        return {};
      },
      [this, stored, id = what.checkpoint](const status& outcome) {
        core_->on_hooks(id, outcome ? result<byte_string>(std::move(*stored)) : outcome.error(),
                        now_us() / 1000);
      });
}

void checkpoint_coordinator_endpoint::restore_hooks(std::uint64_t epoch,
                                                    result<restored_job> assigned) {
  struct waiting {
    result<restored_job> assigned;
    std::optional<actors::timer_id> deadline; // nothing: it was answered
  };
  const auto held = std::make_shared<waiting>(waiting{std::move(assigned), {}});
  const auto answer = [this, epoch, held](const status& outcome) {
    if (!held->deadline)
      return;
    cancel_timer(*std::exchange(held->deadline, std::nullopt));
    if (!outcome)
      held->assigned = outcome.error();
    post(job_master_, restore_done{epoch, std::make_shared<const result<restored_job>>(
                                              std::move(held->assigned))});
  };
  const auto timeout_ms = options_.job->checkpoints.timeout_ms;
  held->deadline = after(std::chrono::milliseconds(timeout_ms), [answer, timeout_ms] {
    answer(error(errc::checkpoint_expired, "master hooks did not restore in time: after " +
                                               std::to_string(timeout_ms) + " ms"));
  });
  const checkpoint_ptr& from = completed_.empty() ? foreign_ : completed_.back();
  on_hooks(
      0,
      [from](master_hooks& hooks) -> status {
        if (from == nullptr)
          return hooks.restore(0, {});
        HEADRACE_TRY(const auto states, decode_hook_states(from->master_hooks));
        return hooks.restore(from->id, states);
      },
      answer);
}

void checkpoint_coordinator_endpoint::close_hooks() {
  if (hooks_ == nullptr)
    return;
  on_hooks(
      0,
      [](master_hooks& hooks) {
        hooks.close();
        return status();
      },
      [](const status&) {});
}

void checkpoint_coordinator_endpoint::on_hooks(checkpoint_id only_for, hook_step step,
                                               storage_then then) {
  if (hook_queue_.size() >= hook_calls_most) {
    then(error(errc::checkpoint_declined,
               "a master hook does not return, and too many calls wait: " +
                   std::to_string(hook_queue_.size())));
    return;
  }
  hook_queue_.push_back({only_for, std::move(step), std::move(then)});
  next_hook_step();
}

void checkpoint_coordinator_endpoint::next_hook_step() {
  if (is_hook_busy_)
    return;
  while (!hook_queue_.empty() && hook_queue_.front().only_for != 0 &&
         !core_->awaits_hooks(hook_queue_.front().only_for))
    hook_queue_.pop_front();
  if (hook_queue_.empty())
    return;
  is_hook_busy_ = true;
  auto call = std::move(hook_queue_.front());
  hook_queue_.pop_front();
  run_blocking<status>([hooks = hooks_, step = std::move(call.step)] { return step(*hooks); },
                       [this, then = std::move(call.then)](const status& outcome) {
                         is_hook_busy_ = false;
                         then(outcome);
                         next_hook_step();
                         proceed();
                       });
}

} // namespace headrace::scheduler
