#include "libtask/connector/nexmark/nexmark_events.hpp"

#include "libactors/base/ids.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace headrace::task {
namespace {

using namespace std::string_view_literals;

constexpr std::int64_t disorder_factor = 953;
constexpr std::int64_t active_persons = 1000; ///< those that may act
constexpr std::int64_t open_auctions = 100;   ///< those that get bids
constexpr std::int64_t lead = 10;             ///< ids that are not there yet
constexpr std::int64_t hot_every = 100;       ///< how long one stays hot, in ids
constexpr std::int64_t first_category = 10;
constexpr std::int64_t categories = 5;

constexpr std::array first_names{"Peter"sv, "Paul"sv,  "Luke"sv,  "John"sv,   "Saul"sv,  "Vicky"sv,
                                 "Kate"sv,  "Julie"sv, "Sarah"sv, "Deiter"sv, "Walter"sv};
constexpr std::array last_names{"Shultz"sv, "Abrams"sv, "Spencer"sv, "White"sv, "Bartels"sv,
                                "Walton"sv, "Smith"sv,  "Jones"sv,   "Noris"sv};
constexpr std::array cities{"Phoenix"sv,  "Los Angeles"sv, "San Francisco"sv, "Boise"sv,
                            "Portland"sv, "Bend"sv,        "Redmond"sv,       "Seattle"sv,
                            "Kent"sv,     "Cheyenne"sv};
constexpr std::array states{"AZ"sv, "CA"sv, "ID"sv, "OR"sv, "WA"sv, "WY"sv};

/// Each field has dice of its own. The numbers decide what is drawn: they stay as they are.
enum class field : std::uint8_t {
  name = 1,
  email,
  credit_card,
  city,
  state,
  item_name,
  description,
  initial_bid,
  reserve,
  expires,
  seller,
  category,
  auction,
  bidder,
  price,
  channel,
  extra,
};

nexmark_dice dice_of(const nexmark_event& event, field which) {
  return nexmark_dice(mix64(event.seed + static_cast<std::uint64_t>(which)));
}

template <class Choices>
std::string_view one_of(const Choices& choices, nexmark_dice& dice) {
  return choices[static_cast<std::size_t>(dice.below(static_cast<std::int64_t>(choices.size())))];
}

std::int64_t hot(std::int64_t last) { return (last >= 0 ? last / hot_every : 0) * hot_every; }

} // namespace

nexmark_events::nexmark_events(const nexmark_settings& settings)
    : settings_(settings), delay_us_(1e6 / settings.rate), texts_(settings.seed) {}

std::int64_t nexmark_events::time_of(std::int64_t number) const {
  const auto micros = static_cast<std::int64_t>(static_cast<double>(number) * delay_us_);
  const auto exact = settings_.base_time_ms + micros / 1000;
  const auto step = settings_.granularity_ms;
  const auto beyond = (exact % step + step) % step;
  return exact - beyond;
}

nexmark_event nexmark_events::at(std::uint64_t index) const {
  nexmark_event out;
  out.number = static_cast<std::int64_t>(index) + 1;
  if (const auto group = settings_.group_size; group > 1)
    out.number = out.number / group * group + out.number * disorder_factor % group;
  out.id = out.number + 1;
  out.time_ms = time_of(out.number);
  out.seed = mix64(settings_.seed ^ mix64(static_cast<std::uint64_t>(out.id)));

  const auto persons = settings_.persons;
  const auto auctions = settings_.auctions;
  const auto epoch = out.id / settings_.period();
  const auto offset = out.id % settings_.period();
  out.last_person = epoch * persons + std::min(offset, persons - 1);
  if (offset < persons) {
    out.kind = nexmark_kind::person;
    out.last_auction = epoch * auctions - 1;
  } else {
    out.kind = offset < persons + auctions ? nexmark_kind::auction : nexmark_kind::bid;
    out.last_auction = epoch * auctions + std::min(offset - persons, auctions - 1);
  }
  return out;
}

std::int64_t nexmark_events::random_person(const nexmark_event& of, nexmark_dice& dice) const {
  const auto there = of.last_person + 1;
  const auto active = std::min(there, active_persons);
  return there - active + dice.below(active + lead);
}

std::int64_t nexmark_events::random_auction(const nexmark_event& of, nexmark_dice& dice) const {
  const auto least = std::max(of.last_auction - open_auctions, std::int64_t{0});
  return least + dice.below(of.last_auction - least + 1 + lead);
}

std::int64_t nexmark_events::price(nexmark_dice& dice) const {
  auto place = dice.unit();
  if (settings_.distinct_prices > 0) {
    const auto count = static_cast<double>(settings_.distinct_prices);
    place = std::floor(place * count) / count;
  }
  return std::llround(std::pow(10.0, 6 * place) * 100);
}

std::string_view nexmark_events::extra(nexmark_dice dice, std::int64_t current,
                                       std::int64_t average) const {
  const auto& filler = *texts_.filler();
  if (current > average)
    return {filler.as<char>(), 0};
  const auto wanted = average - current;
  const auto slack = std::llround(static_cast<double>(wanted) * 0.2);
  const auto length = wanted - slack + (slack == 0 ? 0 : dice.below(2 * slack));
  const auto place = dice.below(static_cast<std::int64_t>(filler.size_bytes()) - length);
  return {filler.as<char>() + place, static_cast<std::size_t>(length)};
}

// --- persons
void nexmark_events::person_name(const nexmark_event& of, nexmark_text& out) const {
  auto dice = dice_of(of, field::name);
  out.append(one_of(first_names, dice));
  out.append(" ");
  out.append(one_of(last_names, dice));
}

