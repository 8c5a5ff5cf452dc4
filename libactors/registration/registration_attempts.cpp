#include "libactors/registration/registration_attempts.hpp"

#include <algorithm>
#include <utility>

namespace headrace::actors {

registration_action registration_attempts::begin(std::int64_t now_us) {
  if (phase_ != phase::idle) {
    return {};
  }
  began_us_ = now_us;
  timeout_ = options_.timeout_first;
  pause_ = options_.pause_first;
  return ask(now_us);
}

registration_action registration_attempts::ask(std::int64_t now_us) {
  if (is_late(now_us)) {
    return give_up({errc::timed_out,
                    "registration did not succeed in time: after " + std::to_string(attempt_) +
                        " attempts, " + std::to_string((now_us - began_us_) / 1'000) + " ms",
                    last_failure_});
  }
  phase_ = phase::asking;
  return ask_leader{.attempt = ++attempt_, .timeout = timeout_};
}

registration_action registration_attempts::on_accepted(std::uint64_t attempt) {
  // An answer that comes while a later ask is under way is as good.
  if (attempt == 0 || attempt > attempt_ || (phase_ != phase::asking && phase_ != phase::pausing)) {
    return {};
  }
  phase_ = phase::registered;
  return registration_over{};
}

registration_action registration_attempts::on_failed(std::uint64_t attempt, const error& failure,
                                                     std::int64_t now_us) {
  if (attempt != attempt_ || phase_ != phase::asking) {
    return {};
  }
  last_failure_ = failure;
  if (failure.code == errc::registration_refused) {
    return give_up(failure);
  }
  if (failure.code == errc::timed_out) {
    timeout_ = std::min(timeout_ * 2, options_.timeout_max);
    return ask(now_us);
  }
  phase_ = phase::pausing;
  return pause_registration{.attempt = attempt_,
                            .pause =
                                std::exchange(pause_, std::min(pause_ * 2, options_.pause_max))};
}

registration_action registration_attempts::on_pause_over(std::uint64_t attempt,
                                                         std::int64_t now_us) {
  if (attempt != attempt_ || phase_ != phase::pausing) {
    return {};
  }
  return ask(now_us);
}

registration_action registration_attempts::give_up(error why) {
  phase_ = phase::failed;
  return registration_over{.failure = std::move(why)};
}

bool registration_attempts::is_late(std::int64_t now_us) const {
  return options_.give_up_after && attempt_ > 0 &&
         now_us - began_us_ >= options_.give_up_after->count() * 1'000;
}

} // namespace headrace::actors
