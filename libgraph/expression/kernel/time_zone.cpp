#include "libgraph/expression/kernel/time_zone.hpp"

#include "libgraph/expression/kernel/calendar.hpp"
#include "libgraph/types/value_text.hpp"

#include <algorithm>
#include <fstream> // lint(files): the system's zones, small and local
#include <iterator>

namespace headrace::graph {
namespace {

constexpr std::int64_t seconds_per_day = 86'400;

error unknown(std::string_view name) {
  return {errc::bad_option_value,
          "unknown time zone, expected a name such as Europe/Berlin or an offset such as +08:00: " +
              std::string(name)};
}

error malformed(std::string_view name) {
  return {errc::bad_option_value, "time zone is malformed: " + std::string(name)};
}

/// Reads big-endian numbers.
template <class T>
T big_endian(byte_view from, std::size_t at) {
  std::uint64_t out = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i)
    out = out << 8U | static_cast<unsigned char>(from[at + i]);
  return static_cast<T>(out);
}

/// "+08:00", "+8", "-0330", perhaps behind UTC or GMT.
std::optional<std::int32_t> parse_offset(std::string_view text) {
  if (text == "Z" || text == "UTC" || text == "GMT" || text == "UT")
    return 0;
  for (const std::string_view prefix : {"UTC", "GMT", "UT"})
    if (text.starts_with(prefix) && text.size() > prefix.size()) {
      text.remove_prefix(prefix.size());
      break;
    }
  if (text.size() < 2 || (text[0] != '+' && text[0] != '-'))
    return std::nullopt;
  const int sign = text[0] == '-' ? -1 : 1;
  text.remove_prefix(1);
  auto hours = text.substr(0, 2);
  std::string_view minutes = "0";
  if (const auto colon = text.find(':'); colon != text.npos) {
    hours = text.substr(0, colon);
    minutes = text.substr(colon + 1);
    if (minutes.size() != 2)
      return std::nullopt;
  } else if (text.size() == 4) {
    minutes = text.substr(2);
  } else if (text.size() > 2) {
    return std::nullopt;
  }
  const auto is_digits = [](std::string_view part) {
    return !part.empty() && part.size() <= 2 &&
           std::all_of(part.begin(), part.end(), [](char c) { return c >= '0' && c <= '9'; });
  };
  if (!is_digits(hours) || !is_digits(minutes))
    return std::nullopt;
  const auto hour = *parse_integer<std::int32_t>(hours);
  const auto minute = *parse_integer<std::int32_t>(minutes);
  if (hour > 18 || minute > 59)
    return std::nullopt;
  return sign * (hour * 3600 + minute * 60);
}

} // namespace

/// Reads the rule at a file's end, as POSIX writes it: CET-1CEST,M3.5.0,M10.5.0/3.
class time_zone::rule_reader {
public:
  explicit rule_reader(std::string_view text) : text_(text) {}

