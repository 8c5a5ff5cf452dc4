#include "libstate/checkpoint/local_copies.hpp"

#include "test/libstate/state_fixture.hpp"
#include "test/support/batches.hpp"
#include "test/support/scratch_directory.hpp"
#include "test/support/testing_file_system.hpp"
#include "libstate/registry/state_backends.hpp"
#include "libstate/storage/stored_file.hpp"
#include "libactors/base/text.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstring>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <sys/stat.h>

namespace headrace::state {
namespace {

using namespace headrace::testing;

constexpr job_id job{1, 2};
constexpr operator_id summing{3, 4};
using sum_model = std::map<std::int64_t, std::int64_t>;

/// Files in memory: a subtask's part of each checkpoint is one word and one shared file.
struct copied_files {
  testing_file_system files;
  std::string root = "/checkpoints/" + to_string(job);
  std::unique_ptr<checkpoint_storage> storage =
      make_file_checkpoint_storage(files, "/checkpoints", job);
  local_copies copies{files, "/local", root};

  status write(checkpoint_id id, const std::string& content, const std::string& shared,
               bool fails = false) {
    HEADRACE_TRY(auto part, storage->open(storage->directory(id), {{5, 6}, 0, 0, 0}));
    const auto target = copies.copy(std::move(part), id);
    HEADRACE_TRY(auto* const out, target->output());
    HEADRACE_CHECK(out->append(content));
    HEADRACE_TRY(const auto file, target->create_shared(shared, {}));
    HEADRACE_CHECK(file->append("shared " + shared));
    HEADRACE_CHECK(file->finish());
    return fails ? error(errc::checkpoint_expired, "canceled") : target->finish();
  }
  std::string file_of(checkpoint_id id) const {
    return "/chk-" + std::to_string(id) + "/" + to_string(vertex_id{5, 6}) + "-0-0-0";
  }
  std::vector<std::string> local() const {
    std::vector<std::string> out;
    for (const auto& path : files.paths())
      if (path.starts_with("/local/"))
        out.push_back(path);
    return out;
  }
  static std::string read(file_system& from, const std::string& path) {
    return std::string(take(from.read_all(path, 1000)));
  }
};

std::string shared_path(const std::string& name) {
  return "/shared/" + to_string(vertex_id{5, 6}) + "-0-0-0-" + name;
}

TEST_SUITE_BEGIN("state/checkpoint/local_copies");

TEST_CASE("what is stored is copied, and read from the copy") {
  copied_files at;
  check_ok(at.write(1, "one", "a"));

  CHECK(at.local() ==
        std::vector<std::string>{"/local" + at.file_of(1), "/local" + shared_path("a")});
  const auto from = at.copies.restoring();
  CHECK(copied_files::read(*from, at.root + at.file_of(1)) == "one");
  CHECK(copied_files::read(*from, at.root + shared_path("a")) == "shared a");
  CHECK(from->tally().bytes == 11);
  CHECK(from->tally().local_bytes == 11);
  CHECK(from->tally().refusals.empty());
}

TEST_CASE("copies go as checkpoints complete and abort") {
  copied_files at;
  check_ok(at.write(1, "one", "a"));
  check_ok(at.write(2, "two", "b"));
  check_ok(at.write(3, "three", "b"));

  at.copies.on_completed(2);
  CHECK(at.local() == std::vector<std::string>{"/local" + at.file_of(2), "/local" + at.file_of(3),
                                               "/local" + shared_path("b")});
  at.copies.on_aborted(3);
  CHECK(at.local() ==
        std::vector<std::string>{"/local" + at.file_of(2), "/local" + shared_path("b")});
}

TEST_CASE("a snapshot that fails leaves no copy") {
  copied_files at;
  CHECK(!at.write(1, "one", "a", true));
  CHECK(at.local().empty());
}

TEST_CASE("a copy that cannot be written fails no checkpoint") {
  for (const std::string failing : {"create_directories", "create", "append", "close"}) {
    CAPTURE(failing);
    copied_files at;
    bool is_once = false;
    at.files.intercept([&](const std::string& call, const std::string& path) {
      if (call != failing || !path.starts_with("/local") || std::exchange(is_once, true))
        return std::optional<error>();
      return std::optional(error(errc::storage_full, "no place: " + path));
    });

    check_ok(at.write(1, "one", "a"));

    CHECK(is_once);
    const auto failure = at.copies.take_failure();
    REQUIRE(failure.has_value());
    CHECK(failure->code == errc::storage_full);
    CHECK(!at.copies.take_failure().has_value());
    const auto from = at.copies.restoring();
    CHECK(copied_files::read(*from, at.root + at.file_of(1)) == "one");
    CHECK(copied_files::read(*from, at.root + shared_path("a")) == "shared a");
  }
}

TEST_CASE("a copy that is missing or refused is read as it is stored, and said so") {
  copied_files at;
  check_ok(at.write(1, "one", "a"));
  check_ok(at.files.remove("/local" + shared_path("a")));
  const auto from = at.copies.restoring();

  CHECK(copied_files::read(*from, at.root + shared_path("a")) == "shared a");
  CHECK(copied_files::read(*from, at.root + at.file_of(1)) == "one");
  CHECK(from->refuse_opened(error(errc::corrupt_snapshot, "checksum")));
  CHECK(from->tally().local_bytes == 0);
  at.files.put("/local" + at.file_of(1), "wrong");
  CHECK(copied_files::read(*from, at.root + at.file_of(1)) == "one");

  const auto tally = from->tally();
  CHECK(tally.local_bytes == 0);
  REQUIRE(tally.refusals.size() == 2);
  CHECK(tally.refusals[0].path == at.root + shared_path("a"));
  CHECK(tally.refusals[0].why.has(errc::file_not_found));
  CHECK(tally.refusals[1].why.code == errc::corrupt_snapshot);
  CHECK(!from->refuse_opened(error(errc::corrupt_snapshot, "nothing was open")));
}

TEST_CASE("what has no copy and is no more where it was stored is gone") {
  copied_files at;
  check_ok(at.write(1, "one", "a"));
  for (const bool has_copy : {true, false}) {
    if (!has_copy)
      check_ok(at.files.remove("/local" + shared_path("a")));
    check_ok(at.files.remove(at.root + shared_path("a")));
    check_ok(at.files.create_directories(at.root + "/shared"));
    const auto from = at.copies.restoring();
    const auto file = open_stored(*from, at.root + shared_path("a"));
    CHECK(file.has_value() == has_copy);
    std::array<char, 9> more;
    const auto got = file ? (*file)->read_at(0, more) : result<std::size_t>(file.error());
    REQUIRE(!got.has_value());
    CHECK(got.error().code == errc::corrupt_snapshot);
    CHECK(got.error().has(errc::file_not_found));
  }
}

TEST_CASE("files outside of the job's checkpoints have no copies") {
  copied_files at;
  at.files.put("/savepoint/_part", "s");
  const auto from = at.copies.restoring();
  CHECK(!from->local_path("/savepoint/_part").has_value());
  CHECK(!from->local_path(at.root + "0/x").has_value());
  CHECK(copied_files::read(*from, "/savepoint/_part") == "s");
  CHECK(from->tally().refusals.empty());
}

TEST_CASE("a subtask that starts again keeps the copies that it restores from alone") {
  copied_files at;
  check_ok(at.write(1, "one", "a"));
  check_ok(at.write(2, "two", "b"));
  check_ok(at.write(3, "three", "c"));
  task_state_snapshot restored;
  restored.operators[summing].keyed.push_back({{0, 128},
                                               "native",
                                               {at.root + at.file_of(2), 0, 3},
                                               {{"b", {at.root + shared_path("b"), 0, 8}}}});

  local_copies again(at.files, "/local", at.root);
  again.on_restored(2, restored);

  CHECK(at.local() ==
        std::vector<std::string>{"/local" + at.file_of(2), "/local" + shared_path("b")});
  again.on_completed(3);
  CHECK(at.local().empty());

  check_ok(at.write(4, "four", "d"));
  local_copies fresh(at.files, "/local", at.root);
  fresh.on_restored(0, {});
  CHECK(at.local().empty());
  CHECK(fresh.is_empty());
}

/// A backend's checkpoints and their copies on the machine's disk.
struct on_disk {
  std::unique_ptr<file_system> files = make_local_file_system();
  scratch_directory scratch;
  manual_clock time;
  std::unique_ptr<state_backend> maker;
  std::string root = scratch.path() + "/checkpoints/" + to_string(job);
  std::unique_ptr<checkpoint_storage> storage =
      make_file_checkpoint_storage(*files, scratch.path() + "/checkpoints", job);
  int made = 0;