void nexmark_events::email_address(const nexmark_event& of, nexmark_text& out) const {
  auto dice = dice_of(of, field::email);
  append_random_letters(dice, 7, ' ', out);
  out.append("@");
  append_random_letters(dice, 5, ' ', out);
  out.append(".com");
}

void nexmark_events::credit_card(const nexmark_event& of, nexmark_text& out) const {
  auto dice = dice_of(of, field::credit_card);
  for (int group = 0; group < 4; ++group) {
    auto digits = dice.below(10'000);
    std::array<char, 5> text{};
    for (std::size_t i = 4; i-- > 0; digits /= 10)
      text[i] = static_cast<char>('0' + digits % 10);
    text[4] = ' ';
    out.append({text.data(), group < 3 ? std::size_t{5} : std::size_t{4}});
  }
}

std::string_view nexmark_events::city(const nexmark_event& of) const {
  auto dice = dice_of(of, field::city);
  return one_of(cities, dice);
}

std::string_view nexmark_events::state(const nexmark_event& of) const {
  auto dice = dice_of(of, field::state);
  return one_of(states, dice);
}

std::string_view nexmark_events::person_extra(const nexmark_event& of) const {
  nexmark_text others;
  person_name(of, others);
  email_address(of, others);
  credit_card(of, others);
  const auto size = 8 + others.size + city(of).size() + state(of).size();
  return extra(dice_of(of, field::extra), static_cast<std::int64_t>(size), settings_.person_bytes);
}

// --- auctions
void nexmark_events::item_name(const nexmark_event& of, nexmark_text& out) const {
  auto dice = dice_of(of, field::item_name);
  append_random_letters(dice, 20, ' ', out);
}

void nexmark_events::description(const nexmark_event& of, nexmark_text& out) const {
  auto dice = dice_of(of, field::description);
  append_random_letters(dice, 100, ' ', out);
}

std::int64_t nexmark_events::initial_bid(const nexmark_event& of) const {
  auto dice = dice_of(of, field::initial_bid);
  return price(dice);
}

std::int64_t nexmark_events::reserve(const nexmark_event& of) const {
  auto dice = dice_of(of, field::reserve);
  return initial_bid(of) + price(dice);
}

std::int64_t nexmark_events::expires_ms(const nexmark_event& of) const {
  // On average it is open for as long as so many further auctions take.
  const auto ahead = open_auctions * settings_.period() / settings_.auctions;
  const auto horizon = time_of(of.number + ahead) - of.time_ms;
  auto dice = dice_of(of, field::expires);
  const auto exact = of.time_ms + 1 + dice.below(std::max(2 * horizon, std::int64_t{1}));
  const auto step = settings_.granularity_ms;
  return of.time_ms + (exact - of.time_ms) / step * step;
}

std::int64_t nexmark_events::seller(const nexmark_event& of) const {
  auto dice = dice_of(of, field::seller);
  return first_id +
         (dice.below(settings_.hot_sellers) > 0 ? hot(of.last_person) : random_person(of, dice));
}

std::int64_t nexmark_events::category(const nexmark_event& of) const {
  auto dice = dice_of(of, field::category);
  return first_category + dice.below(categories);
}

std::string_view nexmark_events::auction_extra(const nexmark_event& of) const {
  nexmark_text name;
  nexmark_text words;
  item_name(of, name);
  description(of, words);
  const auto size = 8 + name.size + words.size + 5 * sizeof(std::int64_t);
  return extra(dice_of(of, field::extra), static_cast<std::int64_t>(size), settings_.auction_bytes);
}

// --- bids
std::int64_t nexmark_events::bid_auction(const nexmark_event& of) const {
  auto dice = dice_of(of, field::auction);
  return first_id +
         (dice.below(settings_.hot_auctions) > 0 ? hot(of.last_auction) : random_auction(of, dice));
}

/// The first id is added twice, as the public benchmark does: few bidders are known persons.
std::int64_t nexmark_events::bidder(const nexmark_event& of) const {
  auto dice = dice_of(of, field::bidder);
  const auto who =
      dice.below(settings_.hot_bidders) > 0 ? hot(of.last_person) + 1 : random_person(of, dice);
  return first_id + who + first_id;
}

std::int64_t nexmark_events::bid_price(const nexmark_event& of) const {
  auto dice = dice_of(of, field::price);
  return price(dice);
}

std::int64_t nexmark_events::channel_of(const nexmark_event& of, std::size_t& hot) const {
  auto dice = dice_of(of, field::channel);
  hot = nexmark_texts::hot_channels.size();
  if (dice.below(2) > 0) {
    hot = static_cast<std::size_t>(dice.below(static_cast<std::int64_t>(hot)));
    return 0;
  }
  return dice.below(nexmark_texts::channel_count);
}

void nexmark_events::channel(const nexmark_event& of, nexmark_text& out) const {
  std::size_t hot = 0;
  const auto common = channel_of(of, hot);
  if (hot < nexmark_texts::hot_channels.size())
    return out.append(nexmark_texts::hot_channels[hot]);
  out.append("channel-");
  const auto begin = out.bytes.data() + out.size;
  const auto written = std::to_chars(begin, out.bytes.data() + out.bytes.size(), common);
  out.size += static_cast<std::size_t>(written.ptr - begin);
}

std::string_view nexmark_events::url(const nexmark_event& of) const {
  std::size_t hot = 0;
  const auto common = channel_of(of, hot);
  return hot < nexmark_texts::hot_channels.size() ? texts_.hot_address(hot)
                                                  : texts_.address(common);
}

std::string_view nexmark_events::bid_extra(const nexmark_event& of) const {
  constexpr std::int64_t numbers_bytes = 32;
  return extra(dice_of(of, field::extra), numbers_bytes, settings_.bid_bytes);
}

} // namespace headrace::task
