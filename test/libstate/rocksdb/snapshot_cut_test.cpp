#include "libstate/rocksdb/snapshot_cut.hpp"

#include "test/libstate/state_fixture.hpp"
#include "libstate/rocksdb/rocksdb_instance.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <filesystem>
#include <memory>
#include <thread>
#include <vector>

namespace headrace::state {
using namespace headrace::testing;

namespace {

struct database {
  explicit database(int families_in)
      : instance(take(rocksdb_instance::open(
            std::make_shared<rocksdb_memory>(rocksdb_memory::budget_bytes_least),
            scratch.path() + "/db"))) {
    for (int i = 0; i < families_in; ++i)
      families.push_back(take(instance->make(family(i))));
  }

  static rocksdb_instance::family family(int number) {
    return {"rows" + std::to_string(number), table_kind::value,
            std::make_shared<expiry>(table_kind::value, 0, nullptr)};
  }

  scratch_directory scratch;
  std::shared_ptr<rocksdb_instance> instance;
  std::vector<rocksdb::ColumnFamilyHandle*> families;
};

} // namespace

TEST_SUITE("state/rocksdb/snapshot_cut") {
TEST_CASE("the files of a cut are there, with their sizes") {
  database of(2);
  for (auto* family : of.families)
    check_ok(of.instance->put(family, "name", "value"));
  const auto cut = of.instance->cut();
  const auto files = take(cut->await());
  CHECK(files.tables.size() == 2);
  for (const auto& table : files.tables)
    CHECK(std::filesystem::file_size(of.instance->directory() + "/" + table.name) ==
          table.size_bytes);
  CHECK(files.manifest_bytes > 0);
  CHECK(std::filesystem::file_size(of.instance->directory() + "/" + files.manifest_name) >=
        files.manifest_bytes);
}

TEST_CASE("a cut ends whoever lets go of iterators meanwhile") {
  database of(8);
  std::atomic<bool> is_over = false;
  std::vector<std::thread> readers;
  for (int i = 0; i < 2; ++i) {
    readers.emplace_back([&] {
      std::vector<std::unique_ptr<rocksdb::Iterator>> rows;
      while (!is_over) {
        for (auto* family : of.families)
          rows.emplace_back(of.instance->db().NewIterator(rocksdb::ReadOptions(), family));
        rows.clear();
      }
    });
  }
  for (int i = 0; i < 200; ++i) {
    for (auto* family : of.families)
      check_ok(of.instance->put(family, "name", "value"));
    CHECK(!take(of.instance->cut()->await()).tables.empty());
  }
  is_over = true;
  for (auto& reader : readers)
    reader.join();
}

TEST_CASE("a cut ends though the state that was written last is dropped") {
  database of(2);
  for (int i = 0; i < 50; ++i) {
    auto* const last = take(of.instance->make(database::family(100 + i)));
    check_ok(of.instance->put(of.families[0], "name", "value"));
    check_ok(of.instance->put(last, "name", "value"));
    check_ok(of.instance->drop(last->GetName()));
    CHECK(!take(of.instance->cut()->await()).tables.empty());
  }
}
} // TEST_SUITE("state/rocksdb/snapshot_cut")

} // namespace headrace::state
