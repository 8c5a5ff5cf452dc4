#include "libstate/rocksdb/rocksdb_memory.hpp"

#include "libstate/rocksdb/rocksdb_instance.hpp"
#include "libstate/rocksdb/scratch_env.hpp"

#include <algorithm>
#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace headrace::state {

namespace {

constexpr int flush_threads = 2;
constexpr int compaction_threads = 2;
constexpr std::uint64_t trim_bytes_least = std::uint64_t{8} << 20U; ///< flushed in between
constexpr std::uint64_t shard_bytes_least = std::uint64_t{16} << 20U;
constexpr int shard_bits_most = 6; ///< as RocksDB's own rule

/// Each shard keeps its own part of the limit, and write buffers are charged to shards by chance,
/// in pieces of 256 KB: in shards of less than a megabyte, as RocksDB would make them, they pass it
/// while other shards have room.
int shard_bits(std::uint64_t cache_bytes) {
  int bits = 0;
  while (bits < shard_bits_most && cache_bytes >> (bits + 1) >= shard_bytes_least)
    ++bits;
  return bits;
}

} // namespace

rocksdb_memory::rocksdb_memory(std::uint64_t budget_bytes)
    : budget_bytes_(budget_bytes == 0 ? budget_bytes_default
                                      : std::max(budget_bytes, budget_bytes_least)),
      cache_(rocksdb::NewLRUCache(static_cast<std::size_t>(budget_bytes_ / 6 * 5),
                                  shard_bits(budget_bytes_ / 6 * 5), false, 0.1)),
      buffers_(std::make_shared<rocksdb::WriteBufferManager>(
          static_cast<std::size_t>(budget_bytes_ / 3), cache_)) {
  // Of the process: databases share them.
  scratch_env().IncBackgroundThreadsIfNeeded(flush_threads, rocksdb::Env::Priority::HIGH);
  scratch_env().IncBackgroundThreadsIfNeeded(compaction_threads, rocksdb::Env::Priority::LOW);
}

std::size_t rocksdb_memory::write_buffer_bytes() const {
  return std::clamp<std::size_t>(buffers_->buffer_size() / 4, std::size_t{256} << 10U,
                                 std::size_t{64} << 20U);
}

void rocksdb_memory::on_flushed(std::uint64_t bytes) {
  // What this flush has freed, or will soon, is given back by the next: so none may be passed over
  // that is not small.
  const auto least = std::max(budget_bytes_ / 32, trim_bytes_least);
  if (flushed_bytes_.fetch_add(bytes, std::memory_order_relaxed) + bytes < least)
    return;
  flushed_bytes_.store(0, std::memory_order_relaxed);
#ifdef __GLIBC__
  ::malloc_trim(0);
#endif
}

void rocksdb_memory::add(rocksdb_instance& one) {
  const std::lock_guard lock(mutex_);
  instances_.push_back(&one);
}

void rocksdb_memory::remove(rocksdb_instance& one) {
  const std::lock_guard lock(mutex_);
  std::erase(instances_, &one);
}

void rocksdb_memory::flush_largest() {
  const std::lock_guard lock(mutex_);
  rocksdb_instance* largest = nullptr;
  std::uint64_t most = 0;
  for (auto* one : instances_) {
    if (one->is_flushing())
      return; // some comes free soon
    const auto bytes = one->write_buffer_bytes();
    if (bytes > most) {
      most = bytes;
      largest = one;
    }
  }
  if (largest != nullptr)
    largest->begin_flush();
}

} // namespace headrace::state
