#pragma once

#include "libtask/connector/nexmark/nexmark_settings.hpp"
#include "libtask/connector/nexmark/nexmark_texts.hpp"

#include <cstdint>
#include <memory>
#include <string_view>

namespace headrace::task {

/// What an event is; the values are those of the column `event_type`.
enum class nexmark_kind : std::uint8_t { person, auction, bid };

/// One event: what its fields follow from.
struct nexmark_event {
  std::int64_t number = 0; ///< its place in time, from 1 in order
  std::int64_t id = 0;
  nexmark_kind kind = nexmark_kind::bid;
  std::int64_t time_ms = 0;      ///< since 1970
  std::int64_t last_person = 0;  ///< newest there is, counted from 0
  std::int64_t last_auction = 0; ///< likewise; -1: none
  std::uint64_t seed = 0;
};

/// The events of the auction site, each a function of the seed and its index alone, each field of
/// its event alone: what nobody reads costs nothing. Immutable.
class nexmark_events {
public:
  explicit nexmark_events(const nexmark_settings& settings);

  /// @param index  from 0
  nexmark_event at(std::uint64_t index) const;
  const nexmark_texts& texts() const { return texts_; }

  // Fields of a person.
  std::int64_t person_id(const nexmark_event& of) const { return of.last_person + first_id; }
  void person_name(const nexmark_event& of, nexmark_text& out) const;
  void email_address(const nexmark_event& of, nexmark_text& out) const;
  void credit_card(const nexmark_event& of, nexmark_text& out) const;
  std::string_view city(const nexmark_event& of) const;
  std::string_view state(const nexmark_event& of) const;
  std::string_view person_extra(const nexmark_event& of) const; ///< of texts().filler()

  // Fields of an auction.
  std::int64_t auction_id(const nexmark_event& of) const { return of.last_auction + first_id; }
  void item_name(const nexmark_event& of, nexmark_text& out) const;
  void description(const nexmark_event& of, nexmark_text& out) const;
  std::int64_t initial_bid(const nexmark_event& of) const;
  std::int64_t reserve(const nexmark_event& of) const;
  std::int64_t expires_ms(const nexmark_event& of) const;
  std::int64_t seller(const nexmark_event& of) const;
  std::int64_t category(const nexmark_event& of) const;
  std::string_view auction_extra(const nexmark_event& of) const;

  // Fields of a bid.
  std::int64_t bid_auction(const nexmark_event& of) const;
  std::int64_t bidder(const nexmark_event& of) const;
  std::int64_t bid_price(const nexmark_event& of) const;
  void channel(const nexmark_event& of, nexmark_text& out) const;
  std::string_view url(const nexmark_event& of) const; ///< of texts().addresses()
  std::string_view bid_extra(const nexmark_event& of) const;

private:
  static constexpr std::int64_t first_id = 1000;

  std::int64_t time_of(std::int64_t number) const;
  std::int64_t random_person(const nexmark_event& of, nexmark_dice& dice) const;
  std::int64_t random_auction(const nexmark_event& of, nexmark_dice& dice) const;
  std::int64_t price(nexmark_dice& dice) const;
  std::string_view extra(nexmark_dice dice, std::int64_t current, std::int64_t average) const;
  /// The hot channel's number, or `hot_channels.size()` and that of a common one.
  std::int64_t channel_of(const nexmark_event& of, std::size_t& hot) const;

  nexmark_settings settings_;
  double delay_us_;
  nexmark_texts texts_;
};

} // namespace headrace::task