  std::optional<rule> read() {
    rule out;
    if (!skip_name())
      return std::nullopt;
    auto offset = read_time();
    if (!offset)
      return std::nullopt;
    out.offset = -*offset;
    if (text_.empty())
      return out;
    if (!skip_name())
      return std::nullopt;
    out.summer_offset = out.offset + 3600;
    if (!text_.empty() && text_[0] != ',') {
      if (offset = read_time(); !offset)
        return std::nullopt;
      out.summer_offset = -*offset;
    }
    out.begin = read_change();
    out.end = read_change();
    if (!out.begin || !out.end || !text_.empty())
      return std::nullopt;
    return out;
  }

private:
  bool take(char letter) {
    if (text_.empty() || text_[0] != letter)
      return false;
    text_.remove_prefix(1);
    return true;
  }
  bool skip_name() {
    std::size_t size = 0;
    if (take('<')) {
      const auto end = text_.find('>');
      if (end == text_.npos)
        return false;
      text_.remove_prefix(end + 1);
      return true;
    }
    while (size < text_.size() && ((text_[size] >= 'A' && text_[size] <= 'Z') ||
                                   (text_[size] >= 'a' && text_[size] <= 'z')))
      ++size;
    text_.remove_prefix(size);
    return size > 0;
  }
  std::optional<std::int32_t> read_number() {
    std::int32_t out = 0;
    std::size_t size = 0;
    for (; size < text_.size() && size < 4 && text_[size] >= '0' && text_[size] <= '9'; ++size)
      out = out * 10 + (text_[size] - '0');
    text_.remove_prefix(size);
    return size > 0 ? std::optional(out) : std::nullopt;
  }
  /// [+-]hh[:mm[:ss]] in seconds.
  std::optional<std::int32_t> read_time() {
    const bool is_negative = take('-');
    if (!is_negative)
      take('+');
    std::int32_t out = 0;
    std::int32_t unit = 3600;
    do {
      const auto part = read_number();
      if (!part)
        return std::nullopt;
      out += *part * unit;
      unit /= 60;
    } while (unit > 0 && take(':'));
    return is_negative ? -out : out;
  }
  std::optional<yearly_change> read_change() {
    yearly_change out;
    if (!take(','))
      return std::nullopt;
    if (take('M')) {
      out.month = read_number().value_or(0);
      out.week = take('.') ? read_number().value_or(0) : 0;
      out.day = take('.') ? read_number().value_or(-1) : -1;
      if (out.month < 1 || out.month > 12 || out.week < 1 || out.week > 5 || out.day < 0 ||
          out.day > 6)
        return std::nullopt;
    } else {
      out.form = take('J') ? yearly_change::kind::day_without_leap : yearly_change::kind::day;
      const auto day = read_number();
      if (!day)
        return std::nullopt;
      out.day = *day;
    }
    if (take('/')) {
      const auto second = read_time();
      if (!second)
        return std::nullopt;
      out.second = *second;
    }
    return out;
  }

  std::string_view text_;
};

/// Seconds since 1970 by the clock that is on before the change.
std::int64_t time_zone::yearly_change::at(std::int64_t year) const {
  std::int64_t days = to_days({year, 1, 1});
  switch (form) {
  case kind::day_without_leap:
    days += day - 1 + (is_leap_year(year) && day > 59 ? 1 : 0);
    break;
  case kind::day:
    days += day;
    break;
  case kind::weekday: {
    const auto first = to_days({year, month, 1});
    // 1970-01-01 was a Thursday; 0 is Sunday.
    const auto weekday = floor_modulo(first + 4, 7);
    days = first + floor_modulo(day - weekday, 7) + (week - 1) * 7;
    while (days >= first + days_of_month(year, month))
      days -= 7;
    break;
  }
  }
  return days * seconds_per_day + second;
}

std::int32_t time_zone::rule::offset_at(std::int64_t utc_seconds) const {
  if (!begin)
    return offset;
  const auto year = to_civil(floor_divide(utc_seconds + offset, seconds_per_day)).year;
  const auto summer = begin->at(year) - offset;
  const auto winter = end->at(year) - summer_offset;
  const bool is_summer = summer < winter ? utc_seconds >= summer && utc_seconds < winter
                                         : utc_seconds >= summer || utc_seconds < winter;
  return is_summer ? summer_offset : offset;
}

