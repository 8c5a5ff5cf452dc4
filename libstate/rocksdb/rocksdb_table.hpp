#pragma once

#include "libstate/keyed/keyed_table.hpp"
#include "libstate/rocksdb/namespace_counts.hpp"
#include "libstate/rocksdb/rocksdb_instance.hpp"
#include "libstate/rocksdb/staged_rows.hpp"

#include <rocksdb/write_batch.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace headrace::state {

/// A table in a column family. See keyed_table; on the mailbox only.
///
/// `locate` makes one sorted list of a batch's distinct rows and reads them by MultiGet; the caller
/// works on copies; `write_back` puts what has changed in one write batch.
class rocksdb_table final : public keyed_table {
public:
  rocksdb_table(std::shared_ptr<rocksdb_instance> in, rocksdb::ColumnFamilyHandle* family,
                key_schema schema, std::int32_t max_parallelism, key_group_range groups,
                state_description description);

  const state_description& description() const override { return description_; }
  status locate(const key_batch& keys, std::span<const std::uint32_t> rows,
                std::span<const state_namespace> namespaces, access mode,
                located_rows& out) override;
  status locate(const key_batch& keys, std::span<const std::uint32_t> rows, state_namespace space,
                access mode, located_rows& out) override;
  std::optional<byte_view> get(const located_rows& at, std::size_t index) override;
  status put(located_rows& at, std::size_t index, byte_view value) override;
  status append(located_rows& at, std::size_t index, byte_view more) override;
  status write_back(located_rows& at) override;
  status erase(located_rows& at, std::span<const std::uint32_t> indices) override;
  status scan(state_namespace space, scan_cursor& cursor, std::size_t rows_max,
              scanned_rows& out) override;
  status drop_namespace(state_namespace space) override;
  std::vector<state_namespace> namespaces() const override { return counts_.namespaces(); }
  std::optional<state_namespace> first_namespace() const override { return counts_.first(); }
  std::uint64_t row_count(state_namespace space) const override { return counts_.of(space); }
  std::uint64_t row_count() const override { return counts_.total(); }
  std::uint64_t size_bytes() const override { return instance_->size_bytes(); }
  scanned_rows make_piece() const override;

  namespace_counts& counts() { return counts_; }

private:
  struct running_scan;

  template <class SpaceAt>
  status locate_in(const key_batch& keys, std::span<const std::uint32_t> rows, SpaceAt space_at,
                   access mode, located_rows& out);
  status read_rows(staged_rows& staged);
  status take_value(staged_rows& staged, std::uint32_t index, const rocksdb::Slice& value);
  bool has_changed(const staged_rows& staged, std::uint32_t index) const;
  rocksdb::Slice stored_value(const staged_rows& staged, std::uint32_t index) const;
  std::shared_ptr<running_scan> begin_scan(state_namespace space);
  status delete_rows(state_namespace space, const std::vector<namespace_counts::group_rows>& of);

  std::shared_ptr<rocksdb_instance> instance_;
  rocksdb::ColumnFamilyHandle* family_;
  key_schema schema_;
  std::int32_t max_parallelism_;
  key_group_range groups_;
  state_description description_;
  namespace_counts counts_;
  rocksdb::WriteBatch batch_;
  std::vector<rocksdb::Slice> names_;
  std::vector<rocksdb::PinnableSlice> values_;
  std::vector<rocksdb::Status> outcomes_;
  // Values of the last piece of a scan, and where each is.
  std::vector<std::byte> scanned_;
  std::vector<std::pair<std::size_t, std::size_t>> scanned_places_; ///< offset, size
};

} // namespace headrace::state
