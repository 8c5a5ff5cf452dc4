#pragma once

#include "libstate/keyed/state_description.hpp"
#include "libstate/rocksdb/family_options.hpp"
#include "libstate/rocksdb/snapshot_cut.hpp"
#include "libactors/base/bytes.hpp"
#include "libactors/base/result.hpp"

#include <rocksdb/db.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace headrace::state {

/// One database in a directory of its own, which goes with it. Shared by a backend and the jobs of
/// its snapshots; whoever lets go last closes it. Writes on the mailbox only, the rest as RocksDB
/// has it.
class rocksdb_instance {
public:
  /// A column family to open: the state's name (or a successor's) and what it is.
  struct family {
    std::string name;
    table_kind kind = table_kind::value;
    std::shared_ptr<expiry> expires;
  };

  /// Makes the directory, or opens what was put there: then `families` are all that it has. Blocks.
  /// @errors storage_failed, storage_full, corrupt_snapshot
  static result<std::shared_ptr<rocksdb_instance>> open(std::shared_ptr<rocksdb_memory> memory,
                                                        std::string directory,
                                                        const std::vector<family>& families = {});
  ~rocksdb_instance();
  rocksdb_instance(const rocksdb_instance&) = delete;
  rocksdb_instance& operator=(const rocksdb_instance&) = delete;

  rocksdb::DB& db() { return *db_; }
  const std::string& directory() const { return directory_; }
  const std::shared_ptr<rocksdb_memory>& memory() const { return memory_; }
  /// The column family of that name, or nullptr.
  rocksdb::ColumnFamilyHandle* find(const std::string& name) const;
  result<rocksdb::ColumnFamilyHandle*> make(const family& wanted);
  /// Flushes the others, and waits. @errors storage_failed, storage_full
  status drop(const std::string& name);

  /// Writes, to memory only: what lasts is in snapshots. @errors storage_failed, storage_full
  status write(rocksdb::WriteBatch& batch);
  status put(rocksdb::ColumnFamilyHandle* in, byte_view name, byte_view value);
  status merge(rocksdb::ColumnFamilyHandle* in, byte_view name, byte_view value);
  status remove(rocksdb::ColumnFamilyHandle* in, byte_view name);

  /// See snapshot_cuts.
  std::shared_ptr<snapshot_cut> cut() { return cuts_->cut(*db_, handles_); }
  /// Flushes all, and waits. @errors storage_failed, storage_full
  status flush();
  /// Any thread.
  void begin_flush();
  bool is_flushing() const;
  std::uint64_t write_buffer_bytes() const;
  /// A number that RocksDB tells of itself; of all column families together, or as one of them has
  /// it. Any thread. Nothing: there is no such property.
  std::optional<std::uint64_t> property(const char* name, bool is_sum) const;
  /// Of files and write buffers.
  std::uint64_t size_bytes() const;
  /// Rows that other threads than the subtask's have read for it. Any thread.
  std::uint64_t shared_reads() const { return shared_reads_.load(std::memory_order_relaxed); }
  void count_shared_reads(std::uint64_t rows) {
    shared_reads_.fetch_add(rows, std::memory_order_relaxed);
  }

private:
  rocksdb_instance(std::shared_ptr<rocksdb_memory> memory, std::string directory);
  status written(const rocksdb::Status& outcome);
  status open_all(const std::vector<family>& families);

  std::shared_ptr<rocksdb_memory> memory_;
  std::string directory_;
  std::shared_ptr<snapshot_cuts> cuts_ = std::make_shared<snapshot_cuts>();
  rocksdb::WriteOptions write_options_;
  std::atomic<std::uint64_t> shared_reads_ = 0;
  std::unique_ptr<rocksdb::DB> db_;
  mutable std::mutex handles_mutex_; ///< against calls that come from other threads
  std::vector<rocksdb::ColumnFamilyHandle*> handles_; ///< the default one first, which is empty
};

} // namespace headrace::state
