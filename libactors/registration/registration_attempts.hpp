#pragma once

#include "libactors/base/error.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <variant>

namespace headrace::actors {

struct registration_options {
  std::chrono::milliseconds timeout_first{100}; ///< of the first ask; doubles with each time-out
  std::chrono::milliseconds timeout_max{10'000};
  std::chrono::milliseconds pause_first{100}; ///< after another error; doubles likewise
  std::chrono::milliseconds pause_max{10'000};
  /// After so long without success the registration has failed; none: never.
  std::optional<std::chrono::milliseconds> give_up_after;
};

/// Ask the leader now, with this time-out; hand the outcome back with this number.
struct ask_leader {
  std::uint64_t attempt = 0;
  std::chrono::milliseconds timeout{0};
  friend bool operator==(const ask_leader&, const ask_leader&) = default;
};
/// Call `on_pause_over` with this number after the pause.
struct pause_registration {
  std::uint64_t attempt = 0;
  std::chrono::milliseconds pause{0};
  friend bool operator==(const pause_registration&, const pause_registration&) = default;
};
/// It is done, for good or bad: no further call is needed.
struct registration_over {
  std::optional<error> failure; ///< none: registered
  friend bool operator==(const registration_over&, const registration_over&) = default;
};
using registration_action =
    std::variant<std::monostate, ask_leader, pause_registration, registration_over>;

/// Decides when to ask a leader for registration again, and when to give up. One object a leader:
/// with a new leader (another fencing token) the endpoint makes a new one.
///
/// Pure: does no I/O and reads no clock. Lives in the endpoint's turn; facts go in, and each call
/// returns the one thing to do next, nothing when the fact is stale.
class registration_attempts {
public:
  explicit registration_attempts(registration_options options) : options_(options) {}

  registration_action begin(std::int64_t now_us);
  registration_action on_accepted(std::uint64_t attempt);
  /// @param failure  `timed_out` is asked again at once with a longer time-out (the ask has waited
  ///                 already); `registration_refused` is final; all else is asked again after a
  ///                 pause
  registration_action on_failed(std::uint64_t attempt, const error& failure, std::int64_t now_us);
  registration_action on_pause_over(std::uint64_t attempt, std::int64_t now_us);

  bool is_registered() const { return phase_ == phase::registered; }
  std::uint64_t attempt() const { return attempt_; }

private:
  enum class phase : std::uint8_t { idle, asking, pausing, registered, failed };

  registration_action ask(std::int64_t now_us);
  registration_action give_up(error why);
  bool is_late(std::int64_t now_us) const;

  registration_options options_;
  phase phase_ = phase::idle;
  std::uint64_t attempt_ = 0;
  std::int64_t began_us_ = 0;
  std::chrono::milliseconds timeout_{0};
  std::chrono::milliseconds pause_{0};
  error last_failure_;
};

} // namespace headrace::actors
