#include "test/integration/testing_job.hpp"
#include "test/support/connected_job.hpp"
#include "test/support/seed.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <iterator>
#include <map>
#include <string>
#include <tuple>

// A job of connected streams, with keys and with rules that are broadcast, disturbed at moments
// drawn from a seed, and run on at another parallelism: its rows are those of a plain evaluation.

namespace headrace::testing {
namespace {

constexpr std::int64_t second_ms = 1000;

struct connected_input {
  windowed_input clicks;
  windowed_input bonuses;
  std::vector<windowed_input::event> rules; ///< ascending, of times that differ

  std::map<std::string, std::string> files() const {
    std::map<std::string, std::string> out;
    for (std::size_t i = 0; i < bonuses.files.size(); ++i)
      out["/bonuses/part-" + std::to_string(i) + ".csv"] = bonuses.files[i];
    auto& lines = out["/rules/rules.csv"];
    for (const auto& rule : rules)
      lines += std::to_string(rule.time_ms) + ",0," + std::to_string(rule.value) + "\n";
    return out;
  }
};

connected_input make_connected_input() {
  connected_input out{make_windowed_input(4, 1000), make_windowed_input(3, 500), {}};
  for (std::int64_t i = 0; i < 60; ++i)
    out.rules.push_back({1'000'500 + i * 1700, 0, 2 + i % 7});
  return out;
}

std::multiset<std::string> evaluate(const connected_input& input) {
  std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t>, std::int64_t> numbers;
  for (const auto& each : input.clicks.events) {
    numbers[{2, each.key, each.time_ms - each.time_ms % second_ms}] += each.value;
    std::int64_t factor = 1;
    for (const auto& rule : input.rules)
      if (rule.time_ms <= each.time_ms)
        factor = rule.value;
    numbers[{3, each.key, each.time_ms}] += each.value * factor;
  }
  for (const auto& each : input.bonuses.events)
    numbers[{2, each.key, each.time_ms - each.time_ms % second_ms}] += each.value * bonus_worth;
  std::multiset<std::string> out;
  for (const auto& [where, number] : numbers)
    out.insert(std::to_string(std::get<0>(where)) + ',' + std::to_string(std::get<1>(where)) + ',' +
               std::to_string(std::get<2>(where)) + ',' + std::to_string(number));
  return out;
}

void check_runs(int runs, const std::function<run_options(int run)>& options_of) {
  const auto input = make_connected_input();
  const auto expected = evaluate(input);
  int restored = 0;
  bool moves = false;
  int moved = 0; // in the middle: a savepoint may come when all rows have been read
  for (int run = 0; run < runs; ++run) {
    auto options = options_of(run);
    options.seed = testing::seed() + static_cast<std::uint64_t>(run);
    options.connects = true;
    options.files = input.files();
    CAPTURE(options.seed);
    CAPTURE(run);
    const auto got = run_windowed_job(input.clicks, options);
    CHECK_MESSAGE(got.failure.empty(), got.failure);
    moved += options.restored_parallelism > 0 && got.rows_at_stop < expected.size() ? 1 : 0;
    moves |= options.restored_parallelism > 0;
    CHECK(got.late_rows == 0);
    CHECK(got.rows == expected);
    restored += got.restored_checkpoints;
    if (!got.failure.empty() || got.rows != expected)
      break;
  }
  CHECK(restored > 0);
  CHECK((moved > 0) == moves);
}

constexpr int parallelisms[][2] = {{2, 3}, {3, 2}, {4, 1}, {1, 4}};

} // namespace

TEST_SUITE_BEGIN("integration/connected");

TEST_CASE("connected streams that are disturbed give what a plain evaluation gives") {
  check_runs(testing::runs(6), [](int run) {
    return run_options{.disturbances = 3,
                       .restarts_job_manager = run % 2 == 1,
                       .state_backend = run % 3 == 2 ? "rocksdb" : "hashmap"};
  });
}

TEST_CASE("connected streams run on from a savepoint at another parallelism") {
  check_runs(testing::runs(8), [](int run) {
    const auto& [before, after] = parallelisms[run % static_cast<int>(std::size(parallelisms))];
    return run_options{.disturbances = run % 2 == 0 ? 0 : 2,
                       .state_backend = run % 4 < 2 ? "hashmap" : "rocksdb",
                       .parallelism = before,
                       .restored_parallelism = after};
  });
}

TEST_CASE("barriers that overtake rows of connected streams lose none of them") {
  check_runs(testing::runs(4),
             [](int) { return run_options{.disturbances = 3, .unaligned = true}; });
}

TEST_SUITE_END();

} // namespace headrace::testing
