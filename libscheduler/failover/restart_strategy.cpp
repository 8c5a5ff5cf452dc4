#include "libscheduler/failover/restart_strategy.hpp"

#include <algorithm>
#include <deque>
#include <string>

namespace headrace::scheduler {

namespace {

class no_restart final : public restart_strategy {
public:
  result<std::int64_t> on_failure(std::int64_t /*now_ms*/) override {
    return error(errc::restart_suppressed, "job does not restart: the restart strategy is none");
  }
};

class fixed_delay final : public restart_strategy {
public:
  explicit fixed_delay(const graph::restart_spec& spec) : spec_(spec) {}

  result<std::int64_t> on_failure(std::int64_t /*now_ms*/) override {
    if (restarts_ >= spec_.attempts)
      return error(errc::restart_suppressed, "job does not restart: all restarts were used: " +
                                                 std::to_string(spec_.attempts));
    ++restarts_;
    return spec_.delay_ms;
  }

private:
  graph::restart_spec spec_;
  std::int32_t restarts_ = 0;
};

class failure_rate final : public restart_strategy {
public:
  explicit failure_rate(const graph::restart_spec& spec) : spec_(spec) {}

  result<std::int64_t> on_failure(std::int64_t now_ms) override {
    failures_.push_back(now_ms);
    while (failures_.front() + spec_.interval_ms <= now_ms)
      failures_.pop_front();
    if (static_cast<std::int64_t>(failures_.size()) > spec_.failures_max)
      return error(errc::restart_suppressed, "job does not restart: too many failures: more than " +
                                                 std::to_string(spec_.failures_max) + " in " +
                                                 std::to_string(spec_.interval_ms) + " ms");
    return spec_.delay_ms;
  }

private:
  graph::restart_spec spec_;
  std::deque<std::int64_t> failures_; // within the interval
};

class exponential_delay final : public restart_strategy {
public:
  exponential_delay(const graph::restart_spec& spec, random_source& random)
      : spec_(spec), random_(random) {}

  result<std::int64_t> on_failure(std::int64_t now_ms) override {
    if (now_ms >= restarted_ms_ + spec_.reset_after_ms)
      backoff_ms_ = 0.0;
    const double wait = with_jitter(backoff_ms_);
    backoff_ms_ = backoff_ms_ == 0.0 ? static_cast<double>(spec_.initial_backoff_ms)
                                     : backoff_ms_ * spec_.multiplier;
    backoff_ms_ = std::min(backoff_ms_, static_cast<double>(spec_.max_backoff_ms));
    const auto wait_ms = static_cast<std::int64_t>(wait);
    restarted_ms_ = now_ms + wait_ms;
    return wait_ms;
  }

private:
  /// Draws from [(1 - jitter) base, (1 + jitter) base], at most the longest back-off.
  double with_jitter(double base) {
    constexpr std::uint64_t steps = 1U << 20U;
    const double unit = static_cast<double>(random_.below(steps + 1)) / steps; // [0, 1]
    return std::min(base * (1.0 + spec_.jitter * (2.0 * unit - 1.0)),
                    static_cast<double>(spec_.max_backoff_ms));
  }

  graph::restart_spec spec_;
  random_source& random_;
  double backoff_ms_ = 0.0;       // of the next restart; 0: at once
  std::int64_t restarted_ms_ = 0; // when the last one began
};

} // namespace

std::unique_ptr<restart_strategy> make_restart_strategy(const graph::restart_spec& spec,
                                                        random_source& random) {
  switch (spec.kind) {
  case graph::restart_kind::none:
    return std::make_unique<no_restart>();
  case graph::restart_kind::fixed_delay:
    return std::make_unique<fixed_delay>(spec);
  case graph::restart_kind::failure_rate:
    return std::make_unique<failure_rate>(spec);
  case graph::restart_kind::exponential_delay:
    return std::make_unique<exponential_delay>(spec, random);
  }
  HEADRACE_ASSERT(false, "unknown kind of restart strategy");
}

} // namespace headrace::scheduler
