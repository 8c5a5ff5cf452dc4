#include "libtask/connector/nexmark/nexmark_events.hpp"

#include "test/support/seed.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace headrace::task {
namespace {

constexpr std::int64_t base_ms = 1'436'918'400'000; // 2015-07-15

nexmark_settings settings_of(graph::option_map options = {}) {
  auto made = nexmark_settings::parse(options);
  REQUIRE_MESSAGE(made.has_value(), (made ? "" : made.error().message));
  return *made;
}

template <class Make>
std::string text_of(Make&& make) {
  nexmark_text out;
  make(out);
  return std::string(out.view());
}

struct drawn {
  std::vector<nexmark_event> persons;
  std::vector<nexmark_event> auctions;
  std::vector<nexmark_event> bids;
};

drawn draw(const nexmark_events& events, std::uint64_t count) {
  drawn out;
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto event = events.at(i);
    (event.kind == nexmark_kind::person    ? out.persons
     : event.kind == nexmark_kind::auction ? out.auctions
                                           : out.bids)
        .push_back(event);
  }
  return out;
}

bool is_about(std::size_t found, double expected) {
  return std::abs(static_cast<double>(found) - expected) < 6 * std::sqrt(expected) + 1;
}

/// What `extra` may be: `average` less what there is, a fifth more or less.
bool has_extra_length(std::size_t length, std::size_t current, std::int64_t average) {
  const auto wanted = average - static_cast<std::int64_t>(current);
  if (wanted < 0)
    return length == 0;
  const auto slack = std::llround(static_cast<double>(wanted) * 0.2);
  const auto found = static_cast<std::int64_t>(length);
  return found >= wanted - slack && found <= wanted + std::max<std::int64_t>(slack - 1, 0);
}

} // namespace

