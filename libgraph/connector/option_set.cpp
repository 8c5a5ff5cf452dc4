#include "libgraph/connector/option_set.hpp"

#include "libactors/base/path.hpp"
#include "libactors/base/text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <vector>

namespace headrace::graph {
namespace {

struct unit {
  std::string_view name;
  std::int64_t factor;
};
constexpr std::array time_units{
    unit{"", 1},           unit{"ms", 1},           unit{"milli", 1},
    unit{"millis", 1},     unit{"s", 1000},         unit{"sec", 1000},
    unit{"second", 1000},  unit{"seconds", 1000},   unit{"m", 60'000},
    unit{"min", 60'000},   unit{"minute", 60'000},  unit{"minutes", 60'000},
    unit{"h", 3'600'000},  unit{"hour", 3'600'000}, unit{"hours", 3'600'000},
    unit{"d", 86'400'000}, unit{"day", 86'400'000}, unit{"days", 86'400'000},
};
constexpr std::int64_t kilo = 1024;
constexpr std::array size_units{
    unit{"", 1},
    unit{"b", 1},
    unit{"bytes", 1},
    unit{"k", kilo},
    unit{"kb", kilo},
    unit{"m", kilo* kilo},
    unit{"mb", kilo* kilo},
    unit{"g", kilo* kilo* kilo},
    unit{"gb", kilo* kilo* kilo},
    unit{"t", kilo* kilo* kilo* kilo},
    unit{"tb", kilo* kilo* kilo* kilo},
};

std::optional<std::int64_t> parse_integer(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failed != std::errc{} || end != text.data() + text.size())
    return std::nullopt;
  return value;
}

std::optional<double> parse_real(std::string_view text) {
  double value = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failed != std::errc{} || end != text.data() + text.size())
    return std::nullopt;
  return value;
}

std::optional<std::int64_t> parse_with_unit(std::string_view text, std::span<const unit> units) {
  const auto whole = in_lower_case(trim_text(text));
  const auto digits = std::min(whole.find_first_not_of("0123456789"), whole.size());
  const auto amount = parse_integer(std::string_view(whole).substr(0, digits));
  if (!amount)
    return std::nullopt;
  const auto name = trim_text(std::string_view(whole).substr(digits));
  for (const auto& known : units) {
    std::int64_t product = 0;
    if (known.name == name) {
      if (__builtin_mul_overflow(*amount, known.factor, &product))
        return std::nullopt;
      return product;
    }
  }
  return std::nullopt;
}

std::string_view wants(option_type type) {
  switch (type) {
  case option_type::boolean:
    return "true or false";
  case option_type::integer:
    return "a whole number";
  case option_type::real:
    return "a number";
  case option_type::duration:
    return "a duration such as '500 ms' or '10 s'";
  case option_type::memory_size:
    return "a size such as '64 mb'";
  case option_type::path:
    return allowed_paths;
  case option_type::text:
    break;
  }
  return "a text";
}

/// The value as a number for the range check; nothing when it is not of the type.
std::optional<double> number_of(const option_declaration& declared, std::string_view value) {
  switch (declared.type) {
  case option_type::boolean: {
    const auto word = in_lower_case(value);
    if (word == "true" || word == "false")
      return word == "true" ? 1.0 : 0.0;
    return std::nullopt;
  }
  case option_type::integer:
    if (auto number = parse_integer(value))
      return static_cast<double>(*number);
    return std::nullopt;
  case option_type::real:
    return parse_real(value);
  case option_type::duration:
    if (auto number = parse_duration(value))
      return static_cast<double>(number->count());
    return std::nullopt;
  case option_type::memory_size:
    if (auto number = parse_memory_size(value))
      return static_cast<double>(*number);
    return std::nullopt;
  case option_type::path:
    return local_path(value) ? std::optional(0.0) : std::nullopt;
  case option_type::text:
    break;
  }
  return 0.0;
}

status check_value(std::string_view owner, const option_declaration& declared,
                   std::string_view value) {
  const auto complain = [&](const std::string& allowed) -> error {
    return {errc::bad_option_value, "bad value of option '" + std::string(declared.key) + "' of " +
                                        std::string(owner) + ": '" + std::string(value) +
                                        "', allowed is " + allowed};
  };
  const auto number = number_of(declared, value);
  if (!number)
    return complain(std::string(wants(declared.type)));
  if (declared.least && *number < static_cast<double>(*declared.least))
    return complain("at least " + std::to_string(*declared.least));
  if (declared.most && *number > static_cast<double>(*declared.most))
    return complain("at most " + std::to_string(*declared.most));
  if (!declared.one_of.empty()) {
    const auto choices = split_text(declared.one_of, '|');
    if (std::find(choices.begin(), choices.end(), value) == choices.end())
      return complain("one of " + std::string(declared.one_of));
  }
  return {};
}

error unknown_option(std::string_view owner, std::span<const option_declaration> declared,
                     const std::string& key) {
  std::vector<std::string_view> keys;
  for (const auto& one : declared)
    keys.push_back(one.key);
  std::string message = "unknown option of " + std::string(owner) + ": '" + key + "'";
  if (const auto nearest = nearest_name(key, keys); !nearest.empty()) {
    message += ", did you mean '" + std::string(nearest) + "'";
  } else {
    message += ", known are";
    for (std::size_t i = 0; i < keys.size(); ++i)
      message += (i == 0 ? " '" : ", '") + std::string(keys[i]) + "'";
  }
  return {errc::unknown_option, std::move(message)};
}

} // namespace

std::optional<std::chrono::milliseconds> parse_duration(std::string_view text) {
  if (const auto number = parse_with_unit(text, time_units))
    return std::chrono::milliseconds(*number);
  return std::nullopt;
}

std::optional<std::uint64_t> parse_memory_size(std::string_view text) {
  if (const auto number = parse_with_unit(text, size_units))
    return static_cast<std::uint64_t>(*number);
  return std::nullopt;
}

result<option_set> option_set::parse(std::string_view owner,
                                     std::span<const option_declaration> declared,
                                     const option_map& given) {
  option_set out;
  out.owner_ = owner;
  out.declared_ = declared;
  for (const auto& [key, value] : given) {
    const auto found = std::find_if(declared.begin(), declared.end(),
                                    [&wanted = key](const auto& one) { return one.key == wanted; });
    if (found == declared.end())
      return unknown_option(owner, declared, key);
    HEADRACE_CHECK(check_value(owner, *found, value));
    out.values_.emplace(key, value);
  }
  return out;
}

std::optional<std::string_view> option_set::text(std::string_view key) const {
  if (const auto found = values_.find(std::string(key)); found != values_.end())
    return found->second;
  for (const auto& one : declared_) {
    if (one.key == key)
      return one.default_text.empty() ? std::nullopt : std::optional(one.default_text);
  }
  assertion_failed("declared", "an undeclared option was read", __FILE__, __LINE__);
}

result<std::string> option_set::need_text(std::string_view key) const {
  if (const auto value = text(key); value && !value->empty())
    return std::string(*value);
  return error(errc::bad_option_value,
               owner_ + " needs option '" + std::string(key) + "', which was not given");
}

std::string option_set::get_text(std::string_view key) const {
  return std::string(text(key).value_or(std::string_view()));
}
bool option_set::get_bool(std::string_view key) const {
  return in_lower_case(*text(key)) == "true";
}
std::int64_t option_set::get_int(std::string_view key) const { return *parse_integer(*text(key)); }
double option_set::get_real(std::string_view key) const { return *parse_real(*text(key)); }
std::chrono::milliseconds option_set::get_duration(std::string_view key) const {
  return *parse_duration(*text(key));
}
std::uint64_t option_set::get_memory_size(std::string_view key) const {
  return *parse_memory_size(*text(key));
}

result<char> option_set::get_char(std::string_view key) const {
  const auto value = get_text(key);
  if (value.size() == 1)
    return value[0];
  if (value == "\\t")
    return '\t';
  if (value == "\\n")
    return '\n';
  if (value == "\\0")
    return '\0';
  if (value == "\\\\")
    return '\\';
  if (value.size() == 6 && value.starts_with("\\u00")) {
    unsigned code = 0;
    const auto [end, failed] = std::from_chars(value.data() + 4, value.data() + 6, code, 16);
    if (failed == std::errc{} && end == value.data() + 6 && code < 0x80U)
      return static_cast<char>(code);
  }
  return error(errc::bad_option_value, "bad value of option '" + std::string(key) + "' of " +
                                           owner_ + ": '" + value +
                                           "', allowed is one character of ASCII");
}

option_map take_prefixed(option_map& options, std::string_view prefix) {
  option_map out;
  for (auto at = options.begin(); at != options.end();) {
    const std::string_view key = at->first;
    if (key.size() > prefix.size() + 1 && key.starts_with(prefix) && key[prefix.size()] == '.') {
      out.emplace(key.substr(prefix.size() + 1), at->second);
      at = options.erase(at);
    } else {
      ++at;
    }
  }
  return out;
}

} // namespace headrace::graph
