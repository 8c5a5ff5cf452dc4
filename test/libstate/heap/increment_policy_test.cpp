#include "libstate/heap/increment_policy.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <vector>

namespace headrace::state {
namespace {

struct planned {
  std::vector<std::uint64_t> chain;
  std::uint64_t changed = 0;
  increment_plan wanted;
  std::uint64_t all = 1000;
};

struct written_chain {
  std::vector<std::uint64_t> elements;
  std::uint64_t rows_written = 0;

  void write(std::uint64_t changed, std::uint64_t all) {
    const auto plan = plan_increment(elements, changed, all);
    auto rows = changed;
    if (plan.is_whole) {
      rows = all;
      elements.clear();
    }
    for (std::size_t i = 0; i < plan.absorbed; ++i) {
      rows += elements.back();
      elements.pop_back();
    }
    elements.push_back(rows);
    rows_written += rows;
  }
};

TEST_SUITE_BEGIN("state/heap/increment_policy");

TEST_CASE("a chain begins with all rows") {
  CHECK(plan_increment({}, 0, 0) == increment_plan{true, 0});
  CHECK(plan_increment({}, 10, 1000) == increment_plan{true, 0});
}

TEST_CASE("increments of about a size become one") {
  static const std::vector<planned> table = {
      {{1000}, 10, {false, 0}},
      {{1000, 10}, 10, {false, 0}},
      {{1000, 10, 10}, 10, {false, 0}},
      {{1000, 10, 10, 10}, 10, {false, 3}},
      {{1000, 40, 10, 10, 10}, 10, {false, 3}},
      {{1000, 40, 40, 40, 10, 10, 10}, 10, {false, 6}},
      {{1000, 400}, 10, {false, 0}},
      {{1000, 5, 10, 30}, 10, {false, 3}}, // sizes within a factor
      {{1000, 200, 100}, 190, {false, 0}},
      {{1000, 200, 100}, 201, {true, 0}}, // more than half of all
      {{1000}, 501, {true, 0}},
      {{1000}, 0, {false, 0}},
      {{10}, 3, {true, 0}, 5}, // there are few rows now
  };
  for (const auto& one : table) {
    CAPTURE(one.changed);
    CAPTURE(one.chain.size());
    CHECK(plan_increment(one.chain, one.changed, one.all) == one.wanted);
  }
}

TEST_CASE("chains stay short, and rows are written few times") {
  for (const std::uint64_t changed : {1U, 10U, 100U, 1'000U, 10'000U}) {
    CAPTURE(changed);
    constexpr std::uint64_t all = 1'000'000;
    written_chain chain;
    chain.write(all, all);
    chain.rows_written = 0;
    const std::uint64_t snapshots = 1000;
    std::size_t longest = 0;
    for (std::uint64_t i = 0; i < snapshots; ++i) {
      chain.write(changed, all);
      longest = std::max(longest, chain.elements.size());
    }
    CHECK(longest <= increments_max + 1);
    // Once for each level, and the whole when half of it has changed.
    CHECK(chain.rows_written <= snapshots * changed * 8 + all);
  }
}

TEST_CASE("a chain of growing increments is bounded, too") {
  std::vector<std::uint64_t> chain = {std::uint64_t{1} << 40U};
  for (std::uint64_t rows = std::uint64_t{1} << 34U; chain.size() <= increments_max; rows /= 5)
    chain.push_back(std::max<std::uint64_t>(rows, 1));
  const auto plan = plan_increment(chain, 0, std::uint64_t{1} << 40U);
  CHECK(plan == increment_plan{false, increments_max});
}

TEST_SUITE_END();

} // namespace
} // namespace headrace::state
