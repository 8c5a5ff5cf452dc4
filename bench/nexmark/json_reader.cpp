#include "bench/nexmark/json_reader.hpp"

#include <cstring>
#include <fcntl.h>
#include <stdexcept>
#include <unistd.h>

namespace headrace::bench::nexmark {
namespace {

constexpr std::size_t block_bytes = std::size_t{1} << 20U;

std::int64_t digits(const char* at, std::size_t count) {
  std::int64_t out = 0;
  for (std::size_t i = 0; i < count; ++i)
    out = out * 10 + (at[i] - '0');
  return out;
}

/// Days since 1970 of a day of the Gregorian calendar.
std::int64_t days_of(std::int64_t year, std::int64_t month, std::int64_t day) {
  year -= month <= 2 ? 1 : 0;
  const std::int64_t era = year / 400;
  const std::int64_t year_of_era = year - era * 400;
  const std::int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  return era * 146097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year -
         719468;
}

/// Milliseconds since 1970 of "2015-07-15 00:00:00", with or without up to three digits behind a
/// dot.
std::int64_t time_of(std::string_view text) {
  const char* at = text.data();
  std::int64_t out = days_of(digits(at, 4), digits(at + 5, 2), digits(at + 8, 2)) * 86'400 +
                     digits(at + 11, 2) * 3600 + digits(at + 14, 2) * 60 + digits(at + 17, 2);
  out *= 1000;
  std::int64_t unit = 100;
  for (std::size_t i = 20; i < text.size(); ++i, unit /= 10)
    out += (text[i] - '0') * unit;
  return out;
}

} // namespace

json_reader::json_reader(const std::string& path)
    : file_(::open(path.c_str(), O_RDONLY)),
      block_(new char[block_bytes + simdjson::SIMDJSON_PADDING]()) {
  if (file_ < 0)
    throw std::runtime_error(path + ": cannot be read");
#ifdef SIMDJSON_THREADS_ENABLED
  parser_.threaded = false;
#endif
}

json_reader::~json_reader() { ::close(file_); }

bool json_reader::fill() {
  const std::size_t left = received_ - used_;
  std::memmove(block_.get(), block_.get() + used_, left);
  received_ = left;
  while (received_ < block_bytes) {
    const auto got = ::read(file_, block_.get() + received_, block_bytes - received_);
    if (got < 0)
      throw std::runtime_error("a file cannot be read");
    if (got == 0)
      break;
    received_ += static_cast<std::size_t>(got);
  }
  const std::string_view bytes(block_.get(), received_);
  used_ = received_ < block_bytes ? received_ : bytes.rfind('\n') + 1;
  if (used_ == 0)
    return false;
  documents_ = parser_.iterate_many(block_.get(), used_, used_);
  at_ = documents_.begin();
  end_ = documents_.end();
  return at_ != end_;
}

bool json_reader::next() {
  if (is_started_) {
    ++at_;
    if (at_ != end_)
      return true;
  }
  is_started_ = true;
  return fill();
}

person json_reader::decode_person(object from, fields wanted) {
  person out;
  if ((wanted & field::id) != 0)
    out.id = from.find_field("id");
  if ((wanted & field::name) != 0)
    out.name = from.find_field("name");
  if ((wanted & field::wide) != 0) {
    out.email = from.find_field("emailAddress");
    out.credit_card = from.find_field("creditCard");
  }
  if ((wanted & field::city) != 0)
    out.city = from.find_field("city");
  if ((wanted & field::state) != 0)
    out.state = from.find_field("state");
  if ((wanted & field::date_time) != 0)
    out.date_time = time_of(from.find_field("dateTime"));
  if ((wanted & field::extra) != 0)
    out.extra = from.find_field("extra");
  return out;
}

auction json_reader::decode_auction(object from, fields wanted) {
  auction out;
  if ((wanted & field::id) != 0)
    out.id = from.find_field("id");
  if ((wanted & field::wide) != 0) {
    out.item_name = from.find_field("itemName");
    out.description = from.find_field("description");
    out.initial_bid = from.find_field("initialBid");
    out.reserve = from.find_field("reserve");
  }
  if ((wanted & field::date_time) != 0)
    out.date_time = time_of(from.find_field("dateTime"));
  if ((wanted & field::wide) != 0)
    out.expires = time_of(from.find_field("expires"));
  if ((wanted & field::seller) != 0)
    out.seller = from.find_field("seller");
  if ((wanted & field::category) != 0)
    out.category = from.find_field("category");
  if ((wanted & field::extra) != 0)
    out.extra = from.find_field("extra");
  return out;
}

bid json_reader::decode_bid(object from, fields wanted) {
  bid out;
  if ((wanted & field::id) != 0)
    out.auction = from.find_field("auction");
  if ((wanted & field::bidder) != 0)
    out.bidder = from.find_field("bidder");
  if ((wanted & field::price) != 0)
    out.price = from.find_field("price");
  if ((wanted & field::channel) != 0)
    out.channel = from.find_field("channel");
  if ((wanted & field::url) != 0)
    out.url = from.find_field("url");
  if ((wanted & field::date_time) != 0)
    out.date_time = time_of(from.find_field("dateTime"));
  if ((wanted & field::extra) != 0)
    out.extra = from.find_field("extra");
  return out;
}

} // namespace headrace::bench::nexmark
