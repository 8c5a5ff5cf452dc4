#pragma once

#include "libactors/rpc/endpoint.hpp"
#include "libactors/rpc/envelope.hpp"

#include <functional>
#include <memory>
#include <variant>

namespace headrace::actors {

class node_core;

/// An envelope that has reached the mailbox of its receiver. An ask that is dropped with it (the
/// receiver ended first, or was killed) is answered with `peer_lost`.
class received_envelope {
public:
  received_envelope(envelope what, std::shared_ptr<node_core> through)
      : what_(std::move(what)), through_(std::move(through)) {}
  received_envelope(received_envelope&& other) noexcept = default;
  received_envelope& operator=(received_envelope&& other) noexcept = delete;
  ~received_envelope();

  const envelope& peek() const { return what_; }
  /// The receiver answers from now on.
  envelope take() {
    through_.reset();
    return std::move(what_);
  }

private:
  envelope what_;
  std::shared_ptr<node_core> through_;
};

/// Has `action` run in a turn.
struct closure {
  std::function<void()> action;
};
/// Some timer may be due.
struct wake {};
/// A blocking step of this endpoint has returned, or thrown.
struct step_done {
  std::uint64_t id = 0;
  error failure;
};
struct stop_order {};
/// End at once: no `on_stop`, and the children likewise.
struct kill_order {};
/// The root gets a child that another thread has started.
struct child_adopted {
  std::string name;
  address where;
  supervision policy = supervision::notify;
};
struct child_ended {
  std::string name; ///< last part
  std::uint64_t instance = 0;
  error cause;
};
struct peer_ended {
  address peer; ///< as it was given to `monitor`
  error cause;
};
/// All endpoints of a node are gone.
struct node_lost {
  node_id node;
  error cause;
};

/// All that an endpoint can be handed.
struct endpoint::delivery {
  std::variant<mail_ptr, received_envelope, closure, wake, step_done, stop_order, kill_order,
               child_adopted, child_ended, peer_ended, node_lost>
      content;
};

} // namespace headrace::actors
