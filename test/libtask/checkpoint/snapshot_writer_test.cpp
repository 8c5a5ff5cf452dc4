#include "libtask/checkpoint/snapshot_writer.hpp"

#include "test/support/testing_file_system.hpp"
#include "libstate/checkpoint/checkpoint_storage.hpp"
#include "libactors/base/text.hpp"

#include <doctest/doctest.h>

#include <memory>

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
state::task_state_snapshot write(testing::testing_file_system& files, snapshot_order order) {
  order.attempt.vertex = {5, 6};
  chain_snapshot content(1);
  content.add(summing, std::make_unique<sharing_job>(), nullptr);
  auto written = write_snapshot(content, order, files, nullptr);
  REQUIRE_MESSAGE(written.has_value(), (written ? "" : to_string(written.error())));
  return *std::move(written);
}

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

    part = write(files, order).operators.at(summing);

    CHECK(part.keyed.at(0).shared.at(0).segment.path.starts_with("/checkpoints/" + to_string(job) +
                                                                 "/shared/"));
    REQUIRE(storage->complete(made));
    REQUIRE(storage->remove(made, {}));
    CHECK(files.paths().empty());
  }
}

TEST_SUITE_END();

} // namespace headrace::task
