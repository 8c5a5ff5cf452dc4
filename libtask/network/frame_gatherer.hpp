#pragma once

#include "libtask/network/data_frame.hpp"

#include <cstddef>
#include <deque>
#include <optional>

namespace headrace::task {

struct frame_gatherer_limits {
  std::size_t frame_bytes = std::size_t{512} << 10U; ///< a frame is full at this size
  std::size_t entries = 4096;                        ///< of each list of a frame
};

/// Gathers what all channels of one data connection have to say into few frames. Pure.
///
/// Words about channels (requests, refusals, credit) go with the next frame, before data. Pieces
/// keep their order; those of one route that meet in a frame become one. An element is never split:
/// one that is larger than a frame makes a large frame.
class frame_gatherer {
public:
  explicit frame_gatherer(frame_gatherer_limits limits = {}) : limits_(limits) {}

  void add(route_request what) { requests_.push_back(std::move(what)); }
  void add(route_refusal what) { refusals_.push_back(std::move(what)); }
  void add(route_credit what) { credits_.push_back(what); }
  void abandon(route_id route) { abandoned_.push_back(route); }
  void add(route_piece piece);
  /// Drops what waits to be sent on a route.
  void drop(route_id route);

  bool is_empty() const;
  /// Whether words about channels wait, which need not wait for room.
  bool has_controls() const;
  /// Of the batches that wait.
  std::size_t pending_bytes() const { return pending_bytes_; }
  /// The next frame; nothing when nothing waits. @param with_pieces  else only words about channels
  std::optional<data_frame> take(bool with_pieces = true);

private:
  void take_pieces(data_frame& out);

  frame_gatherer_limits limits_;
  std::deque<route_request> requests_;
  std::deque<route_refusal> refusals_;
  std::deque<route_credit> credits_;
  std::deque<route_id> abandoned_;
  std::deque<route_piece> pieces_;
  std::size_t pending_bytes_ = 0;
};

} // namespace headrace::task
