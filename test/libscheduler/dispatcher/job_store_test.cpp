#include "libscheduler/dispatcher/job_store.hpp"

#include "test/libscheduler/testing_cluster.hpp"
#include "test/support/testing_file_system.hpp"
#include "libgraph/job_graph/job_graph_codec.hpp"
#include "libactors/message/ids_codec.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <unistd.h>
#include <vector>

namespace headrace::scheduler {

using testing::source_to_sink;

TEST_SUITE("scheduler/dispatcher/job_store") {

TEST_CASE("a stored job comes back as it was; a file that is none is named, not followed") {
  const auto directory =
      std::filesystem::temp_directory_path() / ("headrace-job-store-" + std::to_string(::getpid()));
  std::filesystem::remove_all(directory);
  const auto files = make_local_file_system();
  const auto store = make_file_job_store(*files, directory);
  std::vector<error> refused;
  CHECK(store->load(refused)->empty()); // no directory yet
  const auto first = source_to_sink(2, 1).job();
  const auto second = source_to_sink(1, 1, 8).job();
  CHECK(store->put(first).has_value());
  CHECK(store->put(second).has_value());
  std::ofstream(directory / "broken.job") << "not a job";

  const auto loaded = make_file_job_store(*files, directory)->load(refused);
  REQUIRE(loaded.has_value());
  REQUIRE(loaded->size() == 2);
  CHECK(loaded->at(0).graph == first);
  CHECK(loaded->at(1).graph == second);
  REQUIRE(refused.size() == 1);
  CHECK(refused[0].message.find("broken.job") != std::string::npos);

  CHECK(store->remove(first.id).has_value());
  CHECK(store->remove(first.id).has_value());
  CHECK(store->load(refused)->size() == 1);
  std::filesystem::remove_all(directory);
}

TEST_CASE("a changed byte of a stored job is found, and a file of an older release is read") {
  testing::testing_file_system files;
  const auto job = source_to_sink(2, 1).job();
  const auto store = make_file_job_store(files, "/jobs");
  REQUIRE(store->put(job));
  const auto path = files.list("/jobs")->front().path;
  const auto written = *files.read_all(path, 1U << 20U);

  for (std::size_t at = 0; at < written.size(); at += 7) {
    auto spoiled = written;
    spoiled[at] = static_cast<char>(spoiled[at] ^ 4);
    files.put(path, spoiled);
    std::vector<error> refused;
    CHECK(store->load(refused)->empty());
    REQUIRE(refused.size() == 1);
    CHECK(refused[0].message.find(path) != std::string::npos);
  }

  const auto words = graph::encode(job);
  const auto bytes = words.untyped().words().asChars();
  files.put(path, {bytes.begin(), bytes.size()});
  std::vector<error> refused;
  const auto loaded = store->load(refused);
  REQUIRE(loaded->size() == 1);
  CHECK(loaded->front().graph == job);
}

TEST_CASE("each load gives a job its next generation, in a file and in memory") {
  testing::testing_file_system files;
  const auto job = source_to_sink(2, 1).job();
  for (auto make : {+[](headrace::file_system& over) { return make_file_job_store(over, "/jobs"); },
                    +[](headrace::file_system&) { return make_memory_job_store(); }}) {
    std::vector<error> refused;
    const auto store = make(files);
    REQUIRE(store->put(job));

    CHECK(store->load(refused)->at(0).generation == 1);
    CHECK(store->load(refused)->at(0).generation == 2);

    REQUIRE(store->remove(job.id));
    REQUIRE(store->put(job));
    CHECK(store->load(refused)->at(0).generation == 1);
    CHECK(refused.empty());
  }
}

TEST_CASE("a generation that is no number keeps its job from running, and no other") {
  const std::vector<std::string> contents{
      "", "-1", "2147483647", "99999999999", "1x", std::string(2, '\0'), " 1"};
  for (const auto& content : contents) {
    CAPTURE(content);
    testing::testing_file_system files;
    const auto store = make_file_job_store(files, "/jobs");
    const auto job = source_to_sink(2, 1).job();
    const auto other = source_to_sink(1, 1, 8).job();
    REQUIRE(store->put(job));
    REQUIRE(store->put(other));
    files.put("/jobs/" + to_string(job.id) + ".generation", content);

    std::vector<error> refused;
    const auto loaded = store->load(refused);

    REQUIRE(loaded);
    REQUIRE(loaded->size() == 1);
    CHECK(loaded->front().graph.id == other.id);
    REQUIRE(refused.size() == 1);
    CHECK(to_string(refused[0]).find(".generation") != std::string::npos);
  }
}

TEST_CASE("what a process that ended was writing is removed, and nothing else") {
  testing::testing_file_system files;
  const auto store = make_file_job_store(files, "/jobs");
  const auto job = source_to_sink(2, 1).job();
  REQUIRE(store->put(job));
  files.put("/jobs/a.ended.tmp-17-3", "x");
  files.put("/jobs/b.tmp-note", "x");
  std::vector<error> refused;

  CHECK(store->load(refused)->size() == 1);

  CHECK_FALSE(files.stat("/jobs/a.ended.tmp-17-3").has_value());
  CHECK(files.stat("/jobs/b.tmp-note").has_value());
}

TEST_CASE("ends of jobs are kept, the oldest forgotten, a broken one named") {
  testing::testing_file_system files;
  for (auto make : {+[](headrace::file_system& over) { return make_file_job_store(over, "/jobs"); },
                    +[](headrace::file_system&) { return make_memory_job_store(); }}) {
    std::vector<error> refused;
    const auto store = make(files);
    CHECK(store->load_ended(refused)->empty());
    for (std::uint64_t number = 1; number <= 103; ++number) {
      message_builder<schema::JobEnded> how;
      write(how->initResult().initJob(), job_id{3, number});
      REQUIRE(store->put_ended({3, number}, how.finish()));
    }
    CHECK(store->load_ended(refused)->size() == 100);
    CHECK(store->load(refused)->empty());
    CHECK(refused.empty());
  }
  files.put("/jobs/broken.ended", "no end");
  std::vector<error> refused;
  CHECK(make_file_job_store(files, "/jobs")->load_ended(refused)->size() == 100);
  REQUIRE(refused.size() == 1);
  CHECK(refused[0].message.find("broken.ended") != std::string::npos);
}

} // TEST_SUITE("scheduler/dispatcher/job_store")

} // namespace headrace::scheduler
