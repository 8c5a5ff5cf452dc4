#include "test/integration/testing_mini_cluster.hpp"
#include "libgraph/api/headrace.hpp"
#include "libgraph/connector/sink.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

// Jobs that give far more rows than they may hold, beside a sink that takes a batch a step: with a
// limit on the slot's memory, which counts what the job's operators hold, they finish only when
// what they emit is bounded. A job that holds too much fails by its own name, and others go on.

namespace headrace::testing {

struct numbered {
  std::int64_t key = 0;
  std::int64_t value = 0;
};
HEADRACE_STRUCT(numbered, key, value)

namespace {

/// Counts the rows that it is given.
class counting_sink final : public graph::sink {
public:
  explicit counting_sink(std::shared_ptr<std::uint64_t> rows) : rows_(std::move(rows)) {}
  result<std::unique_ptr<graph::sink_writer>>
  create_writer(graph::writer_context, std::vector<byte_string>) const override {
    return std::unique_ptr<graph::sink_writer>(std::make_unique<writer>(rows_));
  }
  result<std::unique_ptr<graph::committer>> create_committer(graph::writer_context) const override {
    return std::unique_ptr<graph::committer>();
  }

private:
  class writer final : public graph::sink_writer {
  public:
    explicit writer(std::shared_ptr<std::uint64_t> rows) : rows_(std::move(rows)) {}
    status write(const graph::record_batch& rows) override {
      *rows_ += rows.size();
      return {};
    }
    result<std::vector<graph::committable>> prepare_commit(bool) override {
      return std::vector<graph::committable>();
    }
    result<byte_string> snapshot(checkpoint_id) override { return byte_string(); }
    status close() override { return {}; }

  private:
    std::shared_ptr<std::uint64_t> rows_;
  };
  std::shared_ptr<std::uint64_t> rows_;
};

api::sink_of<numbered> counting(const std::shared_ptr<std::uint64_t>& rows) {
  return {"counting", {}, [rows] { return std::make_unique<counting_sink>(rows); }};
}

api::source_of<numbered> count_to(std::uint64_t rows) {
  return api::generator_source<numbered>(
      [](std::uint64_t i) {
        return numbered{static_cast<std::int64_t>(i), 1};
      },
      rows);
}

class sum_of_values : public api::aggregate_function<numbered, std::int64_t, std::int64_t> {
public:
  void add(const numbered& in, std::int64_t& sum) { sum += in.value; }
  void merge(std::int64_t& into, const std::int64_t& from) { into += from; }
  std::int64_t result(const std::int64_t& sum) { return sum; }
};

/// As many rows as the value says.
api::generator<numbered> yield_many(numbered in) {
  for (std::int64_t i = 0; i < in.value; ++i)
    co_yield numbered{i, in.key};
}
void emit_many(const numbered& in, api::collector<numbered>& out) {
  for (std::int64_t i = 0; i < in.value; ++i)
    out.emit({i, in.key});
}

TEST_SUITE_BEGIN("integration/bounded_memory");

TEST_CASE("a window of a million keys fires in pieces") {
  constexpr std::uint64_t keys = 1'000'000;
  const auto rows = std::make_shared<std::uint64_t>(0);
  // Slots and rows of the state take 33 bytes a key; all results at once would take 24 more.
  testing_mini_cluster run("40mb");
  api::environment env;
  env.set_restart_strategy(api::restart::none());
  env.from_source(count_to(keys))
      .key_by(&numbered::key)
      .window(api::end_of_stream())
      .sum(&numbered::value)
      .sink_to(counting(rows));

  const auto ended = run.end_of(run.submit(env));

  CHECK_MESSAGE(ended.state == scheduler::job_state::finished, to_string(ended.failure));
  CHECK(*rows == keys);
}

TEST_CASE("a window function's rows of many keys are taken as they are wanted") {
  constexpr std::uint64_t keys = 2'000; // fire together, 32 MB of rows
  constexpr std::int64_t rows_a_key = 1'000;
  const auto rows = std::make_shared<std::uint64_t>(0);
  testing_mini_cluster run("16mb");
  api::environment env;
  env.set_restart_strategy(api::restart::none());
  env.from_source(count_to(keys))
      .key_by(&numbered::key)
      .window(api::end_of_stream())
      .aggregate(sum_of_values(),
                 [](api::window_context<std::int64_t>& window, const std::int64_t& sum,
                    api::collector<numbered>& out) {
                   for (std::int64_t i = 0; i < rows_a_key; ++i)
                     out.emit({window.key(), sum + i});
                 })
      .sink_to(counting(rows));

  const auto ended = run.end_of(run.submit(env));

  CHECK_MESSAGE(ended.state == scheduler::job_state::finished, to_string(ended.failure));
  CHECK(*rows == keys * rows_a_key);
}

TEST_CASE("a coroutine's outputs of one row are taken as they are wanted") {
  constexpr std::int64_t outputs = 10'000'000; // 160 MB of rows
  const auto rows = std::make_shared<std::uint64_t>(0);
  testing_mini_cluster run("16mb");
  api::environment env;
  env.set_restart_strategy(api::restart::none());
  env.from_source(api::collection_source<numbered>({{7, outputs}}))
      .flat_map(&yield_many)
      .sink_to(counting(rows));

  const auto ended = run.end_of(run.submit(env));

  CHECK_MESSAGE(ended.state == scheduler::job_state::finished, to_string(ended.failure));
  CHECK(*rows == static_cast<std::uint64_t>(outputs));
}

TEST_CASE("a job over its slot's memory fails by name, and another one goes on") {
  testing_mini_cluster run("16mb", 2);
  const auto rows = std::make_shared<std::uint64_t>(0);
  api::environment greedy;
  greedy.set_restart_strategy(api::restart::none());
  greedy.from_source(api::collection_source<numbered>({{7, 1'000'000}}))
      .flat_map(&emit_many)
      .name("many at once")
      .sink_to(counting(std::make_shared<std::uint64_t>(0)));
  api::environment modest;
  modest.set_restart_strategy(api::restart::none());
  modest.from_source(count_to(300'000))
      .key_by(&numbered::value)
      .window(api::end_of_stream())
      .sum(&numbered::value)
      .sink_to(counting(rows));

  const auto first = run.submit(modest);
  const auto second = run.submit(greedy);
  const auto failed = run.end_of(second);
  const auto finished = run.end_of(first);

  CHECK(failed.state == scheduler::job_state::failed);
  const auto why = to_string(failed.failure);
  CHECK_MESSAGE(why.find("many at once") != std::string::npos, why);
  CHECK_MESSAGE(why.find("taskmanager.memory.managed.size") != std::string::npos, why);
  CHECK_MESSAGE(finished.state == scheduler::job_state::finished, to_string(finished.failure));
  CHECK(*rows == 1);

  // What the failed job held was given back: the slot is as good as new.
  for (int i = 0; i < 3; ++i) {
    const auto again_rows = std::make_shared<std::uint64_t>(0);
    api::environment again;
    again.set_restart_strategy(api::restart::none());
    again.from_source(count_to(100'000))
        .key_by(&numbered::key)
        .window(api::end_of_stream())
        .sum(&numbered::value)
        .sink_to(counting(again_rows));
    const auto next = run.end_of(run.submit(again));
    CHECK_MESSAGE(next.state == scheduler::job_state::finished, to_string(next.failure));
    CHECK(*again_rows == 100'000);
  }
}

TEST_SUITE_END();

} // namespace
} // namespace headrace::testing
