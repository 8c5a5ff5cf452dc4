#include "libtask/operator/window/window_assigner.hpp"

#include "libgraph/data/batch_builder.hpp"
#include "libgraph/data/stream_element.hpp"

#include <doctest/doctest.h>

#include <initializer_list>

namespace headrace::task {
namespace {

using graph::window_kind;
using pairs = std::vector<std::pair<std::uint32_t, std::int64_t>>;

graph::record_batch at_times(std::initializer_list<std::int64_t> times) {
  graph::batch_builder out(std::make_shared<const graph::logical_type>(
      graph::logical_type::row({{"n", graph::logical_type::bigint(), ""}})));
  for (const auto time : times) {
    out.column(0).append(time);
    out.end_row(time);
  }
  return out.finish();
}

pairs zip(const std::vector<std::uint32_t>& rows, const std::vector<std::int64_t>& starts) {
  pairs out;
  for (std::size_t i = 0; i < rows.size(); ++i)
    out.emplace_back(rows[i], starts[i]);
  return out;
}

TEST_SUITE_BEGIN("task/operator/window/window_assigner");

TEST_CASE("a tumbling window starts at a multiple of its size, also before 1970") {
  const window_assigner assigner({window_kind::tumbling, 10, 0, 0, 0});
  window_assignment got;
  assigner.assign(at_times({0, 9, 10, -1, -10, -11}), graph::watermark::none, got);
  CHECK(zip(got.rows, got.starts_ms) ==
        pairs{{0, 0}, {1, 0}, {2, 10}, {3, -10}, {4, -10}, {5, -20}});
  CHECK(got.late_rows.empty());
}

TEST_CASE("an offset shifts the windows") {
  const window_assigner assigner({window_kind::tumbling, 10, 0, 3, 0});
  window_assignment got;
  assigner.assign(at_times({2, 3, 12, 13}), graph::watermark::none, got);
  CHECK(zip(got.rows, got.starts_ms) == pairs{{0, -7}, {1, 3}, {2, 3}, {3, 13}});
}

TEST_CASE("a row is in every sliding window that covers it") {
  const window_assigner assigner({window_kind::sliding, 10, 4, 0, 0});
  window_assignment got;
  assigner.assign(at_times({9}), graph::watermark::none, got);
  CHECK(zip(got.rows, got.starts_ms) == pairs{{0, 8}, {0, 4}, {0, 0}});
}

TEST_CASE("a row between sliding windows that leave gaps is in none, and not late") {
  const window_assigner assigner({window_kind::sliding, 2, 10, 0, 0});
  window_assignment got;
  assigner.assign(at_times({1, 5}), graph::watermark::none, got);
  CHECK(zip(got.rows, got.starts_ms) == pairs{{0, 0}});
  CHECK(got.late_rows.empty());
}

TEST_CASE("a row is late when the watermark has reached the last millisecond of its last window") {
  const window_assigner assigner({window_kind::sliding, 10, 5, 0, 0});
  window_assignment got;
  assigner.assign(at_times({7}), 8, got);
  CHECK(zip(got.rows, got.starts_ms) == pairs{{0, 5}, {0, 0}});
  assigner.assign(at_times({7}), 9, got);
  CHECK(zip(got.rows, got.starts_ms) == pairs{{0, 5}});
  assigner.assign(at_times({7}), 14, got);
  CHECK(got.rows.empty());
  CHECK(got.late_rows == std::vector<std::uint32_t>{0});
}

TEST_CASE("a fired window takes rows until its lateness is over") {
  const window_assigner assigner({window_kind::tumbling, 10, 0, 0, 5});
  window_assignment got;
  assigner.assign(at_times({3}), 13, got);
  CHECK(got.rows.empty());
  CHECK(zip(got.fired_rows, got.fired_starts_ms) == pairs{{0, 0}});
  assigner.assign(at_times({3}), 14, got);
  CHECK(got.fired_rows.empty());
  CHECK(got.late_rows == std::vector<std::uint32_t>{0});
}

TEST_CASE("sizes that make no windows are refused") {
  CHECK(check_window({window_kind::tumbling, 0, 0, 0, 0}).error().code == errc::invalid_graph);
  CHECK(check_window({window_kind::sliding, 10, 0, 0, 0}).error().code == errc::invalid_graph);
  CHECK(check_window({window_kind::tumbling, 10, 0, 0, -1}).error().code == errc::invalid_graph);
  CHECK(check_window({window_kind::end_of_stream, 0, 0, 0, 0}));
}

TEST_SUITE_END();

} // namespace
} // namespace headrace::task
