#include "libscheduler/checkpoint/checkpoint_record.hpp"

#include "test/support/testing_file_system.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <optional>
#include <string>

namespace headrace::scheduler {

namespace {

constexpr job_id job{1, 2};

/// Checkpoints and records of one job.
struct testing_store {
  testing::testing_file_system files;
  std::unique_ptr<state::checkpoint_storage> storage =
      state::make_file_checkpoint_storage(files, "/checkpoints", job);
  checkpoint_records records{files, "/jobs"};

  testing_store() { REQUIRE(files.create_directories("/jobs")); }
  status store(checkpoint_id id, bool records_it = true) {
    state::completed_checkpoint one;
    one.job = job;
    one.id = id;
    HEADRACE_CHECK(storage->begin(id));
    return store_completed(*storage, records_it ? &records : nullptr, one);
  }
  std::string manifest(checkpoint_id id) const { return storage->directory(id) + "/_metadata"; }
  void spoil(checkpoint_id id) {
    auto bytes = files.at(manifest(id));
    bytes.back() = static_cast<char>(bytes.back() ^ 1);
    files.put(manifest(id), bytes);
  }
  std::vector<checkpoint_id> recovered() {
    std::vector<checkpoint_id> out;
    const auto found = recover_checkpoints(*storage, &records, job);
    REQUIRE(found);
    for (const auto& each : found->completed)
      out.push_back(each.id);
    return out;
  }
  /// Calls of these kinds on records fail from now on.
  void fail_records(const std::string& calls) {
    files.intercept([calls](const std::string& call, const std::string& path) {
      return path.starts_with("/jobs/") && calls.find(call) != std::string::npos
                 ? std::optional(error(errc::storage_full, "no space left"))
                 : std::nullopt;
    });
  }
};

using ids = std::vector<checkpoint_id>;

} // namespace

TEST_SUITE("scheduler/checkpoint/checkpoint_record") {

TEST_CASE("all complete checkpoints are recovered, and none is no error") {
  testing_store made;
  CHECK(made.recovered().empty());
  for (const checkpoint_id id : {1, 2, 3})
    REQUIRE(made.store(id));

  CHECK(made.recovered() == ids{1, 2, 3});
}

TEST_CASE("the recorded checkpoint is recovered or none, and it is named") {
  for (const bool is_removed : {false, true}) {
    testing_store made;
    REQUIRE(made.store(1));
    REQUIRE(made.store(2));
    if (is_removed)
      REQUIRE(made.files.remove(made.manifest(2)));
    else
      made.spoil(2);

    const auto found = recover_checkpoints(*made.storage, &made.records, job);

    REQUIRE(!found);
    CHECK(found.error().code == (is_removed ? errc::file_not_found : errc::corrupt_snapshot));
    CHECK(found.error().message.find(made.storage->directory(2)) != std::string::npos);
    // Without a record, as without a store of jobs, the newest readable one is taken.
    CHECK(recover_checkpoints(*made.storage, nullptr, job)->completed.back().id == 1);
  }
}

TEST_CASE("an older one that is corrupt is named, and does not stand in the way") {
  testing_store made;
  REQUIRE(made.store(1));
  REQUIRE(made.store(2));
  made.spoil(1);

  const auto found = recover_checkpoints(*made.storage, &made.records, job);

  REQUIRE(found);
  CHECK(found->completed.size() == 1);
  CHECK(found->refused.size() == 1);
}

TEST_CASE("a manifest that is newer than the record is gone on from, and recorded before that") {
  testing_store made;
  REQUIRE(made.store(1));
  REQUIRE(made.store(2, false)); // the process ended before its record

  CHECK(made.recovered() == ids{1, 2});
  CHECK((*made.records.get(job))->id == 2);

  REQUIRE(made.store(3, false));
  made.spoil(3); // nothing was committed behind it
  CHECK(made.recovered() == ids{1, 2});
  CHECK(recover_checkpoints(*made.storage, &made.records, job)->last == 3);
}

TEST_CASE("a store of an older release has no record, and gets one") {
  testing_store made;
  REQUIRE(made.store(1, false));
  REQUIRE(made.store(2, false));

  CHECK(made.recovered() == ids{1, 2});
  CHECK((*made.records.get(job))->id == 2);
}

TEST_CASE("a checkpoint that cannot be recorded is none, and the last one stays the newest") {
  testing_store made;
  REQUIRE(made.store(1));
  made.fail_records("create");

  const auto stored = made.store(2);

  REQUIRE(!stored);
  CHECK(stored.error().has(errc::storage_full));
  made.files.intercept({});
  CHECK(made.recovered() == ids{1});
}

TEST_CASE(
    "when it is not known which record is the lasting one, the checkpoints of both are kept") {
  testing_store made;
  REQUIRE(made.store(1));
  made.fail_records("rename, open");

  CHECK(!made.store(2));

  made.files.intercept({});
  CHECK(made.recovered() == ids{1, 2});
}

TEST_CASE("a record with a changed byte is refused, not taken for none") {
  testing_store made;
  REQUIRE(made.store(1));
  const auto path = made.files.list("/jobs")->front().path;
  const auto whole = made.files.at(path);
  for (std::size_t at = 0; at < whole.size(); ++at) {
    auto spoiled = whole;
    spoiled[at] = static_cast<char>(spoiled[at] ^ 4);
    made.files.put(path, spoiled);
    const auto found = recover_checkpoints(*made.storage, &made.records, job);
    REQUIRE(!found);
    CHECK(found.error().message.find(path) != std::string::npos);
  }
  made.files.put(path, whole);
  CHECK(made.records.remove(job));
  CHECK(made.records.remove(job));
  CHECK(!made.records.get(job)->has_value());
}

TEST_CASE("a refused recovery is known by its words, not by a code alone") {
  const auto refused = refused_recovery(job, {errc::file_not_found, "chk-7"});

  CHECK(is_refused_recovery(refused));
  CHECK(!is_refused_recovery({errc::state_not_found, "operator has no such state"}));
}

} // TEST_SUITE("scheduler/checkpoint/checkpoint_record")

} // namespace headrace::scheduler
