#include "libstate/rocksdb/family_options.hpp"

#include "test/support/scratch_directory.hpp"
#include "libstate/keyed/time_to_live.hpp"
#include "libstate/rocksdb/rocksdb_instance.hpp"
#include "libactors/base/manual_clock.hpp"

#include <doctest/doctest.h>

#include <string>

namespace headrace::state {
namespace {

using testing::scratch_directory;

byte_string stamped(std::int64_t stamp, byte_view value) {
  byte_string out;
  byte_writer to(out);
  to.put(stamp);
  to.put_raw(value);
  return out;
}

/// What adding one element to a list that expires merges into its row.
byte_string added(std::int64_t stamp, byte_view element) {
  byte_string out;
  byte_writer to(out);
  to.put(stamp);
  to.put(stamp);
  to.put_bytes(element);
  return out;
}

struct family_fixture {
  scratch_directory scratch;
  manual_clock time;
  std::shared_ptr<rocksdb_instance> instance;

  family_fixture() {
    auto opened =
        rocksdb_instance::open(std::make_shared<rocksdb_memory>(0), scratch.path() + "/db");
    REQUIRE(opened.has_value());
    instance = *std::move(opened);
  }
  rocksdb::ColumnFamilyHandle* make(table_kind kind, std::shared_ptr<expiry> expires) {
    auto made = instance->make({"state", kind, std::move(expires)});
    REQUIRE(made.has_value());
    return *made;
  }
  void compact(rocksdb::ColumnFamilyHandle* family) {
    REQUIRE(instance->flush());
    rocksdb::CompactRangeOptions options;
    options.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForce;
    REQUIRE(instance->db().CompactRange(options, family, nullptr, nullptr).ok());
  }
  std::optional<std::string> read(rocksdb::ColumnFamilyHandle* family, const std::string& name) {
    std::string out;
    if (!instance->db().Get({}, family, name, &out).ok())
      return std::nullopt;
    return out;
  }
};

} // namespace

TEST_SUITE("state/rocksdb/family_options") {
TEST_CASE_FIXTURE(family_fixture, "a compaction leaves out what has expired") {
  const auto expires = std::make_shared<expiry>(table_kind::value, 1000, &time);
  auto* const family = make(table_kind::value, expires);
  const auto start = time.wall_ms();
  REQUIRE(instance->put(family, "old", stamped(start, "1")));
  time.advance_ms(600);
  REQUIRE(instance->put(family, "new", stamped(time.wall_ms(), "2")));
  time.advance_ms(600);

  compact(family);
  CHECK(!read(family, "old"));
  CHECK(read(family, "new") == stamped(start + 600, "2"));

  expires->stop();
  time.advance_ms(600);
  compact(family);
  CHECK(read(family, "new").has_value());
}

TEST_CASE_FIXTURE(family_fixture, "elements of a list expire one by one") {
  auto* const family =
      make(table_kind::list, std::make_shared<expiry>(table_kind::list, 1000, &time));
  const auto start = time.wall_ms();
  REQUIRE(instance->merge(family, "list", added(start, "a")));
  time.advance_ms(600);
  REQUIRE(instance->merge(family, "list", added(start + 600, "b")));
  // The row's stamp is that of its newest element.
  REQUIRE(read(family, "list") ==
          stamped(start + 600, added(start, "a").substr(stamp_bytes) +
                                   added(start + 600, "b").substr(stamp_bytes)));
  compact(family); // the merged value is written
  time.advance_ms(600);

  compact(family);
  CHECK(read(family, "list") == stamped(start + 600, added(start + 600, "b").substr(stamp_bytes)));
  time.advance_ms(600);
  compact(family);
  CHECK(!read(family, "list"));
}
} // TEST_SUITE("state/rocksdb/family_options")

} // namespace headrace::state
