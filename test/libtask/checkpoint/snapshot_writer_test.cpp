#include "libtask/checkpoint/snapshot_writer.hpp"

#include "test/support/testing_file_system.hpp"
#include "libstate/checkpoint/checkpoint_storage.hpp"
#include "libactors/base/text.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace headrace::task {
namespace {

constexpr operator_id summing{3, 4};

/// Writes a file of its own and one that later checkpoints may share, as RocksDB's snapshots do.
class sharing_job final : public state::snapshot_job {
public:
  result<state::keyed_state_handle> run(state::snapshot_target& target) override {
    HEADRACE_TRY(auto* const out, target.output());
    HEADRACE_CHECK(out->append("own"));
    HEADRACE_TRY(const auto file, target.create_shared("000001.sst", {}));
    HEADRACE_CHECK(file->append("shared"));
    HEADRACE_CHECK(file->finish());
    return state::keyed_state_handle{
        {0, 128}, "native", {out->path(), 0, 3}, {{"000001.sst", {file->path(), 0, 6}}}};
  }
  void cancel() override {}
};

/// Writes a subtask's part of a checkpoint, whose attempts are alike in all jobs of a program.
written_snapshot write(state::snapshot_segments& segments, snapshot_order order,
                       state::local_copies* copies = nullptr) {
  order.attempt.vertex = {5, 6};
  chain_snapshot content(1);
  content.add(summing, std::make_unique<sharing_job>(), nullptr);
  auto written = write_snapshot(content, order, segments, copies);
  REQUIRE_MESSAGE(written.has_value(), (written ? "" : to_string(written.error())));
  return *std::move(written);
}

constexpr std::uint64_t segment_bytes = 1U << 20U;

} // namespace

TEST_SUITE_BEGIN("task/checkpoint/snapshot_writer");

TEST_CASE("files that checkpoints share are those of one job, and go with its last checkpoint") {
  testing::testing_file_system files;
  for (const job_id& job : {job_id{1, 2}, job_id{1, 3}}) {
    const auto storage = state::make_file_checkpoint_storage(files, "/checkpoints", job);
    REQUIRE(storage->begin(1));
    state::completed_checkpoint made;
    made.job = job;
    made.id = 1;
    auto& part = made.operators[summing].subtasks[0];
    snapshot_order order;
    order.job_checkpoint_directory = "/checkpoints/" + to_string(job);

    state::snapshot_segments segments(files, segment_bytes);
    auto written = write(segments, order);
    REQUIRE(written.settle());
    part = written.state.operators.at(summing);

    CHECK(part.keyed.at(0).shared.at(0).segment.path.starts_with("/checkpoints/" + to_string(job) +
                                                                 "/shared/"));
    REQUIRE(storage->complete(made));
    REQUIRE(storage->remove(made, {}));
    CHECK(files.paths().empty());
  }
}

TEST_CASE("all subtasks of a task executor write into one file, and each finds its part again") {
  testing::testing_file_system files;
  state::snapshot_segments segments(files, segment_bytes);
  const job_id job{1, 2};
  const auto storage = state::make_file_checkpoint_storage(files, "/checkpoints", job);
  REQUIRE(storage->begin(1));
  state::completed_checkpoint made;
  made.job = job;
  made.id = 1;
  made.operators[summing].id = summing;
  made.operators[summing].parallelism = 50;
  std::vector<written_snapshot> all;
  std::vector<std::unique_ptr<state::local_copies>> copies;
  for (std::int32_t subtask = 0; subtask < 50; ++subtask) {
    snapshot_order order;
    order.attempt.subtask = subtask;
    order.job_checkpoint_directory = "/checkpoints/" + to_string(job);
    copies.push_back(std::make_unique<state::local_copies>(
        files, "/local/" + std::to_string(subtask), order.job_checkpoint_directory));
    all.push_back(write(segments, order, copies.back().get()));
  }
  for (std::int32_t subtask = 0; subtask < 50; ++subtask) {
    auto& one = all[static_cast<std::size_t>(subtask)];
    REQUIRE(one.settle());
    made.operators[summing].subtasks[subtask] = one.state.operators.at(summing);
  }
  REQUIRE(storage->complete(made));

  std::size_t own = 0;
  for (const auto& path : files.paths())
    own += path.starts_with(made.directory + "/") ? 1 : 0;
  CHECK(own == 2); // the segment and _metadata

  const auto stored = storage->read(1);
  REQUIRE(stored);
  REQUIRE(*stored == made);
  for (const auto& [subtask, state] : stored->operators.at(summing).subtasks) {
    const auto& segment = state.keyed.at(0).segment;
    CHECK(segment.offset == 3U * static_cast<unsigned>(subtask));
    // What is its own is read from the copy, the rest as it is stored.
    const auto from = copies[static_cast<std::size_t>(subtask)]->restoring();
    const auto file = from->open(segment.path);
    REQUIRE(file);
    char bytes[3] = {};
    CHECK((*file)->size_bytes() == 150);
    REQUIRE((*file)->read_at(segment.offset, bytes));
    CHECK(std::string_view(bytes, 3) == "own");
    CHECK(from->tally().local_bytes == 3);
    REQUIRE((*file)->read_at((segment.offset + 3) % 150, bytes));
    CHECK(std::string_view(bytes, 3) == "own");
    CHECK(from->tally().bytes == 6);
    CHECK(from->tally().local_bytes == 3);
    CHECK(from->tally().refused == 0);
  }
  REQUIRE(storage->remove(made, {}));
  for (const auto& path : files.paths())
    CHECK(path.starts_with("/local/"));
}

TEST_SUITE_END();

} // namespace headrace::task
