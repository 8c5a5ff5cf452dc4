#pragma once

#include <functional>

namespace headrace {

/// Runs what may block or take long: file reads and writes, uploads, split discovery. A step must
/// not touch an actor's state; it hands its result back by a message. Steps of one executor run at
/// once on several threads (in a simulation: one after the other, in an order drawn from the seed).
class executor {
public:
  virtual ~executor() = default;
  /// Never blocks. A step must not throw. Steps given after shutdown are dropped.
  virtual void submit(std::function<void()> step) = 0;
};

} // namespace headrace
