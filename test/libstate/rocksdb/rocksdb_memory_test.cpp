#include "libstate/rocksdb/rocksdb_memory.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <string>

namespace headrace::state {

TEST_SUITE("state/rocksdb/rocksdb_memory") {
TEST_CASE("write buffers and blocks together keep the cache's limit") {
  for (const std::uint64_t budget : {std::uint64_t{64} << 20U, std::uint64_t{512} << 20U}) {
    CAPTURE(budget);
    rocksdb_memory memory(budget);
    const auto& cache = memory.cache();
    // As many write buffers as there may be before a flush has freed some.
    const auto write_buffers = static_cast<std::size_t>(budget / 2);
    memory.write_buffers()->ReserveMem(write_buffers);
    const std::size_t block = 8U << 10U;
    for (std::uint64_t number = 0; number * block < 2 * budget; ++number) {
      const auto key = "a block of a table file " + std::to_string(number);
      REQUIRE(cache->Insert(key, nullptr, block, [](const rocksdb::Slice&, void*) {}).ok());
    }
    CHECK(cache->GetUsage() <= cache->GetCapacity());
    CHECK(cache->GetUsage() > cache->GetCapacity() / 10 * 9);
    memory.write_buffers()->FreeMem(write_buffers);
  }
}
} // TEST_SUITE("state/rocksdb/rocksdb_memory")

} // namespace headrace::state
