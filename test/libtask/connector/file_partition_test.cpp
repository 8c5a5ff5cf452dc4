#include "test/libtask/connector/source_run.hpp"
#include "test/support/manual_clock.hpp"
#include "test/support/testing_file_system.hpp"
#include "libtask/connector/file/file_split.hpp"
#include "libtask/connector/file/partition_commit.hpp"
#include "libtask/connector/file/partition_path.hpp"
#include "libtask/connector/registration.hpp"
#include "libgraph/connector/abilities.hpp"
#include "libgraph/data/batch_builder.hpp"
#include "libgraph/data/row_format.hpp"
#include "libgraph/data/stream_element.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace headrace::task {
namespace {

using graph::logical_type;
using testing::manual_clock;
using testing::testing_enumerator_context;
using testing::testing_file_system;

graph::row_type_ptr row_type() {
  return std::make_shared<const logical_type>(
      logical_type::row({{"n", logical_type::bigint(), ""},
                         {"dt", logical_type::string(), ""},
                         {"hm", logical_type::string(), ""}})
          .not_null());
}

struct row {
  std::int64_t number;
  std::optional<std::string> day;
  std::string minute;
};

graph::record_batch rows(const std::vector<row>& all) {
  graph::batch_builder builder(row_type());
  for (const auto& each : all) {
    builder.column(0).append(each.number);
    if (each.day)
      builder.column(1).append_string(*each.day);
    else
      builder.column(1).append_null();
    builder.column(2).append_string(each.minute);
    builder.end_row();
  }
  return builder.finish();
}

const graph::option_map partitioned{
    {"path", "/out"}, {"format", "csv"}, {"partition.keys", "dt,hm"}};

graph::option_map with(graph::option_map more) {
  auto out = partitioned;
  for (auto& [key, value] : more)
    out.insert_or_assign(key, value);
  return out;
}

result<std::unique_ptr<graph::sink>> make_sink(const graph::option_map& options) {
  graph::connector_registry registry;
  register_connectors(registry);
  return registry.create_sink("filesystem", options, row_type());
}

/// One subtask of a job that writes.
struct writing {
  writing(testing_file_system& files, const graph::option_map& options, std::int32_t subtask = 0,
          std::int32_t parallelism = 1, std::uint64_t job = 1) {
    auto made = make_sink(options);
    REQUIRE_MESSAGE(made.has_value(), (made ? "" : made.error().message));
    sink = std::move(*made);
    graph::writer_context context{subtask, parallelism, 0, "sink", files, clock, {}, {}, {}, true};
    context.job = {job, job};
    committer = std::move(*sink->create_committer(context));
    auto created = sink->create_writer(context, {});
    REQUIRE_MESSAGE(created.has_value(), (created ? "" : created.error().message));
    writer = std::move(*created);
  }
  void advance(std::int64_t watermark_ms) {
    dynamic_cast<graph::watermarked_writer&>(*writer).advance(watermark_ms);
  }
  void commit(bool is_last = false) {
    const auto prepared = writer->prepare_commit(is_last);
    REQUIRE(prepared);
    const auto later = committer->commit(*prepared);
    REQUIRE_MESSAGE(later.has_value(), (later ? "" : later.error().message));
    CHECK(!later->cause);
  }

  manual_clock clock;
  std::unique_ptr<graph::sink> sink;
  std::unique_ptr<graph::committer> committer;
  std::unique_ptr<graph::sink_writer> writer;
};

/// Visible files by their directories, with what is in them.
std::map<std::string, std::string> visible(const testing_file_system& files) {
  std::map<std::string, std::string> out;
  for (const auto& path : files.paths()) {
    const auto slash = path.rfind('/');
    if (path[slash + 1] != '.')
      out[path.substr(0, slash) + (path[slash + 1] == '_' ? path.substr(slash) : std::string())] +=
          files.at(path);
  }
  return out;
}

std::vector<std::string> read(testing_file_system& files, const graph::option_map& options,
                              const graph::row_type_ptr& produced) {
  graph::connector_registry registry;
  register_connectors(registry);
  auto source = registry.create_source("filesystem", options, row_type());
  REQUIRE_MESSAGE(source.has_value(), (source ? "" : source.error().message));
  REQUIRE(dynamic_cast<graph::projectable_source&>(**source).project(produced));
  testing_enumerator_context context(files, 1);
  auto enumerator = (*source)->create_enumerator(context, std::nullopt);
  REQUIRE(enumerator);
  REQUIRE((*enumerator)->start());
  REQUIRE((*enumerator)->add_reader(0));
  REQUIRE(context.discover());
  manual_clock clock;
  auto reader = (*source)->create_reader({0, 1, files, clock, {}});
  REQUIRE(reader);
  std::vector<std::string> out;
  std::size_t taken = 0;
  while (true) {
    for (; taken < context.assigned[0].size(); ++taken)
      REQUIRE((*reader)->add_split(context.assigned[0][taken]));
    auto got = (*reader)->fetch({2, 1U << 20U});
    REQUIRE_MESSAGE(got.has_value(), (got ? "" : got.error().message));
    if (!got->has_value()) {
      REQUIRE((*enumerator)->handle_split_request(0));
      if (taken == context.assigned[0].size())
        break;
      continue;
    }
    for (std::size_t i = 0; i < (*got)->rows.size(); ++i)
      out.push_back(graph::to_string(graph::row_view((*got)->rows, i)));
  }
  std::sort(out.begin(), out.end());
  return out;
}

} // namespace

