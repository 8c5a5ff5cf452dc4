#pragma once

#include "libstate/key/key_batch.hpp"
#include "libstate/rocksdb/rocksdb_instance.hpp"
#include "libgraph/function/state.hpp"
#include "libactors/base/clock.hpp"

#include <rocksdb/slice.h>

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace headrace::state {

/// The key that the handles of one backend mean.
class current_row {
public:
  void set(const key_batch& keys, std::size_t row);
  void clear();
  const key_ref& key() const { return key_; }
  std::uint64_t version() const { return version_; } ///< rises with each `set`
  /// The name of its row, or the prefix of its map's entries. @throws failure  malformed key; there
  /// is none
  byte_view row_name(key_shape shape);
  byte_view map_prefix(key_shape shape);

private:
  std::uint16_t group() const;

  const key_batch* keys_ = nullptr;
  std::size_t row_ = 0;
  key_ref key_;
  std::uint64_t version_ = 0;
  byte_string row_name_;
  byte_string map_prefix_;
  std::uint64_t named_ = 0;    ///< version of row_name_
  std::uint64_t prefixed_ = 0; ///< version of map_prefix_
};

/// What the handles of one state share. Failures are thrown.
struct state_place {
  rocksdb_instance* instance;
  rocksdb::ColumnFamilyHandle* family;
  key_shape shape;
  std::int64_t ttl_ms;
  current_row* current;
  const clock* time;

  /// 0 without TTL: who reads and writes a row need not read the clock.
  std::int64_t now_ms() const { return ttl_ms == 0 || time == nullptr ? 0 : time->wall_ms(); }
  bool has_stamps() const { return ttl_ms > 0; }
  /// Whether a value's stamp has expired.
  bool is_expired(const rocksdb::Slice& value) const;
  /// Takes the stamp off a value.
  byte_view without_stamp(const rocksdb::Slice& value) const;
  /// Reads the value of a row that is there and has not expired; it lies in `read`.
  std::optional<byte_view> get(byte_view name, rocksdb::PinnableSlice& read) const;
  /// Writes the value of a row, with its stamp. `scratch`: kept from call to call.
  void put(byte_view name, byte_view value, byte_string& scratch) const;
};

// The handles of user functions, on the mailbox only. What has expired is passed over; compactions
// remove it.

class rocksdb_value_access final : public graph::value_access {
public:
  explicit rocksdb_value_access(state_place at) : at_(at) {}
  std::optional<byte_view> get() override;
  void put(byte_view value) override;
  void clear() override;

private:
  state_place at_;
  rocksdb::PinnableSlice read_;
  byte_string written_;
};

/// Elements as the heap backend has them; one is added without reading the list.
class rocksdb_list_access final : public graph::list_access {
public:
  explicit rocksdb_list_access(state_place at) : at_(at) {}
  std::size_t size() override;
  byte_view at(std::size_t index) override;
  void add(byte_view element) override;
  void clear() override;

private:
  void load();

  state_place at_;
  std::uint64_t loaded_ = 0; ///< version of the key whose elements are loaded; 0: none
  byte_string whole_;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> elements_; ///< offset, size
  byte_string written_;
};

class rocksdb_map_access final : public graph::map_access {
public:
  explicit rocksdb_map_access(state_place at) : at_(at) {}
  std::optional<byte_view> get(byte_view key) override;
  void put(byte_view key, byte_view value) override;
  void remove(byte_view key) override;
  void clear() override;
  bool is_empty() override;
  void for_each(bool (*visit)(void* context, byte_view key, byte_view value),
                void* context) override;

private:
  byte_view name_of(byte_view key);
  /// Visits the stored entries of the current key, by map key: `visit(name, value)`.
  template <class Visit>
  void visit_entries(Visit visit);

  state_place at_;
  rocksdb::PinnableSlice read_;
  byte_string name_;
  byte_string written_;
};

} // namespace headrace::state