result<std::shared_ptr<const time_zone>> time_zone::find(std::string_view name) {
  if (const auto offset = parse_offset(name)) {
    auto out = std::make_shared<time_zone>();
    out->name_ = name;
    out->first_offset_ = *offset;
    return std::shared_ptr<const time_zone>(std::move(out));
  }
  const bool is_name = !name.empty() && name.size() < 100 && name.find("..") == name.npos &&
                       std::all_of(name.begin(), name.end(), [](char c) {
                         return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                                (c >= '0' && c <= '9') || c == '/' || c == '_' || c == '-' ||
                                c == '+';
                       });
  if (!is_name || name[0] == '/')
    return unknown(name);
  std::ifstream file("/usr/share/zoneinfo/" + std::string(name), // lint(files): see above
                     std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (bytes.empty())
    return unknown(name);
  return read(std::string(name), bytes);
}

result<std::shared_ptr<const time_zone>> time_zone::read(std::string name, byte_view bytes) {
  constexpr std::size_t header_bytes = 44;
  const auto is_header = [&](std::size_t at) {
    return bytes.size() >= at + header_bytes && bytes.substr(at, 4) == "TZif";
  };
  if (!is_header(0) || bytes[4] < '2')
    return malformed(name);
  const auto count = [&](std::size_t header, std::size_t which) -> std::size_t {
    return big_endian<std::uint32_t>(bytes, header + 20 + which * 4);
  };
  // The block of 32-bit times is skipped. Counts: UT flags, standard flags, leaps, times, types,
  // letters.
  const auto first = header_bytes + count(0, 3) * 5 + count(0, 4) * 6 + count(0, 5) +
                     count(0, 2) * 8 + count(0, 1) + count(0, 0);
  if (first > bytes.size() || !is_header(first))
    return malformed(name);
  const auto times = count(first, 3);
  const auto types = count(first, 4);
  const auto begin = first + header_bytes;
  const auto end = begin + times * 9 + types * 6 + count(first, 5) + count(first, 2) * 12 +
                   count(first, 1) + count(first, 0);
  if (end > bytes.size() || types == 0)
    return malformed(name);
  auto out = std::make_shared<time_zone>();
  const auto offset_of = [&](std::size_t type) {
    return big_endian<std::int32_t>(bytes, begin + times * 9 + type * 6);
  };
  out->name_ = std::move(name);
  out->first_offset_ = offset_of(0);
  for (std::size_t i = 0; i < times; ++i) {
    const auto type = static_cast<unsigned char>(bytes[begin + times * 8 + i]);
    if (type >= types)
      return malformed(out->name_);
    out->changes_.push_back(big_endian<std::int64_t>(bytes, begin + i * 8));
    out->offsets_.push_back(offset_of(type));
  }
  if (!std::is_sorted(out->changes_.begin(), out->changes_.end()))
    return malformed(out->name_);
  auto footer = bytes.substr(end);
  if (footer.size() > 2 && footer.front() == '\n') {
    footer.remove_prefix(1);
    footer = footer.substr(0, footer.find('\n'));
    out->rule_ = rule_reader(footer).read();
    if (!out->rule_)
      return malformed(out->name_);
  }
  return std::shared_ptr<const time_zone>(std::move(out));
}

std::int32_t time_zone::offset_at(std::int64_t utc_seconds) const {
  const auto next = std::upper_bound(changes_.begin(), changes_.end(), utc_seconds);
  if (next == changes_.end() && rule_)
    return rule_->offset_at(utc_seconds);
  if (next == changes_.begin())
    return first_offset_;
  return offsets_[static_cast<std::size_t>(next - changes_.begin() - 1)];
}

std::int64_t time_zone::to_utc(std::int64_t local_seconds) const {
  if (changes_.empty() && !rule_)
    return local_seconds - first_offset_;
  const auto before = offset_at(local_seconds - seconds_per_day);
  if (offset_at(local_seconds - before) == before)
    return local_seconds - before;
  const auto after = offset_at(local_seconds + seconds_per_day);
  if (offset_at(local_seconds - after) == after)
    return local_seconds - after;
  return local_seconds - before;
}

std::int64_t time_zone::local_millis(std::int64_t utc_millis) const {
  return utc_millis + std::int64_t{offset_at(floor_divide(utc_millis, 1000))} * 1000;
}

std::int64_t time_zone::utc_millis(std::int64_t local_millis) const {
  const auto seconds = floor_divide(local_millis, 1000);
  return local_millis + (to_utc(seconds) - seconds) * 1000;
}

} // namespace headrace::graph
