#include "libstate/raw_state/raw_state.hpp"

#include "test/libstate/state_fixture.hpp"
#include "libstate/checkpoint/checkpoint_storage.hpp"
#include "libstate/checkpoint/redistribution.hpp"
#include "libstate/processor/savepoint_reader.hpp"
#include "libgraph/data/key_group.hpp"
#include "libgraph/function/failure.hpp"

#include <doctest/doctest.h>

#include <map>
#include <set>
#include <string>

namespace headrace::state {
namespace {

using namespace headrace::testing;

constexpr std::int32_t groups_most = 16;

std::string stream_of(std::int32_t group) {
  // Longer than a piece, shorter, and empty ones.
  return std::string(static_cast<std::size_t>(group % 3) * 40'000, static_cast<char>('a' + group));
}

struct raw_fixture : state_fixture {
  operator_subtask_state store(const raw_snapshot& from, const std::string& path) {
    testing_target target(files, path);
    check_ok(take(target.output())->append("before"));
    operator_subtask_state out;
    check_ok(from.run(target, out));
    check_ok(target.finish());
    return out;
  }
  operator_subtask_state store_subtask(std::int32_t subtask, std::int32_t parallelism) {
    const auto groups = graph::key_groups_of(subtask, groups_most, parallelism);
    raw_snapshot out(groups, groups_most);
    for (auto group = groups.end; group-- > groups.first;) { // in any order
      if (group == 5)
        continue; // never begun
      out.begin_key_group(group);
      for (const auto byte : stream_of(group))
        out.write({&byte, 1});
    }
    for (int i = 0; i < 3; ++i) {
      out.begin_partition();
      out.write(std::to_string(subtask));
      out.write("-" + std::to_string(i));
    }
    return store(out, "part-" + std::to_string(subtask));
  }
};

errc code_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const graph::failure& failure) {
    return failure.cause().code;
  }
  return errc{};
}

} // namespace

TEST_SUITE("state/raw_state/raw_state") {
TEST_CASE_FIXTURE(raw_fixture, "streams go where their key groups are, partitions are dealt out") {
  operator_state stored;
  stored.parallelism = 2;
  stored.max_parallelism = groups_most;
  for (std::int32_t subtask = 0; subtask < 2; ++subtask)
    stored.subtasks[subtask] = store_subtask(subtask, 2);

  for (const std::int32_t parallelism : {1, 2, 3, 16}) {
    CAPTURE(parallelism);
    const auto parts = redistribute(stored, parallelism);
    std::map<std::int32_t, std::string> streams;
    std::multiset<std::string> partitions;
    for (std::int32_t subtask = 0; subtask < parallelism; ++subtask) {
      const auto groups = graph::key_groups_of(subtask, groups_most, parallelism);
      const auto read =
          take(read_raw_state(files, parts[static_cast<std::size_t>(subtask)], groups));
      std::int32_t before = -1;
      for (const auto& [group, bytes] : read.key_groups) {
        CHECK(groups.contains(group));
        CHECK(group > before);
        before = group;
        CHECK(streams.emplace(group, bytes).second);
      }
      CHECK(read.partitions.size() <= 6 / static_cast<std::size_t>(parallelism) + 1);
      partitions.insert(read.partitions.begin(), read.partitions.end());
    }
    CHECK(streams.size() == groups_most - 1);
    for (const auto& [group, bytes] : streams)
      CHECK(bytes == stream_of(group));
    CHECK(partitions == std::multiset<std::string>{"0-0", "0-1", "0-2", "1-0", "1-1", "1-2"});
  }
}

TEST_CASE_FIXTURE(raw_fixture, "streams are begun once, by the subtask that has their keys") {
  raw_snapshot of_keys(key_group_range{0, 8}, groups_most);
  CHECK(code_of([&] { of_keys.write("x"); }) == errc::user_function_failed);
  CHECK(code_of([&] { of_keys.begin_key_group(8); }) == errc::user_function_failed);
  of_keys.begin_key_group(7);
  CHECK(code_of([&] { of_keys.begin_key_group(7); }) == errc::user_function_failed);

  raw_snapshot without_keys(std::nullopt, groups_most);
  CHECK(code_of([&] { without_keys.begin_key_group(0); }) == errc::invalid_graph);
  CHECK(without_keys.is_empty());
}

TEST_CASE_FIXTURE(raw_fixture, "changed bytes are noticed, wherever they are") {
  const auto stored = store_subtask(0, 4);
  const auto whole = take(files.read_all("part-0", 1U << 30U));
  for (std::size_t at = 6; at < whole.size(); at += 7) { // behind what others wrote
    auto changed = whole;
    changed[at] = static_cast<char>(changed[at] ^ 1);
    check_ok(files.write_atomically("part-0", changed));
    const auto read = read_raw_state(files, stored, {0, 4});
    REQUIRE(!read.has_value());
    CHECK((read.error().code == errc::corrupt_snapshot ||
           read.error().code == errc::unsupported_snapshot_version));
  }
}

TEST_CASE_FIXTURE(raw_fixture, "a savepoint's raw state is listed and read as rows") {
  const auto storage = make_file_checkpoint_storage(files, "/kept", job_id{1, 1});
  completed_checkpoint savepoint;
  savepoint.job = {1, 1};
  savepoint.directory = "/kept/savepoint-1";
  auto& stored = savepoint.operators[operator_id{3, 3}];
  stored.id = {3, 3};
  stored.parallelism = 1;
  stored.max_parallelism = groups_most;
  stored.subtasks[0] = store_subtask(0, 1);
  check_ok(storage->complete(savepoint));

  const auto reader = take(processor::savepoint_reader::open(files, "/kept/savepoint-1"));
  const auto summary = take(reader.summarize({3, 3}));

  CHECK(summary.key_type == nullptr);
  REQUIRE(summary.states.size() == 2);
  const auto& keyed = summary.states[0];
  CHECK(keyed.name == raw_state::keyed_name);
  CHECK(keyed.kind == "raw");
  CHECK(keyed.keys == groups_most - 1);
  CHECK(keyed.rows > keyed.keys); // long streams are several
  const auto& plain = summary.states[1];
  CHECK(plain.name == raw_state::operator_name);
  CHECK(plain.kind == "raw");
  CHECK(plain.rows == 3);
  std::map<std::int32_t, std::string> streams;
  check_ok(reader.read({3, 3}, keyed.name, [&](const auto& piece) -> result<bool> {
    for (std::size_t i = 0; i < piece.entries.size(); ++i)
      streams[piece.keys.at(0).template values<std::int32_t>()[i]] += piece.entries[i].value;
    return true;
  }));
  CHECK(streams.size() == groups_most - 1);
  CHECK(streams[4] == stream_of(4));
  std::vector<std::string> partitions;
  check_ok(reader.read_elements({3, 3}, plain.name, [&](byte_view element) -> result<bool> {
    partitions.emplace_back(element);
    return true;
  }));
  CHECK(partitions == std::vector<std::string>{"0-0", "0-1", "0-2"});
}
} // TEST_SUITE("state/raw_state/raw_state")

} // namespace headrace::state
