#include "libstate/rocksdb/staged_rows.hpp"

#include "libstate/rocksdb/row_key.hpp"
#include "libactors/base/ids.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace headrace::state {

namespace {

bool is_same(const key_ref& left, const key_ref& right) {
  return left.hash == right.hash && left.fixed == right.fixed && left.is_null == right.is_null &&
         left.bytes == right.bytes;
}

/// The first 8 bytes from `at` on as a number that orders as they do; zeros behind the end.
std::uint64_t word_of(byte_view name, std::size_t at) {
  std::uint64_t out = 0;
  if (at < name.size())
    std::memcpy(&out, name.data() + at, std::min(sizeof(out), name.size() - at));
  if constexpr (std::endian::native == std::endian::little)
    out = __builtin_bswap64(out);
  return out;
}

} // namespace

void staged_rows::begin(std::size_t count) {
  rows.clear();
  names_.clear();
  values.clear();
  slots_.assign(std::bit_ceil(std::max<std::size_t>(2 * count, 16)), 0);
}

std::uint32_t staged_rows::add(const key_ref& key, state_namespace space, std::uint32_t batch_row) {
  const auto mask = slots_.size() - 1;
  auto slot = mix64(key.hash ^ static_cast<std::uint64_t>(space) * 0x9e3779b97f4a7c15ULL) & mask;
  for (; slots_[slot] != 0; slot = (slot + 1) & mask) {
    const auto& held = rows[slots_[slot] - 1];
    if (held.space == space && is_same(held.key, key))
      return slots_[slot] - 1;
  }
  const auto index = static_cast<std::uint32_t>(rows.size());
  slots_[slot] = index + 1;
  auto& made = rows.emplace_back();
  made.key = key;
  made.space = space;
  made.batch_row = batch_row;
  return index;
}

void staged_rows::name_rows(key_shape shape, std::span<const std::uint16_t> groups) {
  byte_string space_bytes;
  state_namespace encoded = 0;
  row_key::append_space(space_bytes, encoded);
  for (auto& one : rows) {
    if (one.space != encoded) {
      encoded = one.space;
      space_bytes.clear();
      row_key::append_space(space_bytes, encoded);
    }
    one.group = groups[one.batch_row];
    one.name_at = names_.size();
    row_key::append_group(names_, one.group);
    names_.append(space_bytes);
    row_key::append_key(names_, one.key, shape);
    one.name_size = static_cast<std::uint32_t>(names_.size() - one.name_at);
  }
  sorted_.resize(rows.size());
  for (std::uint32_t i = 0; i < rows.size(); ++i) {
    const auto name = byte_view(names_).substr(rows[i].name_at, rows[i].name_size);
    sorted_[i] = {word_of(name, 0), word_of(name, 8), i};
  }
  std::sort(sorted_.begin(), sorted_.end(), [&](const auto& left, const auto& right) {
    if (left.high != right.high)
      return left.high < right.high;
    if (left.low != right.low)
      return left.low < right.low;
    const auto left_name = name_of(rows[left.index]);
    const auto right_name = name_of(rows[right.index]);
    return left_name.compare(right_name) < 0;
  });
  order.resize(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i)
    order[i] = sorted_[i].index;
}

} // namespace headrace::state
