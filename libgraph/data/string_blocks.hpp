#pragma once

#include "libgraph/data/column.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

namespace headrace::graph {

/// Writes a string of at most 12 bytes into a slot, unused bytes zero. Stores only, so that the
/// slot may lie in a column that is being filled.
inline void write_inline_slot(string_slot* slot, const char* from, std::size_t size) {
  auto* to = reinterpret_cast<char*>(slot);
  std::memset(to, 0, sizeof(string_slot));
  slot->size = static_cast<std::uint32_t>(size);
  to += sizeof(slot->size);
  if (size >= 4) {
    // Overlapping copies: two cover 4 to 8 bytes, three 8 to 12.
    std::memcpy(to, from, 4);
    if (size > 8)
      std::memcpy(to + 4, from + 4, 4);
    std::memcpy(to + size - 4, from + size - 4, 4);
  } else if (size > 0) {
    to[0] = from[0];
    to[size / 2] = from[size / 2];
    to[size - 1] = from[size - 1];
  }
}

/// The same without a branch on the size, for a string with 12 readable bytes from its begin.
inline void write_inline_slot_wide(string_slot* slot, const char* from, std::size_t size) {
  std::uint64_t low = 0;
  std::uint32_t high = 0;
  std::memcpy(&low, from, sizeof(low));
  std::memcpy(&high, from + sizeof(low), sizeof(high));
  const auto low_bits = 8 * std::min<std::size_t>(size, 8);
  const auto high_bits = 8 * size - low_bits;
  // A shift by 64 has no meaning: two by half.
  low &= ~(~std::uint64_t{0} << low_bits / 2 << (low_bits - low_bits / 2));
  high &= static_cast<std::uint32_t>(~(~std::uint64_t{0} << high_bits));
  auto* to = reinterpret_cast<char*>(slot);
  slot->size = static_cast<std::uint32_t>(size);
  std::memcpy(to + sizeof(slot->size), &low, sizeof(low));
  std::memcpy(to + sizeof(slot->size) + sizeof(low), &high, sizeof(high));
}

/// Collects the bytes of long strings in blocks that grow from 4 KiB to 256 KiB. A string lies in
/// one block; one longer than a block has its own.
class string_blocks {
public:
  static constexpr std::size_t first_block_bytes = std::size_t{4} << 10U;
  static constexpr std::size_t block_bytes_max = std::size_t{256} << 10U;

  explicit string_blocks(std::shared_ptr<memory_budget> budget = nullptr)
      : budget_(std::move(budget)) {}

  /// Makes the next block hold `size_bytes` (at most 1 GiB, so that offsets fit).
  void reserve(std::size_t size_bytes) {
    next_block_bytes_ = std::min(size_bytes, std::size_t{1} << 30U);
  }
  /// Copies the bytes of a string longer than 12 bytes and fills the slot that names them.
  void append(string_slot* slot, std::string_view value) {
    if (static_cast<std::size_t>(end_ - at_) < value.size()) [[unlikely]]
      start_block(value.size());
    std::memcpy(at_, value.data(), value.size());
    slot->size = static_cast<std::uint32_t>(value.size());
    std::memcpy(&slot->prefix[0], value.data(), sizeof(slot->prefix));
    slot->place.buffer_index = block_index_;
    slot->place.offset = static_cast<std::uint32_t>(at_ - begin_);
    at_ += value.size();
    used_bytes_ += value.size();
  }
  /// Adds a buffer of others. @returns its index
  std::uint32_t add(buffer_ptr shared) {
    data_.push_back(std::move(shared));
    return static_cast<std::uint32_t>(data_.size() - 1);
  }
  /// Bytes that `append` copied.
  std::size_t used_bytes() const { return used_bytes_; }
  const std::vector<buffer_ptr>& data() const { return data_; }
  /// Gives the blocks and starts anew, the first block as large as what was used now.
  std::vector<buffer_ptr> finish();

private:
  void start_block(std::size_t least_bytes);

  std::shared_ptr<memory_budget> budget_;
  std::vector<buffer_ptr> data_;
  char* begin_ = nullptr;
  char* at_ = nullptr;
  char* end_ = nullptr;
  std::uint32_t block_index_ = 0;
  std::size_t used_bytes_ = 0;
  std::size_t next_block_bytes_ = first_block_bytes;
};

} // namespace headrace::graph
