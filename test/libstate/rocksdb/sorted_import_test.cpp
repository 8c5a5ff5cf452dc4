#include "libstate/rocksdb/sorted_import.hpp"

#include "test/libstate/state_fixture.hpp"
#include "libstate/rocksdb/rocksdb_status.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <map>

namespace headrace::state {
using namespace headrace::testing;

TEST_SUITE("state/rocksdb/sorted_import") {
TEST_CASE("rows come in by several files, each taken in when it is full") {
  const scratch_directory scratch;
  const auto memory = std::make_shared<rocksdb_memory>(rocksdb_memory::budget_bytes_least);
  const auto instance = take(rocksdb_instance::open(memory, scratch.path() + "/db"));
  const auto expires = std::make_shared<expiry>(table_kind::value, 0, nullptr);
  auto* const family = take(instance->make({"rows", table_kind::value, expires}));
  std::map<std::string, std::string> wanted;
  for (int i = 0; i < 3000; ++i)
    wanted["row" + std::to_string(i)] = std::string(static_cast<std::size_t>(i % 50), 'v');

  sorted_import rows(*instance, family, 4096);
  for (const auto& [name, value] : wanted)
    check_ok(rows.add(name, value));
  check_ok(rows.finish());
  check_ok(rows.finish()); // nothing is left

  std::vector<rocksdb::LiveFileMetaData> files;
  instance->db().GetLiveFilesMetaData(&files);
  CHECK(files.size() > 3);
  CHECK(!std::filesystem::exists(instance->directory() + "/import.sst"));
  std::map<std::string, std::string> found;
  const std::unique_ptr<rocksdb::Iterator> row(
      instance->db().NewIterator(rocksdb::ReadOptions(), family));
  for (row->SeekToFirst(); row->Valid(); row->Next())
    found[row->key().ToString()] = row->value().ToString();
  CHECK(found == wanted);
}
} // TEST_SUITE("state/rocksdb/sorted_import")

} // namespace headrace::state
