#include "libgraph/data/hash.hpp"

#include "libgraph/data/fixed_width.hpp"
#include "libgraph/data/string_blocks.hpp"
#include "libactors/base/assert.hpp"
#include "libactors/base/ids.hpp"

#include <algorithm>
#include <bit>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace headrace::graph {

namespace {

__extension__ using uint128 = unsigned __int128;

// Hexadecimal digits of pi. Changing one moves every key to another key group.
constexpr std::uint64_t seed = 0x243f6a8885a308d3ULL;
constexpr std::uint64_t null_word = 0x13198a2e03707344ULL;
constexpr std::uint64_t short_head = 0xa4093822299f31d0ULL;
constexpr std::uint64_t short_tail = 0x082efa98ec4e6c89ULL;
constexpr std::uint64_t row_word = 0xbe5466cf34e90c6cULL;
constexpr std::uint64_t null_row = 0x452821e638d01377ULL;

std::uint64_t add_word(std::uint64_t hash, std::uint64_t word) { return mix64(hash ^ word); }

/// Adds the hash of a part. Multiplied, so that part and whole, hashed alike, are not symmetric.
std::uint64_t add_part(std::uint64_t hash, std::uint64_t part) {
  return add_word(hash, part * 0x9e3779b97f4a7c15ULL);
}

template <class T>
std::uint64_t add_value(std::uint64_t hash, T value) {
  if constexpr (std::is_same_v<T, int128>) {
    const auto bits = static_cast<uint128>(value);
    return add_word(add_word(hash, static_cast<std::uint64_t>(bits)),
                    static_cast<std::uint64_t>(bits >> 64U));
  } else if constexpr (std::is_same_v<T, float>) {
    return add_word(hash, std::bit_cast<std::uint32_t>(canonical_key(value)));
  } else if constexpr (std::is_same_v<T, double>) {
    return add_word(hash, std::bit_cast<std::uint64_t>(canonical_key(value)));
  } else {
    return add_word(hash, static_cast<std::uint64_t>(static_cast<std::int64_t>(value)));
  }
}

/// A short string is the two words of its slot: one wide multiplication mixes them.
std::uint64_t short_string_word(const string_slot& slot) {
  std::uint64_t words[2];
  std::memcpy(&words[0], &slot, sizeof(words));
  const auto product =
      static_cast<uint128>(words[0] ^ short_head) * static_cast<uint128>(words[1] ^ short_tail);
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64U);
}

std::uint64_t add_slot(std::uint64_t hash, const column& keys, std::size_t row) {
  const auto& slot = keys.slots()[row];
  const auto word = slot.is_inline() ? short_string_word(slot)
                                     : XXH3_64bits(keys.string_at(row).data(), slot.size);
  return add_word(hash, word);
}

struct all_rows {
  std::size_t operator()(std::size_t i) const { return i; }
};
struct picked_rows {
  const std::uint32_t* rows;
  std::size_t operator()(std::size_t i) const { return rows[i]; }
};

/// Adds `count` rows of a column to the hashes of what came before it.
template <class RowAt>
void add_column(const column& keys, RowAt row_at, std::size_t count, std::uint64_t* hashes);

/// Adds lists (in order) and maps (in any order): the elements are hashed as columns first.
template <class RowAt>
void add_lists(const column& keys, RowAt row_at, std::size_t count, std::uint64_t* hashes) {
  const auto* offsets = keys.values<std::int32_t>();
  std::vector<std::uint32_t> elements;
  for (std::size_t i = 0; i < count; ++i) {
    const auto row = row_at(i);
    if (!keys.is_null(row))
      for (auto at = offsets[row]; at < offsets[row + 1]; ++at)
        elements.push_back(static_cast<std::uint32_t>(at));
  }
  std::vector<std::uint64_t> element_hashes(elements.size(), seed);
  for (const auto& each : keys.content().children)
    add_column(*each, picked_rows{elements.data()}, elements.size(), element_hashes.data());
  const bool is_ordered = keys.type().physical() == physical_type::list;
  const auto* element = element_hashes.data();
  for (std::size_t i = 0; i < count; ++i) {
    const auto row = row_at(i);
    if (keys.is_null(row)) {
      hashes[i] = add_word(hashes[i], null_row);
      continue;
    }
    const auto* end = element + (offsets[row + 1] - offsets[row]);
    auto hash = add_word(hashes[i], static_cast<std::uint64_t>(end - element));
    std::uint64_t sum = 0;
    for (; element != end; ++element) {
      if (is_ordered)
        hash = add_part(hash, *element);
      else
        sum += *element;
    }
    hashes[i] = is_ordered ? hash : add_part(hash, sum);
  }
}

