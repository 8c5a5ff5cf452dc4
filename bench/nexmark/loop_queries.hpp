#pragma once

#include "bench/nexmark/loop_events.hpp"

#include <boost/unordered/unordered_flat_map.hpp>
#include <boost/unordered/unordered_flat_set.hpp>

#include <algorithm>
#include <array>
#include <deque>
#include <limits>
#include <memory>
#include <string>
#include <vector>

namespace headrace::bench::nexmark {

/// Where the rows of a result go: each value is looked at and forgotten, as by the sink
/// `blackhole`.
class hole {
public:
  template <class... Values>
  void emit(const Values&... values) {
    ++changes_;
    (touch(values), ...);
  }
  std::uint64_t changes() const { return changes_; }
  std::uint64_t checksum() const { return checksum_; }

private:
  void touch(std::int64_t value) { checksum_ += static_cast<std::uint64_t>(value); }
  void touch(std::string_view text) {
    checksum_ += text.size() + (text.empty() ? 0U : static_cast<unsigned char>(text.back()));
  }

  std::uint64_t changes_ = 0;
  std::uint64_t checksum_ = 0;
};

/// Texts that are kept.
class text_store {
public:
  std::string_view keep(std::string_view text) {
    if (text.size() > left_) {
      left_ = std::max(block_bytes, text.size());
      blocks_.push_back(std::make_unique<char[]>(left_));
      at_ = blocks_.back().get();
    }
    std::copy(text.begin(), text.end(), at_);
    const std::string_view out(at_, text.size());
    at_ += text.size();
    left_ -= text.size();
    return out;
  }

private:
  static constexpr std::size_t block_bytes = std::size_t{1} << 20U;
  std::vector<std::unique_ptr<char[]>> blocks_;
  char* at_ = nullptr;
  std::size_t left_ = 0;
};

/// A query by hand: what it reads, what it does with each event, and the rows its result comes to.
/// Events come in the order of their times.
struct loop_query {
  static constexpr fields person_fields = 0;
  static constexpr fields auction_fields = 0;
  static constexpr fields bid_fields = 0;
  void on_person(const person& /*of*/) {}
  void on_auction(const auction& /*of*/) {}
  void on_bid(const bid& /*of*/) {}
  void finish() {}
  std::uint64_t result_rows() const { return out.changes(); }

  hole out;
};

struct q0 : loop_query {
  static constexpr fields bid_fields =
      field::id | field::bidder | field::price | field::date_time | field::extra;
  void on_bid(const bid& of) { out.emit(of.auction, of.bidder, of.price, of.date_time, of.extra); }
};

struct q1 : q0 {
  void on_bid(const bid& of) {
    out.emit(of.auction, of.bidder, of.price * 908, of.date_time, of.extra);
  }
};

struct q2 : loop_query {
  static constexpr fields bid_fields = field::id | field::price;
  void on_bid(const bid& of) {
    if (of.auction % 123 == 0)
      out.emit(of.auction, of.price);
  }
};

struct q3 : loop_query {
  static constexpr fields person_fields = field::id | field::name | field::city | field::state;
  static constexpr fields auction_fields = field::id | field::seller | field::category;
  struct side {
    std::vector<person> persons;
    std::vector<std::int64_t> auctions;
  };
  void on_person(person of) {
    if (of.state != "OR" && of.state != "ID" && of.state != "CA")
      return;
    auto& here = sides[of.id];
    for (const auto each : here.auctions)
      out.emit(of.name, of.city, of.state, each);
    of.name = texts.keep(of.name);
    of.city = texts.keep(of.city);
    of.state = texts.keep(of.state);
    here.persons.push_back(of);
  }
  void on_auction(const auction& of) {
    if (of.category != 10)
      return;
    auto& here = sides[of.seller];
    for (const auto& each : here.persons)
      out.emit(each.name, each.city, each.state, of.id);
    here.auctions.push_back(of.id);
  }
  boost::unordered_flat_map<std::int64_t, side> sides;
  text_store texts;
};

struct q5 : loop_query {
  static constexpr fields bid_fields = field::id | field::date_time;
  static constexpr std::int64_t slice_ms = 2000;
  static constexpr std::size_t slices_of_window = 5;
  using counts = boost::unordered_flat_map<std::int64_t, std::int64_t>;

