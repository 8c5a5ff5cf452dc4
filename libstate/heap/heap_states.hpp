#pragma once

#include "libstate/heap/heap_map.hpp"
#include "libstate/heap/heap_table.hpp"
#include "libstate/keyed/time_to_live.hpp"
#include "libgraph/function/state.hpp"
#include "libactors/base/clock.hpp"

#include <cstdint>
#include <vector>

namespace headrace::state {

/// The key that the handles of one backend mean. `version` rises whenever it changes.
struct current_key {
  key_ref key;
  std::uint64_t version = 0;
  bool is_none = false;

  /// @throws failure  user_function_failed: there is none
  const key_ref& get() const {
    if (is_none) [[unlikely]]
      refuse();
    return key;
  }

private:
  [[noreturn]] static void refuse();
};

// The handles of user functions. Each remembers where the current key's row is, so that a get and a
// put cost one look-up. On the mailbox only. Expired values are removed when they are met.

class heap_row_cursor {
public:
  heap_row_cursor(heap_table& table, const current_key& current, const clock* time);
  /// The row of the current key, or none. One whose stamp has expired is removed first when
  /// `is_whole` (a value; the elements of a list expire one by one).
  std::uint32_t find(bool is_whole);
  /// The row of the current key, made when it is not there.
  std::uint32_t make();
  void erase();
  void touch(std::uint32_t row);
  /// 0 without TTL: who reads and writes a row need not read the clock.
  std::int64_t now_ms() const { return ttl_ms() == 0 || time_ == nullptr ? 0 : time_->wall_ms(); }
  std::int64_t ttl_ms() const { return table_->description().ttl_ms; }
  heap_directory& directory() const { return *directory_; }
  blob& value(std::uint32_t row, bool to_write);
  std::uint64_t key_version() const { return current_->version; }

private:
  heap_table* table_;
  const current_key* current_;
  const clock* time_;
  heap_directory* directory_;
  std::uint64_t version_ = 0;
  std::uint32_t row_ = heap_directory::none;
};

class heap_value_access final : public graph::value_access {
public:
  heap_value_access(heap_table& table, const current_key& current, const clock* time)
      : cursor_(table, current, time) {}
  std::optional<byte_view> get() override;
  void put(byte_view value) override;
  void clear() override { cursor_.erase(); }

private:
  heap_row_cursor cursor_;
};

/// Elements as a blob of (stamp when they expire, varint length, bytes).
class heap_list_access final : public graph::list_access {
public:
  heap_list_access(heap_table& table, const current_key& current, const clock* time)
      : cursor_(table, current, time) {}
  std::size_t size() override;
  byte_view at(std::size_t index) override;
  void add(byte_view element) override;
  void clear() override;

private:
  void load();
  heap_row_cursor cursor_;
  std::uint64_t loaded_ = 0; ///< version of the key whose elements are loaded; 0: none
  std::vector<std::pair<std::uint32_t, std::uint32_t>> elements_; ///< offset, size
  byte_string scratch_;
};

class heap_map_access final : public graph::map_access {
public:
  heap_map_access(heap_map& map, const current_key& current, const clock* time)
      : map_(&map), current_(&current), time_(time) {}
  std::optional<byte_view> get(byte_view key) override;
  void put(byte_view key, byte_view value) override;
  void remove(byte_view key) override;
  void clear() override { map_->clear(current_->get()); }
  bool is_empty() override;
  void for_each(bool (*visit)(void* context, byte_view key, byte_view value),
                void* context) override;

private:
  bool is_expired(std::uint32_t entry) const;
  std::int64_t now_ms() const {
    return map_->description().ttl_ms == 0 || time_ == nullptr ? 0 : time_->wall_ms();
  }
  /// The entry, or heap_map::none: what was found last is most often asked for again.
  std::uint32_t find(byte_view key);
  std::uint32_t remember(byte_view key, std::uint32_t entry);
  heap_map* map_;
  const current_key* current_;
  const clock* time_;
  std::uint32_t found_ = heap_map::none; ///< of the key with `found_version_`, at `found_key_`
  std::uint64_t found_version_ = 0;
  std::uint64_t found_erasures_ = 0; ///< of the map, then
  byte_string found_key_;
};

} // namespace headrace::state
