#include "libstate/rocksdb/rocksdb_backend.hpp"

#include "test/libstate/state_fixture.hpp"
#include "test/support/batches.hpp"
#include "test/support/seed.hpp"
#include "libstate/checkpoint/checkpoint_storage.hpp"
#include "libstate/rocksdb/rocksdb_status.hpp"
#include "libstate/rocksdb/table_files.hpp"
#include "libactors/base/random.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <numeric>

namespace headrace::state {
namespace {

using namespace headrace::testing;

using sum_model = std::map<std::int64_t, std::int64_t>;

struct rocksdb_fixture : state_fixture {
  rocksdb_fixture() : state_fixture(on_rocksdb) {}

  /// Puts numbers under keys first … first + count - 1.
  static void write(keyed_backend& backend, std::int64_t first, std::int64_t count,
                    std::int64_t number, sum_model* model = nullptr) {
    auto& table = *take(backend.open_table(sums()));
    std::vector<std::int64_t> values(static_cast<std::size_t>(count));
    std::iota(values.begin(), values.end(), first);
    std::vector<std::uint32_t> rows(values.size());
    std::iota(rows.begin(), rows.end(), 0U);
    key_batch keys(backend.key(), backend.max_parallelism());
    keys.assign(numbers(values), column_0);
    located_rows at;
    check_ok(table.locate(keys, rows, 0, access::insert, at));
    for (std::size_t i = 0; i < values.size(); ++i) {
      std::memcpy(at.values[i], &number, sizeof(number));
      if (model != nullptr)
        (*model)[values[i]] = number;
    }
    check_ok(table.write_back(at));
  }
  static sum_model read(keyed_backend& backend) {
    sum_model out;
    auto& table = *take(backend.open_table(sums()));
    auto piece = table.make_piece();
    for (scan_cursor cursor; !cursor.done;) {
      check_ok(table.scan(0, cursor, 1000, piece));
      const auto keys = numbers_of(take(piece.keys.to_batch()));
      for (std::size_t i = 0; i < keys.size(); ++i)
        std::memcpy(&out[keys[i]], piece.fixed[i], 8);
    }
    return out;
  }
  std::vector<std::string> shared_paths() const {
    std::vector<std::string> out;
    for (const auto& path : files.paths()) {
      if (path.starts_with("shared/"))
        out.push_back(path);
    }
    return out;
  }
};

std::vector<std::string> paths_of(const keyed_state_handle& handle) {
  std::vector<std::string> out;
  for (const auto& file : handle.shared)
    out.push_back(file.segment.path);
  std::sort(out.begin(), out.end());
  return out;
}

} // namespace

TEST_SUITE("state/rocksdb/rocksdb_backend") {
TEST_CASE_FIXTURE(rocksdb_fixture, "a later snapshot writes only what has changed") {
  const auto backend = make(number_type());
  write(*backend, 0, 20'000, 1);
  const auto first = store(*backend, "s1");
  REQUIRE(!first.shared.empty());
  backend->notify_completed(1);

  write(*backend, 5, 10, 2);
  const auto job = snapshot(*backend, 2);
  const auto second = store(*job, "s2");

  const auto before = paths_of(first);
  const auto after = paths_of(second);
  CHECK(std::includes(after.begin(), after.end(), before.begin(), before.end()));
  CHECK(after.size() == before.size() + 1);
  std::uint64_t added = 0;
  for (const auto& file : second.shared) {
    if (!std::binary_search(before.begin(), before.end(), file.segment.path))
      added += file.segment.size_bytes;
  }
  CHECK(added < 4096);

  const auto third = store(*snapshot(*backend, 3), "s3");
  CHECK(paths_of(third) == after);
}

TEST_CASE_FIXTURE(rocksdb_fixture, "a snapshot holds what was written before it, and no more") {
  maker = std::make_unique<rocksdb_state_backend>(rocksdb_memory::budget_bytes_least, 0);
  const auto random = make_seeded_random(seed());
  const auto backend = make(number_type());
  sum_model model;
  std::vector<std::pair<std::unique_ptr<snapshot_job>, sum_model>> taken;
  for (int round = 0; round < 12; ++round) {
    taken.emplace_back(snapshot(*backend, round), model);
    // More than the write buffers hold, so that flushes of younger rows wait behind the cut's.
    for (int step = 0; step < 6; ++step)
      write(*backend, static_cast<std::int64_t>(random->below(40'000)), 4000, round * 10 + step,
            &model);
  }
  for (std::size_t i = 0; i < taken.size(); ++i) {
    const auto handle = store(*taken[i].first, "s" + std::to_string(i));
    const auto other = make(number_type());
    check_ok(other->restore({handle}));
    CHECK(read(*other) == taken[i].second);
  }
}

TEST_CASE_FIXTURE(rocksdb_fixture, "small table files lie in the snapshot's own stream") {
  maker = std::make_unique<rocksdb_state_backend>(std::uint64_t{64} << 20U);
  auto backend = make(number_type());
  sum_model model;
  write(*backend, 0, 20'000, 1, &model);
  const auto first = store(*backend, "s1");
  backend->notify_completed(1);
  const auto large = shared_paths();
  CHECK(!large.empty());

  write(*backend, 5, 10, 2, &model);
  const auto second = store(*snapshot(*backend, 2), "s2");
  backend->notify_completed(2);
  write(*backend, 7, 10, 3, &model);
  const auto third = store(*snapshot(*backend, 3), "s3");
  CHECK(shared_paths() == large); // no file but that of the first
  const auto of_second = paths_of(second);
  CHECK(std::count(of_second.begin(), of_second.end(), "s2") == 1);
  const auto of_third = paths_of(third);
  CHECK(std::count(of_third.begin(), of_third.end(), "s3") == 2);
  backend.reset();
  check_ok(files.remove("s1"));
  check_ok(files.remove("s2"));

  for (const auto& groups : {key_group_range{0, max_parallelism}, key_group_range{0, 64}}) {
    const auto restored = make(number_type(), groups);
    check_ok(restored->restore({third}));
    if (groups.end == max_parallelism) {
      CHECK(read(*restored) == model);
      const auto next = store(*snapshot(*restored, 4), "s4");
      const auto again = make(number_type());
      check_ok(again->restore({next}));
      CHECK(read(*again) == model);
    } else {
      const auto found = read(*restored);
      CHECK(!found.empty());
      CHECK(found.size() < model.size());
      for (const auto& [key, value] : found)
        CHECK(model.at(key) == value);
    }
  }
}

TEST_CASE_FIXTURE(rocksdb_fixture, "a snapshot that was never run lets its files go") {
  const auto backend = make(number_type());
  sum_model model;
  write(*backend, 0, 1000, 1, &model);
  snapshot(*backend, 1).reset();
  write(*backend, 500, 1000, 2, &model);
  auto second = snapshot(*backend, 2);
  second->cancel();
  testing_target target(files, "s2");
  CHECK(second->run(target).error().code == errc::checkpoint_expired);
  second.reset();

  const auto handle = store(*snapshot(*backend, 3), "s3");
  const auto other = make(number_type());
  check_ok(other->restore({handle}));
  CHECK(read(*other) == model);
}

TEST_CASE_FIXTURE(rocksdb_fixture, "files that only aborted checkpoints named are removed") {
  const auto backend = make(number_type());
  keyed_state_handle last;
  for (int checkpoint = 1; checkpoint <= 12; ++checkpoint) {
    // Overwrites all, so that compactions leave files behind.
    write(*backend, 0, 5000, checkpoint);
    last = store(*snapshot(*backend, checkpoint), "s" + std::to_string(checkpoint));
    backend->notify_aborted(checkpoint);
  }
  // Each snapshot first removes what the one before it left; compactions run when they like.
  CHECK(shared_paths().size() <= last.shared.size() + 12);
  const auto kept = shared_paths();
  for (const auto& path : paths_of(last))
    CHECK(std::binary_search(kept.begin(), kept.end(), path));

  backend->notify_completed(12);
  const auto other = make(number_type());
  check_ok(other->restore({last}));
  CHECK(read(*other).size() == 5000);
}

TEST_CASE_FIXTURE(rocksdb_fixture,
                  "what an aborted checkpoint left is written anew once it is removed") {
  const auto backend = make(number_type());
  sum_model model;
  write(*backend, 0, 5000, 1, &model);
  for (const auto& path : paths_of(store(*snapshot(*backend, 1), "s1")))
    check_ok(files.remove(path)); // belongs to no complete checkpoint
  backend->notify_aborted(1);

  const auto next = store(*snapshot(*backend, 2), "s2");
  backend->notify_completed(2);
  const auto other = make(number_type());
  check_ok(other->restore({next}));
  CHECK(read(*other) == model);
}

TEST_CASE_FIXTURE(rocksdb_fixture, "a restored backend shares the files of its own job alone") {
  auto backend = make(number_type());
  write(*backend, 0, 5000, 1);
  const auto handle = store(*backend, "s1");

  const auto own = make(number_type());
  check_ok(own->restore({handle}));
  CHECK(paths_of(store(*own, "s2")) == paths_of(handle));

  auto foreign = handle;
  for (auto& file : foreign.shared) {
    files.put("other/" + file.name, byte_string(files.at(file.segment.path)));
    file.segment.path = "other/" + file.name;
  }
  const auto from_other = make(number_type());
  check_ok(from_other->restore({foreign}));
  for (const auto& path : paths_of(store(*from_other, "s3")))
    CHECK(path.starts_with("shared/"));
}

TEST_CASE_FIXTURE(rocksdb_fixture, "a native savepoint has all its files to itself") {
  auto backend = make(number_type());
  sum_model model;
  write(*backend, 0, 5000, 1, &model);
  const auto first = store(*backend, "s1");
  backend->notify_completed(1);

  const auto storage = make_file_checkpoint_storage(files, "/checkpoints", job_id{1, 2});
  check_ok(storage->begin_savepoint("/savepoint"));
  const auto target = take(storage->open("/savepoint", {}, true));
  const auto saved = take(snapshot(*backend, 2)->run(*target));
  check_ok(target->finish());

  REQUIRE(!saved.shared.empty());
  CHECK(saved.segment.path.starts_with("/savepoint/"));
  for (const auto& path : paths_of(saved))
    CHECK(path.starts_with("/savepoint/"));
  CHECK(paths_of(store(*snapshot(*backend, 3), "s3")) == paths_of(first));

  backend.reset();
  for (const auto& path : files.paths()) {
    if (!path.starts_with("/savepoint/"))
      check_ok(files.remove(path));
  }
  const auto restored = make(number_type());
  check_ok(restored->restore({saved}));
  CHECK(read(*restored) == model);
  for (const auto& path : paths_of(store(*restored, "s4")))
    CHECK(path.starts_with("shared/"));
}

TEST_CASE_FIXTURE(rocksdb_fixture, "a damaged or missing file is refused by name") {
  const auto backend = make(number_type());
  write(*backend, 0, 5000, 1);
  const auto handle = store(*backend, "s1");
  const auto path = handle.shared.front().segment.path;
  const byte_string whole(files.at(path));
  for (const auto* which : {path.c_str(), "s1"}) {
    const byte_string good(files.at(which));
    auto bad = good;
    bad[bad.size() / 2] = static_cast<char>(bad[bad.size() / 2] ^ 1);
    files.put(which, bad);
    const auto refused = make(number_type())->restore({handle});
    REQUIRE(!refused);
    CHECK(refused.error().code == errc::corrupt_snapshot);
    CHECK(refused.error().message.find(which) != std::string::npos);
    const auto told = check_native(files, handle);
    REQUIRE(!told);
    CHECK(told.error().message == refused.error().message);
    files.put(which, good);
    check_ok(check_native(files, handle));
  }
  for (const bool is_mounted : {false, true}) {
    check_ok(is_mounted ? files.create_directories("shared") : files.remove_tree("shared"));
    const auto refused = make(number_type())->restore({handle});
    REQUIRE(!refused);
    CHECK(refused.error().code == (is_mounted ? errc::corrupt_snapshot : errc::storage_failed));
    CHECK(refused.error().message.find(path) != std::string::npos);
    CHECK(!check_native(files, handle));
  }
}

TEST_CASE("damage of RocksDB's working files is a fault of the storage, which a restart heals") {
  const auto damaged = to_status(rocksdb::Status::Corruption("block checksum mismatch"), "read");
  REQUIRE(!damaged);
  CHECK(damaged.error().code == errc::storage_failed);
}

TEST_CASE_FIXTURE(rocksdb_fixture, "a backend leaves no local files behind") {
  auto backend = make(number_type());
  write(*backend, 0, 1000, 1);
  auto job = snapshot(*backend, 1);
  const auto is_empty = [&] { return std::filesystem::is_empty(scratch.path()); };
  CHECK(!is_empty());
  backend.reset();
  CHECK(!is_empty()); // the job reads them yet
  const auto handle = store(*job, "s1");
  job.reset();
  CHECK(is_empty());

  auto half = make(number_type(), {0, 64});
  check_ok(half->restore({handle}));
  half.reset();
  CHECK(is_empty());
}

TEST_CASE_FIXTURE(rocksdb_fixture,
                  "figures have Flink's names, and none are left of a backend that is gone") {
  auto backend = make(number_type());
  CHECK(backend->figures() == nullptr);
  write(*backend, 0, 2000, 1);
  const auto figures = backend->figures();
  REQUIRE(figures != nullptr);

  std::map<std::string, std::uint64_t> told;
  for (const auto& one : figures->read())
    told[one.name] = one.value;

  CHECK(told.size() == 25);
  CHECK(told.contains("rocksdb.shared-reads"));
  CHECK(told.at("rocksdb.num-entries-active-mem-table") >= 2000);
  CHECK(told.at("rocksdb.cur-size-all-mem-tables") > 2000 * 16);
  CHECK(told.at("rocksdb.block-cache-capacity") > 0);
  CHECK(told.at("rocksdb.background-errors") == 0);
  CHECK(told.contains("rocksdb.estimate-live-data-size"));
  CHECK(told.contains("rocksdb.num-running-compactions"));
  backend.reset();
  CHECK(figures->read().empty());
}

TEST_CASE_FIXTURE(rocksdb_fixture, "many backends keep to one budget for write buffers") {
  constexpr std::uint64_t budget = std::uint64_t{16} << 20U;
  const auto memory = std::make_shared<rocksdb_memory>(budget);
  std::vector<std::unique_ptr<keyed_backend>> backends;
  for (int i = 0; i < 6; ++i) {
    const auto name = "m" + std::to_string(i);
    keyed_backend_setup setup{key_schema(number_type()),
                              max_parallelism,
                              {0, max_parallelism},
                              &time,
                              &files,
                              nullptr,
                              scratch.path() + "/" + name,
                              name};
    backends.push_back(std::make_unique<rocksdb_backend>(std::move(setup), memory));
  }
  // One after the other, so that all but one are idle with what they have.
  for (auto& backend : backends) {
    for (std::int64_t piece = 0; piece < 20; ++piece)
      write(*backend, piece * 2000, 2000, piece);
  }
  CHECK(memory->write_buffers()->memory_usage() <= budget / 2);
  CHECK(memory->cache()->GetUsage() <= budget);
  for (auto& backend : backends)
    CHECK(read(*backend).size() == 40'000);
  CHECK(memory->cache()->GetUsage() <= budget);
}
} // TEST_SUITE("state/rocksdb/rocksdb_backend")

} // namespace headrace::state
