#include "libgraph/api/watermark_generator.hpp"

#include "test/libtask/operator/window/testing_windows.hpp"
#include "test/support/batches.hpp"
#include "libtask/operator/event_time.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

using namespace headrace;
using namespace headrace::testing;
using graph::watermark;

namespace {

using marks = std::vector<std::int64_t>;

/// Watermarks are in the rows: a word "W" has one as number, "idle" makes idle, "active" ends that.
/// The clock, of which a test says the time, has another one.
class told final : public api::watermark_generator<counted> {
public:
  explicit told(std::shared_ptr<std::int64_t> clock = nullptr) : clock_(std::move(clock)) {}
  void on_event(const counted& row, std::int64_t, api::watermark_output& out) override {
    if (row.word == "W")
      out.emit_watermark(row.n);
    else if (row.word == "idle")
      out.mark_idle();
    else if (row.word == "active")
      out.mark_active();
  }
  void on_periodic_emit(api::watermark_output& out) override {
    if (clock_ != nullptr)
      out.emit_watermark(*clock_);
  }

private:
  std::shared_ptr<std::int64_t> clock_;
};

/// Follows the greatest event time, behind each batch.
class following final : public api::watermark_generator<counted> {
public:
  void on_event(const counted&, std::int64_t timestamp_ms, api::watermark_output&) override {
    largest_ms_ = std::max(largest_ms_, timestamp_ms);
  }
  void on_periodic_emit(api::watermark_output& out) override { out.emit_watermark(largest_ms_); }

private:
  std::int64_t largest_ms_ = watermark::none;
};

graph::watermark_spec generated() {
  graph::watermark_spec spec;
  spec.kind = graph::watermark_kind::generated;
  spec.generator.index = 0;
  return spec;
}

template <class G>
task::generator_factory factory_of(G generator) {
  return [generator] { return std::make_unique<api::watermark_generator_adaptor<G>>(generator); };
}

/// What splits give: sizes of batches, watermarks, and idleness.
struct passed {
  explicit passed(task::generator_factory generators)
      : splits(generated(), std::move(generators)) {}

  passed& rows(const std::string& split, word_rows with) {
    splits.pass(
        split, words(with), now_us,
        [&](const graph::record_batch& batch) { seen.push_back(std::to_string(batch.size())); },
        [&] { settle(); });
    return *this;
  }
  void settle() {
    const auto change = splits.settle(now_us);
    if (change.advanced)
      seen.push_back("W" + std::to_string(change.advanced->time_ms));
    if (change.status)
      seen.push_back(change.status->idle ? "idle" : "active");
  }
  std::vector<std::string> take() { return std::exchange(seen, {}); }

  std::int64_t now_us = 1'000'000;
  task::split_watermarks splits;
  std::vector<std::string> seen;
};

} // namespace

TEST_SUITE_BEGIN("task/operator/watermark_generator");

TEST_CASE("a watermark comes right behind the row for which it is emitted") {
  passed run(factory_of(told()));
  run.splits.add("a", run.now_us);

  run.rows("a", {{"x", 1}, {"W", 10}, {"W", 9}, {"y", 2}, {"W", 11}});
  CHECK(run.take() == texts{"2", "W10", "3", "W11"}); // they never fall
  run.rows("a", {{"x", 1}});
  CHECK(run.take() == texts{"1"});
}

TEST_CASE("each split has a generator, and the slowest decides unless it is idle") {
  passed run(factory_of(told()));
  run.splits.add("a", run.now_us);
  run.splits.add("b", run.now_us);

  run.rows("a", {{"W", 10}});
  CHECK(run.take() == texts{"1"});
  run.rows("b", {{"W", 5}});
  CHECK(run.take() == texts{"1", "W5"});
  run.rows("b", {{"idle", 0}, {"x", 1}});
  CHECK(run.take() == texts{"1", "W10", "1"});
  run.rows("a", {{"idle", 0}});
  CHECK(run.take() == texts{"1", "idle"});
  run.rows("a", {{"active", 0}});
  CHECK(run.take() == texts{"1", "active"});
  run.rows("a", {{"W", 20}});
  CHECK(run.take() == texts{"1", "W20"});
  run.rows("b", {{"W", 15}});
  CHECK(run.take() == texts{"1"}); // behind what was given
  run.splits.remove("a", run.now_us);
  run.rows("b", {{"W", 25}});
  CHECK(run.take() == texts{"1", "W25"});
}

TEST_CASE("generators look at the clock while no rows come, and rows may still be passed on") {
  const auto clock = std::make_shared<std::int64_t>(7);
  passed run(factory_of(told(clock)));
  CHECK_FALSE(run.splits.due_in_us(run.now_us)); // no split
  run.splits.add("a", run.now_us);
  run.settle();
  CHECK(run.take() == texts{"W7"});

  CHECK(run.splits.due_in_us(run.now_us + 50'000) == 150'000);
  run.splits.set_running(false, run.now_us);
  CHECK_FALSE(run.splits.due_in_us(run.now_us + 50'000));
  run.splits.set_running(true, run.now_us);
  *clock = 8;
  run.now_us += 199'999;
  run.settle();
  CHECK(run.take().empty());
  run.now_us += 1;
  run.settle();
  CHECK(run.take() == texts{"W8"});
}

TEST_CASE("a stream gets its watermarks of a generator, and forgets those that it had") {
  api::environment env;
  const auto out = env.from_collection(std::vector<counted>{})
                       .assign_timestamps_and_watermarks(
                           api::watermark_strategy<counted>::for_generator(following())
                               .with_timestamp_assigner([](const counted& row) { return row.n; }));
  window_run run(out);

  run.row("a", 5).row("b", 3).row("c", 8).watermark(100);

  CHECK(run.take() == texts{"a=5@5", "b=3@3", "c=8@8"});
  CHECK(run.harness().take_watermarks() == marks{5, 8});
}

TEST_CASE("a generator that follows the clock advances a stream without rows") {
  const auto clock = std::make_shared<std::int64_t>(1);
  api::environment env;
  const auto out = env.from_collection(std::vector<counted>{})
                       .assign_timestamps_and_watermarks(
                           api::watermark_strategy<counted>::for_generator(told(clock)));
  window_run run(out);
  run.row("a", 1);
  CHECK(run.harness().take_watermarks() == marks{1});

  *clock = 9;
  REQUIRE(run.harness().chain->next_processing_time_ms());
  CHECK(*run.harness().chain->next_processing_time_ms() <= run.harness().time.wall_ms() + 200);
  run.clock(200);
  CHECK(run.harness().take_watermarks() == marks{9});
}

TEST_SUITE_END();
