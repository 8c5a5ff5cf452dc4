#include "libgraph/expression/kernel/date_pattern.hpp"

#include "libgraph/expression/kernel/calendar.hpp"
#include "libgraph/expression/kernel/time_unit.hpp"
#include "libgraph/types/value_text.hpp"

#include <array>

namespace headrace::graph {
namespace {

constexpr std::string_view letters = "yuMLdDEaHhkKmsSnQG";
constexpr std::array<std::string_view, 12> month_names{
    "January", "February", "March",     "April",   "May",      "June",
    "July",    "August",   "September", "October", "November", "December"};
constexpr std::array<std::string_view, 7> day_names{"Monday", "Tuesday",  "Wednesday", "Thursday",
                                                    "Friday", "Saturday", "Sunday"};

std::string_view name_of(std::string_view whole, int count) {
  return count == 4 ? whole : count == 5 ? whole.substr(0, 1) : whole.substr(0, 3);
}

bool is_digit(char letter) { return letter >= '0' && letter <= '9'; }

bool starts_with_any_case(std::string_view text, std::string_view word) {
  if (text.size() < word.size())
    return false;
  for (std::size_t i = 0; i < word.size(); ++i)
    if ((text[i] | 0x20) != (word[i] | 0x20))
      return false;
  return true;
}

} // namespace

struct date_pattern::fields {
  std::int64_t year = 1970;
  std::int64_t month = 1;
  std::int64_t day = 1;
  std::int64_t day_of_year = 0;
  std::int64_t hour = 0;
  std::int64_t half_day_hour = -1; ///< 0 to 11
  std::int64_t minute = 0;
  std::int64_t second = 0;
  std::int64_t nanos = 0;
  int is_afternoon = -1;
};

result<date_pattern> date_pattern::compile(std::string_view pattern) {
  date_pattern out;
  const auto add_text = [&](std::string_view text) {
    if (out.items_.empty() || out.items_.back().letter != 0)
      out.items_.emplace_back();
    out.items_.back().text += text;
  };
  const auto malformed = [&](const std::string& why) {
    return error(errc::type_mismatch,
                 "pattern of a date " + why + ": '" + std::string(pattern) + "'");
  };
  int depth = 0;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const char letter = pattern[i];
    if (letter == '\'') {
      const auto end = pattern.find('\'', i + 1);
      if (end == pattern.npos)
        return malformed("has a quote that does not end");
      add_text(end == i + 1 ? "'" : pattern.substr(i + 1, end - i - 1));
      i = end;
    } else if (letter == '[' || letter == ']') {
      depth += letter == '[' ? 1 : -1;
      if (depth < 0)
        return malformed("has a bracket that does not begin");
      out.items_.push_back({letter, 1, {}});
    } else if (letters.find(letter) != letters.npos) {
      int count = 1;
      while (i + 1 < pattern.size() && pattern[i + 1] == letter) {
        ++i;
        ++count;
      }
      if (count > 9)
        return malformed("has too many letters in a row");
      out.items_.push_back({letter, count, {}});
    } else if ((letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
               letter == '{' || letter == '}' || letter == '#') {
      return malformed(std::string("has a letter that is not supported, '") + letter + "'");
    } else {
      add_text(pattern.substr(i, 1));
    }
  }
  if (depth != 0)
    return malformed("has a bracket that does not end");
  return out;
}

void date_pattern::format(int128 nanos, std::string& out) const {
  const auto part = [&](time_unit unit) { return extract_unit(unit, nanos); };
  for (const auto& each : items_) {
    const int count = each.count;
    switch (each.letter) {
    case 0:
      out += each.text;
      break;
    case 'y':
    case 'u': {
      const auto year = part(time_unit::year);
      if (count == 2) {
        append_padded(floor_modulo(year, 100), 2, out);
        break;
      }
      if (year < 0)
        out += '-';
      else if (count >= 4 && year > 9999)
        out += '+';
      append_padded(year < 0 ? -year : year, count, out);
      break;
    }
    case 'M':
    case 'L': {
      const auto month = part(time_unit::month);
      if (count > 2)
        out += name_of(month_names[static_cast<std::size_t>(month - 1)], count);
      else
        append_padded(month, count, out);
      break;
    }
    case 'Q':
      append_padded(part(time_unit::quarter), count, out);
      break;
    case 'd':
      append_padded(part(time_unit::day), count, out);
      break;
    case 'D':
      append_padded(part(time_unit::day_of_year), count, out);
      break;
    case 'E':
      out +=
          name_of(day_names[static_cast<std::size_t>(part(time_unit::iso_day_of_week) - 1)], count);
      break;
    case 'a':
      out += part(time_unit::hour) < 12 ? "AM" : "PM";
      break;
    case 'G':
      out += part(time_unit::year) > 0 ? "AD" : "BC";
      break;
    case 'H':
      append_padded(part(time_unit::hour), count, out);
      break;
    case 'k':
      append_padded((part(time_unit::hour) + 23) % 24 + 1, count, out);
      break;
    case 'h':
      append_padded((part(time_unit::hour) + 11) % 12 + 1, count, out);
      break;
    case 'K':
      append_padded(part(time_unit::hour) % 12, count, out);
      break;
    case 'm':
      append_padded(part(time_unit::minute), count, out);
      break;
    case 's':
      append_padded(part(time_unit::second), count, out);
      break;
    case 'n':
      append_padded(part(time_unit::nanosecond) % 1'000'000'000, count, out);
      break;
    case 'S': {
      std::int64_t unit = 1;
      for (int i = count; i < 9; ++i)
        unit *= 10;
      append_padded(part(time_unit::nanosecond) % 1'000'000'000 / unit, count, out);
      break;
    }
    default:
      break; // brackets of optional parts
    }
  }
}

std::size_t date_pattern::end_of_option(std::size_t begin) const {
  int depth = 0;
  for (auto i = begin; i < items_.size(); ++i) {
    depth += items_[i].letter == '[' ? 1 : items_[i].letter == ']' ? -1 : 0;
    if (depth == 0)
      return i;
  }
  return items_.size();
}

/// Reads one item. A number that another one follows has as many digits as letters.
bool date_pattern::parse_item(const item& wanted, std::string_view text, std::size_t& at,
                              fields& into, bool is_followed) const {
  const auto rest = text.substr(at);
  if (wanted.letter == 0) {
    if (!rest.starts_with(wanted.text))
      return false;
    at += wanted.text.size();
    return true;
  }
  const auto take_name = [&](const auto& names) -> int {
    for (std::size_t i = 0; i < names.size(); ++i)
      if (const auto name = name_of(names[i], wanted.count); starts_with_any_case(rest, name)) {
        at += name.size();
        return static_cast<int>(i);
      }
    return -1;
  };
  if (wanted.letter == 'E')
    return take_name(day_names) >= 0;
  if (wanted.letter == 'a' || wanted.letter == 'G') {
    constexpr std::array<std::string_view, 2> halves{"AM", "PM"};
    constexpr std::array<std::string_view, 2> eras{"BC", "AD"};
    const auto& words = wanted.letter == 'a' ? halves : eras;
    for (std::size_t i = 0; i < words.size(); ++i)
      if (starts_with_any_case(rest, words[i])) {
        at += words[i].size();
        if (wanted.letter == 'a')
          into.is_afternoon = static_cast<int>(i);
        return true;
      }
    return false;
  }
  if ((wanted.letter == 'M' || wanted.letter == 'L') && wanted.count > 2) {
    into.month = take_name(month_names) + 1;
    return into.month > 0;
  }
  const bool is_year = wanted.letter == 'y' || wanted.letter == 'u';
  const auto least = static_cast<std::size_t>(wanted.count);
  std::size_t most = least;
  if (!is_followed && wanted.letter != 'S')
    most = is_year && wanted.count != 2 ? 9 : wanted.count == 1 ? 9 : least;
  if (is_year && wanted.count >= 4)
    most = std::max<std::size_t>(least, is_followed ? least : 4);
  std::size_t size = 0;
  std::int64_t value = 0;
  for (; size < most && size < rest.size() && is_digit(rest[size]); ++size)
    value = value * 10 + (rest[size] - '0');
  if (size < least)
    return false;
  at += size;
  switch (wanted.letter) {
  case 'y':
  case 'u':
    into.year = wanted.count == 2 ? 2000 + value : value;
    return true;
  case 'M':
  case 'L':
    into.month = value;
    return value >= 1 && value <= 12;
  case 'Q':
    into.month = value * 3 - 2;
    return value >= 1 && value <= 4;
  case 'd':
    into.day = value;
    return value >= 1 && value <= 31;
  case 'D':
    into.day_of_year = value;
    return value >= 1 && value <= 366;
  case 'H':
    into.hour = value;
    return value <= 23;
  case 'k':
    into.hour = value % 24;
    return value >= 1 && value <= 24;
  case 'h':
    into.half_day_hour = value % 12;
    return value >= 1 && value <= 12;
  case 'K':
    into.half_day_hour = value;
    return value <= 11;
  case 'm':
    into.minute = value;
    return value <= 59;
  case 's':
    into.second = value;
    return value <= 59;
  case 'n':
    into.nanos = value;
    return value <= 999'999'999;
  default: // S
    for (auto digits = size; digits < 9; ++digits)
      value *= 10;
    into.nanos = value;
    return true;
  }
}

std::optional<std::size_t> date_pattern::parse_items(std::size_t from, std::size_t to,
                                                     std::string_view text, std::size_t at,
                                                     fields& into) const {
  for (auto i = from; i < to; ++i) {
    const auto& wanted = items_[i];
    if (wanted.letter == '[') {
      const auto end = end_of_option(i);
      auto tried = into;
      if (const auto behind = parse_items(i + 1, end, text, at, tried)) {
        at = *behind;
        into = tried;
      }
      i = end;
      continue;
    }
    const bool is_followed = i + 1 < to && items_[i + 1].letter != 0 &&
                             items_[i + 1].letter != '[' && items_[i + 1].letter != ']' &&
                             items_[i + 1].letter != 'a' && items_[i + 1].letter != 'E';
    if (!parse_item(wanted, text, at, into, is_followed))
      return std::nullopt;
  }
  return at;
}

std::optional<int128> date_pattern::parse(std::string_view text) const {
  return parse(text, false);
}
std::optional<int128> date_pattern::parse_begin(std::string_view text) const {
  return parse(text, true);
}

std::optional<int128> date_pattern::parse(std::string_view text, bool may_go_on) const {
  fields read;
  const auto end = parse_items(0, items_.size(), text, 0, read);
  if (!end || (*end != text.size() && !may_go_on))
    return std::nullopt;
  std::int64_t days = 0;
  if (read.day_of_year > 0) {
    if (read.day_of_year > (is_leap_year(read.year) ? 366 : 365))
      return std::nullopt;
    days = to_days({read.year, 1, 1}) + read.day_of_year - 1;
  } else {
    const auto month = static_cast<std::int32_t>(read.month);
    const auto day = std::min(static_cast<std::int32_t>(read.day), days_of_month(read.year, month));
    days = to_days({read.year, month, day});
  }
  auto hour = read.hour;
  if (read.half_day_hour >= 0)
    hour = read.half_day_hour + (read.is_afternoon == 1 ? 12 : 0);
  const auto seconds = days * 86'400 + hour * 3'600 + read.minute * 60 + read.second;
  return int128{seconds} * 1'000'000'000 + read.nanos;
}

} // namespace headrace::graph
