#pragma once

#include "libstate/keyed/keyed_table.hpp"
#include "libstate/rocksdb/namespace_counts.hpp"
#include "libstate/rocksdb/read_pace.hpp"
#include "libstate/rocksdb/read_threads.hpp"
#include "libstate/rocksdb/rocksdb_instance.hpp"
#include "libstate/rocksdb/staged_rows.hpp"
#include "libactors/base/clock.hpp"

#include <rocksdb/write_batch.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace headrace::state {

/// How the tables of a backend read batches.
struct batch_reading {
  /// Each row of a piece may pin a block until it is copied; two of RocksDB's own batches.
  static constexpr std::size_t piece_rows_most = 64;

  std::shared_ptr<read_threads> threads;    ///< null: each subtask's reads are its own
  read_pace::limits pays = {};              ///< when others read for it
  std::size_t piece_rows = piece_rows_most; ///< that one thread reads at once; at least 1
};

/// A table in a column family. See keyed_table; on the mailbox only.
///
/// `locate` makes one sorted list of a batch's distinct rows and reads them by MultiGet, in pieces;
/// the caller works on copies; `write_back` puts what has changed in one write batch. Where reads
/// wait for the disk, other threads read pieces too: all within `locate`, so that neither the order
/// of reads and writes of a key nor barriers are concerned.
class rocksdb_table final : public keyed_table {
public:
  rocksdb_table(std::shared_ptr<rocksdb_instance> in, rocksdb::ColumnFamilyHandle* family,
                key_schema schema, std::int32_t max_parallelism, key_group_range groups,
                state_description description, batch_reading reading = {},
                const clock* time = nullptr);

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
  status read_alone(staged_rows& staged);
  status read_shared(staged_rows& staged);
  std::span<const std::uint32_t> rows_of(const staged_rows& staged, std::size_t piece) const;
  /// Any thread, for different pieces at once. @param values  of variable layout go there
  status read_piece(staged_rows& staged, std::size_t piece, byte_string& values,
                    read_pace::piece& cost) const;
  status take_value(staged_rows& staged, std::uint32_t index, const rocksdb::Slice& value,
                    byte_string& values) const;
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
  batch_reading reading_;
  const clock* time_; ///< null: it is not known what reads cost
  read_pace pace_;
  std::vector<read_pace::piece> costs_;   ///< of the last batch
  std::vector<byte_string> piece_values_; ///< of pieces that were shared; variable layout
  // Values of the last piece of a scan, and where each is.
  std::vector<std::byte> scanned_;
  std::vector<std::pair<std::size_t, std::size_t>> scanned_places_; ///< offset, size
};

} // namespace headrace::state
