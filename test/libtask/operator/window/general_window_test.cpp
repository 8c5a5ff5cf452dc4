#include "test/libtask/operator/window/testing_windows.hpp"
#include "libgraph/api/window/window_operator.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace headrace;
using namespace headrace::testing;
using namespace std::chrono_literals;

// What windows do is Flink's documented behaviour: docs/dev/datastream/operators/windows.

namespace {

const api::output_tag<counted> late{"late"};

/// Fires when the numbers of a window's rows come to a hundred, and at a time that rows ask for.
class at_hundred final : public api::trigger<counted> {
public:
  void open(api::window_states& states) override { sum_ = states.value<std::int64_t>("sum"); }
  api::trigger_result on_element(const counted& row, std::int64_t time_ms, const api::window&,
                                 context_type& context) override {
    const auto sum = sum_.value_or(0) + row.n;
    sum_.set(sum < 100 ? sum : 0);
    if (row.n == 1)
      context.register_event_timer(time_ms + 5);
    if (row.n == 2)
      context.delete_event_timer(time_ms + 5);
    if (row.n == 3)
      return api::trigger_result::purge;
    return sum < 100 ? api::trigger_result::go_on : api::trigger_result::fire_and_purge;
  }
  api::trigger_result on_event_time(std::int64_t, const api::window&, context_type&) override {
    return api::trigger_result::fire;
  }
  void clear(const api::window&, context_type&) override { sum_.clear(); }

private:
  api::window_value_state<std::int64_t> sum_;
};

} // namespace

TEST_SUITE_BEGIN("task/operator/window/general_window");

TEST_CASE("sessions end a gap behind their last row, and a row between two makes them one") {
  for (const std::string backend : {"hashmap", "rocksdb"}) {
    CAPTURE(backend);
    api::environment env;
    const auto windows = keyed_words(env).window(api::session_event_time(10ms));
    window_run sums(windows.reduce(add_numbers, name_window), backend);
    window_run lists(windows.process(list_window), backend);

    for (auto* run : {&sums, &lists}) {
      run->row("a", 1, 0).row("a", 2, 30).row("b", 4, 30).row("a", 8, 15).row("a", 16, 8);
      run->watermark(24);
    }
    CHECK(sums.take() == texts{"a[0,25)=25@24"});
    CHECK(lists.take() == texts{"a[0,25):1,8,16=3@24"});
    sums.row("a", 32, 26).watermark(graph::watermark::end);
    CHECK(sums.take_sorted() == texts{"a[26,40)=34@39", "b[30,40)=4@39"});
  }
}

TEST_CASE("a late row joins the session that is still there, which fires again") {
  api::environment env;
  const auto out = keyed_words(env)
                       .window(api::session_event_time(10ms))
                       .allowed_lateness(10ms)
                       .side_output_late_data(late)
                       .reduce(add_numbers, name_window);
  out.side_output(late);
  window_run run(out);

  run.row("a", 1, 0).watermark(9);
  CHECK(run.take() == texts{"a[0,10)=1@9"});
  run.row("a", 2, 5); // ends behind the watermark
  CHECK(run.take().empty());
  run.watermark(14);
  CHECK(run.take() == texts{"a[0,15)=3@14"});
  run.row("a", 4, 2);
  CHECK(run.take() == texts{"a[0,15)=7@14"});
  run.watermark(24).row("a", 8, 4).row("a", 16, 5);
  CHECK(run.take().empty());
  CHECK(run.take(1) == texts{"a=8@4", "a=16@5"});
}

TEST_CASE("a row that is late by itself is not when its session is open") {
  api::environment env;
  window_run run(
      keyed_words(env).window(api::session_event_time(10ms)).reduce(add_numbers, name_window));

  run.row("a", 1, 0).row("a", 2, 9).watermark(12).row("a", 4, 1).watermark(18);

  CHECK(run.take() == texts{"a[0,19)=7@18"});
}

TEST_CASE("the gap of a session may be each row's own") {
  api::environment env;
  window_run run(keyed_words(env)
                     .window(api::session_event_time(
                         [](const counted& row) { return std::chrono::milliseconds(row.n); }))
                     .reduce(add_numbers, name_window));

  run.row("a", 100, 0).row("a", 3, 50).row("a", 5, 101).watermark(graph::watermark::end);

  CHECK(run.take() == texts{"a[0,100)=103@99", "a[101,106)=5@105"});
}

