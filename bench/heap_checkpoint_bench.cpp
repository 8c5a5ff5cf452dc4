// Measures incremental checkpoints of a state in memory: how many bytes one writes after a part of
// the rows has changed, against the first one, which writes all, and how long the subtask stands
// still for one. Prints one JSON line a measurement. Arguments: megabytes of state (default 500),
// percentages of changed rows (default: 0.1 1 10).

#include "bench/counting_target.hpp"
#include "bench/large_state.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

namespace headrace::state {
namespace {

using namespace headrace::bench;
using steady = std::chrono::steady_clock;

constexpr int checkpoints_each = 16;

double ms_since(steady::time_point start) {
  return std::chrono::duration<double, std::milli>(steady::now() - start).count();
}

class measured_state {
public:
  explicit measured_state(double megabytes)
      : maker_(take(make_state_backend("hashmap"))),
        state_(*maker_, {}, {0, 128},
               static_cast<std::uint64_t>(megabytes * 1e6) / large_state::value_bytes) {
    state_.fill([](std::uint64_t) {});
    const auto first = checkpoint();
    std::printf("{\"bench\":\"heap_checkpoint\",\"name\":\"first\",\"rows\":%llu,"
                "\"written_mb\":%.1f,\"synchronous_ms\":%.3f,\"written_ms\":%.0f}\n",
                static_cast<unsigned long long>(state_.rows()),
                static_cast<double>(first.bytes) / 1e6, first.synchronous_ms, first.run_ms);
  }

  /// Of several checkpoints with so much changed before each: what is written again when
  /// increments become one counts, too.
  void measure_change(double percent) {
    const auto step = static_cast<std::uint64_t>(std::max(1.0, 100 / percent));
    double bytes = 0;
    double most = 0;
    double synchronous_ms = 0;
    for (int i = 0; i < checkpoints_each; ++i) {
      state_.update_each(step);
      const auto one = checkpoint();
      bytes += static_cast<double>(one.bytes);
      most = std::max(most, static_cast<double>(one.bytes));
      synchronous_ms = std::max(synchronous_ms, one.synchronous_ms);
    }
    const auto changed =
        static_cast<double>(state_.rows()) * large_state::value_bytes / static_cast<double>(step);
    std::printf("{\"bench\":\"heap_checkpoint\",\"name\":\"incremental\",\"changed_percent\":%g,"
                "\"changed_mb\":%.2f,\"written_mb_mean\":%.2f,\"written_mb_max\":%.2f,"
                "\"written_to_changed\":%.2f,\"synchronous_ms_max\":%.3f}\n",
                percent, changed / 1e6, bytes / checkpoints_each / 1e6, most / 1e6,
                bytes / checkpoints_each / changed, synchronous_ms);
    std::fflush(stdout);
  }

private:
  struct written {
    std::uint64_t bytes = 0;
    double synchronous_ms = 0;
    double run_ms = 0;
  };
  written checkpoint() {
    written out;
    counting_target target;
    const auto start = steady::now();
    const auto job = take(state_.backend().snapshot(++checkpoints_));
    out.synchronous_ms = ms_since(start);
    static_cast<void>(take(job->run(target)));
    out.run_ms = ms_since(start);
    state_.backend().notify_completed(checkpoints_);
    out.bytes = target.bytes;
    return out;
  }

  std::unique_ptr<state_backend> maker_;
  large_state state_;
  checkpoint_id checkpoints_ = 0;
};

} // namespace
} // namespace headrace::state

int main(int count, char** arguments) {
  using namespace headrace;
  const auto megabytes = count > 1 ? std::strtod(arguments[1], nullptr) : 500.0;
  std::vector<double> percents = {0.1, 1, 10};
  if (count > 2) {
    percents.clear();
    for (int i = 2; i < count; ++i)
      percents.push_back(std::strtod(arguments[i], nullptr));
  }
  state::measured_state state(megabytes);
  for (const auto percent : percents)
    state.measure_change(percent);
}
