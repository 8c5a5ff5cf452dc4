#pragma once

#include "libtask/network/exchange_directory.hpp"
#include "libtask/network/exchange_routes.hpp"
#include "libactors/base/metric.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace headrace::task {

/// What the data connections of a task executor count together. Any thread.
struct data_connection_metrics {
  counter frames_in;
  counter frames_out;
  counter bytes_in;
  counter bytes_out;
  counter dropped_pieces; ///< of channels whose consumer has ended
};

/// The channels of one link. The data connection opens and ends them in its turns; the transport's
/// thread looks up where what comes over the link belongs, and hands it to the subtasks without
/// waking the connection. Any thread.
class link_routes {
public:
  link_routes(exchange_directory& directory, std::shared_ptr<data_connection_metrics> metrics)
      : directory_(&directory), metrics_(std::move(metrics)) {}

  /// The routes, as long as it lives: keep it no longer than a statement.
  class access {
  public:
    exchange_routes* operator->() { return &to_; }

  private:
    friend class link_routes;
    access(std::mutex& guard, exchange_routes& to) : held_(guard), to_(to) {}
    std::lock_guard<std::mutex> held_;
    exchange_routes& to_;
  };
  access locked() { return {guard_, routes_}; }

  /// Gives the pieces and the credit of a frame to the consumers and producers, in order, and takes
  /// them out of it. @returns routes whose consumer has ended; they are closed
  /// @errors malformed_message  a route that never was, or data without credit
  result<std::vector<route_id>> deliver(data_frame& frame);
  /// Nothing is delivered any more.
  void close();
  /// Frames that have come over the link.
  std::uint64_t frames() const { return frames_.load(std::memory_order_relaxed); }
  void count_frame(std::size_t body_bytes);

private:
  void give(const route_credit& credit);
  status give(route_piece& piece, std::vector<route_id>& ended);

  std::mutex guard_;
  exchange_routes routes_;
  exchange_directory* directory_; ///< null: closed
  std::shared_ptr<data_connection_metrics> metrics_;
  std::atomic<std::uint64_t> frames_{0};
};

} // namespace headrace::task
