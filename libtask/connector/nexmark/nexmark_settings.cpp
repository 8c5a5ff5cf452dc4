#include "libtask/connector/nexmark/nexmark_settings.hpp"

#include "libgraph/connector/option_set.hpp"
#include "libgraph/types/value_text.hpp"

#include <array>

namespace headrace::task {
namespace {

constexpr std::string_view owner = "source 'nexmark'";
/// The factor of the permutation of a group: one of its multiples for a size would map events on
/// one another.
constexpr std::int64_t disorder_factor = 953;
constexpr std::int64_t proportion_max = 1'000'000;
constexpr std::int64_t bytes_max = 100'000;

constexpr std::array options{
    option_declaration{"events.num", option_type::integer, "0", "events in all; 0: without end", 0},
    option_declaration{"first-event.rate", option_type::real, "10000",
                       "events in a second of event time"},
    option_declaration{"next-event.rate", option_type::real, "",
                       "the same, for scripts that give both: rates do not change"},
    option_declaration{"max-emit-speed", option_type::boolean, "true",
                       "whether events come as fast as they can be read; false: as fast as their "
                       "times say"},
    option_declaration{"seed", option_type::integer, "0", "another seed gives other events"},
    option_declaration{"base-time", option_type::text, "2015-07-15 00:00:00",
                       "when event time begins, in UTC"},
    option_declaration{"person.proportion", option_type::integer, "1", "persons of so many events",
                       1, proportion_max},
    option_declaration{"auction.proportion", option_type::integer, "3",
                       "auctions of so many events", 1, proportion_max},
    option_declaration{"bid.proportion", option_type::integer, "46", "bids of so many events", 1,
                       proportion_max},
    option_declaration{"bid.hot-ratio.auctions", option_type::integer, "2",
                       "of so many bids all but one go to the hot auction", 1, proportion_max},
    option_declaration{"bid.hot-ratio.bidders", option_type::integer, "4",
                       "of so many bids all but one come from the hot bidder", 1, proportion_max},
    option_declaration{"auction.hot-ratio.sellers", option_type::integer, "4",
                       "of so many auctions all but one come from the hot seller", 1,
                       proportion_max},
    option_declaration{"person.avg-size", option_type::integer, "200",
                       "bytes of a person, filled up with `extra`", 0, bytes_max},
    option_declaration{"auction.avg-size", option_type::integer, "500",
                       "bytes of an auction, filled up with `extra`", 0, bytes_max},
    option_declaration{"bid.avg-size", option_type::integer, "100",
                       "bytes of a bid, filled up with `extra`", 0, bytes_max},
    option_declaration{"price.distinct", option_type::integer, "0",
                       "how many different prices there are, so that some are equal; 0: any", 0,
                       1'000'000},
    option_declaration{"time.granularity", option_type::duration, "1 ms",
                       "times are multiples of it, so that some are equal", 1, 86'400'000},
    option_declaration{"out-of-order.group-size", option_type::integer, "1",
                       "events are shuffled in groups of so many; no multiple of 953", 1,
                       1'000'000},
};

error bad_value(std::string_view key, const std::string& found, std::string_view allowed) {
  return {errc::bad_option_value, "bad value of option '" + std::string(key) + "' of " +
                                      std::string(owner) + ": '" + found + "', allowed is " +
                                      std::string(allowed)};
}

} // namespace

std::span<const option_declaration> nexmark_settings::declared() { return options; }

result<nexmark_settings> nexmark_settings::parse(const graph::option_map& given) {
  HEADRACE_TRY(const auto set, graph::option_set::parse(owner, options, given));
  nexmark_settings out;
  out.seed = static_cast<std::uint64_t>(set.get_int("seed"));
  const auto base = set.get_text("base-time");
  const auto time = graph::parse_timestamp(base);
  if (!time || time->offset_seconds)
    return bad_value("base-time", base, "a time such as '2015-07-15 00:00:00'");
  out.base_time_ms = static_cast<std::int64_t>(graph::to_timestamp_value(*time, 3));
  out.rate = set.get_real("first-event.rate");
  if (!(out.rate > 0) || out.rate > 1e9)
    return bad_value("first-event.rate", set.get_text("first-event.rate"),
                     "more than 0 and at most 1000000000");
  if (set.has("next-event.rate") && set.get_real("next-event.rate") != out.rate)
    return bad_value("next-event.rate", set.get_text("next-event.rate"),
                     "what 'first-event.rate' is: rates do not change");
  out.events = static_cast<std::uint64_t>(set.get_int("events.num"));
  out.is_paced = !set.get_bool("max-emit-speed");
  out.persons = set.get_int("person.proportion");
  out.auctions = set.get_int("auction.proportion");
  out.bids = set.get_int("bid.proportion");
  out.hot_auctions = set.get_int("bid.hot-ratio.auctions");
  out.hot_bidders = set.get_int("bid.hot-ratio.bidders");
  out.hot_sellers = set.get_int("auction.hot-ratio.sellers");
  out.person_bytes = set.get_int("person.avg-size");
  out.auction_bytes = set.get_int("auction.avg-size");
  out.bid_bytes = set.get_int("bid.avg-size");
  out.distinct_prices = set.get_int("price.distinct");
  out.granularity_ms = set.get_duration("time.granularity").count();
  out.group_size = set.get_int("out-of-order.group-size");
  if (out.group_size % disorder_factor == 0)
    return bad_value("out-of-order.group-size", set.get_text("out-of-order.group-size"),
                     "a number that is no multiple of 953");
  return out;
}

} // namespace headrace::task
