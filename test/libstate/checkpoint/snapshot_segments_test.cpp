#include "libstate/checkpoint/snapshot_segments.hpp"

#include "test/libstate/state_fixture.hpp"
#include "test/support/seed.hpp"
#include "test/support/testing_file_system.hpp"
#include "libactors/base/random.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace headrace::state {
namespace {

using namespace headrace::testing;

constexpr vertex_id vertex{5, 6};
const std::string first_checkpoint = "/checkpoints/job/chk-1";

struct segments_fixture {
  testing_file_system files;
  snapshot_segments segments{files, 1000};

  std::unique_ptr<subtask_target> open(std::int32_t subtask, std::int32_t generation = 0,
                                       const std::string& directory = first_checkpoint) {
    return segments.open(directory, {vertex, subtask, 0, generation}, false);
  }
  /// A part that is finished, and not settled.
  std::unique_ptr<subtask_target> write(std::int32_t subtask, const std::string& content) {
    auto part = open(subtask);
    check_ok(take(part->output())->append(content));
    check_ok(part->finish());
    return part;
  }
  /// What lies where a part is said to.
  std::string read(const subtask_target& part, std::size_t size) const {
    const auto lies = part.place();
    REQUIRE(lies.has_value());
    return std::string(files.at(lies->path).substr(static_cast<std::size_t>(lies->offset), size));
  }
  std::string path_of(std::int32_t subtask, std::int32_t generation = 0) const {
    return first_checkpoint + "/" + to_string(vertex) + "-" + std::to_string(subtask) + "-" +
           std::to_string(generation) + "-0";
  }
  /// Counts calls from now on.
  std::map<std::string, int>& count_calls() {
    calls_.clear();
    files.intercept([this](const std::string& call, const std::string&) {
      ++calls_[call];
      return std::optional<error>();
    });
    return calls_;
  }

private:
  std::map<std::string, int> calls_;
};

std::string long_part(char of) { return std::string(3 * snapshot_segments::held_bytes_max, of); }

} // namespace

TEST_SUITE("state/checkpoint/snapshot_segments") {
TEST_CASE_FIXTURE(segments_fixture, "the parts of many subtasks lie in one file, synced once") {
  auto& calls = count_calls();
  std::vector<std::unique_ptr<subtask_target>> parts;
  for (std::int32_t subtask = 0; subtask < 20; ++subtask)
    parts.push_back(write(subtask, "part of " + std::to_string(subtask)));
  CHECK(files.paths() == std::vector<std::string>{path_of(0) + ".inprogress"});

  for (const auto& part : parts)
    check_ok(part->settle());

  CHECK(files.paths() == std::vector<std::string>{path_of(0)});
  CHECK(calls["sync"] == 1);
  CHECK(calls["create"] == 1);
  CHECK(calls["rename"] == 1);
  files.crash();
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto wanted = "part of " + std::to_string(i);
    CHECK(read(*parts[i], wanted.size()) == wanted);
  }
}

TEST_CASE_FIXTURE(segments_fixture, "parts that come later go behind those that are settled") {
  const auto early = write(0, "early");
  check_ok(early->settle());
  const auto late = write(1, "late");
  files.crash(); // before it is settled
  CHECK(read(*early, 5) == "early");
  CHECK(!late->settle());

  const auto last = write(2, "last");
  check_ok(last->settle());
  CHECK(read(*early, 5) == "early");
  CHECK(read(*last, 4) == "last");
  check_ok(early->settle());
}

TEST_CASE_FIXTURE(segments_fixture, "a full segment takes no more") {
  const auto one = write(0, std::string(1000, 'a'));
  const auto other = write(1, std::string(999, 'b'));
  const auto third = write(2, std::string(999, 'c')); // never split
  const auto fourth = write(3, "d");
  for (const auto* part : {&one, &other, &third, &fourth})
    check_ok((*part)->settle());

  CHECK(files.paths() == std::vector<std::string>{path_of(0), path_of(1), path_of(3)});
  CHECK(read(*third, 999) == std::string(999, 'c'));
}

