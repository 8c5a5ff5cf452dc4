#pragma once

#include "libtask/network/frame_gatherer.hpp"
#include "libtask/network/link_routes.hpp"
#include "libactors/transport/frame_connection.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>

namespace headrace::task {

/// The kind of frames that carry channels.
inline constexpr auto frame_of_routes = actors::frame_kind::data_first;

struct link_writer_settings {
  /// When so much waits in the link, data waits here; words about channels do not.
  std::size_t link_bytes = std::size_t{2} << 20U;
  frame_gatherer_limits frames;
};

/// Writes what is said over one link: data of this node's producers, credit of its consumers, words
/// of the data connection. Whoever has something to say adds it, and sends at the end of its turn
/// what it and others have added; so a frame takes no other thread than that of its producer, and
/// the channels of a turn share frames.
///
///     producer ─ add ─┐             ┌ send: one thread at a time ─▶ link
///     consumer ─ add ─┼▶ gatherer ──┤
///     connection ─────┘             └ who comes meanwhile leaves it to that one
///
/// Any thread; nothing waits for another one that writes.
class link_writer {
public:
  /// @param on_lost  told once when the link takes no more; from then on all is dropped
  link_writer(std::shared_ptr<actors::frame_connection> link, std::shared_ptr<link_routes> routes,
              std::shared_ptr<data_connection_metrics> metrics, link_writer_settings settings,
              std::function<void(error)> on_lost);

  // --- subtasks
  /// Sent at once when it fills a frame. Dropped when the consumer has ended.
  void add(route_piece piece);
  void add(route_credit credit);
  /// Sends what was added, as far as the link has room.
  void send();

  // --- the data connection
  void add(route_request what);
  void add(route_refusal what);
  void abandon(route_id route);
  /// The consumer has ended: what waits for it is not sent.
  void drop(route_id route);
  bool is_empty() const;
  std::uint64_t frames() const { return frames_.load(std::memory_order_relaxed); }
  /// Drops what waits, and takes no more. The link is left to the caller.
  void stop();
  /// Sends what waits, says farewell when `says_so`, and closes the link with `cause`.
  void leave(bool says_so, error cause);

private:
  template <class What>
  void gather(What what);
  status write(actors::frame_connection& to, const data_frame& frame);
  /// With `guard_` held, which is let go for each frame.
  void send_all(std::unique_lock<std::mutex>& held);

  const std::shared_ptr<link_routes> routes_;
  const std::shared_ptr<data_connection_metrics> metrics_;
  const link_writer_settings settings_;
  const std::function<void(error)> on_lost_;

  mutable std::mutex guard_;
  std::shared_ptr<actors::frame_connection> link_; ///< null: stopped
  frame_gatherer gatherer_;
  bool is_sending_ = false;
  bool says_farewell_ = false;
  std::optional<error> leaving_;
  std::atomic<bool> waits_{false}; ///< something may be in the gatherer
  std::atomic<std::uint64_t> frames_{0};
};

} // namespace headrace::task