template <class RowAt>
void add_rows(const column& keys, RowAt row_at, std::size_t count, std::uint64_t* hashes) {
  const std::vector<std::uint64_t> before(hashes, hashes + count);
  for (std::size_t i = 0; i < count; ++i)
    hashes[i] = add_word(hashes[i], row_word); // a row of NULLs is not a NULL row
  for (const auto& each : keys.content().children)
    add_column(*each, row_at, count, hashes);
  // What lies in the fields of a NULL row does not count.
  for (std::size_t i = 0; i < count; ++i)
    if (keys.is_null(row_at(i)))
      hashes[i] = add_word(before[i], null_row);
}

template <class RowAt>
void add_column(const column& keys, RowAt row_at, std::size_t count, std::uint64_t* hashes) {
  const auto physical = keys.type().physical();
  const bool has_nulls = keys.has_nulls();
  const bool is_fixed = visit_fixed_width(physical, [&]<class T>(std::type_identity<T>) {
    const auto* values = keys.values<T>();
    if (!has_nulls) {
      for (std::size_t i = 0; i < count; ++i)
        hashes[i] = add_value(hashes[i], values[row_at(i)]);
      return;
    }
    for (std::size_t i = 0; i < count; ++i) {
      const auto row = row_at(i);
      hashes[i] =
          keys.is_null(row) ? add_word(hashes[i], null_word) : add_value(hashes[i], values[row]);
    }
  });
  if (is_fixed)
    return;
  switch (physical) {
  case physical_type::string:
    for (std::size_t i = 0; i < count; ++i) {
      const auto row = row_at(i);
      hashes[i] = has_nulls && keys.is_null(row) ? add_word(hashes[i], null_word)
                                                 : add_slot(hashes[i], keys, row);
    }
    return;
  case physical_type::list:
  case physical_type::map:
    return add_lists(keys, row_at, count, hashes);
  case physical_type::row:
    return add_rows(keys, row_at, count, hashes);
  default:
    for (std::size_t i = 0; i < count; ++i)
      hashes[i] = add_word(hashes[i], null_word);
  }
}

} // namespace

void hash_columns(const record_batch& batch, std::span<const int> indices,
                  std::span<std::uint64_t> out) {
  HEADRACE_ASSERT(out.size() == batch.size(), "hashes of another number of rows");
  std::fill(out.begin(), out.end(), seed);
  for (const int index : indices) {
    const auto& keys = batch.at(static_cast<std::size_t>(index));
    if (batch.has_selection())
      add_column(keys, picked_rows{batch.selection().data()}, out.size(), out.data());
    else
      add_column(keys, all_rows(), out.size(), out.data());
  }
}

void hash_column(const column& keys, std::span<std::uint64_t> out) {
  HEADRACE_ASSERT(out.size() == keys.size(), "hashes of another number of rows");
  std::fill(out.begin(), out.end(), seed);
  add_column(keys, all_rows(), out.size(), out.data());
}

std::uint64_t hash_of(std::string_view key) {
  if (key.size() > string_slot::inline_max)
    return add_word(seed, XXH3_64bits(key.data(), key.size()));
  string_slot slot;
  write_inline_slot(&slot, key.data(), key.size());
  return add_word(seed, short_string_word(slot));
}

std::uint64_t hash_of(std::int64_t key) { return add_value(seed, key); }

std::uint64_t hash_of_null() { return add_word(seed, null_word); }

} // namespace headrace::graph
