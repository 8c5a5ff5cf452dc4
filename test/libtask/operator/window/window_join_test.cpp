#include "test/libtask/operator/window/testing_windows.hpp"
#include "libgraph/api/window/co_grouped_streams.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <tuple>

using namespace headrace;
using namespace headrace::testing;
using namespace std::chrono_literals;

namespace {

/// A row of either stream behind the union, with its key.
using keyed_row = std::tuple<std::optional<counted>, std::optional<std::string>, std::string>;

graph::record_batch row_of(const keyed_row& row, std::int64_t time_ms) {
  graph::batch_builder out(
      std::make_shared<const graph::logical_type>(api::row_info<keyed_row>::type()));
  api::row_info<keyed_row>::append(out, row);
  out.end_row(time_ms);
  return out.finish();
}
void left(window_run& run, const std::string& key, std::int64_t n, std::int64_t time_ms) {
  run.harness().push(row_of({counted{key, n}, std::nullopt, key}, time_ms));
}
void right(window_run& run, const std::string& key, std::int64_t time_ms) {
  run.harness().push(row_of({std::nullopt, key, key}, time_ms));
}

std::string whole(const std::string& text) { return text; }

template <class Way>
auto keyed(api::environment& env, Way way) {
  const auto first = env.from_collection(std::vector<counted>{});
  const auto second = env.from_collection(std::vector<std::string>{});
  return way(first, second).where(&counted::word).equal_to(&whole);
}
auto joined(api::environment& env) {
  return keyed(env, [](const auto& first, const auto& second) { return first.join(second); });
}
auto co_grouped(api::environment& env) {
  return keyed(env, [](const auto& first, const auto& second) { return first.co_group(second); });
}

void sizes(const std::vector<counted>& first, const std::vector<std::string>& second,
           api::collector<counted>& out) {
  out.emit({std::to_string(first.size()) + "/" + std::to_string(second.size()),
            first.empty() ? 0 : first.front().n});
}

} // namespace

TEST_SUITE_BEGIN("task/operator/window/window_join");

TEST_CASE("a window join gives each pair of rows of a key and window") {
  api::environment env;
  window_run run(joined(env)
                     .window(api::tumbling_event_time(10ms))
                     .apply([](const counted& row, const std::string& text) {
                       return counted{row.word + text, row.n};
                     }));

  left(run, "a", 1, 0);
  left(run, "a", 2, 5);
  left(run, "b", 4, 5);
  right(run, "a", 9);
  right(run, "a", 10);
  right(run, "c", 5);
  run.watermark(100);

  CHECK(run.take() == texts{"aa=1@9", "aa=2@9"});
}

TEST_CASE("the function of a join may give any number of rows, of sessions too") {
  api::environment env;
  window_run run(
      joined(env)
          .window(api::session_event_time(10ms))
          .apply([](const counted& row, const std::string& text, api::collector<counted>& out) {
            for (std::int64_t i = 0; i < row.n; ++i)
              out.emit({text, i});
          }));

  left(run, "a", 2, 0);
  left(run, "a", 1, 30);
  right(run, "a", 8);
  right(run, "a", 15);
  run.watermark(100);

  CHECK(run.take() == texts{"a=0@24", "a=1@24", "a=0@24", "a=1@24"});
}

TEST_CASE("a co-group sees windows of which one stream has nothing") {
  api::environment env;
  window_run run(co_grouped(env).window(api::tumbling_event_time(10ms)).apply(sizes));

  left(run, "a", 7, 0);
  left(run, "a", 8, 1);
  right(run, "a", 2);
  left(run, "a", 9, 10);
  right(run, "a", 20);
  run.watermark(100);

  CHECK(run.take() == texts{"2/1=7@9", "1/0=9@19", "0/1=0@29"});
}

TEST_CASE("co-grouped windows have triggers, evictors and lateness") {
  api::environment env;
  const auto windows = co_grouped(env).window(api::tumbling_event_time(10ms));
  window_run evicting(
      windows.trigger(api::count_trigger(3)).evictor(api::count_evictor(2)).apply(sizes));
  window_run late(windows.allowed_lateness(10ms).apply(sizes));

  for (auto* run : {&evicting, &late}) {
    left(*run, "a", 7, 0);
    left(*run, "a", 8, 1);
    right(*run, "a", 2);
    run->watermark(9);
    right(*run, "a", 3);
  }

  CHECK(evicting.take() == texts{"1/1=8@9"});
  CHECK(late.take() == texts{"2/1=7@9", "2/2=7@9"});
}

TEST_SUITE_END();
