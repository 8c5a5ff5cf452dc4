#include "test/support/manual_clock.hpp"
#include "test/support/seed.hpp"
#include "test/support/testing_file_system.hpp"
#include "libtask/connector/file/file_writer.hpp"
#include "libtask/connector/registration.hpp"
#include "libgraph/data/batch_builder.hpp"
#include "libactors/base/file_failure.hpp"
#include "libactors/base/random.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

namespace headrace::task {
namespace {

using graph::logical_type;
using testing::manual_clock;
using testing::testing_file_system;

graph::row_type_ptr line_type() {
  return std::make_shared<const logical_type>(
      logical_type::row({{"line", logical_type::string(), ""}}));
}

graph::record_batch line(const std::string& text) {
  graph::batch_builder builder(line_type());
  builder.column(0).append_string(text);
  builder.end_row();
  return builder.finish();
}

std::unique_ptr<graph::sink> make_sink(graph::option_map options = {}) {
  graph::connector_registry registry;
  register_connectors(registry);
  options.emplace("path", "/out");
  auto made = registry.create_sink("file", options, line_type());
  REQUIRE_MESSAGE(made.has_value(), (made ? "" : made.error().message));
  return std::move(*made);
}

/// What is durable about a job with one file sink: a completed checkpoint.
struct completed_checkpoint {
  std::vector<byte_string> writer_states;
  std::vector<graph::committable> committables;
  int rows = 0;
};

/// Runs the sink of one job, attempt after attempt, as its operator would.
class sink_job {
public:
  static constexpr int rows_all = 20;

  explicit sink_job(testing_file_system& files, std::uint64_t seed)
      : files_(files), random_(make_seeded_random(seed)),
        sink_(make_sink({{"sink.rolling-policy.file-size", "12"}})) {}

  /// Writes from the last checkpoint to the end of input; the error that stopped it, if one did.
  status run() {
    clock_.advance_ms(17);
    const auto context = make_context();
    HEADRACE_TRY(auto committer, sink_->create_committer(context));
    HEADRACE_CHECK(commit_all(*committer, checkpoint_.committables));
    HEADRACE_TRY(auto writer, sink_->create_writer(context, checkpoint_.writer_states));
    std::vector<graph::committable> uncommitted;
    for (int row = checkpoint_.rows; row < rows_all; ++row) {
      HEADRACE_CHECK(writer->write(line("row " + std::to_string(row))));
      if (random_->below(4) == 0)
        HEADRACE_CHECK(take_checkpoint(*writer, *committer, uncommitted, row + 1));
    }
    HEADRACE_CHECK(take_checkpoint(*writer, *committer, uncommitted, rows_all));
    is_done_ = uncommitted.empty();
    return writer->close();
  }

  bool is_done() const { return is_done_; }

  /// All rows once, in visible files, and nothing else but what a savepoint may hold.
  void check_output() const {
    std::vector<std::string> found;
    for (const auto& path : files_.paths()) {
      CAPTURE(path);
      if (path.starts_with("/out/.part-") && path.find(".prepared.") != std::string::npos)
        continue;
      CHECK(path.starts_with("/out/part-"));
      const auto& content = files_.at(path);
      for (std::size_t at = 0; at < content.size();) {
        const auto end = content.find('\n', at);
        REQUIRE(end != std::string::npos);
        found.push_back(content.substr(at, end - at));
        at = end + 1;
      }
    }
    std::sort(found.begin(), found.end());
    std::vector<std::string> expected;
    for (int row = 0; row < rows_all; ++row)
      expected.push_back("row " + std::to_string(row));
    std::sort(expected.begin(), expected.end());
    REQUIRE(found == expected);
  }

private:
  graph::writer_context make_context() {
    graph::writer_context out{0, 1, attempt_++, "sink", files_, clock_, {}, {}, {}, false};
    out.job = {1, 2};
    out.is_fresh = checkpoint_.writer_states.empty();
    return out;
  }

  /// Without trying again: the process is dead.
  static status commit_all(graph::committer& committer,
                           const std::vector<graph::committable>& what) {
    HEADRACE_TRY(auto later, committer.commit(what));
    return later.cause ? status(*later.cause) : status();
  }

  status take_checkpoint(graph::sink_writer& writer, graph::committer& committer,
                         std::vector<graph::committable>& uncommitted, int rows) {
    const bool last = rows == rows_all;
    HEADRACE_TRY(auto prepared, writer.prepare_commit(last));
    uncommitted.insert(uncommitted.end(), prepared.begin(), prepared.end());
    HEADRACE_TRY(auto state, writer.snapshot(1));
    if (!last && random_->below(3) == 0)
      return {}; // aborted elsewhere: its committables go with the next one
    checkpoint_ = {{std::move(state)}, uncommitted, rows};
    HEADRACE_CHECK(commit_all(committer, uncommitted));
    uncommitted.clear();
    return {};
  }

