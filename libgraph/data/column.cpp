#include "libgraph/data/column.hpp"

#include "libactors/base/assert.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>

namespace headrace::graph {

namespace {

constexpr std::size_t rows_max = std::numeric_limits<std::int32_t>::max();

error malformed(const char* what, const logical_type& type) {
  return {errc::malformed_message, std::string("malformed column: ") + what + ", " + type.to_sql()};
}

constexpr std::size_t prefix_bytes = sizeof(string_slot::prefix);

/// The bits that are zero behind an inline string, by its size, in the 12 bytes of the slot.
struct unused_masks {
  std::array<std::uint64_t, string_slot::inline_max + 1> first{};
  std::array<std::uint32_t, string_slot::inline_max + 1> last{};
};
constexpr unused_masks make_unused_masks() {
  unused_masks out;
  for (std::uint32_t size = 0; size <= string_slot::inline_max; ++size) {
    out.first[size] = size < 8 ? ~std::uint64_t{0} << (8 * size) : 0;
    out.last[size] = size <= 8   ? ~std::uint32_t{0}
                     : size < 12 ? ~std::uint32_t{0} << (8 * (size - 8))
                                 : 0;
  }
  return out;
}
constexpr auto masks_of_unused = make_unused_masks();

/// What `validate_strings` asks of strings that lie in one buffer at most, without a branch a row.
bool are_sound(const column& checked) {
  static_assert(std::endian::native == std::endian::little);
  const auto& data = checked.content().data;
  if (data.size() > 1)
    return false;
  constexpr std::array<std::byte, prefix_bytes> none{};
  const bool is_there = !data.empty() && data[0]->size_bytes() >= prefix_bytes;
  const auto* bytes = is_there ? data[0]->data() : none.data();
  const std::uint64_t bytes_size = is_there ? data[0]->size_bytes() : 0;
  const auto* slots = checked.slots();
  std::uint64_t faults = 0;
  for (std::size_t i = 0; i < checked.size(); ++i) {
    const auto& slot = slots[i];
    const auto short_size = std::min(slot.size, string_slot::inline_max);
    std::uint64_t first = 0;
    std::uint32_t last = 0;
    std::memcpy(&first, slot.inline_data(), sizeof(first));
    std::memcpy(&last, slot.inline_data() + sizeof(first), sizeof(last));
    const auto unused =
        (first & masks_of_unused.first[short_size]) | (last & masks_of_unused.last[short_size]);
    const bool is_long = !slot.is_inline();
    const bool is_inside =
        slot.place.buffer_index == 0 && std::uint64_t{slot.place.offset} + slot.size <= bytes_size;
    const std::size_t at = is_long && is_inside ? slot.place.offset : 0;
    std::uint32_t prefix = 0;
    std::uint32_t wanted = 0;
    std::memcpy(&prefix, &slot.prefix[0], prefix_bytes);
    std::memcpy(&wanted, bytes + at, prefix_bytes);
    faults |= is_long ? static_cast<std::uint64_t>(!is_inside | (prefix != wanted)) : unused;
  }
  return faults == 0;
}

status validate_strings(const column& checked) {
  if (are_sound(checked))
    return {};
  const auto& data = checked.content().data;
  const auto* slots = checked.slots();
  for (std::size_t i = 0; i < checked.size(); ++i) {
    const auto& slot = slots[i];
    if (slot.is_inline()) {
      // Equality and hashes read all 16 bytes.
      const auto* bytes = slot.inline_data();
      char unused = 0;
      for (std::uint32_t at = slot.size; at < string_slot::inline_max; ++at)
        unused = static_cast<char>(unused | bytes[at]);
      if (unused != 0)
        return malformed("bytes behind a short string", checked.type());
      continue;
    }
    if (slot.place.buffer_index >= data.size())
      return malformed("string in an absent buffer", checked.type());
    const auto& holder = *data[slot.place.buffer_index];
    if (slot.place.offset > holder.size_bytes() ||
        slot.size > holder.size_bytes() - slot.place.offset)
      return malformed("string beyond its buffer", checked.type());
    if (std::memcmp(holder.data() + slot.place.offset, &slot.prefix[0], sizeof(slot.prefix)) != 0)
      return malformed("prefix of another string", checked.type());
  }
  return {};
}

status validate_offsets(const column& checked) {
  const auto* offsets = checked.values<std::int32_t>();
  if (offsets[0] < 0)
    return malformed("negative offset", checked.type());
  for (std::size_t i = 0; i < checked.size(); ++i)
    if (offsets[i + 1] < offsets[i])
      return malformed("falling offsets", checked.type());
  const auto end = static_cast<std::size_t>(offsets[checked.size()]);
  for (const auto& each : checked.content().children)
    if (end > each->size())
      return malformed("offset beyond the elements", checked.type());
  return {};
}

status validate_booleans(const column& checked) {
  const auto* values = checked.values<std::uint8_t>();
  std::uint8_t all = 0;
  for (std::size_t i = 0; i < checked.size(); ++i)
    all = static_cast<std::uint8_t>(all | values[i]);
  return all <= 1 ? status() : malformed("boolean beyond 1", checked.type());
}

} // namespace

column::column(logical_type type, parts content)
    : type_(std::move(type)), parts_(std::move(content)) {
  if (parts_.validity)
    validity_ = parts_.validity->as<std::uint8_t>();
  if (parts_.values)
    values_ = parts_.values->data();
  data_pointers_.reserve(parts_.data.size());
  for (const auto& each : parts_.data)
    data_pointers_.push_back(each->as<char>());
}

std::size_t column::retained_bytes() const {
  std::size_t out = 0;
  if (parts_.values)
    out += parts_.values->size_bytes();
  if (parts_.validity)
    out += parts_.validity->size_bytes();
  for (const auto& each : parts_.data)
    out += each->size_bytes();
  for (const auto& each : parts_.children)
    out += each->retained_bytes();
  return out;
}

status column::validate() const {
  const auto physical = type_.physical();
  const bool is_listed = physical == physical_type::list || physical == physical_type::map;
  if (parts_.size > rows_max)
    return malformed("too many rows", type_);
  if (parts_.validity && parts_.validity->size_bytes() < (parts_.size + 7) / 8)
    return malformed("validity too short", type_);
  if (physical == physical_type::none)
    for (std::size_t row = 0; row < parts_.size; ++row)
      if (!is_null(row))
        return malformed("a value of type NULL", type_);
  const auto values_bytes = is_listed ? (parts_.size + 1) * sizeof(std::int32_t)
                                      : parts_.size * static_cast<std::size_t>(type_.width_bytes());
  if (values_bytes > 0 && (!parts_.values || parts_.values->size_bytes() < values_bytes))
    return malformed("values too short", type_);
  if (parts_.children.size() != type_.storage_child_count())
    return malformed("wrong number of children", type_);
  for (std::size_t i = 0; i < parts_.children.size(); ++i) {
    if (!(parts_.children[i]->type() == type_.storage_child(i)))
      return malformed("child of another type", type_);
    if (physical == physical_type::row && parts_.children[i]->size() != parts_.size)
      return malformed("fields of another size", type_);
    HEADRACE_CHECK(parts_.children[i]->validate());
  }
  if (is_listed)
    return validate_offsets(*this);
  if (physical == physical_type::string)
    return validate_strings(*this);
  if (physical == physical_type::boolean)
    return validate_booleans(*this);
  return {};
}

} // namespace headrace::graph
