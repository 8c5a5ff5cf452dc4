#include "libstate/checkpoint/orphans.hpp"

#include "test/libstate/state_fixture.hpp"
#include "libstate/checkpoint/checkpoint_storage.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace headrace::state {
namespace {

using namespace headrace::testing;

constexpr job_id job{1, 2};

std::vector<std::string> paths_of(const std::vector<orphan>& found) {
  std::vector<std::string> out;
  for (const auto& each : found)
    out.push_back(each.path);
  std::sort(out.begin(), out.end());
  return out;
}

} // namespace

TEST_SUITE("state/checkpoint/orphans") {

TEST_CASE_FIXTURE(state_fixture, "what belongs to no complete checkpoint is found, nothing else") {
  const auto storage = make_file_checkpoint_storage(files, "/checkpoints", job);
  const auto own = "/checkpoints/" + to_string(job);
  completed_checkpoint whole;
  whole.job = job;
  whole.id = 3;
  auto& one = whole.operators[{3, 4}];
  one.id = {3, 4};
  auto& keyed = one.subtasks[0].keyed;
  keyed.push_back(
      {{0, 128}, "native", {own + "/chk-3/a", 0, 1}, {{"x", {own + "/shared/x", 0, 1}}}});
  check_ok(storage->begin(3));
  files.put(own + "/chk-3/a", "a");
  files.put(own + "/shared/x", "x");
  files.put(own + "/shared/y", "yy");
  files.put(own + "/chk-4/b", "bbb");
  files.put("/checkpoints/savepoint-1/c", "c");
  files.put("/checkpoints/savepoint-2/_metadata", "d");
  files.put("/checkpoints/mine/e", "e");
  check_ok(storage->complete(whole));

  const auto found = take(find_orphans(files, "/checkpoints/", 1));

  CHECK(paths_of(found) ==
        std::vector<std::string>{own + "/chk-4", own + "/shared/y", "/checkpoints/savepoint-1"});
  CHECK(found.size() == 3);
  for (const auto& each : found) {
    if (each.path == own + "/chk-4")
      CHECK(each.size_bytes == 3);
    check_ok(remove_orphan(files, each));
  }
  CHECK(take(find_orphans(files, "/checkpoints", 1)).empty());
  CHECK(take(storage->read(3)) == whole);
  CHECK(files.at(own + "/shared/x") == "x");
}

TEST_CASE_FIXTURE(state_fixture, "a file is in use however the way to it is spelled, by any job") {
  const job_id later{1, 3};
  int round = 0;
  for (const std::string way : {"/link", "//checkpoints", "/a/../checkpoints"}) {
    const auto root = "/checkpoints-" + std::to_string(round++);
    for (const auto& [of, file] : {std::pair{job, "x"}, std::pair{later, "y"}}) {
      completed_checkpoint whole;
      whole.job = of;
      whole.id = 3;
      auto& one = whole.operators[{3, 4}];
      one.id = {3, 4};
      one.subtasks[0].keyed.push_back(
          {{0, 128}, "native", {}, {{"x", {way + "/shared/" + file, 0, 1}}}});
      const auto storage = make_file_checkpoint_storage(files, root, of);
      check_ok(storage->begin(3));
      check_ok(storage->complete(whole));
    }
    const auto shared = root + "/" + to_string(job) + "/shared/";
    for (const auto* name : {"x", "y", "z"})
      files.put(shared + name, name);

    CHECK(paths_of(take(find_orphans(files, root, 1))) == std::vector<std::string>{shared + "z"});
  }
}

TEST_CASE_FIXTURE(state_fixture, "what is new, or may be used by what cannot be read, is left") {
  const auto own = "/checkpoints/" + to_string(job);
  files.put(own + "/chk-4/b", "b");
  files.put(own + "/shared/y", "y");
  CHECK(take(find_orphans(files, own, 0)).empty());

  files.put(own + "/chk-5/_metadata", "no manifest");
  CHECK(paths_of(take(find_orphans(files, own, 1))) == std::vector<std::string>{own + "/chk-4"});
  CHECK(find_orphans(files, "/elsewhere", 1).error().code == errc::file_not_found);
}

TEST_CASE_FIXTURE(state_fixture,
                  "a directory that holds no checkpoints is none to look for orphans") {
  files.put("/elsewhere/mine/e", "e");
  const auto found = find_orphans(files, "/elsewhere/", 1);
  REQUIRE(!found.has_value());
  CHECK(found.error().code == errc::file_not_found);
  CHECK(found.error().message ==
        "no checkpoints there: /elsewhere; name a directory of checkpoints "
        "(execution.checkpointing.dir), or that of one job in it");

  files.put("/elsewhere/" + to_string(job) + "/chk-1/_metadata", "");
  CHECK(find_orphans(files, "/elsewhere", 1).has_value());
}
} // TEST_SUITE("state/checkpoint/orphans")

} // namespace headrace::state
