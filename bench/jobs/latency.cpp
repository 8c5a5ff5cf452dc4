// Rows that are due at fixed times, over one exchange, and how late they arrive: what
// bench/latency/run.py sets beside Flink.
//
//     headrace run liblatency.so -- --kind project|window --rate N --seconds N --output DIR
//
// A row's latency counts from when it was due, whenever the source got to it; that of a window from
// its end. Those of the first five seconds are left out. Each subtask of the sink writes how many
// rows were how late, as lines of a lower bound in microseconds and a count.

#include "libgraph/api/headrace.hpp"

#include <array>
#include <bit>
#include <chrono>
#include <cstdint>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>

namespace api = headrace::api;

struct event {
  std::int64_t number = 0;
  std::int64_t key = 0;
  std::int64_t due_us = 0;
  std::int64_t due_ms = 0;
};
HEADRACE_STRUCT(event, number, key, due_us, due_ms)

namespace {

constexpr std::int64_t warm_up_us = 5'000'000;
constexpr std::int64_t early_us = -1000; // clocks are read one after the other
constexpr std::int64_t keys = 100;

std::int64_t now_us() {
  return std::chrono::duration_cast<std::chrono::microseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

/// Counts of latencies in steps of less than two percent.
class histogram {
public:
  void add(std::int64_t latency_us) { ++counts_.at(index_of(latency_us)); }

  void write(const std::string& path) const {
    std::ofstream out(path);
    for (std::size_t i = 0; i < counts_.size(); ++i)
      if (counts_[i] != 0)
        out << lower_bound(i) << ' ' << counts_[i] << '\n';
    if (!out.flush())
      throw std::runtime_error("cannot write " + path);
  }

private:
  static constexpr std::uint64_t fine = 64; // below, each microsecond has a count

  static std::size_t index_of(std::int64_t latency_us) {
    const auto value = static_cast<std::uint64_t>(latency_us < 0 ? 0 : latency_us);
    if (value < fine)
      return value;
    const auto shift = static_cast<std::uint64_t>(std::bit_width(value)) - 7;
    return (shift + 1) * fine + ((value >> shift) - fine);
  }
  static std::uint64_t lower_bound(std::size_t index) {
    return index < fine ? index : (fine + index % fine) << (index / fine - 1);
  }

  std::array<std::uint64_t, fine * 40> counts_{};
};

/// The sink: measures, and gives nothing on.
class measure final : public api::process_function<event, event> {
public:
  explicit measure(std::string directory) : directory_(std::move(directory)) {}
  void open(api::open_context& context) override {
    path_ = directory_ + "/latency-" + std::to_string(context.subtask());
    seen_ = std::make_shared<histogram>();
  }
  void process(const event& in, context_type&, api::collector<event>&) override {
    // A window that the end of the input has fired is not due yet.
    if (const auto latency_us = now_us() - in.due_us; in.number >= 0 && latency_us >= early_us)
      seen_->add(latency_us);
  }
  void close() override { seen_->write(path_); }

private:
  std::string directory_, path_;
  std::shared_ptr<histogram> seen_;
};

/// Of the rows of a key in a window the last one.
class last_row final : public api::aggregate_function<event, event, event> {
public:
  void add(const event& in, event& into) override { into = in; }
  void merge(event& into, const event& from) override { into = from; }
  event result(const event& of) override { return of; }
};

} // namespace

HEADRACE_JOB(env) {
  const auto& arguments = env.arguments();
  const auto kind = arguments.get("kind");
  const auto rate = static_cast<double>(arguments.get_int("rate", 1000));
  const auto seconds = static_cast<double>(arguments.get_int("seconds", 20));
  const auto directory = arguments.get("output");

  env.set_job_name("latency");
  auto source = api::generator_source<event>(
      [rate, start_us = std::int64_t{0}](std::uint64_t i) mutable {
        if (i == 0)
          start_us = now_us();
        const auto after_us = static_cast<std::int64_t>(static_cast<double>(i) / rate * 1e6);
        const auto due_us = start_us + after_us;
        // What is not to be measured has no number.
        return event{after_us < warm_up_us ? -1 : static_cast<std::int64_t>(i),
                     static_cast<std::int64_t>(i) % keys, due_us, due_us / 1000};
      },
      static_cast<std::uint64_t>(rate * seconds), rate);
  source.parallelism = 1;
  const auto events = env.from_source(source);
  if (kind == "project") {
    events.filter([](const event& in) { return in.key % 10 != 9; })
        .set_parallelism(1)
        .map([](event in) {
          in.key += 1;
          return in;
        })
        .set_parallelism(1)
        .rebalance()
        .process(measure(directory))
        .sink_to(api::any_sink{"blackhole", {}});
  } else {
    events
        .assign_timestamps_and_watermarks(
            api::watermark_strategy<event>::monotonous().with_timestamp_assigner(&event::due_ms))
        .set_parallelism(1)
        .key_by(&event::key)
        .window(api::tumbling_event_time(std::chrono::seconds(1)))
        .aggregate(last_row{},
                   [](api::window_context<std::int64_t>& context, const event& last,
                      api::collector<event>& out) {
                     auto due = last;
                     due.due_us = context.window().end_ms * 1000;
                     out.emit(due);
                   })
        .process(measure(directory))
        .sink_to(api::any_sink{"blackhole", {}});
  }
}
