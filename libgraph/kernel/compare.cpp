#include "libgraph/kernel/compare.hpp"

#include "libgraph/data/fixed_width.hpp"
#include "libactors/base/assert.hpp"

#include <vector>

namespace headrace::graph {

namespace {

/// Size and prefix are one word: most pairs that differ, differ there.
bool are_equal_strings(const column& left, std::size_t left_row, const column& right,
                       std::size_t right_row) {
  const auto& left_slot = left.slots()[left_row];
  const auto& right_slot = right.slots()[right_row];
  std::uint64_t left_words[2];
  std::uint64_t right_words[2];
  std::memcpy(&left_words[0], &left_slot, sizeof(left_words));
  std::memcpy(&right_words[0], &right_slot, sizeof(right_words));
  if (left_words[0] != right_words[0])
    return false;
  if (left_slot.is_inline())
    return left_words[1] == right_words[1];
  return std::memcmp(left.string_at(left_row).data(), right.string_at(right_row).data(),
                     left_slot.size) == 0;
}

bool are_equal_entries(const column& left, std::size_t left_at, const column& right,
                       std::size_t right_at) {
  for (std::size_t i = 0; i < left.content().children.size(); ++i)
    if (!are_equal_keys(left.child(i), left_at, right.child(i), right_at))
      return false;
  return true;
}

bool are_equal_elements(const column& left, std::size_t left_row, const column& right,
                        std::size_t right_row) {
  const auto* left_offsets = left.values<std::int32_t>() + left_row;
  const auto* right_offsets = right.values<std::int32_t>() + right_row;
  const auto count = static_cast<std::size_t>(left_offsets[1] - left_offsets[0]);
  if (count != static_cast<std::size_t>(right_offsets[1] - right_offsets[0]))
    return false;
  const auto left_begin = static_cast<std::size_t>(left_offsets[0]);
  const auto right_begin = static_cast<std::size_t>(right_offsets[0]);
  if (left.type().physical() == physical_type::list) {
    for (std::size_t i = 0; i < count; ++i)
      if (!are_equal_entries(left, left_begin + i, right, right_begin + i))
        return false;
    return true;
  }
  // The entries of a map have no order: each finds one of its own.
  std::vector<bool> is_taken(count, false);
  for (std::size_t i = 0; i < count; ++i) {
    std::size_t match = 0;
    while (match < count && (is_taken[match] ||
                             !are_equal_entries(left, left_begin + i, right, right_begin + match)))
      ++match;
    if (match == count)
      return false;
    is_taken[match] = true;
  }
  return true;
}

} // namespace

int compare_values(const column& left, std::size_t left_row, const column& right,
                   std::size_t right_row) {
  if (left.is_null(left_row) || right.is_null(right_row))
    return static_cast<int>(right.is_null(right_row)) - static_cast<int>(left.is_null(left_row));
  int order = 0;
  const auto physical = left.type().physical();
  const bool is_fixed = visit_fixed_width(physical, [&]<class T>(std::type_identity<T>) {
    order = compare_fixed(left.values<T>()[left_row], right.values<T>()[right_row]);
  });
  if (is_fixed)
    return order;
  HEADRACE_ASSERT(physical == physical_type::string, "an order of values that have none");
  return left.string_at(left_row).compare(right.string_at(right_row));
}

bool are_equal_keys(const column& left, std::size_t left_row, const column& right,
                    std::size_t right_row) {
  if (left.is_null(left_row) || right.is_null(right_row))
    return left.is_null(left_row) && right.is_null(right_row);
  switch (left.type().physical()) {
  case physical_type::string:
    return are_equal_strings(left, left_row, right, right_row);
  case physical_type::list:
  case physical_type::map:
    return are_equal_elements(left, left_row, right, right_row);
  case physical_type::row:
    return are_equal_entries(left, left_row, right, right_row);
  default:
    return compare_values(left, left_row, right, right_row) == 0;
  }
}

void compare_keys(const column& left, std::span<const std::uint32_t> left_rows, const column& right,
                  std::span<const std::uint32_t> right_rows, std::span<std::uint8_t> equal) {
  HEADRACE_ASSERT(left_rows.size() == equal.size() && right_rows.size() == equal.size(),
                  "pairs of another number");
  const auto compare = [&](auto are_equal) {
    for (std::size_t i = 0; i < equal.size(); ++i)
      equal[i] = static_cast<std::uint8_t>(
          equal[i] & static_cast<std::uint8_t>(are_equal(left_rows[i], right_rows[i])));
  };
  const auto physical = left.type().physical();
  const bool has_nulls = left.has_nulls() || right.has_nulls();
  if (!has_nulls && physical == physical_type::string) {
    compare([&](auto left_row, auto right_row) {
      return are_equal_strings(left, left_row, right, right_row);
    });
    return;
  }
  if (!has_nulls && visit_fixed_width(physical, [&]<class T>(std::type_identity<T>) {
        const auto* left_values = left.values<T>();
        const auto* right_values = right.values<T>();
        compare([&](auto left_row, auto right_row) {
          return compare_fixed(left_values[left_row], right_values[right_row]) == 0;
        });
      }))
    return;
  for (std::size_t i = 0; i < equal.size(); ++i)
    if (equal[i] != 0)
      equal[i] =
          static_cast<std::uint8_t>(are_equal_keys(left, left_rows[i], right, right_rows[i]));
}

} // namespace headrace::graph
