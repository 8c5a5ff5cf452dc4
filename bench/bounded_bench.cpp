// Measures the memory of jobs that give far more rows than they hold, beside a sink that takes each
// batch slowly: a window of many keys that fires at once, and a flat map of many outputs of one
// row. Prints one JSON line each, with the most memory that the process held.
// Arguments: keys (default 1000000), outputs (default 10000000), sink microseconds a batch
// (default 500).

#include "bench/local_cluster.hpp"
#include "libgraph/api/headrace.hpp"
#include "libgraph/connector/sink.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <thread>

namespace headrace::bench {

struct pair_row {
  std::int64_t key = 0;
  std::int64_t value = 0;
};
HEADRACE_STRUCT(pair_row, key, value)

namespace {

/// Takes its time for each batch, and counts rows.
class slow_sink final : public graph::sink {
public:
  slow_sink(std::chrono::microseconds pause, std::shared_ptr<std::atomic<std::uint64_t>> rows)
      : pause_(pause), rows_(std::move(rows)) {}

  result<std::unique_ptr<graph::sink_writer>>
  create_writer(graph::writer_context, std::vector<byte_string>) const override {
    return std::unique_ptr<graph::sink_writer>(std::make_unique<writer>(pause_, rows_));
  }
  result<std::unique_ptr<graph::committer>> create_committer(graph::writer_context) const override {
    return std::unique_ptr<graph::committer>();
  }

private:
  class writer final : public graph::sink_writer {
  public:
    writer(std::chrono::microseconds pause, std::shared_ptr<std::atomic<std::uint64_t>> rows)
        : pause_(pause), rows_(std::move(rows)) {}
    status write(const graph::record_batch& rows) override {
      *rows_ += rows.size();
      std::this_thread::sleep_for(pause_);
      return {};
    }
    result<std::vector<graph::committable>> prepare_commit(bool) override {
      return std::vector<graph::committable>();
    }
    result<byte_string> snapshot(checkpoint_id) override { return byte_string(); }
    status close() override { return {}; }

  private:
    std::chrono::microseconds pause_;
    std::shared_ptr<std::atomic<std::uint64_t>> rows_;
  };

  std::chrono::microseconds pause_;
  std::shared_ptr<std::atomic<std::uint64_t>> rows_;
};

api::generator<pair_row> count_up(pair_row in) {
  for (std::int64_t i = 0; i < in.value; ++i)
    co_yield pair_row{i, in.key};
}

template <class Describe>
void measure(const char* name, std::chrono::microseconds pause, Describe describe) {
  const auto rows = std::make_shared<std::atomic<std::uint64_t>>(0);
  local_cluster cluster(1);
  reset_peak();
  const auto before_mb = resident_megabytes();
  const auto began = std::chrono::steady_clock::now();
  api::environment env;
  api::sink_of<pair_row> sink{
      "slow", {}, [pause, rows] { return std::make_unique<slow_sink>(pause, rows); }};
  describe(env, sink);
  cluster.finish(cluster.submit(env, 1));
  const auto seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  std::printf("{\"bench\":\"bounded\",\"name\":\"%s\",\"rows_out\":%llu,\"seconds\":%.2f,"
              "\"before_mb\":%.0f,\"peak_mb\":%.0f}\n",
              name, static_cast<unsigned long long>(rows->load()), seconds, before_mb,
              peak_megabytes());
  std::fflush(stdout);
}

} // namespace
} // namespace headrace::bench

int main(int count, char** arguments) {
  using namespace headrace;
  using bench::pair_row;
  const auto argument = [&](int index, std::int64_t otherwise) {
    return count > index ? std::strtoll(arguments[index], nullptr, 10) : otherwise;
  };
  const auto keys = argument(1, 1'000'000);
  const auto outputs = argument(2, 10'000'000);
  const std::chrono::microseconds pause(argument(3, 500));
  for (const std::int64_t each : {keys / 10, keys})
    bench::measure("window_fires", pause, [&](auto& env, const auto& sink) {
      env.from_source(api::generator_source<pair_row>(
                          [](std::uint64_t i) {
                            return pair_row{static_cast<std::int64_t>(i), 1};
                          },
                          static_cast<std::uint64_t>(each)))
          .key_by(&pair_row::key)
          .window(api::end_of_stream())
          .sum(&pair_row::value)
          .sink_to(sink);
    });
  for (const std::int64_t each : {outputs / 10, outputs})
    bench::measure("flat_map_of_one_row", pause, [&](auto& env, const auto& sink) {
      env.from_source(api::collection_source<pair_row>({{7, each}}))
          .flat_map(&bench::count_up)
          .sink_to(sink);
    });
}
