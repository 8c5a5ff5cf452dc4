#pragma once

#include "libactors/transport/frame.hpp"

#include <array>
#include <cstdint>
#include <deque>
#include <unordered_map>

namespace headrace::actors {

/// What goes first.
enum class lane : std::uint8_t {
  control, ///< small messages
  bulk,    ///< large ones, such as parts of artifacts
};
inline constexpr std::size_t lane_count = 2;
/// A message with a body of at least so many bytes is bulk.
inline constexpr std::size_t bulk_bytes_min = std::size_t{64} << 10U;

/// Messages for one node, until it has acknowledged them.
///
/// A message gets its sequence number when it leaves for the socket, so that a small one may
/// overtake large ones that wait, but none of its own flow. What has left is kept until it is
/// acknowledged, and leaves again, in order, after the connection was lost (`rewind`).
///
///     offer ──▶ [control] ─┐
///     offer ──▶ [bulk]    ─┴─▶ next: gets 7 ──▶ [4 5 6 7] ──▶ acknowledge(5): [6 7]
///
/// Pure; one thread.
class outbox {
public:
  struct limits_of_queue {
    std::size_t messages_max = limits::peer_queue_messages_max;
    std::size_t bytes_max = limits::peer_queue_bytes_max;
    std::size_t unacknowledged_bytes_max = limits::peer_unacknowledged_bytes_max;
  };
  struct item {
    frame_kind kind = frame_kind::envelope;
    byte_string header;
    shared_bytes body;
    std::uint64_t flow = 0; ///< messages of one flow keep their order; 0: of none
    std::uint64_t sequence = 0;

    std::size_t bytes() const { return header.size() + body.view.size() + per_item_bytes; }
    static constexpr std::size_t per_item_bytes = 64;
  };

  outbox() = default;
  explicit outbox(limits_of_queue bounds) : bounds_(bounds) {}

  /// @returns false when the queue is full: the message is not taken
  bool offer(lane where, item&& message);
  /// The next to be written, with its sequence number; null: nothing, or too much waits to be
  /// acknowledged. Valid until the next call.
  const item* next();
  /// All up to `sequence` have arrived. @returns false for a number that was never given
  bool acknowledge(std::uint64_t sequence);
  /// The connection is new, and the peer has all up to `received`. @returns as `acknowledge`
  bool rewind(std::uint64_t received);
  /// Whether a message after `received` was acknowledged, so that it is not held any more.
  bool is_forgotten(std::uint64_t received) const;
  /// Forgets all, and begins to count anew. @returns how many messages were dropped
  std::size_t clear();

  bool has_next() const;
  std::size_t waiting() const { return lanes_[0].size() + lanes_[1].size(); }
  std::size_t unacknowledged() const { return sent_.size(); }
  std::size_t bytes() const { return bytes_; }

private:
  limits_of_queue bounds_;
  std::array<std::deque<item>, lane_count> lanes_;
  std::unordered_map<std::uint64_t, std::size_t> bulk_flows_; ///< messages in the bulk lane
  std::deque<item> sent_;
  std::size_t resend_ = 0; ///< index into `sent_` of the next one to leave again
  std::uint64_t last_ = 0;
  std::size_t bytes_ = 0;      ///< of all
  std::size_t sent_bytes_ = 0; ///< of `sent_`
};

/// Keeps the numbers of what has arrived from one node.
class inbox {
public:
  enum class verdict : std::uint8_t {
    fresh,
    repeated, ///< has arrived before the connection was lost
    gap,      ///< one is missing: a fault of the sender
  };
  verdict take(std::uint64_t sequence, std::size_t bytes);
  std::uint64_t received() const { return received_; }

  /// So much has arrived since the last acknowledgement that one is due without waiting.
  bool owes_acknowledgement() const;
  bool has_news() const { return received_ != told_; }
  void on_told() {
    told_ = received_;
    bytes_ = 0;
  }
  void clear() { *this = inbox(); }

private:
  std::uint64_t received_ = 0;
  std::uint64_t told_ = 0;
  std::size_t bytes_ = 0;
};

} // namespace headrace::actors