TEST_SUITE("task/connector/file/partition") {
TEST_CASE("a partition's path is escaped, and read back") {
  const std::vector<std::string> keys{"dt", "h=m"};
  const auto path = partition_path(keys, {"2024-02-29", "12:30/a%\n"}, "NONE");
  CHECK(path == "dt=2024-02-29/h%3Dm=12%3A30%2Fa%25%0A");
  CHECK(parse_partition(keys, "/t/" + path, "NONE") ==
        partition_values{"2024-02-29", "12:30/a%\n"});
  CHECK(partition_path(keys, {std::nullopt, ""}, "NONE") == "dt=NONE/h%3Dm=NONE");
  CHECK(parse_partition(keys, "/t/dt=NONE/h%3Dm=x", "NONE") == partition_values{std::nullopt, "x"});
  CHECK(!parse_partition(keys, "/t/h%3Dm=x/dt=y", "NONE"));
  CHECK(!parse_partition(keys, "dt=1", "NONE"));
}

TEST_CASE("rows go to the directories of their partitions, without what these name") {
  testing_file_system files;
  writing job(files, partitioned);
  REQUIRE(job.writer->write(rows({{1, "d1", "10:00"}, {2, "d1", "10:01"}, {3, "d1", "10:00"}})));
  REQUIRE(job.writer->write(rows({{4, std::nullopt, "10:00"}, {5, "d1", "10:01"}})));
  CHECK(visible(files).empty());
  job.commit();
  CHECK(visible(files) == std::map<std::string, std::string>{
                              {"/out/dt=__DEFAULT_PARTITION__/hm=10%3A00", "4\n"},
                              {"/out/dt=d1/hm=10%3A00", "1\n3\n"},
                              {"/out/dt=d1/hm=10%3A01", "2\n5\n"},
                          });

  const std::vector<std::string> all{"+I[1, d1, 10:00]", "+I[2, d1, 10:01]", "+I[3, d1, 10:00]",
                                     "+I[4, null, 10:00]", "+I[5, d1, 10:01]"};
  CHECK(read(files, partitioned, row_type()) == all);
  const auto days = std::make_shared<const logical_type>(
      logical_type::row({{"dt", logical_type::string(), ""}}).not_null());
  CHECK(read(files, partitioned, days) ==
        std::vector<std::string>{"+I[d1]", "+I[d1]", "+I[d1]", "+I[d1]", "+I[null]"});
}

TEST_CASE("more partitions than files may be open lose nothing") {
  testing_file_system files;
  writing job(files, partitioned);
  for (int round = 0; round < 2; ++round)
    for (int i = 0; i < 150; ++i)
      REQUIRE(job.writer->write(rows({{i, std::to_string(i), "x"}})));
  job.commit(true);
  const auto found = visible(files);
  CHECK(found.size() == 150);
  CHECK(found.at("/out/dt=149/hm=x") == "149\n149\n");
}

TEST_CASE("hidden files of partitions are removed when the writer closes, or by the next attempt") {
  testing_file_system files;
  {
    writing job(files, partitioned);
    REQUIRE(job.writer->write(rows({{1, "d", "m"}})));
    CHECK(files.paths().size() == 1);
    REQUIRE(job.writer->close());
    CHECK(files.paths().empty());
  }
  writing job(files, partitioned);
  REQUIRE(job.writer->write(rows({{1, "d", "m"}})));
  writing again(files, partitioned); // of the same job, which knows no checkpoint
  CHECK(files.paths().empty());
}

TEST_CASE("a partition is marked when all writers' event time has passed it") {
  testing_file_system files;
  const auto options = with({{"sink.partition-commit.policy.kind", "success-file"},
                             {"sink.partition-commit.trigger", "partition-time"},
                             {"sink.partition-commit.delay", "1 min"},
                             {"partition.time-extractor.timestamp-pattern", "$dt $hm:00"}});
  constexpr std::int64_t ten = 1'709'200'800'000; // 2024-02-29 10:00
  constexpr std::int64_t minute = 60'000;
  std::array jobs{std::make_unique<writing>(files, options, 0, 2),
                  std::make_unique<writing>(files, options, 1, 2)};
  const std::string first = "/out/dt=2024-02-29/hm=10%3A00/_SUCCESS";
  const std::string second = "/out/dt=2024-02-29/hm=10%3A01/_SUCCESS";
  REQUIRE(jobs[0]->writer->write(rows({{1, "2024-02-29", "10:00"}, {2, "2024-02-29", "10:01"}})));
  jobs[0]->advance(ten + 2 * minute);
  jobs[0]->commit();
  CHECK(!visible(files).contains(first)); // nothing is known of the other one
  jobs[1]->advance(ten + minute);
  jobs[1]->commit();
  CHECK(!visible(files).contains(first)); // one millisecond is missing
  jobs[1]->advance(ten + minute + 1);
  jobs[1]->commit();
  CHECK(visible(files).contains(first));
  CHECK(!visible(files).contains(second));
  REQUIRE(jobs[1]->writer->write(rows({{3, "2024-02-29", "10:01"}})));
  jobs[0]->commit(true);
  CHECK(!visible(files).contains(second));
  jobs[1]->commit(true);
  CHECK(visible(files).contains(second));
  for (const auto& path : files.paths())
    CHECK(path.find(".progress") == std::string::npos);
  CHECK(read(files, partitioned, row_type()).size() == 3);
}

TEST_CASE("without times a partition is marked as soon as it has rows") {
  testing_file_system files;
  writing job(files, with({{"sink.partition-commit.policy.kind", "success-file"},
                           {"sink.partition-commit.success-file.name", "_done"}}));
  REQUIRE(job.writer->write(rows({{1, "d", "m"}})));
  job.commit();
  CHECK(visible(files).contains("/out/dt=d/hm=m/_done"));
}

TEST_CASE("the time of a partition follows a pattern") {
  partition_marking how;
  how.keys = {"h", "hour", "dt"};
  how.time_pattern = "$dt $hour:$h:00";
  CHECK(partition_time(how, {"30", "10", "2024-02-29"}) == 1'709'202'600'000);
  CHECK(!partition_time(how, {"30", std::nullopt, "2024-02-29"}));
  how.keys = {"dt"};
  how.time_pattern.clear();
  CHECK(partition_time(how, {"2024-02-29"}) == 1'709'164'800'000);
}

TEST_CASE("overwriting removes what others wrote where it writes, and no more") {
  testing_file_system files;
  {
    writing job(files, partitioned, 0, 1, 1);
    REQUIRE(job.writer->write(rows({{1, "a", "m"}, {2, "b", "m"}})));
    job.commit(true);
  }
  writing job(files, with({{"sink.overwrite", "true"}}), 0, 1, 2);
  REQUIRE(job.writer->write(rows({{3, "a", "m"}})));
  job.commit();
  REQUIRE(job.writer->write(rows({{4, "a", "m"}})));
  job.commit(true);
  CHECK(read(files, partitioned, row_type()) ==
        std::vector<std::string>{"+I[2, b, m]", "+I[3, a, m]", "+I[4, a, m]"});
}

TEST_CASE("options that have no meaning are refused") {
  const auto fails = [](const graph::option_map& options) {
    const auto made = make_sink(options);
    REQUIRE(!made);
    CHECK(made.error().code == errc::bad_option_value);
    return made.error().message;
  };
  CHECK(fails(with({{"partition.keys", "day"}})).find("no column day") != std::string::npos);
  CHECK(fails(with({{"partition.keys", "n,dt,hm"}})).find("no column is left") !=
        std::string::npos);
  CHECK(fails(with({{"sink.partition-commit.trigger", "partition-time"}})).find("success-file") !=
        std::string::npos);
  CHECK(fails(with({{"sink.partition-commit.policy.kind", "success-file"},
                    {"sink.partition-commit.delay", "1 s"}}))
            .find("partition-time") != std::string::npos);
}

TEST_CASE("files beside the partitions fail the reader") {
  testing_file_system files;
  files.put("/out/part-0", "1\n");
  graph::connector_registry registry;
  register_connectors(registry);
  auto source = registry.create_source("filesystem", partitioned, row_type());
  REQUIRE(source);
  manual_clock clock;
  auto reader = (*source)->create_reader({0, 1, files, clock, {}});
  REQUIRE((*reader)->add_split(file_split::of("/out/part-0", 0, 2).to_source_split()));
  const auto got = (*reader)->fetch({});
  REQUIRE(!got);
  CHECK(got.error().code == errc::input_unreadable);
  CHECK(got.error().message.find("dt=…/hm=…") != std::string::npos);
}
} // TEST_SUITE("task/connector/file/partition")

} // namespace headrace::task
