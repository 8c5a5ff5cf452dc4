#pragma once

#include "libactors/base/error.hpp"

#include <chrono>
#include <cstdint>
#include <optional>

namespace headrace::actors {

/// Times of the transport; all follow from heartbeat.interval and heartbeat.timeout.
struct link_times {
  std::chrono::milliseconds heartbeat{1'000}; ///< at the latest after so long something is sent
  std::chrono::milliseconds timeout{10'000};  ///< who is silent for so long is dead
  std::chrono::milliseconds handshake{5'000}; ///< for a connection to open, from the first packet
  std::chrono::milliseconds backoff{10};      ///< between the second and the third attempt
  std::chrono::milliseconds backoff_max{1'000};

  static link_times from(std::chrono::milliseconds interval, std::chrono::milliseconds timeout);
};

/// Why an attempt to connect failed.
enum class dial_failure : std::uint8_t {
  refused,      ///< nobody listens there
  unreachable,  ///< no answer, no route, no such host
  new_instance, ///< another instance of the process listens there
  duplicate,    ///< the peer goes on with a connection that it has made itself
  stale,        ///< the peer has given this node up meanwhile
  not_let_in,   ///< other version, other cluster, wrong secret
};

/// Decides for the control connection to one peer when to dial, to send a heartbeat, and to hold
/// the peer for dead.
///
///     idle ── wanted ──▶ dialing ──▶ connected ── lost ──▶ dialing
///                         │   ▲          │
///                 failed  ▼   │ in time  │ silent, said goodbye
///                        waiting         ▼
///                         └─ too long ─▶ dead: `lost` is told once; idle again
///
/// Pure: reads no clock, opens nothing. The owner does what the `actions` say and calls back.
class peer_link {
public:
  struct actions {
    bool dial = false;
    bool disconnect = false;
    bool heartbeat = false;
    std::optional<error> lost; ///< the peer is dead: all that was for it is to be dropped
  };
  enum class phase : std::uint8_t { idle, dialing, connected, waiting };

  /// @param name  of the peer, for words
  peer_link(const link_times& times, std::string name) : times_(times), name_(std::move(name)) {}

  /// Something is to be sent.
  actions on_wanted(std::int64_t now_us);
  actions on_dial_failed(dial_failure why, const error& cause, std::int64_t now_us);
  /// A connection is open, whoever dialed.
  void on_connected(std::int64_t now_us);
  /// The open connection broke. @param can_dial  whether an address of the peer is known
  actions on_disconnected(const error& cause, bool can_dial, std::int64_t now_us);
  /// Any frame came.
  void on_heard(std::int64_t now_us) { heard_us_ = now_us; }
  /// Any frame was sent.
  void on_sent(std::int64_t now_us) { sent_us_ = now_us; }
  /// The peer leaves in order, or has begun a conversation anew.
  actions on_gone(error cause);
  /// To be called often. @param missed_us  for so long this process itself stood still
  actions on_tick(std::int64_t now_us, std::int64_t missed_us);

  phase now() const { return phase_; }
  /// Whether the peer's own connection is turned away because this side's attempt goes on.
  bool is_dialing() const { return phase_ == phase::dialing; }

private:
  actions die(error cause);
  actions wait(std::int64_t now_us, const error& cause);

  link_times times_;
  std::string name_;
  phase phase_ = phase::idle;
  int attempts_ = 0; ///< since the last connection that held
  std::int64_t heard_us_ = 0;
  std::int64_t sent_us_ = 0;
  std::int64_t since_us_ = 0; ///< of a connection: opened; of an attempt: begun
  std::int64_t retry_us_ = 0;
  error last_; ///< why the last attempt failed
};

} // namespace headrace::actors
