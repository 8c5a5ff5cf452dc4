#pragma once

#include "libactors/rpc/delivery.hpp"

#include <caf/actor_control_block.hpp>
#include <caf/weak_intrusive_ptr.hpp>

#include <atomic>
#include <cstdint>

namespace headrace::actors {

/// One actor of this process, as its senders see it. Weak: a detached actor's thread ends only when
/// nothing holds the actor any more, so a forgotten handle must not hold it.
struct actor_ref::target {
  target(caf::weak_actor_ptr actor_in, address self_in, std::shared_ptr<node_core> core_in)
      : actor(std::move(actor_in)), self(std::move(self_in)), core(std::move(core_in)) {}

  const caf::weak_actor_ptr actor;
  const address self;
  const std::shared_ptr<node_core> core;
  /// Set before the endpoint is destroyed.
  mutable std::atomic<bool> has_ended{false};
  /// The next turn is the last, whatever it is for.
  mutable std::atomic<bool> is_killed{false};
  /// The correlation of the ask whose handler runs now; 0: none. What is thrown out of it is
  /// answered by the one who called it.
  mutable std::atomic<std::uint64_t> handled_ask{0};

  void post_mail(mail_ptr content, mail_priority priority) const;
  /// Ends it without `on_stop`, ahead of all that waits; its children likewise.
  void kill() const;
  /// Drops what is posted to an ended actor (see `received_envelope`).
  void post(endpoint::delivery what, mail_priority priority = mail_priority::high) const;
};

} // namespace headrace::actors
