#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace headrace::actors {

struct heartbeat_options {
  std::chrono::milliseconds interval{1'000};
  std::chrono::milliseconds timeout{10'000}; ///< at least twice the interval
};

/// Decides when to send heartbeats to peers, and which of them are lost.
///
/// Pure: does no I/O and reads no clock. Lives in an endpoint's turn, which drives it so:
///
///     void beat() {
///       auto due = monitor_.advance(now_us());
///       for (const auto& peer : due.to_send) …   // tell it that we live; it answers in kind
///       for (const auto& peer : due.lost) …      // forgotten by the monitor; told once
///       after(monitor_.interval(), [this] { beat(); });
///     }
///
/// Whatever comes from a peer proves that it lives: call `on_heard` for each message. A process
/// that was itself stopped for a while (SIGSTOP, a sleeping laptop) has heard nobody; the time that
/// it missed is given to its peers, so that it does not take them all for lost on waking.
template <class Peer>
class heartbeat_monitor {
public:
  struct decisions {
    std::vector<Peer> to_send;
    std::vector<Peer> lost;
  };

  explicit heartbeat_monitor(heartbeat_options options) : options_(options) {}

  std::chrono::milliseconds interval() const { return options_.interval; }
  std::size_t peer_count() const { return peers_.size(); }
  bool watches(const Peer& peer) const { return peers_.contains(peer); }

  /// Watches the peer from now on; its time-out starts anew when it is watched already.
  void add(const Peer& peer, std::int64_t now_us) {
    peers_[peer] = {.heard_us = now_us, .sent_us = std::nullopt};
  }
  void remove(const Peer& peer) { peers_.erase(peer); }
  /// @returns false when the peer is not watched (it was lost, or never added)
  bool on_heard(const Peer& peer, std::int64_t now_us) {
    const auto found = peers_.find(peer);
    if (found == peers_.end()) {
      return false;
    }
    found->second.heard_us = std::max(found->second.heard_us, now_us);
    return true;
  }

  /// When the peer was heard last; nothing when it is not watched.
  std::optional<std::int64_t> heard_us(const Peer& peer) const {
    const auto found = peers_.find(peer);
    return found == peers_.end() ? std::nullopt : std::optional(found->second.heard_us);
  }

  /// Says what is to be done now. To be called about every interval.
  decisions advance(std::int64_t now_us) {
    const auto interval_us = to_us(options_.interval);
    const auto timeout_us = to_us(options_.timeout);
    if (advanced_us_ && now_us - *advanced_us_ > interval_us + timeout_us / 2) {
      const auto missed_us = now_us - *advanced_us_ - interval_us;
      for (auto& [peer, seen] : peers_) {
        // What was heard since is no older than it is.
        seen.heard_us = std::min(now_us, seen.heard_us + missed_us);
      }
    }
    advanced_us_ = now_us;
    decisions out;
    for (auto each = peers_.begin(); each != peers_.end();) {
      auto& [peer, seen] = *each;
      if (now_us - seen.heard_us >= timeout_us) {
        out.lost.push_back(peer);
        each = peers_.erase(each);
        continue;
      }
      if (!seen.sent_us || now_us - *seen.sent_us >= interval_us) {
        out.to_send.push_back(peer);
        seen.sent_us = now_us;
      }
      ++each;
    }
    return out;
  }

private:
  struct sighting {
    std::int64_t heard_us = 0;
    std::optional<std::int64_t> sent_us;
  };
  static std::int64_t to_us(std::chrono::milliseconds time) { return time.count() * 1'000; }

  heartbeat_options options_;
  std::map<Peer, sighting> peers_;
  std::optional<std::int64_t> advanced_us_;
};

} // namespace headrace::actors
