#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>

// Decimal digits, eight at a time: the ground of all readers of numbers and times.
namespace headrace::graph {

static_assert(std::endian::native == std::endian::little, "eight digits are read as one word");

constexpr std::uint64_t zero_digits = 0x3030303030303030;

inline std::uint64_t load_word(const char* from) {
  std::uint64_t out = 0;
  std::memcpy(&out, from, sizeof(out));
  return out;
}

/// Loads 1 to 8 letters as a word of eight, with leading '0's. Reads nothing outside.
inline std::uint64_t load_letters(const char* from, std::size_t count) {
  if (count == 8)
    return load_word(from);
  std::uint64_t word = 0;
  if (count >= 4) { // overlapping halves; the bytes that both hold are the same
    std::uint32_t first = 0;
    std::uint32_t last = 0;
    std::memcpy(&first, from, sizeof(first));
    std::memcpy(&last, from + count - 4, sizeof(last));
    word = first | std::uint64_t{last} << 8U * (count - 4);
  } else {
    const auto at = [&](std::size_t i) {
      return std::uint64_t{static_cast<unsigned char>(from[i])} << 8U * i;
    };
    word = at(0) | at(count / 2) | at(count - 1);
  }
  const auto missing = 8U * (8 - count);
  return word << missing | (zero_digits >> (64 - missing));
}

/// The number whose eight digits are the bytes of a word, the first one the lowest.
inline std::uint64_t combine_digits(std::uint64_t digits) {
  const auto pairs = digits * 10 + (digits >> 8U);
  constexpr std::uint64_t mask = 0x000000ff000000ff;
  return ((pairs & mask) * 0x000f424000000064 + ((pairs >> 16U) & mask) * 0x0000271000000001) >>
         32U;
}

/// Reads a word of eight letters as a number; nothing when one is no digit.
inline std::optional<std::uint64_t> parse_eight_digits(std::uint64_t letters) {
  const auto digits = letters ^ zero_digits;
  // A digit is below 10: adding 0x76 to it stays below 0x80.
  if (((digits | (digits + 0x7676767676767676)) & 0x8080808080808080) != 0)
    return std::nullopt;
  return combine_digits(digits);
}

constexpr std::array<std::uint32_t, 9> powers_of_ten_below_nine{
    1, 10, 100, 1000, 10'000, 100'000, 1'000'000, 10'000'000, 100'000'000};

/// The digits that a word of eight letters begins with.
struct digits_of_word {
  std::size_t count = 0; ///< 0 to 8
  std::uint64_t value = 0;
};
inline digits_of_word leading_digits(std::uint64_t letters) {
  const auto digits = letters ^ zero_digits;
  // The sum of a letter that is no digit may carry, but only into letters behind it.
  const auto others = (digits | (digits + 0x7676767676767676)) & 0x8080808080808080;
  const auto count = static_cast<std::size_t>(std::countr_zero(others)) / 8; // 8 of no others
  if (count == 0)
    return {};
  return {count, combine_digits(digits << 8U * (8 - count))};
}

/// Reads 1 to 16 letters as a number; nothing when one is no digit.
inline std::optional<std::uint64_t> parse_digits(const char* from, std::size_t count) {
  if (count <= 8)
    return parse_eight_digits(load_letters(from, count));
  const auto high = parse_eight_digits(load_letters(from, count - 8));
  const auto low = parse_eight_digits(load_word(from + count - 8));
  if (!high || !low)
    return std::nullopt;
  return *high * 100'000'000 + *low;
}

} // namespace headrace::graph
