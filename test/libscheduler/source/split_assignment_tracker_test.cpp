#include "libscheduler/source/split_assignment_tracker.hpp"

#include "test/support/seed.hpp"
#include "libactors/base/random.hpp"

#include <doctest/doctest.h>

#include <map>
#include <set>

namespace headrace::scheduler {

namespace {

using splits = std::vector<graph::source_split>;

} // namespace

TEST_SUITE("scheduler/source/split_assignment_tracker") {

TEST_CASE("splits assigned after the restored checkpoint come back, in order") {
  split_assignment_tracker tracker;
  tracker.assign(0, {{"a", ""}});
  tracker.on_checkpoint(1);
  tracker.assign(0, {{"b", ""}});
  tracker.assign(1, {{"x", ""}});
  tracker.on_checkpoint(2);
  tracker.assign(0, {{"c", ""}});

  CHECK(tracker.take_back(0, 1) == splits{{"b", ""}, {"c", ""}});
  CHECK(tracker.take_back(0, 1).empty());
  CHECK(tracker.take_back(1, 1) == splits{{"x", ""}});
}

TEST_CASE("without a checkpoint, all splits come back") {
  split_assignment_tracker tracker;
  tracker.assign(0, {{"a", ""}});
  tracker.on_checkpoint(1);
  tracker.assign(0, {{"b", ""}});

  CHECK(tracker.take_back(0, 0) == splits{{"a", ""}, {"b", ""}});
}

TEST_CASE("a completed checkpoint makes what lies before it forgotten") {
  split_assignment_tracker tracker;
  tracker.assign(0, {{"a", ""}});
  tracker.on_checkpoint(1);
  tracker.assign(0, {{"b", ""}});
  tracker.on_checkpoint(2);
  tracker.on_checkpoint_completed(1);

  CHECK(tracker.take_back(0, 0) == splits{{"b", ""}});
}

TEST_CASE("no split is lost and none is held twice, whatever fails when") {
  for (std::uint64_t round = 0; round < 200; ++round) {
    CAPTURE(testing::seed());
    CAPTURE(round);
    auto random = make_seeded_random(testing::seed() + round);
    split_assignment_tracker tracker;
    std::set<std::string> open; // with the enumerator
    for (int i = 0; i < 30; ++i)
      open.insert(std::to_string(i));
    std::map<std::int32_t, std::set<std::string>> held;
    std::map<checkpoint_id, std::map<std::int32_t, std::set<std::string>>> snapshots;
    checkpoint_id newest = 0;
    checkpoint_id completed = 0;
    for (int step = 0; step < 60; ++step) {
      const auto reader = static_cast<std::int32_t>(random->below(3));
      switch (random->below(4)) {
      case 0:
      case 1:
        if (!open.empty()) {
          const std::string split = *open.begin();
          open.erase(open.begin());
          tracker.assign(reader, {{split, ""}});
          held[reader].insert(split);
        }
        break;
      case 2:
        tracker.on_checkpoint(++newest);
        snapshots[newest] = held;
        if (random->below(2) == 0) {
          completed = newest;
          tracker.on_checkpoint_completed(completed);
        }
        break;
      default:
        held[reader] = completed == 0 ? std::set<std::string>{} : snapshots[completed][reader];
        for (const auto& split : tracker.take_back(reader, completed))
          CHECK(open.insert(split.id).second);
        break;
      }
      std::multiset<std::string> everywhere(open.begin(), open.end());
      for (const auto& [who, some] : held)
        everywhere.insert(some.begin(), some.end());
      CHECK(everywhere.size() == 30);
      CHECK(std::set<std::string>(everywhere.begin(), everywhere.end()).size() == 30);
    }
  }
}

} // TEST_SUITE("scheduler/source/split_assignment_tracker")

} // namespace headrace::scheduler