TEST_CASE("count windows have so many rows of a key each") {
  api::environment env;
  window_run run(keyed_words(env).count_window(3).process(list_window));

  for (std::int64_t n = 1; n <= 7; ++n)
    run.row("a", n).row("b", 10 * n);

  CHECK(run.take() ==
        texts{"a[all):1,2,3=3", "b[all):10,20,30=3", "a[all):4,5,6=3", "b[all):40,50,60=3"});
}

TEST_CASE("global windows fire when their trigger says so, and keep their rows unless purged") {
  api::environment env;
  const auto windows = keyed_words(env).window(api::global_windows());
  window_run kept(windows.trigger(api::count_trigger(2)).sum(&counted::n));
  window_run purged(windows.trigger(api::purging(api::count_trigger(2))).sum(&counted::n));
  window_run never(windows.sum(&counted::n));

  for (auto* run : {&kept, &purged, &never})
    run->row("a", 1).row("a", 2).row("a", 4).row("a", 8).watermark(graph::watermark::end);

  CHECK(kept.take() == texts{"a=3", "a=15"});
  CHECK(purged.take() == texts{"a=3", "a=12"});
  CHECK(never.take().empty());
}

TEST_CASE("a continuous trigger fires each interval while the window lasts, and at its end") {
  api::environment env;
  const auto windows = keyed_words(env).window(api::tumbling_event_time(35ms));
  const api::continuous_event_time_trigger each(10ms);
  window_run run(windows.trigger(each).reduce(add_numbers, name_window));
  window_run purged(windows.trigger(api::purging(each)).reduce(add_numbers, name_window));

  for (auto* to : {&run, &purged})
    to->row("a", 1, 5).row("a", 2, 12).watermark(9);
  CHECK(run.take().empty());
  for (auto* to : {&run, &purged})
    to->watermark(10).row("a", 4, 13).watermark(100);

  CHECK(run.take() == texts{"a[0,35)=3@34", "a[0,35)=7@34", "a[0,35)=7@34", "a[0,35)=7@34"});
  CHECK(purged.take() == texts{"a[0,35)=3@34", "a[0,35)=4@34"});
}

TEST_CASE("a continuous trigger goes with sessions that become one") {
  api::environment env;
  window_run run(keyed_words(env)
                     .window(api::session_event_time(20ms))
                     .trigger(api::continuous_event_time_trigger(10ms))
                     .reduce(add_numbers, name_window));

  run.row("a", 1, 3).row("a", 2, 33).row("a", 4, 15).watermark(10);
  CHECK(run.take() == texts{"a[3,53)=7@52"});
  run.watermark(20);
  CHECK(run.take() == texts{"a[3,53)=7@52"});
}

TEST_CASE("a count trigger counts on over sessions that become one") {
  api::environment env;
  window_run run(keyed_words(env)
                     .window(api::session_event_time(10ms))
                     .trigger(api::count_trigger(4))
                     .reduce(add_numbers, name_window));

  run.row("a", 1, 0).row("a", 2, 3).row("a", 4, 20);
  CHECK(run.take().empty());
  run.row("a", 8, 11);

  CHECK(run.take() == texts{"a[0,30)=15@29"});
}

TEST_CASE("a delta trigger fires with a row that is far from the last that fired") {
  api::environment env;
  const auto distance = [](const counted& old, const counted& row) { return row.n - old.n; };
  window_run run(keyed_words(env)
                     .window(api::global_windows())
                     .trigger(api::purging(api::delta_trigger(10, distance)))
                     .process(list_window));

  run.row("a", 1).row("a", 5).row("a", 11).row("a", 12).row("a", 20).row("a", 30);

  CHECK(run.take() == texts{"a[all):1,5,11,12=4", "a[all):20,30=2"});
}

TEST_CASE("a purged window gives late rows alone") {
  api::environment env;
  window_run run(keyed_words(env)
                     .window(api::tumbling_event_time(10ms))
                     .allowed_lateness(20ms)
                     .trigger(api::purging(api::event_time_trigger()))
                     .reduce(add_numbers, name_window));

  run.row("a", 1, 0).watermark(9).row("a", 2, 3).row("a", 4, 3).watermark(29).row("a", 8, 3);

  CHECK(run.take() == texts{"a[0,10)=1@9", "a[0,10)=2@9", "a[0,10)=4@9"});
}

TEST_CASE(
    "sliding windows with a trigger give each window, and late rows for those that are over") {
  api::environment env;
  const auto out = keyed_words(env)
                       .window(api::sliding_event_time(10ms, 5ms))
                       .trigger(api::event_time_trigger())
                       .side_output_late_data(late)
                       .reduce(add_numbers, name_window);
  out.side_output(late);
  window_run run(out);

  run.row("a", 1, 7).row("a", 2, 12).watermark(9).row("a", 4, 8).row("a", 8, 4).watermark(100);

  CHECK(run.take() == texts{"a[0,10)=1@9", "a[5,15)=7@14", "a[10,20)=2@19"});
  CHECK(run.take(1) == texts{"a=8@4"});
}

