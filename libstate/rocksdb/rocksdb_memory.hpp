#pragma once

#include <rocksdb/cache.h>
#include <rocksdb/write_buffer_manager.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace headrace::state {

class rocksdb_instance;

/// The memory of all RocksDB instances of a task executor: one block cache, to which write buffers
/// are charged too. Any thread.
///
/// RocksDB may pass the bound of write buffers by half before a flush has freed some, so, as Flink
/// does it, of `budget_bytes` a third is for write buffers and the cache as a whole has five
/// sixths. The cache's own limit cannot be strict, nor is Flink's: a strict one fails a flush that
/// cannot charge the table file it has written, and with it all writes that follow. A limit that is
/// not is passed only by what nobody could give back: blocks that are read, write buffers, and
/// what is small and grows with the number of files. Few shards keep one from being full while the
/// others have room.
///
/// Write buffers come and go in blocks between those of the cache, and the allocator keeps what
/// lies between: measured, a quarter of the budget. So it is told to give it back now and then.
class rocksdb_memory {
public:
  static constexpr std::uint64_t budget_bytes_default = std::uint64_t{512} << 20U;
  static constexpr std::uint64_t budget_bytes_least = std::uint64_t{4} << 20U;

  explicit rocksdb_memory(std::uint64_t budget_bytes);

  std::uint64_t budget_bytes() const { return budget_bytes_; }
  const std::shared_ptr<rocksdb::Cache>& cache() const { return cache_; }
  const std::shared_ptr<rocksdb::WriteBufferManager>& write_buffers() const { return buffers_; }
  /// Of one column family before it is flushed.
  std::size_t write_buffer_bytes() const;

  void add(rocksdb_instance& one);
  void remove(rocksdb_instance& one);
  /// After a write: RocksDB flushes only who writes. When write buffers are over their bound, the
  /// instance with the most of them flushes, though it may be idle. Waits for nothing.
  void relieve() {
    if (buffers_->memory_usage() >= buffers_->buffer_size()) [[unlikely]]
      flush_largest();
  }

  /// After a flush, on its thread: gives memory that the allocator keeps back to the system.
  void on_flushed(std::uint64_t bytes);

private:
  void flush_largest();

  std::uint64_t budget_bytes_;
  std::shared_ptr<rocksdb::Cache> cache_;
  std::shared_ptr<rocksdb::WriteBufferManager> buffers_;
  std::atomic<std::uint64_t> flushed_bytes_ = 0; ///< since memory was given back
  std::mutex mutex_;
  std::vector<rocksdb_instance*> instances_;
};

} // namespace headrace::state
