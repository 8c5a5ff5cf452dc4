#pragma once

#include "libtask/network/data_frame.hpp"
#include "libactors/base/ids.hpp"
#include "libactors/base/result.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

namespace headrace::task {

/// The end of a channel whose consumer is here.
struct consumer_end {
  execution_attempt_id consumer;
  std::uint32_t channel = 0; ///< index over all gates of the consumer
  partition_id partition;
  std::uint32_t subpartition = 0;
  std::uint64_t credit_bytes = 0;
  int tries = 0; ///< to find the producer
};
/// The end of a channel whose producer is here.
struct producer_end {
  partition_id partition;
  std::uint32_t subpartition = 0;
};

/// The channels of one data connection. Pure.
///
/// Each node numbers the routes over which it consumes, and serves those that the other has
/// numbered; so the same number may stand for one of either. A route lives from its request until
/// its producer has closed it, its consumer has ended, or the producer's node has refused it. What
/// still comes for a route that has ended is dropped and counted; a route that never was is a fault
/// of the other side.
class exchange_routes {
public:
  // --- this node consumes
  route_id open(consumer_end end);
  /// None: the route has ended. @errors malformed_message  it never was
  result<const consumer_end*> consumer(route_id route) const;
  /// The consumer lets its producer send so much more.
  void give_credit(route_id route, std::uint64_t bytes);
  /// Something of such a cost has come over a route that lives.
  /// @param is_barrier  needs no credit, for it may overtake
  /// @errors malformed_message  its producer had no credit left: one element alone may overdraw it
  status take_credit(route_id route, std::uint64_t cost, bool is_barrier = false);
  /// Ends it. @returns whose it was
  std::optional<consumer_end> close_consumer(route_id route);
  /// The consumer has ended. @returns its routes, to be abandoned
  std::vector<route_id> end_consumer(const execution_attempt_id& consumer);

  // --- this node produces
  /// @errors malformed_message  the route lives already
  status serve(route_id route, producer_end end);
  /// None: the route has ended, or never was.
  const producer_end* producer(route_id route) const;
  void close_producer(route_id route) { produced_.erase(route); }
  /// The producer has ended; what it has closed is closed already.
  void end_producer(const execution_attempt_id& producer);

  // --- the whole
  bool is_empty() const { return consumed_.empty() && produced_.empty(); }
  std::size_t consumed_count() const { return consumed_.size(); }
  std::size_t produced_count() const { return produced_.size(); }
  /// The connection is lost: all end.
  std::vector<consumer_end> take_consumed();
  std::vector<producer_end> take_produced();

private:
  struct consumed_route {
    consumer_end end;
    std::int64_t credit_left = 0; ///< that its producer may know of
  };
  std::unordered_map<route_id, consumed_route> consumed_;
  std::unordered_map<route_id, producer_end> produced_;
  route_id next_ = 1;
};

} // namespace headrace::task
