#include "libactors/base/random.hpp"

#include "libactors/base/assert.hpp"

#include <atomic>
#include <sys/random.h>

namespace headrace {
namespace {

class seeded_random final : public random_source {
public:
  explicit seeded_random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() override {
    constexpr std::uint64_t step = 0x9e3779b97f4a7c15ULL;
    std::uint64_t z = state_.fetch_add(step, std::memory_order_relaxed) + step;
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31U);
  }

private:
  std::atomic<std::uint64_t> state_;
};

/// Asks the kernel each time: ids and fencing tokens are drawn rarely, and must not be guessable.
class system_random final : public random_source {
public:
  std::uint64_t next() override {
    std::uint64_t drawn = 0;
    HEADRACE_ASSERT(::getrandom(&drawn, sizeof drawn, 0) == sizeof drawn,
                    "the system gives no random numbers");
    return drawn;
  }
};

} // namespace

std::unique_ptr<random_source> make_seeded_random(std::uint64_t seed) {
  return std::make_unique<seeded_random>(seed);
}

std::unique_ptr<random_source> make_system_random() { return std::make_unique<system_random>(); }

} // namespace headrace
