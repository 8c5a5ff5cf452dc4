#include "libstate/rocksdb/read_pace.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <vector>

namespace headrace::state {
namespace {

/// A batch of pieces of 64 rows that took so many microseconds each.
std::vector<read_pace::piece> batch(const std::vector<std::int64_t>& spent_us,
                                    std::uint64_t blocks) {
  std::vector<read_pace::piece> out;
  for (const auto one : spent_us)
    out.push_back({64, blocks, one});
  return out;
}

} // namespace

TEST_SUITE("state/rocksdb/read_pace") {
TEST_CASE("reads are shared where most pieces wait for the disk") {
  struct row {
    std::string name;
    std::vector<read_pace::piece> read;
    bool alone;  ///< whether it is slow after this, if it was not …
    bool shared; ///< … and if it was
  };
  const std::vector<row> table = {
      {"all in the block cache", batch({192, 200, 190, 195}, 0), false, false},
      {"in the system's cache", batch({640, 600, 650, 620}, 64), false, false},
      {"on a disk", batch({6'400, 5'000, 7'000, 6'000}, 64), true, true},
      {"on a fast disk", batch({1'300, 1'280, 1'300, 1'300}, 64), true, true},
      {"between the limits: as before", batch({1'000, 1'000, 1'000, 1'000}, 64), false, true},
      {"few rows on a disk", batch({1'300, 1'300, 1'300, 1'300}, 7), false, false},
      {"cached, and the thread lost its core twice", batch({200, 9'000, 200, 200, 12'000}, 0),
       false, false},
      {"system's cache, and the thread lost its core", batch({600, 9'000, 620, 600, 12'000}, 64),
       false, false},
      {"one piece says nothing", batch({6'400}, 64), false, true},
      {"nothing was read", {}, false, true},
  };
  for (const auto& one : table) {
    CAPTURE(one.name);
    read_pace fresh(read_pace::limits{});
    fresh.add(one.read);
    CHECK(fresh.is_slow() == one.alone);

    read_pace slow(read_pace::limits{});
    slow.add(batch({6'400, 6'400}, 64));
    REQUIRE(slow.is_slow());
    slow.add(one.read);
    CHECK(slow.is_slow() == one.shared);
  }
}

TEST_CASE("tests share whatever reads cost") {
  read_pace pace(read_pace::limits::always());
  CHECK(pace.is_slow());
  pace.add(batch({0, 0, 0}, 0));
  CHECK(pace.is_slow());
}
} // TEST_SUITE("state/rocksdb/read_pace")

} // namespace headrace::state
