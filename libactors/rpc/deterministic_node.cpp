#include "libactors/base/manual_clock.hpp"
#include "libactors/rpc/node_base.hpp"

#include <caf/atom.hpp>
#include <caf/scheduler/test_coordinator.hpp>

#include <deque>
#include <limits>
#include <map>
#include <utility>

namespace headrace::actors {
namespace {

using std::chrono::milliseconds;
constexpr std::uint64_t no_limit = std::numeric_limits<std::uint64_t>::max();
/// Where an ask from outside gives up, should its actors never come to rest.
constexpr std::uint64_t ask_steps_max = 100'000'000;

/// Keeps steps until the node runs them.
class stepwise_executor final : public executor {
public:
  void submit(std::function<void()> step) override {
    if (!ended) {
      steps.push_back(std::move(step));
    }
  }
  void run_one(std::size_t which) {
    auto step = std::move(steps[which]);
    steps.erase(steps.begin() + static_cast<std::ptrdiff_t>(which));
    step();
  }

  std::deque<std::function<void()>> steps;
  bool ended = false;
};

/// Keeps for each actor the time at which it wants to be woken.
class stepwise_wakes final : public wake_service {
public:
  using wish = std::pair<std::int64_t, std::uint64_t>; ///< when, and the age of the wish

  void wake_at(const sleeper& who, std::int64_t at_us) override {
    const auto found = wishes_.find(who.get());
    if (found != wishes_.end()) {
      by_time_.erase(found->second);
      wishes_.erase(found);
    }
    if (at_us != never && !ended_) {
      const wish made{at_us, ++last_};
      by_time_[made] = who;
      wishes_[who.get()] = made;
    }
  }
  bool is_exact() const override { return true; }
  void stop() override {
    ended_ = true;
    by_time_.clear();
    wishes_.clear();
  }

  std::int64_t next_us() const { return by_time_.empty() ? never : by_time_.begin()->first.first; }
  void fire_next() {
    const auto target = by_time_.begin()->second.lock();
    if (target) {
      wishes_.erase(target.get());
    }
    by_time_.erase(by_time_.begin());
    if (target) {
      target->post({wake{}});
    }
  }

private:
  std::map<wish, std::weak_ptr<const actor_ref::target>> by_time_;
  std::map<const actor_ref::target*, wish> wishes_; ///< never iterated
  std::uint64_t last_ = 0;
  bool ended_ = false;
};

class stepwise_node final : public node_base<deterministic_node> {
public:
  stepwise_node(std::uint64_t seed, std::shared_ptr<node_core> core, manual_clock& time,
                stepwise_executor& blocking, stepwise_wakes& wakes)
      : node_base(std::move(core)), order_(make_seeded_random(mix64(seed + 1))), time_(time),
        blocking_(blocking), wakes_(wakes),
        jobs_(dynamic_cast<caf::scheduler::test_coordinator&>(core_->system().scheduler())) {
    while (jobs_.try_run_once()) { // CAF's own actors come to rest first
    }
    core_->start();
    run(no_limit);
    steps_ = 0;
  }

  ~stepwise_node() override {
    HEADRACE_ASSERT(shut_down(), "an actor of a deterministic node does not end");
    core_->finish();
  }

  bool run_once() override {
    const auto jobs = jobs_.jobs.size();
    const auto runnable = jobs + blocking_.steps.size();
    if (runnable == 0) {
      return false;
    }
    ++steps_;
    const auto which = static_cast<std::size_t>(order_->below(runnable));
    if (which < jobs) {
      std::swap(jobs_.jobs.front(), jobs_.jobs[which]);
      jobs_.try_run_once();
    } else {
      blocking_.run_one(which - jobs);
    }
    return true;
  }

  std::uint64_t run(std::uint64_t steps_max) override {
    std::uint64_t done = 0;
    while (done < steps_max && run_once()) {
      ++done;
    }
    return done;
  }

  bool advance_to_next_timer() override {
    const auto at_us = wakes_.next_us();
    if (at_us == wake_service::never) {
      return false;
    }
    if (at_us > time_.now_us()) {
      time_.advance_us(at_us - time_.now_us());
    }
    wakes_.fire_next();
    return true;
  }

  bool fire_due_timer() override {
    return wakes_.next_us() <= time_.now_us() && advance_to_next_timer();
  }

  void advance(milliseconds by) override {
    const auto until_us = time_.now_us() + by.count() * 1'000;
    run(no_limit);
    while (wakes_.next_us() <= until_us) {
      advance_to_next_timer();
      run(no_limit);
    }
    time_.advance_us(until_us - time_.now_us());
  }

  bool run_until(const std::function<bool()>& done, std::uint64_t steps_max) override {
    const auto last = steps_max > no_limit - steps_ ? no_limit : steps_ + steps_max;
    while (!done()) {
      if (steps_ >= last || (!run_once() && !advance_to_next_timer())) {
        return done();
      }
    }
    return true;
  }

  bool kill(const address& where) override {
    const auto target = core_->find(where);
    if (!target) {
      return false;
    }
    target->kill();
    if (jobs_.prioritize(target->actor.lock())) {
      ++steps_;
      jobs_.try_run_once();
    }
    return true;
  }

  std::uint64_t steps() const override { return steps_; }

  result<any_message> ask_and_wait(const address& to, const any_message& what, milliseconds timeout,
                                   fencing_token fence) override {
    const auto answer = begin_ask(to, what, timeout, fence);
    run_until([&] { return answer->is_there(); }, ask_steps_max);
    return answer->wait(milliseconds(0));
  }

  bool shut_down() override {
    core_->begin_stop();
    while (!core_->has_root_ended() && run_once()) {
    }
    blocking_.ended = true;
    blocking_.steps.clear();
    run(no_limit); // CAF's side of the last ends
    return core_->has_root_ended();
  }

private:
  std::unique_ptr<random_source> order_; ///< not the actors': what they draw changes no order
  manual_clock& time_;
  stepwise_executor& blocking_;
  stepwise_wakes& wakes_;
  caf::scheduler::test_coordinator& jobs_;
  std::uint64_t steps_ = 0;
};

} // namespace

std::unique_ptr<deterministic_node> make_deterministic_node(std::uint64_t seed,
                                                            node_options options) {
  auto config = std::make_unique<caf::actor_system_config>();
  config->set("scheduler.policy", caf::atom("testing"));
  config->set("scheduler.max-throughput", 1);
  auto time = std::make_unique<manual_clock>();
  auto blocking = std::make_unique<stepwise_executor>();
  auto wakes = std::make_unique<stepwise_wakes>();
  auto& time_ref = *time;
  auto& blocking_ref = *blocking;
  auto& wakes_ref = *wakes;
  node_seams seams{.time = std::move(time),
                   .blocking = std::move(blocking),
                   .random = make_seeded_random(seed),
                   .wakes = std::move(wakes),
                   .detaches = false};
  return std::make_unique<stepwise_node>(
      seed, std::make_shared<node_core>(std::move(options), std::move(seams), std::move(config)),
      time_ref, blocking_ref, wakes_ref);
}

} // namespace headrace::actors
