#pragma once

#include "libgraph/connector/format.hpp"
#include "libactors/base/option.hpp"
#include "libactors/base/result.hpp"

#include <cstdint>
#include <span>

namespace headrace::task {

/// How Nexmark's events come about. A value. The defaults are those of the public benchmark.
struct nexmark_settings {
  std::uint64_t seed = 0;
  std::int64_t base_time_ms = 0; ///< of the event before the first one, since 1970
  double rate = 10'000;          ///< events in a second of event time
  std::uint64_t events = 0;      ///< in all; 0: without end
  bool is_paced = false;         ///< events also come at that rate

  // Of each person + auction + bid events, so many are of each kind.
  std::int64_t persons = 1;
  std::int64_t auctions = 3;
  std::int64_t bids = 46;

  // Of so many bids (auctions), all but one go to the hot auction (come from the hot person).
  std::int64_t hot_auctions = 2;
  std::int64_t hot_bidders = 4;
  std::int64_t hot_sellers = 4;

  // Bytes that an event should have, reached with the field `extra`.
  std::int64_t person_bytes = 200;
  std::int64_t auction_bytes = 500;
  std::int64_t bid_bytes = 100;

  // For tests of the edges, which the benchmark's own settings do not reach.
  std::int64_t distinct_prices = 0; ///< 0: any of [100, 100 000 000]
  std::int64_t granularity_ms = 1;  ///< times are multiples of it
  std::int64_t group_size = 1;      ///< events are out of order in groups of so many

  std::int64_t period() const { return persons + auctions + bids; }

  /// What `parse` takes.
  static std::span<const option_declaration> declared();
  /// @errors unknown_option, bad_option_value
  static result<nexmark_settings> parse(const graph::option_map& options);
};

} // namespace headrace::task
