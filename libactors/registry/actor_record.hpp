#pragma once

#include "libactors/base/error.hpp"
#include "libactors/base/metric.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace headrace::actors {

enum class actor_state : std::uint8_t { starting, running, stopping, ended };
std::string_view name_of(actor_state state);

/// How many messages of one type an actor has taken.
struct message_count {
  std::uint64_t type_id = 0; ///< Cap'n Proto's id; for mail its kind
  bool is_mail = false;
  std::uint64_t count = 0;
  friend bool operator==(const message_count&, const message_count&) = default;
};

/// What is known of one actor at one moment. A value.
struct actor_snapshot {
  std::uint64_t id = 0;
  std::string name;   ///< full, e.g. "dispatcher/jobmaster-…"; the root's is "root"
  std::string kind;   ///< e.g. "job_master"
  std::string parent; ///< empty: the root itself
  std::string node;
  std::uint64_t instance = 0;
  actor_state state = actor_state::starting;
  bool is_detached = false;
  std::uint64_t enqueued = 0;
  std::uint64_t taken = 0;
  std::uint64_t queue_depth = 0;
  std::int64_t busy_us = 0;
  std::int64_t in_turn_us = 0; ///< for how long the present turn has run; 0: idle
  std::uint64_t refused = 0;   ///< messages with a stale fencing token, or of an unknown type
  std::vector<message_count> messages;
  error last_error;
};

/// What one live actor counts of itself. The actor's turn writes; `on_enqueued` is called by any
/// sender, and `snapshot` by any thread.
class actor_record {
public:
  /// Mail kinds from here on are counted together under the last one.
  static constexpr std::size_t mail_kinds_max = 32;

  /// `fixed` has id, name, kind, parent, node, instance and is_detached.
  explicit actor_record(actor_snapshot fixed) : fixed_(std::move(fixed)) {}

  void on_enqueued() { enqueued_.fetch_add(1, std::memory_order_relaxed); }
  void on_taken() { taken_.add(); }
  void on_mail(std::uint32_t kind) {
    mail_[kind < mail_kinds_max ? kind : mail_kinds_max - 1].add();
  }
  void on_message(std::uint64_t type_id);
  void on_refused() { refused_.add(); }
  void set_state(actor_state state) { state_.store(state, std::memory_order_relaxed); }
  void set_last_error(const error& failure);

  void begin_turn(std::int64_t now_us) { turn_began_us_.store(now_us, std::memory_order_relaxed); }
  /// Another thread may have begun the next turn by now; its beginning is kept.
  void end_turn(std::int64_t began_us, std::int64_t now_us) {
    busy_us_.fetch_add(now_us - began_us, std::memory_order_relaxed);
    turn_began_us_.compare_exchange_strong(began_us, idle, std::memory_order_relaxed);
  }

  const std::string& name() const { return fixed_.name; }
  std::uint64_t id() const { return fixed_.id; }
  actor_state state() const { return state_.load(std::memory_order_relaxed); }
  actor_snapshot snapshot(std::int64_t now_us) const;

private:
  static constexpr std::int64_t idle = -1;

  const actor_snapshot fixed_;
  std::atomic<std::uint64_t> enqueued_{0};
  alignas(64) counter taken_; // not on the line that the senders write
  counter refused_;
  std::atomic<actor_state> state_{actor_state::starting};
  std::atomic<std::int64_t> busy_us_{0};
  std::atomic<std::int64_t> turn_began_us_{idle};
  std::array<counter, mail_kinds_max> mail_;
  mutable std::mutex guard_;
  std::map<std::uint64_t, std::uint64_t> messages_;
  error last_error_;
};

} // namespace headrace::actors
