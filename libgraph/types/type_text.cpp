#include "libgraph/types/type_text.hpp"

#include <array>
#include <charconv>

namespace headrace::graph {
namespace {

/// "DECIMAL(10, 2)" in its parts.
struct type_words {
  std::string_view name;
  std::array<int, 2> numbers{};
  std::size_t count = 0;
};

type_words words_of(std::string_view text) {
  const auto open = text.find('(');
  type_words out{text.substr(0, open)};
  if (open == std::string_view::npos)
    return out;
  const char* at = text.data() + open + 1;
  const char* end = text.data() + text.size();
  for (auto& number : out.numbers) {
    const auto read = std::from_chars(at, end, number);
    if (read.ec != std::errc())
      break;
    ++out.count;
    at = read.ptr;
    while (at != end && (*at == ',' || *at == ' '))
      ++at;
  }
  return out;
}

std::optional<logical_type> plain_type(std::string_view name) {
  static const std::array plain = {logical_type::boolean(),
                                   logical_type::tinyint(),
                                   logical_type::smallint(),
                                   logical_type::integer(),
                                   logical_type::bigint(),
                                   logical_type::float32(),
                                   logical_type::float64(),
                                   logical_type::string(),
                                   logical_type::bytes(),
                                   logical_type::date(),
                                   logical_type::null(),
                                   logical_type::interval_year_month(),
                                   logical_type::interval_day_time()};
  for (const auto& each : plain)
    if (each.to_sql() == name)
      return each;
  return std::nullopt;
}

bool is_in(int number, int least, int most) { return number >= least && number <= most; }

std::optional<logical_type> sized_type(const type_words& words) {
  constexpr int digits_max = 38;
  constexpr int fraction_max = 9;
  const auto size = words.numbers[0];
  if (words.name == "DECIMAL") {
    if (words.count == 2 && is_in(size, 1, digits_max) && is_in(words.numbers[1], 0, size))
      return logical_type::decimal(size, words.numbers[1]);
    return std::nullopt;
  }
  if (words.count != 1)
    return std::nullopt;
  if (is_in(size, 0, fraction_max)) {
    if (words.name == "TIME")
      return logical_type::time(size);
    if (words.name == "TIMESTAMP")
      return logical_type::timestamp(size);
    if (words.name == "TIMESTAMP_LTZ")
      return logical_type::timestamp_ltz(size);
  }
  if (size < 1)
    return std::nullopt;
  if (words.name == "CHAR")
    return logical_type::character(size);
  if (words.name == "VARCHAR")
    return logical_type::varchar(size);
  if (words.name == "BINARY")
    return logical_type::binary(size);
  if (words.name == "VARBINARY")
    return logical_type::varbinary(size);
  return std::nullopt;
}

} // namespace

std::optional<logical_type> parse_scalar_type(std::string_view text) {
  constexpr std::string_view not_null = " NOT NULL";
  if (text.ends_with(not_null)) {
    const auto type = parse_scalar_type(text.substr(0, text.size() - not_null.size()));
    return type && type->is_nullable() ? std::optional(type->not_null()) : std::nullopt;
  }
  if (auto plain = plain_type(text))
    return plain;
  auto sized = sized_type(words_of(text));
  // What is behind the numbers is none of it.
  return sized && sized->to_sql() == text ? sized : std::nullopt;
}

} // namespace headrace::graph