TEST_CASE_FIXTURE(segments_fixture, "a long part has its segment to itself while it is written") {
  snapshot_segments large(files, 100 * snapshot_segments::held_bytes_max);
  const auto before = large.open(first_checkpoint, {vertex, 0}, false);
  check_ok(take(before->output())->append("before"));
  check_ok(before->finish());
  const auto part = large.open(first_checkpoint, {vertex, 1}, false);
  auto* const out = take(part->output());
  CHECK(!part->place().has_value());
  check_ok(out->append(long_part('x')));
  REQUIRE(part->place().has_value());
  CHECK(part->place()->path == path_of(0));
  CHECK(part->place()->offset == 6);

  const auto meanwhile = large.open(first_checkpoint, {vertex, 2}, false);
  check_ok(take(meanwhile->output())->append("meanwhile"));
  check_ok(meanwhile->finish());
  check_ok(meanwhile->settle());
  check_ok(before->settle()); // while more is written behind it
  check_ok(out->append(long_part('y')));
  check_ok(part->finish());
  check_ok(part->settle());

  CHECK(meanwhile->place()->path == path_of(2));
  CHECK(read(*before, 6) == "before");
  CHECK(read(*meanwhile, 9) == "meanwhile");
  CHECK(read(*part, 2 * long_part('x').size()) == long_part('x') + long_part('y'));
}

TEST_CASE_FIXTURE(segments_fixture, "what was given up is cut off, and leaves no file of its own") {
  {
    const auto alone = open(0);
    check_ok(take(alone->output())->append("half"));
  }
  CHECK(files.paths().empty());

  snapshot_segments large(files, 100 * snapshot_segments::held_bytes_max);
  const auto first = large.open(first_checkpoint, {vertex, 0}, false);
  check_ok(take(first->output())->append("first"));
  check_ok(first->finish());
  {
    const auto half = large.open(first_checkpoint, {vertex, 1}, false);
    check_ok(take(half->output())->append(long_part('x')));
  }
  const auto next = large.open(first_checkpoint, {vertex, 2}, false);
  check_ok(take(next->output())->append("next"));
  check_ok(next->finish());
  check_ok(first->settle());
  check_ok(next->settle());

  CHECK(files.paths() == std::vector<std::string>{path_of(0)});
  CHECK(files.at(path_of(0)) == "firstnext");
}

TEST_CASE_FIXTURE(segments_fixture, "the next job manager's checkpoint of the same number is new") {
  const auto old = write(0, "old");
  check_ok(old->settle());
  const auto older = write(1, "of a task that is about to end"); // and whose file is open
  check_ok(files.remove_tree(first_checkpoint));

  const auto part = open(0, 1);
  check_ok(take(part->output())->append("new"));
  check_ok(part->finish());
  check_ok(part->settle());

  CHECK(files.paths() == std::vector<std::string>{path_of(0, 1)});
  CHECK(files.at(path_of(0, 1)) == "new");
}

TEST_CASE_FIXTURE(segments_fixture, "a part of a checkpoint that was aborted hurts nobody") {
  check_ok(write(0, "early")->settle());
  check_ok(files.remove_tree(first_checkpoint));

  const auto late = write(1, "late");
  check_ok(late->settle());

  CHECK(files.paths() == std::vector<std::string>{path_of(1)});
  CHECK(read(*late, 4) == "late");
}

TEST_CASE_FIXTURE(segments_fixture, "a segment that cannot be synced fails what is not settled") {
  const auto early = write(0, "early");
  check_ok(early->settle());
  const auto one = write(1, "one");
  const auto other = write(2, "other");
  files.intercept([](const std::string& call, const std::string& path) {
    return call == "sync" ? std::optional(error(errc::storage_failed, "no medium: " + path))
                          : std::nullopt;
  });
  CHECK(one->settle().error().has(errc::storage_failed));
  files.intercept({});

  CHECK(other->settle().error().has(errc::storage_failed)); // the kernel may have dropped it
  check_ok(early->settle());
  const auto next = write(3, "next");
  check_ok(next->settle());
  CHECK(read(*next, 4) == "next");
}

