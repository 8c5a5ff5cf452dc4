#include "libgraph/expression/kernel/letter_case.hpp"

#include <array>

namespace headrace::graph {
namespace {

/// Capitals [first, last] whose small letters lie `distance` behind them; a distance of 1 means
/// pairs: a capital every other code point, its small letter behind it.
struct letter_range {
  char32_t first;
  char32_t last;
  char32_t distance;
};

constexpr std::array ranges{
    letter_range{0x41, 0x5A, 32},     letter_range{0xC0, 0xD6, 32},
    letter_range{0xD8, 0xDE, 32},     letter_range{0x100, 0x12E, 1},
    letter_range{0x132, 0x136, 1},    letter_range{0x139, 0x147, 1},
    letter_range{0x14A, 0x176, 1},    letter_range{0x179, 0x17D, 1},
    letter_range{0x1CD, 0x1DB, 1},    letter_range{0x1DE, 0x1EE, 1},
    letter_range{0x1F8, 0x21E, 1},    letter_range{0x222, 0x232, 1},
    letter_range{0x388, 0x38A, 37},   letter_range{0x391, 0x3A1, 32},
    letter_range{0x3A3, 0x3AB, 32},   letter_range{0x400, 0x40F, 80},
    letter_range{0x410, 0x42F, 32},   letter_range{0x460, 0x480, 1},
    letter_range{0x48A, 0x4BE, 1},    letter_range{0x4C1, 0x4CD, 1},
    letter_range{0x4D0, 0x52E, 1},    letter_range{0x531, 0x556, 48},
    letter_range{0x1E00, 0x1E94, 1},  letter_range{0x1EA0, 0x1EFE, 1},
    letter_range{0xFF21, 0xFF3A, 32},
};

struct letter_pair {
  char32_t capital;
  char32_t small;
};
constexpr std::array pairs{
    letter_pair{0x178, 0xFF},  letter_pair{0x386, 0x3AC}, letter_pair{0x38C, 0x3CC},
    letter_pair{0x38E, 0x3CD}, letter_pair{0x38F, 0x3CE}, letter_pair{0x3A3, 0x3C2},
    letter_pair{0x4C0, 0x4CF}, letter_pair{0x1E9E, 0xDF},
};

constexpr bool is_member(const letter_range& range, char32_t capital) {
  return capital >= range.first && capital <= range.last &&
         (range.distance != 1 || (capital - range.first) % 2 == 0);
}

} // namespace

char32_t to_capital(char32_t point) {
  if (point < 0x80)
    return point >= 'a' && point <= 'z' ? point - 32 : point;
  for (const auto& each : pairs)
    if (each.small == point && each.capital != 0x1E9E)
      return each.capital;
  for (const auto& each : ranges)
    if (point >= each.first + each.distance && is_member(each, point - each.distance))
      return point - each.distance;
  return point;
}

char32_t to_small(char32_t point) {
  if (point < 0x80)
    return point >= 'A' && point <= 'Z' ? point + 32 : point;
  for (const auto& each : ranges)
    if (is_member(each, point))
      return point + each.distance;
  for (const auto& each : pairs)
    if (each.capital == point)
      return each.small;
  return point;
}

} // namespace headrace::graph