TEST_CASE("the window of all the stream fires at its end, or as a trigger says") {
  api::environment env;
  const auto windows = keyed_words(env).window(api::end_of_stream());
  window_run ended(windows.trigger(api::event_time_trigger()).sum(&counted::n));
  window_run counting(windows.trigger(api::count_trigger(2)).sum(&counted::n));

  for (auto* run : {&ended, &counting})
    run->row("a", 1).row("a", 2).watermark(1000);
  CHECK(ended.take().empty());
  CHECK(counting.take() == texts{"a=3"});
  ended.watermark(graph::watermark::end);
  CHECK(ended.take() == texts{"a=3"});
}

TEST_CASE("windows of processing time go by the clock alone") {
  api::environment env;
  const auto words = keyed_words(env);
  window_run tumbling(words.window(api::tumbling_processing_time(10ms)).sum(&counted::n));
  window_run sliding(words.window(api::sliding_processing_time(10ms, 5ms)).sum(&counted::n));
  window_run sessions(words.window(api::session_processing_time(10ms)).sum(&counted::n));
  for (auto* run : {&tumbling, &sliding, &sessions}) {
    auto& time = run->harness().time;
    time.advance_ms(10 - time.wall_ms() % 10); // the start of a window
    run->row("a", 1, 12345).clock(7).row("a", 2).row("b", 4).clock(2);
  }
  const auto started = tumbling.harness().time.wall_ms() - 9;
  const auto at = [&](std::int64_t ms) { return "@" + std::to_string(started + ms); };

  CHECK(tumbling.take_sorted() == texts{"a=3" + at(9), "b=4" + at(9)});
  CHECK(sliding.take_sorted() == texts{"a=1" + at(4), "a=3" + at(9), "b=4" + at(9)});
  CHECK(sessions.take().empty());
  sessions.clock(7);
  CHECK(sessions.take_sorted() == texts{"a=3" + at(16), "b=4" + at(16)});
  tumbling.clock(100);
  CHECK(tumbling.take().empty());
}

TEST_CASE("a continuous trigger of processing time fires while an event-time window lasts") {
  api::environment env;
  window_run run(keyed_words(env)
                     .window(api::tumbling_event_time(1h))
                     .trigger(api::continuous_processing_time_trigger(10ms))
                     .sum(&counted::n));
  auto& time = run.harness().time;
  const auto in_hour = time.wall_ms() % 3'600'000;
  time.advance_ms(3'600'000 - in_hour + 5);
  const auto start = time.wall_ms() - 5;
  const auto end = "@" + std::to_string(start + 3'599'999);

  run.row("a", 1, start).clock(4);
  CHECK(run.take().empty());
  run.clock(1).row("a", 2, start).clock(10);
  CHECK(run.take() == texts{"a=1" + end, "a=3" + end});
  run.watermark(start + 3'600'000).clock(100);
  CHECK(run.take().empty());
}

TEST_CASE("a trigger of one's own has timers and states of its window") {
  for (const std::string backend : {"hashmap", "rocksdb"}) {
    CAPTURE(backend);
    api::environment env;
    window_run run(keyed_words(env)
                       .window(api::tumbling_event_time(100ms))
                       .trigger(at_hundred())
                       .reduce(add_numbers, name_window),
                   backend);

    run.row("a", 60, 0).row("a", 40, 150).row("a", 50, 1).row("a", 70, 160);
    CHECK(run.take() == texts{"a[0,100)=110@99", "a[100,200)=110@199"});
    run.row("a", 1, 10).row("a", 1, 20).row("a", 2, 20).watermark(50);
    CHECK(run.take() == texts{"a[0,100)=4@99"});
    run.row("a", 3, 55).row("a", 1, 55).watermark(60);
    CHECK(run.take() == texts{"a[0,100)=1@99"});
  }
}

TEST_CASE("rows without event time are refused by windows of it") {
  api::environment env;
  window_run run(keyed_words(env).window(api::session_event_time(1s)).sum(&counted::n));

  run.harness().chain->add(0, words({{"a", 1}}));
  const auto failure = run.harness().drain_to_failure();

  REQUIRE(failure);
  CHECK(to_string(*failure).find("event-time window over rows without timestamps") !=
        std::string::npos);
}

TEST_SUITE_END();
