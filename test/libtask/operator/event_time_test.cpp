#include "libtask/operator/event_time.hpp"

#include "test/support/batches.hpp"
#include "libactors/base/data_errc.hpp"

#include <doctest/doctest.h>

using namespace headrace;
using namespace headrace::task;
using graph::watermark;
using headrace::testing::numbers_of;
using headrace::testing::timed_numbers;

namespace {
graph::watermark_spec bounded(std::int64_t bound_ms, std::int64_t idle_ms = 0) {
  graph::watermark_spec spec;
  spec.kind = graph::watermark_kind::bounded_out_of_orderness;
  spec.bound_ms = bound_ms;
  spec.idle_timeout_ms = idle_ms;
  return spec;
}
} // namespace

TEST_SUITE("task/operator/event_time") {
TEST_CASE("the slowest split decides, less the allowed disorder") {
  split_watermarks marks(bounded(10));
  marks.add("a", 0);
  marks.add("b", 0);

  marks.on_rows("a", 100, 0);
  CHECK_FALSE(marks.settle(0).advanced);
  marks.on_rows("b", 50, 0);

  CHECK(marks.settle(0).advanced == watermark{39});
  marks.remove("b", 0);
  CHECK(marks.settle(0).advanced == watermark{89});
}

TEST_CASE("without room for rows of one time the watermark is the largest time") {
  split_watermarks marks(bounded(-1));
  marks.add("a", 0);
  marks.on_rows("a", 50, 0);

  CHECK(marks.settle(0).advanced == watermark{50});
  marks.on_rows("a", watermark::none + 1, 0);
  CHECK_FALSE(marks.settle(0).advanced);
}

TEST_CASE("an idle split does not hold the watermark back") {
  split_watermarks marks(bounded(0, 1000));
  marks.add("a", 0);
  marks.add("b", 0);
  marks.on_rows("a", 100, 900'000);
  CHECK_FALSE(marks.settle(900'000).advanced);

  CHECK(marks.settle(1'000'000).advanced == watermark{99});
  const auto all_idle = marks.settle(1'900'000);
  CHECK(all_idle.status == graph::watermark_status{true});
  marks.on_rows("b", 200, 2'000'000);
  CHECK(marks.settle(2'000'000).status == graph::watermark_status{false});
}

TEST_CASE("the idle clock stands still while rows could not be passed on") {
  split_watermarks marks(bounded(0, 1000));
  marks.add("a", 0);
  marks.set_running(false, 500'000);

  CHECK_FALSE(marks.settle(5'000'000).status);
  CHECK_FALSE(marks.due_in_us(5'000'000));
  marks.set_running(true, 5'000'000);

  CHECK(marks.due_in_us(5'000'000) == 500'000);
  CHECK(marks.settle(5'500'000).status == graph::watermark_status{true});
}

TEST_CASE("a reader without splits is idle after the timeout") {
  split_watermarks marks(bounded(0, 1000));
  marks.start(0);
  CHECK_FALSE(marks.settle(999'000).status);
  CHECK(marks.settle(1'000'000).status == graph::watermark_status{true});
}

TEST_CASE("on event, the batch is cut behind each row that advances") {
  std::vector<std::string> seen;
  std::int64_t reached = watermark::none;

  emit_with_watermarks(
      timed_numbers({5, 3, 8, 8, 2}), true, reached,
      [&](graph::record_batch rows) {
        for (const auto value : numbers_of(rows))
          seen.push_back(std::to_string(value));
      },
      [&](std::int64_t largest) { seen.push_back("W" + std::to_string(largest)); });

  CHECK(seen == std::vector<std::string>{"5", "W5", "3", "8", "W8", "8", "2"});
  CHECK(reached == 8);
}

TEST_CASE("by batch, one watermark follows the batch") {
  std::vector<std::string> seen;
  std::int64_t reached = 7;

  emit_with_watermarks(
      timed_numbers({5, 8}), false, reached,
      [&](graph::record_batch rows) { seen.push_back(std::to_string(rows.size())); },
      [&](std::int64_t largest) { seen.push_back("W" + std::to_string(largest)); });

  CHECK(seen == std::vector<std::string>{"2", "W8"});
}

TEST_CASE("a time column gives the event time") {
  graph::watermark_spec spec;
  spec.time_column = 0;
  const event_time_stamper stamper(spec, nullptr, nullptr);

  const auto stamped = stamper.stamp(headrace::testing::numbers({7, 9}));

  REQUIRE(stamped);
  REQUIRE(stamped->timestamps() != nullptr);
  CHECK(stamped->timestamps()[1] == 9);
  CHECK(largest_time(*stamped) == 9);
}

TEST_CASE("a row without event time is refused, unless it is left out") {
  graph::watermark_spec spec;
  spec.time_column = 0;
  const event_time_stamper stamper(spec, nullptr, nullptr);
  graph::batch_builder builder(std::make_shared<const graph::logical_type>(
      graph::logical_type::row({{"ts", graph::logical_type::bigint(), ""}})));
  builder.column(0).append<std::int64_t>(7);
  builder.end_row();
  builder.column(0).append_null();
  builder.end_row();
  const auto rows = builder.finish();

  const auto refused = stamper.stamp(rows);

  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == data_errc::row_time_missing);
  CHECK(refused.error().message.find("column `ts` of row +I[null]") != std::string::npos);
  CHECK(stamper.stamp(rows.slice(0, 1)));
}
} // TEST_SUITE("task/operator/event_time")
