#pragma once

#include "libactors/rpc/delivery.hpp"
#include "libactors/rpc/endpoint_host.hpp"
#include "libactors/rpc/node_core.hpp"

#include <map>
#include <optional>
#include <unordered_map>

namespace headrace::actors {

/// What an endpoint keeps for its base class. Touched in its own turns only.
struct endpoint::state {
  explicit state(endpoint& owner_in) : owner(owner_in) {}

  enum class phase : std::uint8_t { constructed, running, stopping, ended };

  struct pending_ask {
    std::uint64_t reply_type = 0;
    address to;
    timer_id deadline = 0;
    std::function<void(result<any_message>)> then;
  };
  struct child_entry {
    address where;
    supervision policy = supervision::notify;
  };
  using timed = std::pair<std::int64_t, timer_id>;

  // One overload a content of a delivery.
  void take(mail_ptr content);
  void take(received_envelope what);
  void take(closure what);
  void take(wake what);
  void take(step_done what);
  void take(stop_order what);
  void take(kill_order what);
  void take(child_adopted what);
  void take(child_ended what);
  void take(peer_ended what);
  void take(node_lost what);
  void take_ask_or_tell(received_envelope what);
  void take_answer(envelope what);

  /// Makes the actor end by what `turn` throws.
  template <class Turn>
  void run_guarded(Turn&& turn);
  void finish_turn();
  void begin_stop(error cause);
  void complete_stop();
  void set_wake();
  void quit(error cause) {
    if (!quit_cause) {
      quit_cause = std::move(cause);
    }
  }
  bool is_running() const { return now == phase::running; }

  endpoint& owner;
  endpoint::host* under = nullptr;
  phase now = phase::constructed;
  std::unordered_map<std::uint64_t, message_handler> handlers;
  fencing_token fence;

  std::uint64_t last_correlation = 0;
  std::unordered_map<std::uint64_t, pending_ask> asks;

  timer_id last_timer = 0;
  std::map<timed, std::function<void()>> timers; ///< by time, then by age
  std::unordered_map<timer_id, std::int64_t> timer_times;
  std::int64_t next_wake_us = wake_service::never; ///< what the wake service was asked for

  std::uint64_t last_step = 0;
  std::unordered_map<std::uint64_t, std::function<void()>> steps;

  std::map<std::string, child_entry> children; ///< by the last part of the name
  std::optional<error> quit_cause;             ///< set by `quit`, until the turn ends
  error stop_cause;
};

} // namespace headrace::actors
