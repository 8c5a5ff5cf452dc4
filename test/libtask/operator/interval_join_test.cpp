#include "libgraph/api/interval_join.hpp"

#include "test/libtask/operator/window/testing_windows.hpp"
#include "test/support/seed.hpp"
#include "libactors/base/random.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

using namespace headrace;
using namespace headrace::testing;
using namespace std::chrono_literals;

// What an interval join does is Flink's documented behaviour:
// docs/dev/datastream/operators/joining.

namespace {

const api::output_tag<counted> late_left{"late left"};
const api::output_tag<counted> late_right{"late right"};
const api::output_tag<counted> times{"times"};

auto joined(api::environment& env) { return keyed_words(env).interval_join(keyed_words(env)); }
counted pair_of(const counted& left, const counted& right) {
  return {left.word + std::to_string(left.n), right.n};
}

class telling_times final : public api::process_join_function<counted, counted, counted> {
public:
  void process(const counted& left, const counted& right, context_type& context,
               api::collector<counted>& out) override {
    context.output(times, {"left", context.left_timestamp()});
    context.output(times, {"right", context.right_timestamp()});
    out.emit({left.word, right.n});
  }
};

} // namespace

TEST_SUITE_BEGIN("task/operator/interval_join");

TEST_CASE("pairs are within the bounds, which are included or not, whichever side comes first") {
  api::environment env;
  const auto near = joined(env).between(-2ms, 1ms);
  window_run included(near.process(pair_of));
  window_run excluded(near.lower_bound_exclusive().upper_bound_exclusive().process(pair_of));

  for (auto* run : {&included, &excluded}) {
    for (const std::int64_t time : {7, 8, 9, 10})
      run->row("a", time, time, 1);
    run->row("a", 10, 10, 0).row("b", 10, 10, 0);
    run->row("a", 11, 11, 1).row("a", 12, 12, 1).row("b", 12, 12, 1);
  }

  CHECK(included.take() == texts{"a10=8@10", "a10=9@10", "a10=10@10", "a10=11@11"});
  CHECK(excluded.take() == texts{"a10=9@10", "a10=10@10"});
}

TEST_CASE("rows behind the watermark go to the side outputs of their side") {
  api::environment env;
  const auto out = joined(env)
                       .between(-5ms, 5ms)
                       .side_output_left_late_data(late_left)
                       .side_output_right_late_data(late_right)
                       .process(pair_of);
  out.side_output(late_left);
  out.side_output(late_right);
  window_run run(out);

  run.row("a", 1, 8, 0).watermark(10).row("a", 2, 9, 0).row("a", 3, 9, 1).row("a", 4, 10, 1);

  CHECK(run.take() == texts{"a1=4@10"});
  CHECK(run.take(1) == texts{"a=2@9"});
  CHECK(run.take(2) == texts{"a=3@9"});
}

TEST_CASE("the function of a join is told both times") {
  api::environment env;
  const auto out = joined(env).between(0ms, 10ms).process(telling_times());
  out.side_output(times);
  window_run run(out);

  run.row("a", 1, 5, 0).row("a", 2, 9, 1);

  CHECK(run.take() == texts{"a=2@9"});
  CHECK(run.take(1) == texts{"left=5@9", "right=9@9"});
}

TEST_CASE("bounds between which nothing lies are refused, as are rows without times") {
  api::environment env;
  CHECK_THROWS_WITH_AS(joined(env).between(1ms, 1ms).upper_bound_exclusive().process(pair_of),
                       doctest::Contains("the lower bound of an interval join is above"),
                       graph::failure);
  window_run run(joined(env).between(0ms, 1ms).process(pair_of));
  run.harness().chain->add(0, words({{"a", 1}}));
  const auto failure = run.harness().drain_to_failure();
  REQUIRE(failure);
  CHECK(to_string(*failure).find("interval join of rows without timestamps") != std::string::npos);
}

TEST_CASE("pairs of random rows are those of a plain loop, over savepoints too") {
  const auto random = make_seeded_random(seed());
  checkpoint_id next = 3600;
  for (int round = 0; round < runs(12); ++round) {
    CAPTURE(round);
    const auto lower = static_cast<std::int64_t>(random->below(60)) - 40;
    const auto upper = lower + static_cast<std::int64_t>(random->below(50));
    api::environment env;
    const auto out =
        joined(env)
            .between(std::chrono::milliseconds(lower), std::chrono::milliseconds(upper))
            .process([](const counted& left, const counted& right) {
              return counted{left.word, left.n * 1000 + right.n};
            });
    const auto vertex = vertex_of_stream(out);
    const auto& functions = env.program().functions;
    const std::vector<std::string> backends{"hashmap", "rocksdb"};
    std::vector<std::tuple<std::string, std::int64_t, std::int64_t>> rows[2];
    word_rows found;
    std::optional<state::operator_state> stored;
    std::int64_t number = 0;

    for (int part = 0; part < 3; ++part) {
      co_subtasks now(vertex, functions, 1 + part,
                      backends[static_cast<std::size_t>(round + part) % 2],
                      stored ? &*stored : nullptr);
      for (int i = 0; i < 60; ++i, ++number) {
        const auto side = static_cast<std::int32_t>(random->below(2));
        const auto key = "word" + std::to_string(random->below(3));
        const auto time = 2 * number + static_cast<std::int64_t>(random->below(20)) - 100;
        now.push_by_key(side, key, number, time);
        rows[side].emplace_back(key, number, time);
        if (i % 4 == 0)
          now.watermark(2 * number - 100);
      }
      for (auto& row : now.rows())
        found.push_back(std::move(row));
      stored = now.store(next, state::snapshot_kind::canonical);
    }

    word_rows expected;
    for (const auto& [left_key, left_n, left_time] : rows[0])
      for (const auto& [right_key, right_n, right_time] : rows[1])
        if (left_key == right_key && right_time >= left_time + lower &&
            right_time <= left_time + upper)
          expected.emplace_back(left_key, left_n * 1000 + right_n);
    std::sort(found.begin(), found.end());
    std::sort(expected.begin(), expected.end());
    CHECK(found == expected);
  }
}

TEST_SUITE_END();