  testing_file_system& files_;
  std::unique_ptr<random_source> random_;
  manual_clock clock_;
  std::unique_ptr<graph::sink> sink_;
  completed_checkpoint checkpoint_;
  std::int32_t attempt_ = 0;
  bool is_done_ = false;
};

/// Fails every call from the `first`-th on: the process is dead.
void die_at(testing_file_system& files, std::uint64_t first) {
  auto count = std::make_shared<std::uint64_t>(0);
  files.intercept([=](const std::string&, const std::string&) -> std::optional<error> {
    if (++*count >= first)
      return error(errc::storage_failed, "the process is dead");
    return std::nullopt;
  });
}

std::vector<std::string> names(const testing_file_system& files) {
  std::vector<std::string> out;
  for (const auto& path : files.paths())
    out.push_back(path.substr(path.rfind('/') + 1));
  return out;
}

using name_list = std::vector<std::string>;

} // namespace

TEST_SUITE("task/connector/file sink") {
TEST_CASE("a crash at any step loses and doubles nothing") {
  const auto seed = testing::seed();
  std::uint64_t steps = 0;
  for (bool finished = false; !finished;) {
    testing_file_system files;
    sink_job job(files, seed + steps % 7);
    die_at(files, ++steps);
    finished = job.run().has_value();
    files.intercept({});
    files.crash();
    if (!finished) {
      const auto again = job.run();
      REQUIRE_MESSAGE(again.has_value(), (again ? "" : to_string(again.error())));
    }
    CAPTURE(steps);
    REQUIRE(job.is_done());
    job.check_output();
    REQUIRE(steps < 10'000);
  }
  CHECK(steps > 50);
}

TEST_CASE("crashes of one attempt after the other lose and double nothing") {
  const auto random = make_seeded_random(testing::seed());
  for (int round = 0; round < 100; ++round) {
    testing_file_system files;
    sink_job job(files, random->next());
    for (int attempt = 0; attempt < 6 && !job.is_done(); ++attempt) {
      die_at(files, random->next() % 60 + 1);
      static_cast<void>(job.run());
      files.intercept({});
      files.crash();
    }
    if (!job.is_done())
      REQUIRE(job.run());
    job.check_output();
  }
}

TEST_CASE("nothing is visible before its checkpoint is complete") {
  testing_file_system files;
  const manual_clock clock;
  const auto sink = make_sink();
  const graph::writer_context context{2, 4, 0, "sink", files, clock, {}, {}, {}, false};
  auto writer = sink->create_writer(context, {});
  REQUIRE(writer);
  REQUIRE((*writer)->write(line("a")));
  REQUIRE(names(files).size() == 1);
  CHECK(names(files)[0].starts_with(".part-2-0.inprogress."));
  auto prepared = (*writer)->prepare_commit(false);
  REQUIRE(prepared);
  REQUIRE(prepared->size() == 1);
  CHECK(names(files)[0].starts_with(".part-2-0.prepared."));
  auto empty = (*writer)->prepare_commit(false);
  REQUIRE(empty);
  CHECK(empty->empty()); // no rows, no file

  auto committer = sink->create_committer(context);
  REQUIRE(committer);
  REQUIRE((*committer)->commit(*prepared));
  CHECK(names(files) == name_list{"part-2-0"});
  REQUIRE((*committer)->commit(*prepared)); // again, after a recovery
  CHECK(names(files) == name_list{"part-2-0"});
  CHECK(files.at("/out/part-2-0") == "a\n");
}

TEST_CASE("a second run adds files and touches none of the first") {
  testing_file_system files;
  manual_clock clock;
  const auto sink = make_sink();
  for (int run = 0; run < 2; ++run) {
    const graph::writer_context context{0, 1, 0, "sink", files, clock, {}, {}, {}, false};
    auto writer = sink->create_writer(context, {});
    REQUIRE((*writer)->write(line("run " + std::to_string(run))));
    REQUIRE((*sink->create_committer(context))->commit(*(*writer)->prepare_commit(true)));
    clock.advance_ms(5);
  }
  CHECK(names(files) == name_list{"part-0-0", "part-0-1"});
  CHECK(files.at("/out/part-0-0") == "run 0\n");
}

TEST_CASE("two sinks of one job do not meet in one directory") {
  testing_file_system files;
  const manual_clock clock;
  const auto sink = make_sink();
  for (std::uint64_t id = 1; id <= 2; ++id) {
    const graph::writer_context context{0, 1, 0, "sink", files, clock, {}, {7, 7}, {id, id}, false};
    auto writer = sink->create_writer(context, {});
    REQUIRE((*writer)->write(line("a")));
    REQUIRE((*sink->create_committer(context))->commit(*(*writer)->prepare_commit(true)));
  }
  CHECK(names(files).size() == 2);
}

TEST_CASE("a commit never overwrites, and says when data is gone") {
  testing_file_system files;
  const manual_clock clock;
  file_committer committer({}, {0, 1, 0, "sink", files, clock, {}, {}, {}, false});
  const pending_part part{"/out/.hidden", "/out/part-0-0", 3};
  CHECK(committer.commit({part.encode()}).error().code == errc::commit_failed); // both gone
  files.put("/out/.hidden", "abc");
  files.put("/out/part-0-0", "xyz");
  CHECK(committer.commit({part.encode()}).error().code == errc::commit_failed);
  CHECK(files.at("/out/part-0-0") == "xyz");
  REQUIRE(files.remove("/out/part-0-0"));
  files.put("/out/.hidden", "ab"); // cut
  CHECK(committer.commit({part.encode()}).error().code == errc::commit_failed);
  files.put("/out/part-0-0", "xyzz");
  REQUIRE(files.remove("/out/.hidden"));
  CHECK(committer.commit({part.encode()}).error().code == errc::commit_failed);
  CHECK(committer.commit({"nonsense"}).error().code == errc::unsupported_snapshot_version);
  CHECK(committer.commit({""}).error().code == errc::corrupt_snapshot);
}

TEST_CASE("what overwrites leaves the output of the jobs that it goes on from") {
  testing_file_system files;
  const manual_clock clock;
  graph::writer_context context{0, 1, 0, "sink", files, clock, {}, {1, 1}, {5, 5}, false};
  const auto written = [&] {
    const part_names made(context);
    const pending_part part{"/out/" + made.hidden_name(0, 0), "/out/" + made.final_name(0, 0), 3};
    files.put(part.hidden_path, "abc");
    file_output output;
    output.directory = "/out";
    output.overwrites = true;
    REQUIRE(file_committer(output, context).commit({part.encode()}));
    return part.final_path;
  };
  files.put("/out/of-others", "old");
  const auto first = written();
  CHECK(names(files).size() == 1);

  context.job = {2, 2};
  context.former_jobs = {{1, 1}};
  const auto second = written();
  CHECK(files.at(first) == "abc");
  CHECK(files.at(second) == "abc");

  context.job = {3, 3}; // one that begins anew
  context.former_jobs.clear();
  written();
  CHECK(names(files).size() == 1);
}

TEST_CASE("restored output that somebody has taken away holds nobody up") {
  testing_file_system files;
  const manual_clock clock;
  auto lines = std::make_shared<std::vector<std::string>>();
  const auto log = logger::to(
      [lines](log_level, std::string_view line) { lines->emplace_back(line); }, log_level::warn);
  file_committer committer({}, {0, 1, 0, "sink", files, clock, log, {}, {}, false});
  const pending_part gone{"/out/.hidden", "/out/part-0-0", 3};
  const pending_part there{"/out/.hidden-1", "/out/part-0-1", 3};
  files.put("/out/.hidden-1", "abc");

  const auto later = committer.commit_restored({gone.encode(), there.encode()});

  REQUIRE(later);
  CHECK(later->what.empty());
  CHECK(files.at("/out/part-0-1") == "abc");
  REQUIRE(lines->size() == 1);
  CHECK(lines->front().find("/out/part-0-0") != std::string::npos);
  // What is not as it was written is an error all the same.
  files.put("/out/part-0-0", "xyzz");
  CHECK(committer.commit_restored({gone.encode()}).error().code == errc::commit_failed);
}

TEST_CASE("what the file system does not rename now is for later, and the rest is done") {
  testing_file_system files;
  const manual_clock clock;
  file_committer committer({}, {0, 1, 0, "sink", files, clock, {}, {}, {}, false});
  const pending_part stuck{"/out/.a", "/out/part-0-0", 3};
  const pending_part free{"/out/.b", "/out/part-0-1", 3};
  files.put("/out/.a", "abc");
  files.put("/out/.b", "def");
  files.intercept([](const std::string& what, const std::string& path) -> std::optional<error> {
    if (what == "rename" && path == "/out/.a")
      return error(errc::storage_failed, "it does not answer");
    return std::nullopt;
  });

  const auto first = committer.commit({stuck.encode(), free.encode()});
  REQUIRE(first);
  CHECK(first->what == std::vector<graph::committable>{stuck.encode()});
  REQUIRE(first->cause);
  CHECK(first->cause->has(errc::storage_failed));
  CHECK(files.at("/out/part-0-1") == "def");

  files.intercept({});
  const auto second = committer.commit(first->what);
  REQUIRE(second);
  CHECK(second->what.empty());
  CHECK(files.at("/out/part-0-0") == "abc");
}

TEST_CASE("a full disk is named as such, and what was committed stays") {
  testing_file_system files;
  const manual_clock clock;
  const auto sink = make_sink();
  const graph::writer_context context{0, 1, 0, "sink", files, clock, {}, {}, {}, false};
  auto writer = sink->create_writer(context, {});
  REQUIRE((*writer)->write(line("first")));
  REQUIRE((*sink->create_committer(context))->commit(*(*writer)->prepare_commit(false)));
  files.set_capacity(10);
  const auto full = (*writer)->write(line("second"));
  REQUIRE_FALSE(full);
  CHECK(full.error().code == errc::storage_full);
  CHECK(full.error().message.find("/out/.part-0-1") != std::string::npos);
  REQUIRE((*writer)->close());
  CHECK(names(files) == name_list{"part-0-0"});
  CHECK(files.at("/out/part-0-0") == "first\n");
}

TEST_CASE("unfinished files of other subtasks are left to them") {
  testing_file_system files;
  const manual_clock clock;
  files.put("/out/.part-0-7.inprogress.0-x", "mine, unknown");
  files.put("/out/.part-0-3.inprogress.0-x", "mine, in the checkpoint");
  files.put("/out/.part-0-6.prepared.0-x", "mine, perhaps in a savepoint");
  files.put("/out/.part-1-9.inprogress.0-x", "of a running subtask");
  files.put("/out/.part-5-9.inprogress.0-x", "of a subtask that is no more");
  files.put("/out/.part-x", "of others");
  const std::vector<byte_string> states{file_writer_state{0, 5}.encode(),
                                        file_writer_state{1, 5}.encode(),
                                        file_writer_state{5, 9}.encode()};
  const graph::writer_context context{0, 2, 1, "sink", files, clock, {}, {}, {}, false};
  auto writer = make_sink()->create_writer(context, states);
  REQUIRE(writer);
  CHECK(names(files) == name_list{".part-0-3.inprogress.0-x", ".part-0-6.prepared.0-x",
                                  ".part-1-9.inprogress.0-x", ".part-x"});
  REQUIRE((*writer)->write(line("a")));
  CHECK(names(files)[2].starts_with(".part-0-8.inprogress.1-")); // 7 is not given again
  CHECK(make_sink()->create_writer(context, {"zz"}).error().code ==
        errc::unsupported_snapshot_version);
}

TEST_CASE("what is taken back cannot be written") {
  testing_file_system files;
  const manual_clock clock;
  graph::batch_builder builder(line_type());
  builder.column(0).append_string("a");
  builder.end_row(graph::row_kind::delete_);
  auto writer = make_sink()->create_writer({0, 1, 0, "sink", files, clock, {}, {}, {}, false}, {});
  CHECK((*writer)->write(builder.finish()).error().code == errc::output_unusable);
}

TEST_CASE("a directory that cannot be made is an error that names it") {
  testing_file_system files;
  const manual_clock clock;
  files.put("/out", "a file");
  auto writer = make_sink()->create_writer({0, 1, 0, "sink", files, clock, {}, {}, {}, false}, {});
  REQUIRE_FALSE(writer);
  CHECK(writer.error().code == errc::output_failed);
}

TEST_CASE("a path that cannot be used at a job's first start is a wrong one, a fault may pass") {
  testing_file_system files;
  const manual_clock clock;
  for (const std::string refused : {"create_directories", "list", "create"})
    for (const auto code : {file_unusable, errc::storage_failed, errc::storage_full}) {
      CAPTURE(refused);
      CAPTURE(name_of(code));
      files.intercept(
          [&](const std::string& call, const std::string& path) -> std::optional<error> {
            if (call != refused)
              return std::nullopt;
            return error(code, "not now: " + path);
          });
      graph::writer_context context{0, 1, 0, "sink", files, clock, {}, {}, {}, true};
      const auto first = make_sink()->create_writer(context, {});
      REQUIRE_FALSE(first);
      CHECK(first.error().code == (code == file_unusable          ? errc::bad_option_value
                                   : code == errc::storage_failed ? errc::output_failed
                                                                  : code));
      CHECK(first.error().message.find("/out") != std::string::npos);

      context.is_fresh = false;
      const auto later = make_sink()->create_writer(context, {});
      CHECK((later.has_value() || later.error().code != errc::bad_option_value));
    }
}
} // TEST_SUITE("task/connector/file sink")

} // namespace headrace::task
