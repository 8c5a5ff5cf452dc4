#include "libstate/rocksdb/rocksdb_table.hpp"

#include "test/libstate/state_fixture.hpp"
#include "test/support/batches.hpp"
#include "test/support/seed.hpp"
#include "libactors/base/random.hpp"

#include <doctest/doctest.h>

#include <cstring>
#include <filesystem>
#include <map>
#include <string>
#include <thread>
#include <vector>

namespace headrace::state {
namespace {

using namespace headrace::testing;

state_description texts() {
  auto out = sums();
  out.name = "texts";
  out.value_type = graph::logical_type::bytes();
  out.layout = value_layout::variable();
  return out;
}

/// One subtask's numbers and texts by key, beside what they should be.
class checked_states {
public:
  checked_states(keyed_backend& of, std::uint64_t seed)
      : random_(make_seeded_random(seed)), keys_(of.key(), of.max_parallelism()) {
    numbers_ = *of.open_table(sums());
    texts_ = *of.open_table(texts());
  }

  /// Changes a batch of rows. @returns whether all was as it should be
  bool step() {
    std::vector<std::int64_t> batch(1 + random_->below(600));
    for (auto& key : batch)
      key = static_cast<std::int64_t>(random_->below(2'000));
    keys_.assign(numbers(batch), column_0);
    const auto rows = all_rows(batch.size());
    return random_->below(2) == 0 ? add(batch, rows) : append(batch, rows);
  }

private:
  bool add(const std::vector<std::int64_t>& batch, const std::vector<std::uint32_t>& rows) {
    bool is_right = numbers_->locate(keys_, rows, 0, access::insert, at_).has_value();
    for (std::size_t i = 0; is_right && i < batch.size(); ++i) {
      auto& expected = sums_[batch[i]];
      is_right = std::memcmp(at_.values[i], &expected, sizeof(expected)) == 0;
      ++expected;
      std::memcpy(at_.values[i], &expected, sizeof(expected));
    }
    return is_right && numbers_->write_back(at_).has_value();
  }
  bool append(const std::vector<std::int64_t>& batch, const std::vector<std::uint32_t>& rows) {
    bool is_right = texts_->locate(keys_, rows, 0, access::insert, at_).has_value();
    for (std::size_t i = 0; is_right && i < batch.size(); ++i) {
      auto& expected = written_[batch[i]];
      is_right = texts_->get(at_, i) == byte_view(expected);
      const std::string more(1 + random_->below(9), static_cast<char>('a' + batch[i] % 26));
      expected = expected.size() < 100 ? expected + more : more;
      is_right = is_right && texts_->put(at_, i, expected).has_value();
    }
    return is_right && texts_->write_back(at_).has_value();
  }

  std::unique_ptr<random_source> random_;
  key_batch keys_;
  keyed_table* numbers_ = nullptr;
  keyed_table* texts_ = nullptr;
  located_rows at_;
  std::map<std::int64_t, std::int64_t> sums_;
  std::map<std::int64_t, byte_string> written_;
};

struct shared_fixture : state_fixture {
  shared_fixture() : state_fixture(on_rocksdb) {}
  static std::uint64_t shared_reads(const keyed_backend& of) {
    for (const auto& one : of.figures()->read()) {
      if (one.name == "rocksdb.shared-reads")
        return one.value;
    }
    return 0;
  }
};

} // namespace

TEST_SUITE("state/rocksdb/rocksdb_table") {
TEST_CASE_FIXTURE(shared_fixture, "subtasks read what they wrote while others come and go") {
  CAPTURE(testing::seed());
  // The least memory: rows are flushed, merged and read back all the time.
  batch_reading reading{std::make_shared<read_threads>(3), read_pace::limits::always(), 16};
  maker = std::make_unique<rocksdb_state_backend>(rocksdb_memory::budget_bytes_least, 0, reading);
  constexpr std::size_t subtasks = 4;
  constexpr int lives = 4;
  std::vector<std::vector<std::unique_ptr<keyed_backend>>> backends(subtasks);
  for (auto& of_one : backends) {
    for (int i = 0; i < lives; ++i)
      of_one.push_back(make(number_type()));
  }
  std::vector<std::string> failures(subtasks);
  std::vector<std::uint64_t> shared(subtasks);
  std::vector<std::thread> running;
  for (std::size_t i = 0; i < subtasks; ++i)
    running.emplace_back([&, i] {
      for (auto& backend : backends[i]) {
        checked_states states(*backend, testing::seed() + i);
        for (int step = 0; step < 60; ++step) {
          if (!states.step())
            failures[i] = "a batch is not what was written, or could not be read";
        }
        shared[i] += shared_reads(*backend);
        backend.reset();
      }
    });
  for (auto& one : running)
    one.join();

  for (std::size_t i = 0; i < subtasks; ++i) {
    CHECK(failures[i].empty());
    CHECK(shared[i] > 0);
  }
}

TEST_CASE_FIXTURE(shared_fixture, "a batch of which a row cannot be read fails") {
  for (const auto& pays : {read_pace::limits{}, read_pace::limits::always()}) {
    maker = std::make_unique<rocksdb_state_backend>(
        std::uint64_t{64} << 20U, 0, batch_reading{std::make_shared<read_threads>(3), pays});
    const auto backend = make(number_type());
    auto& table = *take(backend->open_table(sums()));
    key_batch keys(backend->key(), max_parallelism);
    std::vector<std::int64_t> values(20'000);
    std::iota(values.begin(), values.end(), 0);
    keys.assign(numbers(values), column_0);
    located_rows at;
    check_ok(table.locate(keys, all_rows(values.size()), 0, access::insert, at));
    check_ok(table.write_back(at));
    store(*backend, "s" + std::to_string(backends_made)); // flushes
    for (const auto& entry : std::filesystem::recursive_directory_iterator(scratch.path())) {
      if (entry.path().extension() == ".sst")
        std::filesystem::resize_file(entry.path(), entry.file_size() / 2);
    }

    const auto found = table.locate(keys, all_rows(values.size()), 0, access::read, at);

    REQUIRE(!found);
    CHECK((found.error().has(errc::corrupt_snapshot) || found.error().has(errc::storage_failed)));
  }
}
} // TEST_SUITE("state/rocksdb/rocksdb_table")

} // namespace headrace::state
