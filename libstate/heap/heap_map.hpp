#pragma once

#include "libstate/heap/heap_directory.hpp"
#include "libstate/heap/heap_table.hpp"
#include "libstate/key/key_batch.hpp"
#include "libstate/keyed/state_description.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace headrace::state {

/// A map state in memory: every entry of every key is a row of its own, so that an entry costs the
/// same in a map of any size; the entries of one key are linked, so that they are found again.
///
///     heads     key → first entry, number of entries
///     entries   (varint length, key in stored form, map key) → previous, next, stamp, value
class heap_map {
public:
  static constexpr std::uint32_t none = heap_directory::none;

  heap_map(page_pool& pool, key_shape shape, state_description description);

  const state_description& description() const { return description_; }
  std::uint64_t row_count() const { return entries_.row_count(); }

  /// The entry's row, or `none`.
  std::uint32_t find(const key_ref& key, byte_view entry_key);
  /// Makes or replaces an entry.
  void put(const key_ref& key, byte_view entry_key, byte_view value, std::int64_t stamp_ms);
  /// Makes an entry that is not there; its value is to be set.
  std::uint32_t add(const key_ref& key, byte_view entry_key);
  void set(std::uint32_t entry, byte_view value, std::int64_t stamp_ms);
  void erase(const key_ref& key, std::uint32_t entry);
  /// How often entries were erased: while it stays, an entry that was found is there.
  std::uint64_t erasures() const { return erasures_; }
  void clear(const key_ref& key);
  /// The first entry of a key and the one after an entry; in no order.
  std::uint32_t first(const key_ref& key) const;
  std::uint32_t next(std::uint32_t entry) const { return links_of(entries_.row(entry)).next; }

  byte_view entry_key(std::uint32_t entry) const;
  byte_view value(std::uint32_t entry) const { return layout_.value(entries_.row(entry)).view(); }
  /// When it was last put; 0 without TTL.
  std::int64_t stamp_ms(std::uint32_t entry) const;

  /// Visits all entries of all keys: `visit(key, entry key, value, stamp)`.
  template <class Visit>
  void for_each(Visit visit) const {
    entries_.visit(0, [&](std::uint32_t entry, const std::byte* row) {
      const auto parts = split(row_layout::bytes_key(row).view());
      visit(key_of_stored(parts.key), parts.entry_key, layout_.value(row).view(), stamp_ms(entry));
      return true;
    });
  }

  /// Erases what has expired of the entries numbered [from, stop); of a state with TTL.
  void drop_expired(std::int64_t now_ms, std::uint64_t from, std::uint64_t stop);

  /// Of the entries: a canonical snapshot needs no more.
  table_image image() const;
  /// What a native one has: 0 the heads, 1 the entries.
  static constexpr std::uint8_t part_count = 2;
  static constexpr std::uint8_t entries_part = 1;
  heap_directory& part(std::uint8_t number) { return number == 0 ? heads_ : entries_; }
  const row_layout& layout_of(std::uint8_t number) const {
    return number == 0 ? head_layout_ : layout_;
  }
  /// Splits the key of an entry's row.
  struct split_key {
    byte_view key; ///< in stored form
    byte_view entry_key;
  };
  static split_key split(byte_view composed);

private:
  struct links {
    std::uint32_t previous;
    std::uint32_t next;
  };
  struct head {
    std::uint32_t first;
    std::uint32_t padding;
  };
  links links_of(const std::byte* row) const;
  void set_links(std::byte* row, links to) const;
  void compose(const key_ref& key, byte_view entry_key);
  key_ref key_of_stored(byte_view stored) const;

  page_pool* pool_;
  key_shape shape_;
  state_description description_;
  row_layout head_layout_;
  row_layout layout_;
  heap_directory heads_;
  heap_directory entries_;
  byte_string composed_;
  std::uint64_t erasures_ = 0;
};

} // namespace headrace::state
