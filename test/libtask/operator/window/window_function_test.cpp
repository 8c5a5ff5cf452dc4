#include "test/libtask/operator/window/testing_windows.hpp"
#include "libgraph/api/window/window_process_function.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace headrace;
using namespace headrace::testing;
using namespace std::chrono_literals;

namespace {

const api::output_tag<counted> firings{"firings"};

/// Counts the firings of each window, and those of all windows of a key.
template <class Given>
class counting_firings final : public api::window_process_function<std::string, Given, counted> {
public:
  using base = api::window_process_function<std::string, Given, counted>;
  void open(api::window_open_context& context) override {
    of_window_ = context.window_state().template value<std::int64_t>("firings");
    of_key_ = context.global_state().template value<std::int64_t>("firings");
  }
  void process(typename base::context_type& context, const Given& given,
               api::collector<counted>& out) override {
    of_window_.set(of_window_.value_or(0) + 1);
    of_key_.set(of_key_.value_or(0) + 1);
    context.output(firings, {context.key(), context.current_watermark()});
    out.emit({context.key() + text_of(context.window()) + ":" + std::to_string(*of_window_.get()) +
                  "/" + std::to_string(*of_key_.get()),
              number_of(given)});
  }
  void clear(typename base::context_type& context) override {
    CHECK_FALSE(of_window_.is_empty());
    CHECK(context.current_watermark() >= context.window().max_timestamp());
    of_window_.clear();
  }

private:
  static std::int64_t number_of(const counted& sum) { return sum.n; }
  static std::int64_t number_of(const api::window_rows<counted>& rows) {
    return static_cast<std::int64_t>(rows.size());
  }
  api::window_value_state<std::int64_t> of_window_;
  api::value_state<std::int64_t> of_key_;
};

/// Days of rows, named by the number of the day.
struct day {
  std::int32_t number = 0;
  std::int64_t max_timestamp() const { return (number + 1) * 100 - 1; }
  friend bool operator==(const day&, const day&) = default;
};
HEADRACE_STRUCT(day, number)
struct days {
  using window_type = day;
  static constexpr bool is_merging = false;
  bool is_event_time() const { return true; }
  api::event_time_trigger default_trigger() const { return {}; }
  void assign(const counted&, std::int64_t time_ms, std::vector<day>& out) const {
    out.push_back({static_cast<std::int32_t>(time_ms / 100)});
  }
};

struct sum_of_numbers : api::aggregate_function<counted, std::int64_t, std::int64_t> {
  void add(const counted& in, std::int64_t& sum) override { sum += in.n; }
  void merge(std::int64_t& into, const std::int64_t& from) override { into += from; }
  std::int64_t result(const std::int64_t& of) override { return of; }
};

/// An accumulator that is not described, and lies in the state as it is.
struct range {
  std::int64_t least;
  std::int64_t most;
};
struct range_of_numbers : api::aggregate_function<counted, range, counted> {
  range create_accumulator() override { return {1000, -1000}; }
  void add(const counted& in, range& into) override {
    into = {std::min(into.least, in.n), std::max(into.most, in.n)};
  }
  void merge(range& into, const range& from) override {
    into = {std::min(into.least, from.least), std::max(into.most, from.most)};
  }
  counted result(const range& of) override { return {"range", of.most - of.least}; }
};

} // namespace

TEST_SUITE_BEGIN("task/operator/window/window_function");

TEST_CASE("a window function has states of its window and of its key") {
  for (const std::string backend : {"hashmap", "rocksdb"}) {
    CAPTURE(backend);
    api::environment env;
    const auto windows =
        keyed_words(env).window(api::tumbling_event_time(10ms)).allowed_lateness(5ms);
    const auto out = windows.reduce(add_numbers, counting_firings<counted>());
    out.side_output(firings);
    window_run sums(out, backend);
    window_run lists(windows.process(counting_firings<api::window_rows<counted>>()), backend);

    for (auto* run : {&sums, &lists})
      run->row("a", 1, 0).row("b", 2, 0).watermark(9).row("a", 4, 1).row("a", 8, 10).watermark(24);

    CHECK(sums.take_sorted() ==
          texts{"a[0,10):1/1=1@9", "a[0,10):2/2=5@9", "a[10,20):1/3=8@19", "b[0,10):1/1=2@9"});
    CHECK(lists.take_sorted() ==
          texts{"a[0,10):1/1=1@9", "a[0,10):2/2=2@9", "a[10,20):1/3=1@19", "b[0,10):1/1=1@9"});
    CHECK(sums.take_sorted(1) == texts{"a=24@19", "a=9@9", "a=9@9", "b=9@9"});
  }
}

TEST_CASE("windows that merge have no states for functions") {
  api::environment env;
  const auto out = keyed_words(env)
                       .window(api::session_event_time(10ms))
                       .reduce(add_numbers, counting_firings<counted>());
  chain_harness harness(vertex_of_stream(out), env.program().functions);

  const auto opened = harness.try_open({});

  REQUIRE_FALSE(opened);
  CHECK(to_string(opened.error()).find("windows that merge have no states") != std::string::npos);
}

TEST_CASE("windows may be of one's own type") {
  api::environment env;
  window_run run(keyed_words(env).window(days()).aggregate(
      sum_of_numbers(), [](api::window_context<std::string, day>& context, const std::int64_t& sum,
                           api::collector<counted>& out) {
        out.emit({context.key() + std::to_string(context.window().number), sum});
      }));

  run.row("a", 1, 5).row("a", 2, 150).row("a", 4, 50).watermark(1000);

  CHECK(run.take() == texts{"a0=5@99", "a1=2@199"});
}

TEST_CASE("an accumulator that is not described lies in the state, and is merged") {
  api::environment env;
  window_run run(
      keyed_words(env).window(api::session_event_time(10ms)).aggregate(range_of_numbers()));

  run.row("a", 5, 0).row("a", 7, 20).row("a", 20, 10).row("a", 1, 100);
  run.watermark(graph::watermark::end);

  CHECK(run.take() == texts{"range=15@29", "range=0@109"});
}

TEST_CASE("min, max and their like keep the first row of the window or take the whole one") {
  api::environment env;
  const auto windows = keyed_words(env).count_window(3);
  window_run least(windows.min(&counted::n));
  window_run most(windows.max(&counted::n));
  window_run of_least(windows.min_by(&counted::n));
  window_run of_most(windows.max_by(&counted::n));

  for (auto* run : {&least, &most, &of_least, &of_most})
    run->row("a", 5).row("a", 3).row("a", 9);

  CHECK(least.take() == texts{"a=3"});
  CHECK(most.take() == texts{"a=9"});
  CHECK(of_least.take() == texts{"a=3"});
  CHECK(of_most.take() == texts{"a=9"});
}

TEST_SUITE_END();
