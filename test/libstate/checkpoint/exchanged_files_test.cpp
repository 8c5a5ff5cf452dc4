#include "test/libstate/state_fixture.hpp"
#include "test/support/batches.hpp"
#include "libstate/checkpoint/checkpoint_storage.hpp"
#include "libstate/checkpoint/snapshot_segments.hpp"
#include "libstate/processor/savepoint_reader.hpp"
#include "libstate/raw_state/raw_state.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

// Segments of one subtask have the same name in each savepoint of a job. When those of two
// savepoints are exchanged, each is whole by itself, and of the same size where states are of fixed
// size: only the manifests know that they are not where they belong.

namespace headrace::state {
namespace {

using namespace headrace::testing;

constexpr job_id job{1, 2};
constexpr operator_id summing{3, 4};
constexpr std::int32_t groups_most = 128;
const std::string unlike = "file is not the one that the manifest was written with, in ";

struct exchange_fixture : state_fixture {
  using state_fixture::state_fixture;
  std::unique_ptr<checkpoint_storage> storage =
      make_file_checkpoint_storage(files, "/checkpoints", job);

  static std::string directory_of(checkpoint_id id) {
    return "/savepoints/savepoint-" + std::to_string(id);
  }
  void write(keyed_backend& backend, std::int64_t number) {
    auto& table = *take(backend.open_table(sums()));
    std::vector<std::int64_t> values(100);
    std::iota(values.begin(), values.end(), 0);
    key_batch keys(backend.key(), max_parallelism);
    keys.assign(numbers(values), column_0);
    located_rows at;
    check_ok(table.locate(keys, all_rows(values.size()), 0, access::insert, at));
    for (auto* value : at.values)
      std::memcpy(value, &number, sizeof(number));
    check_ok(table.write_back(at));
  }
  /// @param full_bytes  as of snapshot_segments: 0 where file merging is off
  completed_checkpoint
  savepoint(checkpoint_id id, std::uint64_t full_bytes,
            const std::function<status(snapshot_target&, operator_subtask_state&)>& part) {
    completed_checkpoint out;
    out.job = job;
    out.id = id;
    out.kind = checkpoint_kind::savepoint;
    out.directory = directory_of(id);
    check_ok(storage->begin_savepoint(out.directory));
    snapshot_segments segments(files, full_bytes);
    const auto target = segments.open(out.directory, {{5, 6}, 0, 0, 0}, true);
    auto& state = out.operators[summing];
    state.id = summing;
    task_state_snapshot whole;
    check_ok(part(*target, whole.operators[summing]));
    check_ok(target->finish());
    if (const auto lies = target->place())
      move_segments(whole, lies->written_as, lies->path, lies->offset);
    check_ok(target->settle());
    state.subtasks[0] = whole.operators[summing];
    check_ok(storage->complete(out));
    return out;
  }
  /// Exchanges the files of the same name. @returns how many there are
  int exchange() {
    int out = 0;
    const auto first = directory_of(1);
    for (const auto& path : files.paths()) {
      const auto other = directory_of(2) + path.substr(std::min(first.size(), path.size()));
      if (!path.starts_with(first + "/") || path.ends_with("/_metadata") || !files.stat(other))
        continue;
      const auto content = files.at(path);
      files.put(path, files.at(other));
      files.put(other, content);
      ++out;
    }
    return out;
  }
  void check_refused(const status& outcome, const std::string& path) {
    REQUIRE(!outcome.has_value());
    CHECK(outcome.error().has(errc::corrupt_snapshot));
    const auto words = to_string(outcome.error());
    CHECK_MESSAGE(words.find(unlike + path) != std::string::npos, words);
  }
  status inspect(checkpoint_id id) {
    HEADRACE_TRY(const auto reader, processor::savepoint_reader::open(files, directory_of(id)));
    HEADRACE_TRY(const auto summary, reader.summarize(summing));
    return {};
  }
};

} // namespace

TEST_SUITE("state/checkpoint/exchanged_files") {
STATE_TEST_CASE(exchange_fixture, "files of two savepoints are told apart") {
  const auto restore = [&](checkpoint_id id) {
    const auto stored = take(read_checkpoint(files, directory_of(id)));
    return make(number_type())->restore(stored.operators.at(summing).subtasks.at(0).keyed);
  };
  const bool is_inspected = choice.backend == "hashmap" || choice.kind == snapshot_kind::canonical;
  for (const std::uint64_t full_bytes : {std::uint64_t{0}, std::uint64_t{1} << 20U}) {
    for (const bool is_inline : {false, true}) { // rows and table files behind what describes them
      CAPTURE(full_bytes);
      CAPTURE(is_inline);
      maker = is_inline ? take(make_state_backend(choice.backend, std::uint64_t{64} << 20U))
                        : make_maker(choice.backend);
      const auto store = [&](checkpoint_id id, std::int64_t number) {
        check_ok(files.remove_tree(directory_of(id)));
        const auto backend = make(number_type());
        write(*backend, number);
        const auto made =
            savepoint(id, full_bytes, [&](snapshot_target& target, operator_subtask_state& into) {
              const auto snapshot = take(backend->snapshot(id, choice.kind));
              into.keyed.push_back(take(snapshot->run(target)));
              return status();
            });
        const auto& stored = made.operators.at(summing).subtasks.at(0).keyed.at(0);
        return take(files.stat(stored.segment.path)).size_bytes;
      };
      const auto size = store(1, 1000);
      bool is_same_size = false; // rows are compressed: not all numbers take as much
      for (std::int64_t number = 1001; !is_same_size && number < 1100; ++number)
        is_same_size = store(2, number) == size;
      REQUIRE(is_same_size);
      check_ok(restore(1));
      check_ok(inspect(1));

      REQUIRE(exchange() >= 1);

      for (checkpoint_id id = 1; id <= 2; ++id) {
        check_refused(restore(id), directory_of(id) + "/");
        if (is_inspected)
          check_refused(inspect(id), directory_of(id) + "/");
      }
      exchange();
      check_ok(restore(2));
      check_ok(inspect(2));
    }
  }
}

TEST_CASE_FIXTURE(exchange_fixture, "files of raw state of two savepoints are told apart") {
  for (checkpoint_id id = 1; id <= 2; ++id)
    savepoint(id, 0, [&](snapshot_target& target, operator_subtask_state& into) {
      raw_snapshot raw(key_group_range{0, groups_most}, groups_most);
      raw.begin_key_group(5);
      raw.write(std::string(100, static_cast<char>('a' + id)));
      return raw.run(target, into);
    });
  const auto restore = [&](checkpoint_id id) -> status {
    HEADRACE_TRY(const auto stored, read_checkpoint(files, directory_of(id)));
    HEADRACE_TRY(const auto read, read_raw_state(files, stored.operators.at(summing).subtasks.at(0),
                                                 {0, groups_most}));
    return {};
  };
  check_ok(restore(1));

  REQUIRE(exchange() == 1);

  for (checkpoint_id id = 1; id <= 2; ++id) {
    check_refused(restore(id), directory_of(id) + "/");
    check_refused(inspect(id), directory_of(id) + "/");
  }
}
} // TEST_SUITE("state/checkpoint/exchanged_files")

} // namespace headrace::state
