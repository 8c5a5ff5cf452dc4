#pragma once

#include "libactors/base/ids.hpp"
#include "libactors/message/message.hpp"
#include "schema/source.capnp.h"

#include <cstdint>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace headrace::scheduler {

/// Holds back what a coordinator has for its readers, in order: behind the barrier of a checkpoint
/// whose snapshot it has taken, and of a reader that is not registered until it is. Pure.
class reader_outbox {
public:
  using event = message<schema::SourceEvent>;
  using addressed = std::pair<std::int32_t, event>;

  /// @returns the event, when it may leave now
  std::optional<event> send(std::int32_t reader, const event& what);
  /// @returns what leaves now
  std::vector<event> on_registered(std::int32_t reader);
  /// The reader failed: what it did not get is of no use, and the next attempt registers itself.
  void on_reset(std::int32_t reader);

  /// From now on everything waits for the barrier of `checkpoint`, which is not 0.
  void close(checkpoint_id checkpoint) { closed_for_ = checkpoint; }
  /// The sources have injected the barrier. Of another checkpoint than the last: nothing happens.
  /// @returns what leaves now
  std::vector<addressed> open(checkpoint_id checkpoint);
  const std::set<std::int32_t>& registered() const { return registered_; }
  /// Whether something was sent to a reader that is not registered. It is in no reader's state, and
  /// the enumerator has given it away: no snapshot may be taken now.
  bool awaits_registration() const { return !unregistered_.empty(); }

private:
  checkpoint_id closed_for_ = 0; ///< 0: the way is open
  std::set<std::int32_t> registered_;
  std::vector<addressed> held_back_;    ///< behind the barrier
  std::vector<addressed> unregistered_; ///< sent while the way was open
};

} // namespace headrace::scheduler
