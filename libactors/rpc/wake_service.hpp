#pragma once

#include "libactors/rpc/actor_ref.hpp"

#include <cstdint>
#include <limits>
#include <memory>

namespace headrace::actors {

/// Wakes actors at a time. Each endpoint keeps its timers itself and asks only for its earliest, so
/// that setting and cancelling a timer takes no lock.
class wake_service {
public:
  static constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();
  using sleeper = std::shared_ptr<const actor_ref::target>;

  virtual ~wake_service() = default;
  /// Posts a `wake` to `who` at `at_us` or soon after. Any thread.
  virtual void wake_at(const sleeper& who, std::int64_t at_us) = 0;
  /// Whether each call replaces the one before (`never` takes it back), so that no wake comes in
  /// vain. Where it does not, an endpoint calls only for an earlier time than it waits for.
  virtual bool is_exact() const = 0;
  /// Wakes nobody any more. Called by the node before it goes.
  virtual void stop() = 0;
};

} // namespace headrace::actors
