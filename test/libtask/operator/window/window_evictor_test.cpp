#include "test/libtask/operator/window/testing_windows.hpp"
#include "libgraph/api/window/evicting_contents.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace headrace;
using namespace headrace::testing;
using namespace std::chrono_literals;

// What evictors do is Flink's documented behaviour: docs/dev/datastream/operators/windows.

namespace {

/// Takes out the rows with odd numbers, and a lone one that is left only then.
class no_odd_ones final : public api::evictor<counted> {
public:
  void evict_before(rows_type& rows, const api::window&, context_type&) override {
    std::erase_if(rows, [](const auto& each) { return each.value.n % 2 != 0; });
  }
  void evict_after(rows_type& rows, const api::window&, context_type&) override {
    if (rows.size() == 1)
      rows.clear();
  }
};

} // namespace

TEST_SUITE_BEGIN("task/operator/window/window_evictor");

TEST_CASE("count windows that slide have the last rows with every so many") {
  for (const std::string backend : {"hashmap", "rocksdb"}) {
    CAPTURE(backend);
    api::environment env;
    window_run run(keyed_words(env).count_window(4, 2).process(list_window), backend);

    for (std::int64_t n = 1; n <= 7; ++n)
      run.row("a", n);

    CHECK(run.take() == texts{"a[all):1,2=2", "a[all):1,2,3,4=4", "a[all):3,4,5,6=4"});
  }
}

TEST_CASE("an evictor works before the window function, or behind it") {
  api::environment env;
  const auto windows =
      keyed_words(env).window(api::global_windows()).trigger(api::count_trigger(3));
  window_run before(windows.evictor(api::count_evictor(2)).process(list_window));
  window_run after(windows.evictor(api::count_evictor(2, api::evict::after)).process(list_window));

  for (auto* run : {&before, &after})
    for (std::int64_t n = 1; n <= 6; ++n)
      run->row("a", n);

  CHECK(before.take() == texts{"a[all):2,3=2", "a[all):5,6=2"});
  CHECK(after.take() == texts{"a[all):1,2,3=3", "a[all):2,3,4,5,6=5"});
}

TEST_CASE("a time evictor keeps rows of the last while of event time") {
  api::environment env;
  window_run run(keyed_words(env)
                     .window(api::global_windows())
                     .trigger(api::count_trigger(3))
                     .evictor(api::time_evictor(10ms))
                     .process(list_window));

  run.row("a", 1, 20).row("a", 2, 12).row("a", 3, 10);
  CHECK(run.take() == texts{"a[all):1,2=2"});
  run.row("a", 4, 21).row("a", 5, 22).row("a", 6, 15);
  CHECK(run.take() == texts{"a[all):1,4,5,6=4"});
  run.row("b", 1).row("b", 2).row("b", 3);
  CHECK(run.take() == texts{"b[all):1,2,3=3"});
}

TEST_CASE("a delta evictor keeps rows that are near to the last one") {
  api::environment env;
  const auto distance = [](const counted& row, const counted& last) {
    return row.n < last.n ? last.n - row.n : row.n - last.n;
  };
  window_run run(keyed_words(env)
                     .window(api::global_windows())
                     .trigger(api::count_trigger(3))
                     .evictor(api::delta_evictor(5, distance))
                     .process(list_window));

  run.row("a", 1).row("a", 9).row("a", 6).row("a", 8).row("a", 20).row("a", 11);

  CHECK(run.take() == texts{"a[all):9,6=2", "a[all):9,8,11=3"});
}

TEST_CASE("an evictor of one's own works on windows of event time, folded ones too") {
  api::environment env;
  const auto windows = keyed_words(env)
                           .window(api::tumbling_event_time(10ms))
                           .allowed_lateness(10ms)
                           .evictor(no_odd_ones());
  window_run lists(windows.process(list_window));
  window_run sums(windows.reduce(add_numbers, name_window));

  for (auto* run : {&lists, &sums})
    run->row("a", 1, 0).row("a", 2, 1).row("a", 3, 2).row("a", 4, 3).row("b", 5, 4).watermark(9);
  CHECK(lists.take_sorted() == texts{"a[0,10):2,4=2@9", "b[0,10):=0@9"});
  CHECK(sums.take() == texts{"a[0,10)=6@9"}); // of no rows there is no sum
  for (auto* run : {&lists, &sums})
    run->row("a", 6, 5).row("b", 8, 5).row("b", 10, 5);
  CHECK(lists.take() == texts{"a[0,10):2,4,6=3@9", "b[0,10):8=1@9", "b[0,10):10=1@9"});
  CHECK(sums.take() == texts{"a[0,10)=12@9", "b[0,10)=8@9", "b[0,10)=10@9"});
}

TEST_CASE("the rows of sessions that become one are evicted together") {
  api::environment env;
  window_run run(keyed_words(env)
                     .window(api::session_event_time(10ms))
                     .evictor(api::count_evictor(3))
                     .process(list_window));

  run.row("a", 1, 0).row("a", 2, 1).row("a", 3, 20).row("a", 4, 21).row("a", 5, 10);
  run.watermark(graph::watermark::end);

  CHECK(run.take() == texts{"a[0,31):3,4,5=3@30"});
}

TEST_SUITE_END();