TEST_SUITE("task/connector/nexmark/nexmark_events") {
TEST_CASE("the first event has id 2, and of 50 ids one is a person and three are auctions") {
  const nexmark_events events(settings_of());
  CHECK(events.at(0).id == 2);
  for (std::uint64_t i = 0; i < 1000; ++i) {
    const auto event = events.at(i);
    const auto rest = event.id % 50;
    CHECK(event.id == static_cast<std::int64_t>(i) + 2);
    CHECK(event.kind == (rest < 1   ? nexmark_kind::person
                         : rest < 4 ? nexmark_kind::auction
                                    : nexmark_kind::bid));
  }
}

TEST_CASE("ids grow by one; the first person and the first auction are never seen") {
  const nexmark_events events(settings_of());
  const auto all = draw(events, 5000);
  std::int64_t person = 1000;
  for (const auto& each : all.persons)
    CHECK(events.person_id(each) == ++person);
  std::int64_t auction = 1000;
  for (const auto& each : all.auctions)
    CHECK(events.auction_id(each) == ++auction);
}

TEST_CASE("times follow the rate, cut to milliseconds") {
  const nexmark_events fast(settings_of()); // 10,000 a second
  CHECK(fast.at(0).time_ms == base_ms);
  CHECK(fast.at(8).time_ms == base_ms);
  CHECK(fast.at(9).time_ms == base_ms + 1);
  const nexmark_events slow(settings_of({{"first-event.rate", "1000"}}));
  for (std::uint64_t i = 0; i < 100; ++i)
    CHECK(slow.at(i).time_ms == base_ms + static_cast<std::int64_t>(i) + 1);
  const nexmark_events later(settings_of({{"base-time", "2024-02-29 23:59:59.5"}}));
  CHECK(later.at(9).time_ms == 1'709'251'199'501);
}

TEST_CASE("prices are even on a logarithmic scale, from 1 to a million") {
  const nexmark_events events(settings_of({{"seed", std::to_string(testing::seed() >> 2U)}}));
  const auto all = draw(events, 20'000);
  std::map<int, std::size_t> decades;
  for (const auto& each : all.bids) {
    const auto price = events.bid_price(each);
    CHECK(price >= 100);
    CHECK(price <= 100'000'000);
    ++decades[std::min(static_cast<int>(std::log10(static_cast<double>(price) / 100)), 5)];
  }
  for (int decade = 0; decade < 6; ++decade)
    CHECK(is_about(decades[decade], static_cast<double>(all.bids.size()) / 6));
}

TEST_CASE("bids go to the hot auction or to one of those that are open") {
  const nexmark_events events(settings_of({{"seed", std::to_string(testing::seed() >> 2U)}}));
  const auto all = draw(events, 20'000);
  std::size_t hot = 0;
  for (const auto& each : all.bids) {
    const auto auction = events.bid_auction(each) - 1000;
    const auto is_hot = auction == each.last_auction / 100 * 100;
    hot += is_hot ? 1 : 0;
    CHECK((is_hot || (auction >= std::max<std::int64_t>(each.last_auction - 100, 0) &&
                      auction <= each.last_auction + 10)));
  }
  const auto count = static_cast<double>(all.bids.size());
  CHECK(hot > static_cast<std::size_t>(count / 2 - 6 * std::sqrt(count)));
}

TEST_CASE("bidders are numbered from 2000, one more than the hot person for three of four") {
  const nexmark_events events(settings_of({{"seed", std::to_string(testing::seed() >> 2U)}}));
  const auto all = draw(events, 100'000);
  std::size_t hot = 0;
  for (const auto& each : all.bids) {
    const auto bidder = events.bidder(each) - 2000;
    hot += bidder == each.last_person / 100 * 100 + 1 ? 1 : 0;
    CHECK(bidder >=
          std::min<std::int64_t>(each.last_person / 100 * 100 + 1, each.last_person + 1 - 1000));
    CHECK(bidder <= each.last_person + 11);
  }
  // A random one may be the hot one, too.
  CHECK(hot > all.bids.size() * 74 / 100);
  CHECK(hot < all.bids.size() * 77 / 100);
}

TEST_CASE("sellers are hot for three of four, and may be some that are not there yet") {
  const nexmark_events events(settings_of({{"seed", std::to_string(testing::seed() >> 2U)}}));
  const auto all = draw(events, 200'000);
  std::size_t hot = 0;
  std::int64_t ahead = -1;
  for (const auto& each : all.auctions) {
    const auto seller = events.seller(each) - 1000;
    hot += seller == each.last_person / 100 * 100 ? 1 : 0;
    ahead = std::max(ahead, seller - each.last_person);
  }
  CHECK(hot > all.auctions.size() * 73 / 100);
  CHECK(hot < all.auctions.size() * 77 / 100);
  CHECK(ahead == 10);
}

TEST_CASE("auctions end within twice the time of a hundred further ones") {
  const nexmark_events events(settings_of({{"first-event.rate", "1000"}}));
  std::int64_t sum = 0;
  const auto all = draw(events, 20'000);
  for (const auto& each : all.auctions) {
    const auto open = events.expires_ms(each) - each.time_ms;
    CHECK(open >= 1);
    CHECK(open <= 2 * 1666);
    sum += open;
    CHECK(events.category(each) >= 10);
    CHECK(events.category(each) <= 14);
    CHECK(events.reserve(each) >= events.initial_bid(each) + 100);
  }
  const auto mean = sum / static_cast<std::int64_t>(all.auctions.size());
  CHECK(mean > 1500);
  CHECK(mean < 1800);
}

TEST_CASE(
    "half of the bids come by four channels, the others by ten thousand, all with addresses") {
  const nexmark_events events(settings_of());
  const auto all = draw(events, 50'000);
  std::map<std::string, std::string> addresses;
  std::size_t hot = 0;
  std::size_t with_id = 0;
  for (const auto& each : all.bids) {
    const auto channel = text_of([&](auto& out) { events.channel(each, out); });
    const std::string url(events.url(each));
    CHECK(url.starts_with("https://www.nexmark.com/"));
    CHECK(std::count(url.begin(), url.end(), '/') == 6);
    const auto [known, is_new] = addresses.emplace(channel, url);
    CHECK(known->second == url); // a channel has one address
    const auto id = url.find("item.htm?query=1&channel_id=");
    if (!channel.starts_with("channel-")) {
      ++hot;
      CHECK(url.ends_with("/item.htm?query=1"));
    } else {
      with_id += is_new && id != std::string::npos ? 1 : 0;
    }
  }
  CHECK(is_about(hot, static_cast<double>(all.bids.size()) / 2));
  CHECK(addresses.contains("Apple"));
  CHECK(is_about(with_id, static_cast<double>(addresses.size() - 4) * 0.9));
}

TEST_CASE("a channel's number stands in its address with its bits turned round") {
  const nexmark_texts texts(1);
  std::size_t checked = 0;
  for (const auto& [channel, id] : std::map<int, std::string>{
           {0, "0"}, {1, "2147483648"}, {2, "1073741824"}, {3, "1073741824"}, {6, "1610612736"}}) {
    const std::string url(texts.address(channel));
    if (url.find("channel_id") == std::string::npos)
      continue;
    ++checked;
    CHECK(url.substr(url.find("channel_id=") + 11) == id);
  }
  CHECK(checked >= 3);
}

TEST_CASE("random letters are 3 to max - 1, and lose the spaces at their ends") {
  nexmark_dice dice(testing::seed());
  std::size_t special = 0;
  std::size_t letters = 0;
  std::set<std::size_t> lengths;
  for (int i = 0; i < 5000; ++i) {
    const auto word = text_of([&](auto& out) { append_random_letters(dice, 5, '_', out); });
    lengths.insert(word.size());
    letters += word.size();
    special += static_cast<std::size_t>(std::count(word.begin(), word.end(), '_'));
    CHECK(std::all_of(word.begin(), word.end(), [](char letter) {
      return letter == '_' || (letter >= 'a' && letter <= 'z');
    }));
    const auto spaced = text_of([&](auto& out) { append_random_letters(dice, 20, ' ', out); });
    CHECK((spaced.empty() || (spaced.front() != ' ' && spaced.back() != ' ')));
    CHECK(spaced.size() <= 19);
  }
  CHECK(lengths == std::set<std::size_t>{3, 4});
  CHECK(is_about(special, static_cast<double>(letters) / 13));
}

TEST_CASE("the filler has half of its letters before 'a', so few of each of the others") {
  const nexmark_texts texts(testing::seed());
  const auto& filler = *texts.filler();
  REQUIRE(filler.size_bytes() == 1U << 20U);
  std::map<char, std::size_t> seen;
  for (std::size_t i = 0; i < filler.size_bytes(); ++i)
    ++seen[filler.as<char>()[i]];
  CHECK(seen.begin()->first == 'H');
  CHECK(seen.rbegin()->first == 'z');
  CHECK(is_about(seen['c'], static_cast<double>(1U << 20U) / 52));
}

TEST_CASE("extra fills an event up to its size") {
  const nexmark_events events(settings_of());
  const auto all = draw(events, 5000);
  for (const auto& each : all.persons) {
    nexmark_text others;
    events.person_name(each, others);
    events.email_address(each, others);
    events.credit_card(each, others);
    CHECK(has_extra_length(events.person_extra(each).size(),
                           8 + others.size + events.city(each).size() + events.state(each).size(),
                           200));
  }
  for (const auto& each : all.auctions) {
    nexmark_text name;
    nexmark_text words;
    events.item_name(each, name);
    events.description(each, words);
    CHECK(has_extra_length(events.auction_extra(each).size(), 48 + name.size + words.size, 500));
  }
  for (const auto& each : all.bids) {
    const auto length = events.bid_extra(each).size();
    CHECK(length >= 54);
    CHECK(length <= 81);
  }
  const nexmark_events small(settings_of({{"bid.avg-size", "31"}}));
  CHECK(small.bid_extra(all.bids[0]).empty());
}

TEST_CASE("persons have a name of two words, a card of sixteen digits and an address") {
  const nexmark_events events(settings_of());
  for (const auto& each : draw(events, 5000).persons) {
    const auto name = text_of([&](auto& out) { events.person_name(each, out); });
    CHECK(std::count(name.begin(), name.end(), ' ') == 1);
    const auto card = text_of([&](auto& out) { events.credit_card(each, out); });
    REQUIRE(card.size() == 19);
    for (std::size_t i = 0; i < card.size(); ++i)
      CHECK((i % 5 == 4 ? card[i] == ' ' : card[i] >= '0' && card[i] <= '9'));
    const auto email = text_of([&](auto& out) { events.email_address(each, out); });
    CHECK(email.find('@') != std::string::npos);
    CHECK(email.ends_with(".com"));
    CHECK(events.state(each).size() == 2);
  }
}

TEST_CASE("settings bring about equal prices, equal times and disorder") {
  const nexmark_events few(settings_of({{"price.distinct", "6"}}));
  std::set<std::int64_t> prices;
  for (const auto& each : draw(few, 2000).bids)
    prices.insert(few.bid_price(each));
  CHECK(prices == std::set<std::int64_t>{100, 1000, 10'000, 100'000, 1'000'000, 10'000'000});

  const nexmark_events coarse(
      settings_of({{"time.granularity", "1 s"}, {"first-event.rate", "100"}}));
  std::set<std::int64_t> open;
  for (const auto& each : draw(coarse, 5000).auctions) {
    CHECK(each.time_ms % 1000 == 0);
    CHECK(coarse.expires_ms(each) % 1000 == 0);
    CHECK(coarse.expires_ms(each) >= each.time_ms);
  }

  const nexmark_events mixed(settings_of({{"out-of-order.group-size", "10"}}));
  std::set<std::int64_t> numbers;
  bool is_disordered = false;
  for (std::uint64_t i = 9; i < 109; ++i) { // whole groups
    const auto event = mixed.at(i);
    is_disordered |= event.number != static_cast<std::int64_t>(i) + 1;
    CHECK(event.number / 10 == static_cast<std::int64_t>(i + 1) / 10);
    numbers.insert(event.number);
  }
  CHECK(is_disordered);
  CHECK(numbers.size() == 100);
}

TEST_CASE("other proportions give other events") {
  const auto settings = settings_of(
      {{"person.proportion", "2"}, {"auction.proportion", "2"}, {"bid.proportion", "6"}});
  const nexmark_events events(settings);
  const auto all = draw(events, 1000);
  CHECK(all.persons.size() == 200);
  CHECK(all.auctions.size() == 200);
  std::int64_t person = events.person_id(all.persons[0]);
  for (const auto& each : all.persons)
    CHECK(events.person_id(each) == person++);
}

TEST_CASE("another seed gives other events, the same seed the same") {
  const nexmark_events one(settings_of({{"seed", "1"}}));
  const nexmark_events again(settings_of({{"seed", "1"}}));
  const nexmark_events other(settings_of({{"seed", "2"}}));
  std::size_t differing = 0;
  for (std::uint64_t i = 100; i < 150; ++i) {
    CHECK(one.bid_price(one.at(i)) == again.bid_price(again.at(i)));
    differing += one.bid_price(one.at(i)) != other.bid_price(other.at(i)) ? 1 : 0;
  }
  CHECK(differing > 45);
}

TEST_CASE("settings that have no meaning are refused") {
  const auto fails = [](const graph::option_map& options) {
    const auto made = nexmark_settings::parse(options);
    REQUIRE(!made.has_value());
    CHECK(made.error().code == errc::bad_option_value);
    return made.error().message;
  };
  CHECK(fails({{"first-event.rate", "0"}}).find("more than 0") != std::string::npos);
  CHECK(fails({{"next-event.rate", "5"}}).find("rates do not change") != std::string::npos);
  CHECK(fails({{"out-of-order.group-size", "1906"}}).find("953") != std::string::npos);
  CHECK(fails({{"base-time", "noon"}}).find("2015-07-15") != std::string::npos);
  CHECK(nexmark_settings::parse({{"event.num", "5"}}).error().message.find("'events.num'") !=
        std::string::npos);
}
} // TEST_SUITE("task/connector/nexmark/nexmark_events")

} // namespace headrace::task
