#include "libactors/base/option.hpp"

#include "libactors/base/old_option_key.hpp"
#include "libactors/base/path.hpp"
#include "libactors/base/text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace headrace {
namespace {

struct unit {
  std::string_view name;
  std::int64_t factor;
};

constexpr std::int64_t kilo = 1024;
/// What is longer stands for never; times and microseconds can be made of it.
constexpr std::chrono::milliseconds duration_max = std::chrono::hours(24 * 365 * 100);
constexpr std::array duration_units{
    unit{"ms", 1},           unit{"milli", 1},         unit{"millis", 1},
    unit{"millisecond", 1},  unit{"milliseconds", 1},  unit{"s", 1'000},
    unit{"sec", 1'000},      unit{"secs", 1'000},      unit{"second", 1'000},
    unit{"seconds", 1'000},  unit{"m", 60'000},        unit{"min", 60'000},
    unit{"minute", 60'000},  unit{"minutes", 60'000},  unit{"h", 3'600'000},
    unit{"hour", 3'600'000}, unit{"hours", 3'600'000}, unit{"d", 86'400'000},
    unit{"day", 86'400'000}, unit{"days", 86'400'000},
};
constexpr std::array memory_units{
    unit{"b", 1},
    unit{"bytes", 1},
    unit{"k", kilo},
    unit{"kb", kilo},
    unit{"kibibytes", kilo},
    unit{"m", kilo* kilo},
    unit{"mb", kilo* kilo},
    unit{"mebibytes", kilo* kilo},
    unit{"g", kilo* kilo* kilo},
    unit{"gb", kilo* kilo* kilo},
    unit{"gibibytes", kilo* kilo* kilo},
    unit{"t", kilo* kilo* kilo* kilo},
    unit{"tb", kilo* kilo* kilo* kilo},
    unit{"tebibytes", kilo* kilo* kilo* kilo},
};

std::optional<std::int64_t> parse_integer(std::string_view text) {
  std::int64_t value = 0;
  const auto* end = text.data() + text.size();
  const auto [stop, failed] = std::from_chars(text.data(), end, value);
  if (failed != std::errc() || stop != end) {
    return std::nullopt;
  }
  return value;
}

std::optional<double> parse_real(std::string_view text) {
  double value = 0;
  const auto* end = text.data() + text.size();
  const auto [stop, failed] = std::from_chars(text.data(), end, value);
  if (failed != std::errc() || stop != end || !std::isfinite(value)) {
    return std::nullopt;
  }
  return value;
}

/// Reads a whole number that is not negative, and a unit; without one the factor is 1.
std::optional<std::int64_t> parse_with_unit(std::string_view text, std::span<const unit> units) {
  const auto digits = std::min(text.find_first_not_of("0123456789"), text.size());
  const auto number = parse_integer(text.substr(0, digits));
  if (!number) {
    return std::nullopt;
  }
  const auto name = in_lower_case(trim_text(text.substr(digits)));
  if (name.empty()) {
    return number;
  }
  for (const auto& each : units) {
    std::int64_t value = 0;
    if (each.name == name && !__builtin_mul_overflow(*number, each.factor, &value)) {
      return value;
    }
  }
  return std::nullopt;
}

std::optional<bool> parse_bool(std::string_view text) {
  const auto word = in_lower_case(text);
  if (word == "true") {
    return true;
  }
  if (word == "false") {
    return false;
  }
  return std::nullopt;
}

const option_declaration* find_declaration(std::string_view key) {
  const auto& all = all_options();
  const auto at = std::lower_bound(all.begin(), all.end(), key,
                                   [](const auto& each, auto wanted) { return each.key < wanted; });
  return at != all.end() && at->key == key ? &*at : nullptr;
}

const option_declaration& declaration_of(std::string_view key, option_type type) {
  const auto* declared = find_declaration(key);
  HEADRACE_ASSERT(declared != nullptr, "an option that is not declared is read");
  HEADRACE_ASSERT(declared->type == type, "an option is read with another type than declared");
  return *declared;
}

std::string allowed_by(const option_declaration& declared) {
  std::string out;
  switch (declared.type) {
  case option_type::boolean:
    return "true or false";
  case option_type::integer:
    out = "a whole number";
    break;
  case option_type::real:
    out = "a number";
    break;
  case option_type::text: {
    std::string words;
    for (const auto word : split_text(declared.one_of, '|')) {
      words += words.empty() ? "" : ", ";
      words += word;
    }
    return "one of " + words;
  }
  case option_type::path:
    return std::string(allowed_paths);
  case option_type::duration:
    out = "a duration such as 10 s or 500 ms";
    break;
  case option_type::memory_size:
    out = "a size such as 64 mb or 1 gb";
    break;
  }
  const std::string_view unit_name = declared.type == option_type::duration      ? " ms"
                                     : declared.type == option_type::memory_size ? " bytes"
                                                                                 : "";
  if (declared.least) {
    out += ", at least " + std::to_string(*declared.least) + std::string(unit_name);
  }
  if (declared.most) {
    out += ", at most " + std::to_string(*declared.most) + std::string(unit_name);
  }
  return out;
}

bool is_allowed(const option_declaration& declared, std::string_view value) {
  const auto in_range = [&](std::optional<std::int64_t> number) {
    return number && (!declared.least || *number >= *declared.least) &&
           (!declared.most || *number <= *declared.most);
  };
  switch (declared.type) {
  case option_type::boolean:
    return parse_bool(value).has_value();
  case option_type::integer:
    return in_range(parse_integer(value));
  case option_type::real: {
    const auto number = parse_real(value);
    return number && (!declared.least || *number >= static_cast<double>(*declared.least)) &&
           (!declared.most || *number <= static_cast<double>(*declared.most));
  }
  case option_type::text: {
    const auto words = split_text(declared.one_of, '|');
    return declared.one_of.empty() || std::find(words.begin(), words.end(), value) != words.end();
  }
  case option_type::path:
    return absolute_path(value).has_value();
  case option_type::duration:
    return in_range(parse_with_unit(value, duration_units));
  case option_type::memory_size:
    return in_range(parse_with_unit(value, memory_units));
  }
  return false;
}

/// The value that was set, else the default; empty when there is neither.
std::string_view text_of(const configuration& settings, const option_declaration& declared) {
  const auto at = settings.values().find(declared.key);
  return at != settings.values().end() ? std::string_view(at->second) : declared.default_text;
}

} // namespace

status configuration::set(std::string_view key, std::string_view value) {
  const auto* declared = find_declaration(current_option_key(key));
  if (declared == nullptr) {
    std::vector<std::string_view> keys;
    for (const auto& each : all_options()) {
      keys.push_back(each.key);
    }
    const auto nearest = nearest_name(key, keys);
    return error(errc::unknown_option,
                 "unknown option: " + std::string(key) +
                     (nearest.empty() ? "" : ", did you mean " + std::string(nearest)));
  }
  const auto trimmed = trim_text(value);
  if (!is_allowed(*declared, trimmed)) {
    return error(errc::bad_option_value, "bad value of option: " + std::string(key) + ", got \"" +
                                             std::string(value) + "\", allowed is " +
                                             allowed_by(*declared));
  }
  values_.insert_or_assign(std::string(declared->key), declared->type == option_type::path
                                                           ? *absolute_path(trimmed)
                                                           : std::string(trimmed));
  return {};
}

bool configuration::is_set(std::string_view key) const { return values_.contains(key); }

bool configuration::get_bool(std::string_view key) const {
  return parse_bool(text_of(*this, declaration_of(key, option_type::boolean))).value_or(false);
}

std::int64_t configuration::get_int(std::string_view key) const {
  return parse_integer(text_of(*this, declaration_of(key, option_type::integer))).value_or(0);
}

double configuration::get_real(std::string_view key) const {
  return parse_real(text_of(*this, declaration_of(key, option_type::real))).value_or(0);
}

std::string configuration::get_text(std::string_view key) const {
  return std::string(text_of(*this, declaration_of(key, option_type::text)));
}

std::string configuration::get_path(std::string_view key) const {
  return std::string(text_of(*this, declaration_of(key, option_type::path)));
}

std::chrono::milliseconds configuration::get_duration(std::string_view key) const {
  const auto text = text_of(*this, declaration_of(key, option_type::duration));
  return std::min(std::chrono::milliseconds(parse_with_unit(text, duration_units).value_or(0)),
                  duration_max);
}

std::uint64_t configuration::get_memory_size(std::string_view key) const {
  const auto text = text_of(*this, declaration_of(key, option_type::memory_size));
  return static_cast<std::uint64_t>(parse_with_unit(text, memory_units).value_or(0));
}

} // namespace headrace
