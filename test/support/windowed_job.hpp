#pragma once

#include "libgraph/api/headrace.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <thread>
#include <utility>

namespace headrace::testing {

// A keyed event-time job with a window and with timers, over time-ordered files: what fault runs
// disturb, in one process and with processes of their own. Lines of input are "time_ms,key,value",
// one file a source subtask.

struct click {
  std::int64_t time_ms = 0;
  std::int64_t key = 0;
  std::int64_t value = 0;
};
struct finding {
  std::int64_t kind = 0; ///< 0: sum of a window's values; 1: number of rows that a timer found
  std::int64_t key = 0;
  std::int64_t second_ms = 0;
  std::int64_t number = 0;
};
HEADRACE_STRUCT(click, time_ms, key, value)
HEADRACE_STRUCT(finding, kind, key, second_ms, number)

class sum_of_values : public api::aggregate_function<click, std::int64_t, std::int64_t> {
public:
  void add(const click& in, std::int64_t& sum) { sum += in.value; }
  void merge(std::int64_t& into, const std::int64_t& from) { into += from; }
  std::int64_t result(const std::int64_t& sum) { return sum; }
};

/// Counts the rows of each key and second, and emits the count by a timer at the second's end.
class count_by_timer final : public api::keyed_process_function<std::int64_t, click, finding> {
public:
  /// @param at_row  done for each row, where there is something
  explicit count_by_timer(std::function<void()> at_row = {}) : at_row_(std::move(at_row)) {}
  void open(api::open_context& context) override {
    counts_ = context.map<std::int64_t, std::int64_t>("counts");
  }
  void process(const click& in, context_type& context, api::collector<finding>&) override {
    if (at_row_)
      at_row_();
    const auto end = in.time_ms - in.time_ms % second + second - 1;
    counts_.put(end, counts_.get(end).value_or(0) + 1);
    context.register_event_timer(end);
  }
  void on_timer(std::int64_t time_ms, context_type& context,
                api::collector<finding>& out) override {
    out.emit({1, context.key(), time_ms - second + 1, counts_.get(time_ms).value_or(-1)});
    counts_.remove(time_ms);
  }

private:
  static constexpr std::int64_t second = 1000;
  std::function<void()> at_row_;
  api::map_state<std::int64_t, std::int64_t> counts_;
};

/// @param watches  the input has no end: files may come
inline api::stream<click> read_clicks(api::environment& env, const std::string& directory,
                                      const std::string& rows_per_second, bool watches = false) {
  return env.from_source(
      api::file_source::csv<click>(directory)
          .option("source.split-assignment", "static")
          .option("source.monitor-interval", watches ? "1 s" : "0")
          .option("rows-per-second", rows_per_second),
      api::watermark_strategy<click>::monotonous().with_timestamp_assigner(&click::time_ms));
}

/// What makes an operator slow on a cluster of processes.
inline std::function<void()> pause(std::chrono::microseconds how_long) {
  return [how_long] { std::this_thread::sleep_for(how_long); };
}

/// @param at_row  done for each row that is counted
inline api::stream<finding> find_in(const api::stream<click>& clicks,
                                    std::function<void()> at_row = {}) {
  const auto keyed = clicks.key_by(&click::key);
  const auto sums =
      keyed.window(api::tumbling_event_time(std::chrono::seconds(1)))
          .aggregate(sum_of_values(), [](api::window_context<std::int64_t>& window,
                                         const std::int64_t& sum, api::collector<finding>& out) {
            out.emit({0, window.key(), window.window().start_ms, sum});
          });
  return sums.union_with(keyed.process(count_by_timer(std::move(at_row))));
}

} // namespace headrace::testing