  void on_bid(const bid& of) {
    const auto slice = of.date_time / slice_ms;
    if (current_ < 0)
      current_ = slice;
    for (; current_ < slice; ++current_)
      end_slice();
    ++open_[of.auction];
  }
  void finish() {
    for (std::size_t i = 0; i < slices_of_window; ++i)
      end_slice();
  }

private:
  void end_slice() {
    for (const auto& [auction, count] : open_)
      totals_[auction] += count;
    closed_.push_back(std::move(open_));
    open_ = counts();
    std::int64_t most = 0;
    for (const auto& [auction, count] : totals_)
      most = std::max(most, count);
    for (const auto& [auction, count] : totals_)
      if (count == most)
        out.emit(auction, count);
    if (closed_.size() < slices_of_window)
      return;
    for (const auto& [auction, count] : closed_.front()) {
      auto& total = totals_[auction];
      total -= count;
      if (total == 0)
        totals_.erase(auction);
    }
    closed_.pop_front();
  }

  std::int64_t current_ = -1;
  counts open_, totals_;
  std::deque<counts> closed_;
};

constexpr std::int64_t window_ms = 10'000;

struct q7 : loop_query {
  static constexpr fields bid_fields =
      field::id | field::bidder | field::price | field::date_time | field::extra;
  void on_bid(const bid& of) {
    if (of.date_time / window_ms != window_) {
      finish();
      last_window_ = window_;
      last_most_ = most_;
      window_ = of.date_time / window_ms;
      most_ = std::numeric_limits<std::int64_t>::min();
    }
    // The end of a window belongs to it, too.
    if (of.date_time == window_ * window_ms && last_window_ == window_ - 1 &&
        of.price == last_most_)
      out.emit(of.auction, of.price, of.bidder, of.date_time, of.extra);
    if (of.price < most_)
      return;
    if (of.price > most_)
      highest_.clear();
    most_ = of.price;
    highest_.push_back({of, std::string(of.extra)});
  }
  void finish() {
    for (const auto& [of, extra] : highest_)
      out.emit(of.auction, of.price, of.bidder, of.date_time, extra);
    highest_.clear();
  }

private:
  std::int64_t window_ = -1, last_window_ = -2;
  std::int64_t most_ = 0, last_most_ = 0;
  std::vector<std::pair<bid, std::string>> highest_;
};

struct q8 : loop_query {
  static constexpr fields person_fields = field::id | field::name | field::date_time;
  static constexpr fields auction_fields = field::seller | field::date_time;
  void on_person(const person& of) {
    move_to(of.date_time);
    persons_.try_emplace(of.id, of.name);
  }
  void on_auction(const auction& of) {
    move_to(of.date_time);
    sellers_.insert(of.seller);
  }
  void finish() {
    for (const auto& [id, name] : persons_)
      if (sellers_.contains(id))
        out.emit(id, name, window_ * window_ms);
    persons_.clear();
    sellers_.clear();
  }

private:
  void move_to(std::int64_t time) {
    if (time / window_ms == window_)
      return;
    finish();
    window_ = time / window_ms;
  }
  std::int64_t window_ = -1;
  boost::unordered_flat_map<std::int64_t, std::string> persons_;
  boost::unordered_flat_set<std::int64_t> sellers_;
};

struct q14 : q0 {
  void on_bid(const bid& of) {
    const auto price = of.price * 908; // thousandths
    if (price <= 1'000'000'000 || price >= 50'000'000'000)
      return;
    const auto hour = of.date_time / 3'600'000 % 24;
    const std::string_view type = hour >= 8 && hour <= 18   ? "dayTime"
                                  : hour <= 6 || hour >= 20 ? "nightTime"
                                                            : "otherTime";
    out.emit(of.auction, of.bidder, price, type, of.date_time, of.extra,
             std::count(of.extra.begin(), of.extra.end(), 'c'));
  }
};

struct q17 : loop_query {
  static constexpr fields bid_fields = field::id | field::price | field::date_time;
  struct group {
    std::int64_t bids = 0, low = 0, middle = 0, high = 0;
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    std::int64_t most = std::numeric_limits<std::int64_t>::min();
    std::int64_t sum = 0;
  };
  void on_bid(const bid& of) {
    const auto day = of.date_time / 86'400'000;
    auto& to = groups[{of.auction, day}];
    ++to.bids;
    ++(of.price < 10'000 ? to.low : of.price < 1'000'000 ? to.middle : to.high);
    to.least = std::min(to.least, of.price);
    to.most = std::max(to.most, of.price);
    to.sum += of.price;
    out.emit(of.auction, day, to.bids, to.low, to.middle, to.high, to.least, to.most,
             to.sum / to.bids, to.sum);
  }
  std::uint64_t result_rows() const { return groups.size(); }
  boost::unordered_flat_map<std::pair<std::int64_t, std::int64_t>, group> groups;
};

struct q18 : loop_query {
  static constexpr fields bid_fields = field::all;
  struct last_bid {
    std::int64_t price = 0, date_time = std::numeric_limits<std::int64_t>::min();
    std::string channel, url, extra;
  };
  void on_bid(const bid& of) {
    auto& to = last[{of.bidder, of.auction}];
    if (of.date_time < to.date_time)
      return;
    to.price = of.price;
    to.date_time = of.date_time;
    to.channel = of.channel;
    to.url = of.url;
    to.extra = of.extra;
    out.emit(of.auction, of.bidder, of.price, of.channel, of.url, of.date_time, of.extra);
  }
  std::uint64_t result_rows() const { return last.size(); }
  boost::unordered_flat_map<std::pair<std::int64_t, std::int64_t>, last_bid> last;
};

/// Keeps the rows of both sides, as nothing says that an auction comes once.
struct q20 : loop_query {
  static constexpr fields bid_fields = field::all;
  static constexpr fields auction_fields = field::all;
  struct side {
    std::vector<auction> auctions;
    std::vector<bid> bids;
  };
  void on_bid(bid of) {
    auto& here = sides[of.auction];
    for (const auto& each : here.auctions)
      emit(of, each);
    of.channel = texts.keep(of.channel);
    of.url = texts.keep(of.url);
    of.extra = texts.keep(of.extra);
    here.bids.push_back(of);
  }
  void on_auction(auction of) {
    if (of.category != 10)
      return;
    auto& here = sides[of.id];
    for (const auto& each : here.bids)
      emit(each, of);
    of.item_name = texts.keep(of.item_name);
    of.description = texts.keep(of.description);
    of.extra = texts.keep(of.extra);
    here.auctions.push_back(of);
  }
  void emit(const bid& b, const auction& a) {
    out.emit(b.auction, b.bidder, b.price, b.channel, b.url, b.date_time, b.extra, a.item_name,
             a.description, a.initial_bid, a.reserve, a.date_time, a.expires, a.seller, a.category,
             a.extra);
  }
  boost::unordered_flat_map<std::int64_t, side> sides;
  text_store texts;
};

struct q22 : loop_query {
  static constexpr fields bid_fields =
      field::id | field::bidder | field::price | field::channel | field::url;
  void on_bid(const bid& of) {
    std::array<std::string_view, 6> parts;
    auto rest = of.url;
    for (auto& part : parts) {
      const auto end = rest.find('/');
      part = rest.substr(0, end);
      if (end == std::string_view::npos)
        break;
      rest.remove_prefix(end + 1);
    }
    out.emit(of.auction, of.bidder, of.price, of.channel, parts[3], parts[4], parts[5]);
  }
};

} // namespace headrace::bench::nexmark