  explicit on_disk(const std::string& backend)
      : maker(take(make_state_backend(backend, std::uint64_t{64} << 20U))) {}

  std::unique_ptr<keyed_backend> make(local_first_files* from = nullptr) {
    keyed_backend_setup setup{key_schema(number_type()),
                              128,
                              {0, 128},
                              &time,
                              files.get(),
                              nullptr,
                              scratch.path() + "/db-" + std::to_string(made++),
                              "sums",
                              from};
    return take(maker->make(std::move(setup)));
  }
  void write(keyed_backend& backend, std::int64_t first, std::int64_t number, sum_model& model) {
    auto& table = *take(backend.open_table(sums()));
    std::vector<std::int64_t> values(2000);
    std::iota(values.begin(), values.end(), first);
    key_batch keys(backend.key(), 128);
    keys.assign(numbers(values), column_0);
    located_rows at;
    check_ok(table.locate(keys, all_rows(values.size()), 0, access::insert, at));
    for (std::size_t i = 0; i < values.size(); ++i) {
      std::memcpy(at.values[i], &number, sizeof(number));
      model[values[i]] = number;
    }
    check_ok(table.write_back(at));
  }
  task_state_snapshot store(keyed_backend& backend, checkpoint_id id, local_copies& copies) {
    const auto target =
        copies.copy(take(storage->open(storage->directory(id), {{5, 6}, 0, 0, 0})), id);
    const auto part = take(backend.snapshot(id, snapshot_kind::native));
    task_state_snapshot out;
    out.operators[summing].keyed.push_back(take(part->run(*target)));
    check_ok(target->finish());
    backend.notify_completed(id);
    copies.on_completed(id);
    return out;
  }
  sum_model content(keyed_backend& backend) {
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
  /// Changes a byte in the middle of each copy.
  void damage(const std::string& directory) {
    for (const auto& entry : take(files->list(directory))) {
      if (entry.is_directory) {
        damage(entry.path);
        continue;
      }
      auto content = take(files->read_all(entry.path, 1U << 30U));
      content[content.size() / 2] = static_cast<char>(content[content.size() / 2] ^ 1);
      check_ok(files->remove(entry.path)); // a table file has other names
      const auto file = take(files->create(entry.path));
      check_ok(file->append(content));
      check_ok(file->close());
    }
  }
};

TEST_CASE("a backend is restored from local copies over many checkpoints") {
  for (const std::string name : {"hashmap", "rocksdb"}) {
    CAPTURE(name);
    on_disk at(name);
    local_copies copies(*at.files, at.scratch.path() + "/local", at.root);
    sum_model model;
    auto backend = at.make();
    check_ok(backend->restore({}));
    task_state_snapshot stored;
    for (checkpoint_id id = 1; id <= 5; ++id) {
      at.write(*backend, id * 1000, id, model);
      stored = at.store(*backend, id, copies);
    }
    backend.reset();

    local_copies again(*at.files, at.scratch.path() + "/local", at.root);
    const auto from = again.restoring();
    const auto restored = at.make(from.get());
    check_ok(restored->restore(stored.operators.at(summing).keyed));
    again.on_restored(5, stored);

    CHECK(at.content(*restored) == model);
    const auto tally = from->tally();
    CHECK(tally.refused == 0);
    CHECK(tally.local_bytes > 0);
    CHECK(tally.local_bytes == tally.bytes);
    // The next checkpoint is copied as well, and has what it needs.
    at.write(*restored, 100'000, 6, model);
    const auto next = at.store(*restored, 6, again);
    const auto from_next = again.restoring();
    const auto last = at.make(from_next.get());
    check_ok(last->restore(next.operators.at(summing).keyed));
    CHECK(at.content(*last) == model);
    CHECK(from_next->tally().refused == 0);
  }
}

TEST_CASE("a damaged copy is never believed") {
  for (const std::string name : {"hashmap", "rocksdb"}) {
    CAPTURE(name);
    on_disk at(name);
    local_copies copies(*at.files, at.scratch.path() + "/local", at.root);
    sum_model model;
    auto backend = at.make();
    check_ok(backend->restore({}));
    at.write(*backend, 0, 1, model);
    const auto stored = at.store(*backend, 1, copies);
    backend.reset();
    at.damage(at.scratch.path() + "/local");

    const auto from = copies.restoring();
    auto restored = at.make(from.get());
    auto outcome = restored->restore(stored.operators.at(summing).keyed);
    while (!outcome) { // one file after the other
      CHECK(outcome.error().has(errc::corrupt_snapshot));
      REQUIRE(from->refuse_opened(outcome.error()));
      restored.reset();
      restored = at.make(from.get());
      outcome = restored->restore(stored.operators.at(summing).keyed);
    }

    CHECK(at.content(*restored) == model);
    const auto tally = from->tally();
    CHECK(tally.refused >= 1);
    CHECK(tally.local_bytes == 0);
  }
}

TEST_CASE("a copy that is no file is not waited for") {
  for (const std::string name : {"hashmap", "rocksdb"}) {
    CAPTURE(name);
    on_disk at(name);
    local_copies copies(*at.files, at.scratch.path() + "/local", at.root);
    sum_model model;
    auto backend = at.make();
    check_ok(backend->restore({}));
    at.write(*backend, 0, 1, model);
    const auto stored = at.store(*backend, 1, copies);
    backend.reset();
    for (const auto& directory : {"/local/shared", "/local/chk-1"})
      for (const auto& entry : take(at.files->list(at.scratch.path() + directory))) {
        check_ok(at.files->remove(entry.path));
        REQUIRE(::mkfifo(entry.path.c_str(), 0600) == 0);
      }

    const auto from = copies.restoring();
    const auto restored = at.make(from.get());
    check_ok(restored->restore(stored.operators.at(summing).keyed));

    CHECK(at.content(*restored) == model);
    const auto tally = from->tally();
    REQUIRE(!tally.refusals.empty());
    CHECK(tally.refusals.front().why.message.find("no regular file: ") == 0);
    CHECK(tally.local_bytes == 0);
  }
}

TEST_CASE("table files of RocksDB are linked, not copied") {
  on_disk at("rocksdb");
  local_copies copies(*at.files, at.scratch.path() + "/local", at.root);
  sum_model model;
  auto backend = at.make();
  check_ok(backend->restore({}));
  at.write(*backend, 0, 1, model);
  const auto stored = at.store(*backend, 1, copies);
  const auto from = copies.restoring();
  const auto restored = at.make(from.get());
  check_ok(restored->restore(stored.operators.at(summing).keyed));

  const auto shared = take(at.files->list(at.scratch.path() + "/local/shared"));
  REQUIRE(!shared.empty());
  for (const auto& copy : shared) {
    const auto name = copy.path.substr(copy.path.rfind('-') + 1);
    for (const std::string directory : {"/db-0/", "/db-1/"}) {
      const auto table = take(at.files->stat(at.scratch.path() + directory + name));
      CHECK(table.inode == copy.inode);
      CHECK(table.device == copy.device);
    }
  }
}

TEST_SUITE_END();

} // namespace
} // namespace headrace::state
