// Measures how long a checkpoint takes under full back pressure: a source that never rests, a keyed
// function, and a sink that takes its time for each row. Aligned barriers wait behind all that
// fills the two exchanges; unaligned ones overtake it, at once or after a short alignment. Prints
// one JSON line: from trigger to completion, and what was stored of the exchanges. Arguments: sink
// microseconds a row (default 150), alignment timeout in milliseconds (default 200).

#include "bench/local_cluster.hpp"
#include "libgraph/api/headrace.hpp"
#include "libgraph/connector/sink.hpp"

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <thread>

namespace headrace::bench {

struct pair_row {
  std::int64_t key = 0;
  std::int64_t value = 0;
};
HEADRACE_STRUCT(pair_row, key, value)

namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr milliseconds first_checkpoint(3000); ///< by then the exchanges are full

class slow_sink final : public graph::sink {
public:
  explicit slow_sink(microseconds pause) : pause_(pause) {}

  result<std::unique_ptr<graph::sink_writer>>
  create_writer(graph::writer_context, std::vector<byte_string>) const override {
    return std::unique_ptr<graph::sink_writer>(std::make_unique<writer>(pause_));
  }
  result<std::unique_ptr<graph::committer>> create_committer(graph::writer_context) const override {
    return std::unique_ptr<graph::committer>();
  }

private:
  class writer final : public graph::sink_writer {
  public:
    explicit writer(microseconds pause) : pause_(pause) {}
    status write(const graph::record_batch& rows) override {
      std::this_thread::sleep_for(pause_ * static_cast<std::int64_t>(rows.size()));
      return {};
    }
    result<std::vector<graph::committable>> prepare_commit(bool) override {
      return std::vector<graph::committable>();
    }
    result<byte_string> snapshot(checkpoint_id) override { return byte_string(); }
    status close() override { return {}; }

  private:
    microseconds pause_;
  };

  microseconds pause_;
};

class running_sum final : public api::keyed_process_function<std::int64_t, pair_row, pair_row> {
public:
  void open(api::open_context& context) override { sum_ = context.value<std::int64_t>("sum"); }
  void process(const pair_row& in, context_type&, api::collector<pair_row>& out) override {
    const auto sum = sum_.get().value_or(0) + in.value;
    sum_.set(sum);
    out.emit({in.key, sum});
  }

private:
  api::value_state<std::int64_t> sum_;
};

/// @param timeout  none: aligned
local_cluster::checkpoint_figures measure(local_cluster& cluster, microseconds pause,
                                          std::optional<milliseconds> timeout) {
  api::environment env;
  env.enable_checkpointing(first_checkpoint);
  if (timeout)
    env.enable_unaligned_checkpoints(*timeout);
  env.from_source(api::generator_source<pair_row>([](std::uint64_t i) {
       return pair_row{static_cast<std::int64_t>(i % 1000), 1};
     }))
      .key_by(&pair_row::key)
      .process(running_sum())
      .rebalance()
      .sink_to(api::sink_of<pair_row>{
          "slow", {}, [pause] { return std::make_unique<slow_sink>(pause); }});
  const auto job = cluster.submit(env, 1);
  const auto figures = cluster.await_checkpoint(job);
  cluster.cancel(job);
  return figures;
}

} // namespace
} // namespace headrace::bench

int main(int count, char** arguments) {
  using namespace headrace::bench;
  const auto argument = [&](int index, std::int64_t otherwise) {
    return count > index ? std::strtoll(arguments[index], nullptr, 10) : otherwise;
  };
  const microseconds pause(argument(1, 150));
  const milliseconds timeout(argument(2, 200));
  local_cluster cluster(3);
  const auto unaligned = measure(cluster, pause, milliseconds(0));
  const auto timed = measure(cluster, pause, timeout);
  const auto aligned = measure(cluster, pause, std::nullopt);
  std::printf("{\"bench\":\"unaligned\",\"row_us\":%lld,\"aligned_ms\":%lld,"
              "\"unaligned_ms\":%lld,\"unaligned_in_flight_bytes\":%llu,"
              "\"timeout_ms\":%lld,\"after_timeout_ms\":%lld,"
              "\"after_timeout_in_flight_bytes\":%llu}\n",
              static_cast<long long>(pause.count()), static_cast<long long>(aligned.duration_ms),
              static_cast<long long>(unaligned.duration_ms),
              static_cast<unsigned long long>(unaligned.in_flight_bytes),
              static_cast<long long>(timeout.count()), static_cast<long long>(timed.duration_ms),
              static_cast<unsigned long long>(timed.in_flight_bytes));
  return 0;
}
