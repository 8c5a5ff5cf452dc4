// Keeps a value for each of many keys, and changes some of them for ever: what
// bench/recovery_bench.py kills and restores.
//
//     headrace run libkeyed_state.so -- [--keys N] [--value-bytes N] [--rows-per-second N]
//       [--checkpoint-interval MS]
//
// A first source writes each key once and ends, a second one goes on with random keys.

#include "libgraph/api/headrace.hpp"
#include "libactors/base/ids.hpp"

#include <chrono>
#include <cstdint>
#include <string>

namespace api = headrace::api;

struct change {
  std::int64_t key = 0;
  std::int64_t number = 0;
};
HEADRACE_STRUCT(change, key, number)

/// Remembers the last change of each key beside bytes that compression does not make smaller.
class remember final : public api::keyed_process_function<std::int64_t, change, change> {
public:
  explicit remember(std::size_t value_bytes) : value_bytes_(value_bytes) {}
  void open(api::open_context& context) override { last_ = context.value<std::string>("last"); }
  void process(const change& in, context_type&, api::collector<change>& out) override {
    std::string noise;
    auto word = static_cast<std::uint64_t>(in.number * 31 + in.key);
    while (noise.size() < value_bytes_) {
      word = headrace::mix64(word + 1);
      noise.append(reinterpret_cast<const char*>(&word), sizeof(word));
    }
    last_.set(noise);
    out.emit(in);
  }

private:
  std::size_t value_bytes_;
  api::value_state<std::string> last_;
};

HEADRACE_JOB(env) {
  const auto& arguments = env.arguments();
  const auto keys = static_cast<std::uint64_t>(arguments.get_int("keys", 1'000'000));
  const auto value_bytes = static_cast<std::size_t>(arguments.get_int("value-bytes", 1'000));
  const auto rows_per_second = static_cast<double>(arguments.get_int("rows-per-second", 1'000));
  const auto interval = arguments.get_int("checkpoint-interval", 1'000);

  env.set_job_name("keyed state");
  env.enable_checkpointing(std::chrono::milliseconds(interval));
  const auto first = env.from_source(api::generator_source<change>(
      [](std::uint64_t i) {
        return change{static_cast<std::int64_t>(i), 0};
      },
      keys));
  const auto later = env.from_source(api::generator_source<change>(
      [keys](std::uint64_t i) {
        return change{static_cast<std::int64_t>(headrace::mix64(i) % keys),
                      static_cast<std::int64_t>(i) + 1};
      },
      api::unlimited, rows_per_second));
  first.union_with(later)
      .key_by(&change::key)
      .process(remember(value_bytes))
      .name("remember")
      .sink_to(api::any_sink{"blackhole", {}});
}
