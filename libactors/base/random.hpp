#pragma once

#include "libactors/base/ids.hpp"

#include <cstdint>
#include <memory>

namespace headrace {

/// Draws numbers. Injected, so that a seed decides a whole run. Implementations are safe to call
/// from any thread.
class random_source {
public:
  virtual ~random_source() = default;
  virtual std::uint64_t next() = 0;

  /// Draws from [0, bound); `bound` is at least 1.
  std::uint64_t below(std::uint64_t bound) { return next() % bound; }
  template <class Id>
  Id next_id() {
    return Id{next() | 1U, next()};
  }
};

/// SplitMix64 (Steele, Lea, Flood 2014) from a seed.
std::unique_ptr<random_source> make_seeded_random(std::uint64_t seed);
/// Seeded by the operating system.
std::unique_ptr<random_source> make_system_random();

} // namespace headrace