TEST_CASE_FIXTURE(segments_fixture, "without room for others each part has a file of its own") {
  snapshot_segments own(files, 0);
  for (std::int32_t subtask = 0; subtask < 3; ++subtask) {
    const auto part = own.open(first_checkpoint, {vertex, subtask}, false);
    check_ok(take(part->output())->append("part"));
    check_ok(part->finish()); // and settled
    CHECK(part->place()->path == path_of(subtask));
    CHECK(part->place()->written_as == path_of(subtask));
    CHECK(part->place()->offset == 0);
  }
  files.crash();
  CHECK(files.paths() == std::vector<std::string>{path_of(0), path_of(1), path_of(2)});
  CHECK(files.at(path_of(2)) == "part");
}

TEST_CASE("whatever operation fails, the parts that are settled are whole") {
  for (const bool is_power_failure : {false, true}) {
    CAPTURE(is_power_failure);
    std::uint64_t failing = 1;
    for (bool has_failed = true; has_failed; ++failing) {
      segments_fixture at;
      std::uint64_t operations = 0;
      at.files.intercept(
          [&](const std::string& call, const std::string& path) -> std::optional<error> {
            ++operations;
            if (operations == failing || (is_power_failure && operations > failing))
              return error(errc::storage_failed, "made to fail: " + call + " " + path);
            return std::nullopt;
          });
      struct written {
        std::string content;
        std::unique_ptr<subtask_target> part;
        bool is_settled = false;
      };
      std::vector<written> all;
      for (std::int32_t subtask = 0; subtask < 9; ++subtask) {
        written one{subtask == 4 ? long_part('4') : "part " + std::to_string(subtask),
                    at.open(subtask)};
        const bool is_dropped = subtask == 6;
        if (!take(one.part->output())->append(one.content) || is_dropped || !one.part->finish())
          continue;
        all.push_back(std::move(one));
        if (subtask % 3 == 2)
          for (auto& each : all)
            each.is_settled = each.part->settle().has_value() || each.is_settled;
      }
      at.files.intercept({});
      at.files.crash();
      std::size_t settled = 0;
      for (const auto& one : all) {
        if (!one.is_settled)
          continue;
        ++settled;
        CHECK(at.read(*one.part, one.content.size()) == one.content);
      }
      has_failed = operations >= failing;
      if (!has_failed)
        CHECK(settled == 8);
    }
    CHECK(failing > 10);
  }
}

TEST_CASE("parts that are written at once on several threads do not mix") {
  CAPTURE(testing::seed());
  testing_file_system files;
  snapshot_segments segments(files, 8 * snapshot_segments::held_bytes_max);
  constexpr std::int32_t threads = 8;
  constexpr std::int32_t parts_a_thread = 12;
  struct written {
    std::string content;
    std::unique_ptr<subtask_target> part;
  };
  std::vector<std::vector<written>> all(threads);
  std::vector<std::thread> running;
  for (std::int32_t thread = 0; thread < threads; ++thread) {
    running.emplace_back([&, thread] {
      const auto random = make_seeded_random(testing::seed() + static_cast<std::uint64_t>(thread));
      for (std::int32_t i = 0; i < parts_a_thread; ++i) {
        written one;
        const auto pieces = 1 + random->below(random->below(4) == 0 ? 40 : 4);
        one.part = segments.open(first_checkpoint, {vertex, thread * parts_a_thread + i}, false);
        for (std::uint64_t piece = 0; piece < pieces; ++piece) {
          const std::string bytes(1 + random->below(64U << 10U),
                                  static_cast<char>('a' + (thread + i) % 26));
          one.content += bytes;
          if (!one.part->output().value()->append(bytes))
            return;
        }
        if (!one.part->finish() || (random->below(2) == 0 && !one.part->settle()))
          return;
        all[static_cast<std::size_t>(thread)].push_back(std::move(one));
      }
    });
  }
  for (auto& one : running)
    one.join();
  for (const auto& of_thread : all) {
    REQUIRE(of_thread.size() == parts_a_thread);
    for (const auto& one : of_thread)
      check_ok(one.part->settle());
  }
  files.crash();
  for (const auto& of_thread : all) {
    for (const auto& one : of_thread) {
      const auto lies = *one.part->place();
      CHECK(files.at(lies.path).substr(static_cast<std::size_t>(lies.offset), one.content.size()) ==
            one.content);
    }
  }
  CHECK(files.paths().size() < 3 * threads);
}
} // TEST_SUITE("state/checkpoint/snapshot_segments")

} // namespace headrace::state
