#include "libtask/operator/async/pending_rows.hpp"

#include "test/support/batches.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace headrace::task {
namespace {

/// All that waits, a row at a time: numbers of rows, and "W" before watermarks.
std::string drained(pending_input& from) {
  std::string out;
  while (!from.is_empty()) {
    if (const auto* next = from.front_rows()) {
      out += std::to_string(testing::numbers_of(*next->in).at(next->rows[next->at])) + " ";
      from.drop_rows(1);
    } else {
      const auto what = from.take_control();
      out += "W" + std::to_string(std::get<graph::watermark>(what).time_ms) + " ";
    }
  }
  return out;
}

graph::restored_async_rows restored(const std::vector<std::int64_t>& numbers,
                                    std::vector<std::int64_t> behind_ms) {
  return {testing::numbers(numbers), std::move(behind_ms)};
}

constexpr auto none = graph::watermark::none;

} // namespace

TEST_SUITE_BEGIN("task/operator/async/pending_rows");

TEST_CASE("rows and controls leave as they came") {
  pending_input input;
  input.add(testing::numbers({1, 2}), none);
  input.add(graph::watermark{5});
  input.add(testing::numbers({3}), 5);
  CHECK(input.has_rows());

  std::vector<graph::async_row> rows;
  input.append_rows(rows);
  REQUIRE(rows.size() == 3);
  CHECK(rows[1].row == 1);
  CHECK(rows[2].behind_ms == 5);

  CHECK(drained(input) == "1 2 W5 3 ");
  CHECK_FALSE(input.has_rows());
}

TEST_CASE(
    "restored rows come behind the watermarks that they were behind, as far as time had come") {
  struct sample {
    graph::restored_async_rows rows;
    std::int64_t reached_ms;
    const char* expected;
  };
  const sample samples[] = {
      {restored({1, 2, 3}, {none, none, none}), none, "1 2 3 "},
      {restored({1, 2, 3}, {none, 10, 10}), 10, "1 W10 2 3 "},
      // of two subtasks: none is behind a watermark that it was ahead of
      {restored({1, 2, 3, 4}, {10, 20, 5, 8}), 8, "W5 3 W8 4 1 2 "},
      {restored({1, 2}, {10, 20}), none, "1 2 "},
  };
  for (const auto& each : samples) {
    pending_input input;
    input.add_restored(each.rows, each.reached_ms);
    CHECK(drained(input) == each.expected);
  }
}

TEST_SUITE_END();

} // namespace headrace::task
