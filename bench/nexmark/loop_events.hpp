#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace headrace::bench::nexmark {

/// Times are milliseconds since 1970. Texts belong to who made the event.
struct person {
  std::int64_t id = 0;
  std::int64_t date_time = 0;
  std::string_view name, email, credit_card, city, state, extra;
};

struct auction {
  std::int64_t id = 0;
  std::int64_t initial_bid = 0;
  std::int64_t reserve = 0;
  std::int64_t date_time = 0;
  std::int64_t expires = 0;
  std::int64_t seller = 0;
  std::int64_t category = 0;
  std::string_view item_name, description, extra;
};

struct bid {
  std::int64_t auction = 0;
  std::int64_t bidder = 0;
  std::int64_t price = 0;
  std::int64_t date_time = 0;
  std::string_view channel, url, extra;
};

/// Which fields a query reads: those that are not read are not decoded.
enum field : std::uint32_t {
  id = 1U << 0U, // of a person or an auction, or the auction of a bid
  name = 1U << 1U,
  city = 1U << 2U,
  state = 1U << 3U,
  date_time = 1U << 4U,
  extra = 1U << 5U,
  seller = 1U << 6U,
  category = 1U << 7U,
  wide = 1U << 8U, // all the others
  bidder = 1U << 9U,
  price = 1U << 10U,
  channel = 1U << 11U,
  url = 1U << 12U,
  all = 0xFFFFFFFFU,
};
using fields = std::uint32_t;

enum class kind : std::uint8_t { person, auction, bid };

} // namespace headrace::bench::nexmark
