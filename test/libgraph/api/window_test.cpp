#include "libgraph/api/window.hpp"

#include "test/libgraph/api/testing_values.hpp"
#include "libgraph/stream_graph/job_graph_builder.hpp"

#include <doctest/doctest.h>

using namespace headrace;
using namespace headrace::testing;
using namespace std::chrono_literals;

TEST_SUITE_BEGIN("graph/api/window");

TEST_CASE("assigners describe windows") {
  CHECK(api::tumbling_event_time(10s, 2s) ==
        graph::window_spec{graph::window_kind::tumbling, 10'000, 10'000, 2000, 0});
  CHECK(api::sliding_event_time(10s, 5s) ==
        graph::window_spec{graph::window_kind::sliding, 10'000, 5000, 0, 0});
  CHECK(api::end_of_stream().kind == graph::window_kind::end_of_stream);
}

TEST_CASE("a full-window function sees all rows with key and window") {
  api::environment env;
  const auto out =
      env.from_collection(std::vector<word_count>{})
          .key_by(&word_count::word)
          .window(api::tumbling_event_time(10s))
          .process([](api::window_context<std::string>& context,
                      const api::window_rows<word_count>& rows,
                      api::collector<word_count>& out_rows) {
            std::int64_t sum = 0;
            for (const auto& row : rows)
              sum += row.count;
            out_rows.emit({context.key() + "@" + std::to_string(context.window().start_ms) + "x" +
                               std::to_string(rows.size()),
                           sum});
          });
  const auto spec = spec_of<graph::window_aggregate_spec>(out);
  const auto rows = batch_of<word_count>({{"a", 1}, {"a", 2}, {"a", 39}});
  auto list = function_at<graph::aggregate_function>(env, spec.aggregates.function);
  auto then = function_at<graph::window_function>(env, spec.window_function);

  byte_string held;
  byte_string other;
  list->add_variable(rows, 0, held);
  list->add_variable(rows, 1, held);
  list->add_variable(rows, 2, other);
  list->merge_variable(held, other);
  graph::batch_builder between(
      std::make_shared<const graph::logical_type>(spec.aggregates.result_type));
  list->result_variable({}, 0, held, between);
  graph::batch_builder results(row_type_of<word_count>());
  graph::function_output output(results, {}, 1000, 1U << 20U);
  then->process(batch_of<std::string>({"z", "a"}), 1, 10'000, 20'000, between.finish(), output);

  const auto emitted = results.finish();
  CHECK(values_of<word_count>(emitted) == std::vector<word_count>{{"a@10000x3", 42}});
  CHECK(emitted.timestamps()[0] == 19'999);
}

TEST_CASE("a window function behind a reduce sees its result") {
  api::environment env;
  const auto out = env.from_collection(std::vector<word_count>{})
                       .key_by(&word_count::word)
                       .window(api::end_of_stream())
                       .reduce([](const word_count& left, const word_count&) { return left; },
                               [](api::window_context<std::string>& context,
                                  const word_count& result, api::collector<std::string>& words) {
                                 words.emit(context.key() + std::to_string(result.count));
                               });
  const auto spec = spec_of<graph::window_aggregate_spec>(out);
  CHECK(spec.aggregates.result_type == api::row_info<word_count>::type());
  auto then = function_at<graph::window_function>(env, spec.window_function);
  graph::batch_builder results(row_type_of<std::string>());
  graph::function_output output(results, {}, 1000, 1U << 20U);

  then->process(batch_of<std::string>({"k"}), 0, 0, 10, batch_of<word_count>({{"k", 5}}), output);

  CHECK(values_of<std::string>(results.finish()) == std::vector<std::string>{"k5"});
}

TEST_CASE("late rows leave by their tag, without hidden key columns") {
  static const api::output_tag<word_count> late{"late"};
  api::environment env;
  const auto out = env.from_collection(std::vector<word_count>{})
                       .key_by([](const word_count& in) { return in.count; })
                       .window(api::tumbling_event_time(1s))
                       .allowed_lateness(3s)
                       .side_output_late_data(late)
                       .sum(&word_count::count);
  out.print();
  const auto late_rows = out.side_output(late);
  late_rows.print();

  const auto spec = spec_of<graph::window_aggregate_spec>(out);
  const auto job = graph::build_job_graph(env.program(), 2);

  CHECK(spec.late_side == 0);
  CHECK(spec.window.allowed_lateness_ms == 3000);
  CHECK(late_rows.row_type() == api::row_info<word_count>::type());
  REQUIRE_MESSAGE(job.has_value(), (job ? "" : to_string(job.error())));
}

TEST_CASE("windows with a trigger, and others than those of event time, run as keyed functions") {
  api::environment env;
  const auto keyed = env.from_collection(std::vector<word_count>{}).key_by(&word_count::word);

  const auto natively = keyed.window(api::tumbling_event_time(1s)).sum(&word_count::count);
  const auto triggered = keyed.window(api::tumbling_event_time(1s))
                             .trigger(api::count_trigger(3))
                             .sum(&word_count::count);
  const auto sessions = keyed.window(api::session_event_time(1s)).max_by(&word_count::count);

  CHECK_NOTHROW(spec_of<graph::window_aggregate_spec>(natively));
  CHECK(spec_of<graph::keyed_process_spec>(triggered).key_columns == std::vector<std::int32_t>{0});
  CHECK(spec_of<graph::keyed_process_spec>(sessions).key_columns == std::vector<std::int32_t>{0});
}

TEST_CASE("windows of all rows are in one subtask") {
  api::environment env;
  const auto rows = env.from_collection(std::vector<word_count>{});
  const auto natively = rows.window_all(api::tumbling_event_time(1s)).sum(&word_count::count);
  const auto counted = rows.count_window_all(10).process([](api::all_window_context& context,
                                                            const api::window_rows<word_count>& all,
                                                            api::collector<std::int64_t>& out) {
    CHECK(context.key() == api::no_key::all);
    out.emit(static_cast<std::int64_t>(all.size()));
  });
  const auto sliding = rows.count_window_all(10, 5).max(&word_count::count);

  for (const auto* each :
       std::initializer_list<const api::stream_base*>{&natively, &counted, &sliding})
    CHECK(env.program().at(each->index()).parallelism == 1);
  natively.print();
  counted.print();
  sliding.print();
  const auto job = graph::build_job_graph(env.program(), 4);
  REQUIRE_MESSAGE(job.has_value(), (job ? "" : to_string(job.error())));
}

TEST_CASE("windows of no size are refused in words") {
  api::environment env;
  const auto keyed = env.from_collection(std::vector<word_count>{}).key_by(&word_count::word);

  CHECK_THROWS_WITH_AS(keyed.count_window(0), doctest::Contains("count windows are positive: 0"),
                       graph::failure);
  CHECK_THROWS_WITH_AS(keyed.count_window(3, -1), doctest::Contains("count windows are positive"),
                       graph::failure);
  CHECK_THROWS_WITH_AS(api::tumbling_processing_time(0s),
                       doctest::Contains("size and slide of windows are positive"), graph::failure);
}

TEST_SUITE_END();
