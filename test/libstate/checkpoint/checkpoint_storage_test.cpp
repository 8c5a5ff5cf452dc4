#include "libstate/checkpoint/checkpoint_storage.hpp"

#include "test/libstate/state_fixture.hpp"
#include "test/support/batches.hpp"
#include "libstate/snapshot/block_codec.hpp"

#include <doctest/doctest.h>

namespace headrace::state {
namespace {

using namespace headrace::testing;

constexpr job_id job{1, 2};
constexpr operator_id summing{3, 4};
constexpr vertex_id vertex{5, 6};

struct storage_fixture : state_fixture {
  std::unique_ptr<checkpoint_storage> storage =
      make_file_checkpoint_storage(files, "/checkpoints", job);

  result<completed_checkpoint> write(checkpoint_id id, const std::string& content = "content") {
    HEADRACE_CHECK(storage->begin(id));
    completed_checkpoint out;
    out.job = job;
    out.id = id;
    out.triggered_ms = 100;
    out.completed_ms = 200;
    auto& one = out.operators[summing];
    one.id = summing;
    one.name = "sum";
    one.parallelism = 2;
    one.coordinator = "coordinator";
    one.has_coordinator = true;
    for (std::int32_t subtask = 0; subtask < 2; ++subtask) {
      HEADRACE_TRY(const auto target, storage->open(storage->directory(id), {vertex, subtask, 0}));
      HEADRACE_TRY(auto* const output, target->output());
      HEADRACE_CHECK(output->append(content));
      one.subtasks[subtask].keyed.push_back({{subtask * 64, subtask * 64 + 64},
                                             "canonical",
                                             {output->path(), 0, output->position()},
                                             {}});
      HEADRACE_CHECK(target->finish());
    }
    HEADRACE_CHECK(storage->complete(out));
    return out;
  }
};

} // namespace

TEST_SUITE("state/checkpoint/checkpoint_storage") {
TEST_CASE_FIXTURE(storage_fixture, "a complete checkpoint is read as it was written") {
  CHECK(take(storage->list()).empty());
  const auto first = take(write(1));
  const auto second = take(write(2));

  CHECK(take(storage->list()) == std::vector<checkpoint_id>{1, 2});
  CHECK(take(storage->read(2)) == second);
  CHECK(take(read_checkpoint(files, first.directory)) == first);
  CHECK(take(read_checkpoint(files, first.directory + "/")) == first);
  CHECK(take(read_checkpoint(files, first.directory + "/_metadata")) == first);
  CHECK(storage->read(3).error().code == errc::file_not_found);
  CHECK(first.size_bytes() == 2 * 7 + 11);
}

TEST_CASE_FIXTURE(storage_fixture, "what a checkpoint shares with the one before it is not new") {
  const auto with = [&](checkpoint_id id, std::vector<shared_file> shared) {
    auto out = take(write(id));
    out.operators.at(summing).subtasks.at(0).keyed[0].shared = std::move(shared);
    return out;
  };
  const auto own = take(write(1)).size_bytes();
  const auto first = with(1, {{"a", {"/c/shared/a", 0, 100}}, {"b", {"/c/shared/b", 0, 30}}});
  const auto second = with(2, {{"a", {"/c/shared/a", 0, 100}}, {"c", {"/c/shared/b", 30, 5}}});

  CHECK(first.size_bytes() == own + 130);
  CHECK(first.new_bytes(nullptr) == own + 130);
  CHECK(second.size_bytes() == own + 105);
  CHECK(second.new_bytes(&first) == own + 5);
}

TEST_CASE_FIXTURE(storage_fixture, "a moved directory is still a checkpoint") {
  const auto before = take(write(1));
  for (const auto& path : files.paths())
    files.put("/elsewhere/cp" + path.substr(before.directory.size()), files.at(path));

  const auto moved = take(read_checkpoint(files, "/elsewhere/cp"));

  CHECK(moved.operators.at(summing).subtasks.at(0).keyed[0].segment.path.starts_with(
      "/elsewhere/cp/"));
}

TEST_CASE_FIXTURE(storage_fixture,
                  "a directory without a complete checkpoint names those near it") {
  const auto first = take(write(1));
  check_ok(storage->begin(2));
  const auto job_directory = "/checkpoints/" + to_string(job);
  const auto refusal_of = [&](const std::string& path) {
    const auto read = read_checkpoint(files, path);
    REQUIRE(!read);
    CHECK(read.error().code == errc::file_not_found);
    return read.error().message;
  };
  const auto near = "; complete are " + first.directory;
  for (const auto& path : {std::string("/checkpoints"), job_directory, storage->directory(2)})
    CHECK(refusal_of(path) == "no complete checkpoint there: " + path + near);
  CHECK(refusal_of("/elsewhere/x") ==
        "no complete checkpoint there: /elsewhere/x, nor below or beside it");
}

TEST_CASE_FIXTURE(storage_fixture, "what is half-written is never taken for whole") {
  const auto calls_before = files.calls();
  take(write(1));
  const auto calls = files.calls() - calls_before;
  for (std::uint64_t failing = 0; failing < calls; ++failing) {
    check_ok(files.remove_tree("/checkpoints"));
    take(write(1));
    std::uint64_t seen = 0;
    files.intercept([&](const std::string&, const std::string& path) -> std::optional<error> {
      if (seen++ == failing)
        return error(errc::storage_failed, "ordered to fail: " + path);
      return std::nullopt;
    });
    const auto second = write(2);
    files.intercept({});
    if (second) // what failed was the clean-up of something that was not needed
      continue;
    CHECK(second.error().has(errc::storage_failed));
    files.crash();
    CHECK(take(storage->list()) == std::vector<checkpoint_id>{1});
    CHECK(take(storage->read(1)).id == 1);
    check_ok(storage->abort(2));
    take(write(2));
    CHECK(take(storage->list()) == std::vector<checkpoint_id>{1, 2});
  }
}

TEST_CASE_FIXTURE(storage_fixture, "a full disk is told as such and leaves no rest") {
  take(write(1));
  files.set_capacity(700);
  const auto second = write(2, std::string(1000, 'x'));
  REQUIRE(!second.has_value());
  CHECK(second.error().code == errc::storage_full);
  check_ok(storage->abort(2));
  for (const auto& path : files.paths())
    CHECK(path.find("chk-2") == std::string::npos);
}

TEST_CASE_FIXTURE(storage_fixture, "any changed byte of a manifest is noticed") {
  const auto written = take(write(1));
  const auto path = written.directory + "/_metadata";
  const auto good = files.at(path);
  for (std::size_t i = 0; i < good.size(); ++i) {
    auto bad = good;
    bad[i] = static_cast<char>(bad[i] ^ (1 << (i % 8)));
    files.put(path, bad);
    const auto read = storage->read(1);
    REQUIRE(!read.has_value());
    REQUIRE((read.error().code == errc::corrupt_snapshot ||
             read.error().code == errc::unsupported_snapshot_version));
    REQUIRE(read.error().message.ends_with(path));
    files.put(path, good.substr(0, i));
    REQUIRE(storage->read(1).error().code == errc::corrupt_snapshot);
  }
}

TEST_CASE_FIXTURE(storage_fixture, "only the newest are retained, with the files they share") {
  const auto own = "/checkpoints/" + to_string(job) + "/shared/";
  const auto shared = [&](checkpoint_id id, const std::string& path) {
    files.put(path, "shared");
    auto one = take(write(id));
    one.operators[summing].subtasks[0].keyed[0].shared.push_back({"000001.sst", {path, 0, 6}});
    check_ok(storage->complete(one));
  };
  shared(1, own + "a");
  shared(2, own + "b");
  shared(3, own + "b");

  CHECK(take(storage->retain(2)) == std::vector<checkpoint_id>{2, 3});
  CHECK(take(storage->retain(1)) == std::vector<checkpoint_id>{3});
  CHECK(take(storage->retain(1)) == std::vector<checkpoint_id>{3});

  CHECK(take(storage->list()) == std::vector<checkpoint_id>{3});
  const auto paths = files.paths();
  CHECK(std::find(paths.begin(), paths.end(), own + "a") == paths.end());
  CHECK(std::find(paths.begin(), paths.end(), own + "b") != paths.end());
  for (const auto& path : paths)
    CHECK(path.find("chk-1") == std::string::npos);
}

TEST_CASE_FIXTURE(storage_fixture, "a job that has no checkpoint left leaves no directory") {
  const auto own = "/checkpoints/" + to_string(job);
  check_ok(storage->leave(true)); // there was none
  const auto one = take(write(1));

  check_ok(storage->leave(true));
  CHECK(take(storage->list()) == std::vector<checkpoint_id>{1});

  check_ok(storage->remove(one, {}));
  files.put(own + "/shared/a", "of one who is writing");
  check_ok(storage->leave(false)); // the job goes on elsewhere
  CHECK(files.at(own + "/shared/a") == "of one who is writing");

  check_ok(files.remove(own + "/shared/a"));
  check_ok(storage->leave(false));
  CHECK(files.stat(own).error().code == errc::file_not_found);
}

TEST_CASE_FIXTURE(storage_fixture, "what killed processes left goes when the job is over") {
  const auto own = "/checkpoints/" + to_string(job);
  auto kept = take(write(1));
  kept.operators.begin()->second.subtasks[0].keyed.push_back(
      {{0, 128}, "native", {own + "/chk-1/a", 0, 1}, {{"x", {own + "/shared/000007.sst", 0, 1}}}});
  check_ok(storage->complete(kept));
  const auto leave_rests = [&] {
    files.put(own + "/shared/000008.sst", "of a checkpoint that was aborted");
    files.put(own + "/shared/000009.sst.tmp", "half of one");
    files.put(own + "/chk-2/part", "of one that is not complete");
  };
  files.put(own + "/shared/000007.sst", "of the one that stays");
  leave_rests();

  check_ok(storage->leave(true));
  CHECK(files.at(own + "/shared/000007.sst") == "of the one that stays");
  CHECK(files.stat(own + "/shared/000008.sst").error().code == errc::file_not_found);
  CHECK(files.stat(own + "/shared/000009.sst.tmp").error().code == errc::file_not_found);
  CHECK(files.stat(own + "/chk-2").error().code == errc::file_not_found);
  CHECK(take(storage->read(1)) == kept);

  leave_rests();
  check_ok(storage->remove(kept, {}));
  check_ok(storage->leave(true));
  CHECK(files.stat(own).error().code == errc::file_not_found);
}

TEST_CASE_FIXTURE(storage_fixture, "a target that is dropped leaves nothing") {
  {
    const auto target = take(storage->open("/checkpoints/chk-9", {vertex, 0, 0}));
    check_ok(take(target->output())->append("half"));
    const auto untouched = take(storage->open("/checkpoints/chk-9", {vertex, 1, 0}));
    check_ok(untouched->finish());
  }
  CHECK(files.paths().empty());
}

TEST_CASE_FIXTURE(storage_fixture, "a snapshot writes or fails as a whole at every operation") {
  const auto backend = make(number_type());
  auto& table = *take(backend->open_table(sums()));
  key_batch keys(backend->key(), max_parallelism);
  constexpr std::int32_t column_0[] = {0};
  keys.assign(numbers({1, 2, 3}), column_0);
  located_rows at;
  check_ok(table.locate(keys, std::vector<std::uint32_t>{0, 1, 2}, 0, access::insert, at));
  bool has_succeeded = false;
  for (std::uint64_t failing = 0; !has_succeeded; ++failing) {
    std::uint64_t seen = 0;
    files.intercept([&](const std::string&, const std::string& path) -> std::optional<error> {
      if (seen++ == failing)
        return error(errc::storage_failed, "ordered to fail: " + path);
      return std::nullopt;
    });
    {
      const auto target = take(storage->open("/checkpoints/chk-1", {vertex, 0, 0}));
      const auto handle = take(backend->snapshot(1, snapshot_kind::canonical))->run(*target);
      has_succeeded = handle.has_value() && target->finish().has_value();
    }
    files.intercept({});
    CHECK(files.paths().empty() != has_succeeded);
  }
}

TEST_CASE_FIXTURE(storage_fixture, "a savepoint is whole in its directory, and may be moved") {
  check_ok(storage->begin_savepoint("/far/savepoint-1"));
  completed_checkpoint saved;
  saved.job = job;
  saved.id = 4;
  saved.kind = checkpoint_kind::savepoint;
  saved.directory = "/far/savepoint-1";
  auto& one = saved.operators[summing];
  one.id = summing;
  one.uid = "sums";
  one.name = "sum";
  {
    const auto target = take(storage->open(saved.directory, {vertex, 0, 0}, true));
    auto* const output = take(target->output());
    check_ok(output->append("content"));
    const auto shared = take(target->create_shared("000001.sst", {}));
    check_ok(shared->append("more"));
    CHECK(shared->path().starts_with("/far/savepoint-1/"));
    CHECK(!target->shares(shared->path()));
    one.subtasks[0].keyed.push_back({{0, 128},
                                     "native",
                                     {output->path(), 0, output->position()},
                                     {{"a", {shared->path(), 0, shared->position()}}}});
    check_ok(shared->finish());
    check_ok(target->finish());
  }
  check_ok(storage->complete(saved));
  CHECK(take(storage->list()).empty()); // it is no checkpoint of the job

  for (const auto& path : files.paths())
    check_ok(files.rename(path, "/moved" + path.substr(std::string("/far/savepoint-1").size())));
  const auto moved = take(read_checkpoint(files, "/moved"));
  CHECK(moved.kind == checkpoint_kind::savepoint);
  CHECK(moved.operators.at(summing).uid == "sums");
  for (const auto& handle : moved.operators.at(summing).subtasks.at(0).keyed) {
    CHECK(files.at(handle.segment.path) == "content");
    CHECK(files.at(handle.shared.at(0).segment.path) == "more");
  }
}

TEST_CASE_FIXTURE(storage_fixture, "a manifest of the first version is read") {
  byte_string body;
  byte_writer out(body);
  out.put(job.high);
  out.put(job.low);
  out.put(std::int64_t{5});
  out.put(checkpoint_kind::checkpoint);
  out.put(std::int64_t{100});
  out.put(std::int64_t{200});
  out.put_bytes("hooks");
  out.put_varint(1);
  out.put(summing.high);
  out.put(summing.low);
  out.put_bytes("sum");
  out.put(std::int32_t{2});
  out.put(std::int32_t{128});
  out.put(std::uint8_t{1});
  out.put_bytes("coordinator");
  out.put_varint(0);
  byte_string stored("HRMETA01");
  byte_writer front(stored);
  front.put(std::uint32_t{1});
  front.put(checksum_of(body, 1));
  front.put_raw(body);
  files.put("/old/_metadata", stored);

  const auto old = take(read_checkpoint(files, "/old"));

  CHECK(old.id == 5);
  CHECK(old.master_hooks == "hooks");
  CHECK(old.operators.at(summing).name == "sum");
  CHECK(old.operators.at(summing).uid.empty());
  CHECK(old.operators.at(summing).coordinator == "coordinator");
}

TEST_CASE_FIXTURE(storage_fixture,
                  "a manifest of the third version is read, as without watermarks") {
  byte_string body;
  byte_writer out(body);
  out.put(job.high);
  out.put(job.low);
  out.put(std::int64_t{5});
  out.put(checkpoint_kind::savepoint);
  out.put(std::int64_t{100});
  out.put(std::int64_t{200});
  out.put_bytes("");
  out.put_varint(1);
  out.put(summing.high);
  out.put(summing.low);
  out.put_bytes("sums");
  out.put_bytes("sum");
  out.put(std::int32_t{2});
  out.put(std::int32_t{128});
  out.put(std::uint8_t{0});
  out.put_bytes("");
  out.put_varint(2); // subtasks
  for (const std::int32_t subtask : {0, 1}) {
    out.put(subtask);
    for (int kind = 0; kind < 4; ++kind)
      out.put_varint(0);
    out.put_varint(1); // in-flight data
    out.put(std::uint8_t{1});
    out.put_bytes("in-flight");
    out.put_varint(2);
    out.put_varint(3);
    out.put_varint(77);
    out.put_varint(0);
  }
  byte_string stored("HRMETA01");
  byte_writer front(stored);
  front.put(std::uint32_t{3});
  front.put(checksum_of(body, 3));
  front.put_raw(body);
  files.put("/old/_metadata", stored);

  const auto old = take(read_checkpoint(files, "/old"));

  const auto& subtasks = old.operators.at(summing).subtasks;
  REQUIRE(subtasks.size() == 2);
  for (const auto& [subtask, part] : subtasks) {
    CHECK(part.channels.at(0).segment == state_segment{"/old/in-flight", 2, 3, 77});
    CHECK_FALSE(part.watermark_ms);
  }
}

TEST_CASE_FIXTURE(storage_fixture, "the watermarks of subtasks are in the manifest") {
  auto checkpoint = take(write(1));
  auto& subtasks = checkpoint.operators.at(summing).subtasks;
  subtasks.at(0).watermark_ms = -3;
  subtasks[1].watermark_ms = 1'700'000'000'000; // of which there is nothing else

  const auto read = take(decode_manifest(encode_manifest(checkpoint), checkpoint.directory));

  CHECK(read == checkpoint);
}

TEST_CASE_FIXTURE(storage_fixture, "a savepoint never goes where something is, nor half") {
  check_ok(storage->begin_savepoint("/far/savepoint-1"));
  {
    const auto target = take(storage->open("/far/savepoint-1", {vertex, 0, 0}, true));
    check_ok(take(target->output())->append("content"));
    check_ok(target->finish());
  }
  CHECK(storage->begin_savepoint("/far/savepoint-1").error().code == errc::storage_failed);
  check_ok(storage->abort_savepoint("/far/savepoint-1"));
  CHECK(files.paths().empty());
}

TEST_CASE_FIXTURE(storage_fixture, "removing a checkpoint leaves the savepoint that it refers to") {
  check_ok(storage->begin_savepoint("/far/savepoint-1"));
  auto own = take(write(1));
  files.put("/far/savepoint-1/file", "content");
  own.operators.at(summing).subtasks.at(0).keyed.at(0).shared.push_back(
      {"a", {"/far/savepoint-1/file", 0, 7}});
  own.operators.at(summing).subtasks.at(0).keyed.at(0).segment.path = "/far/savepoint-1/file";
  check_ok(storage->complete(own));
  CHECK(take(storage->read(1)) == own);

  check_ok(storage->remove(own, {}));

  CHECK(files.at("/far/savepoint-1/file") == "content");
}
} // TEST_SUITE("state/checkpoint/checkpoint_storage")

} // namespace headrace::state
