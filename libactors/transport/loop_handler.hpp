#pragma once

#include <caf/intrusive_ptr.hpp>
#include <caf/io/network/default_multiplexer.hpp>
#include <caf/io/network/event_handler.hpp>
#include <caf/io/network/operation.hpp>
#include <caf/ref_counted.hpp>

namespace headrace::actors {

/// What the loop of CAF's multiplexer knows of a socket. Its owner owns it, and is held by it from
/// the first wish for events until the end of the round in which it leaves, because events may be
/// on their way until then. On the multiplexer's thread.
///
/// CAF's own handlers let go when the loop says that it has removed them. It says so only of what
/// was there at the end of a round: who comes and leaves within one, or leaves when the loop is
/// about to end, would hold its owner for ever.
class loop_handler : public caf::io::network::event_handler {
public:
  using operation = caf::io::network::operation;

  /// Closes `fd` when it goes. @param owner  outlives this, being held by it
  loop_handler(caf::io::network::default_multiplexer& loop, int fd, caf::ref_counted& owner)
      : event_handler(loop, fd), owner_(owner) {}

  /// Whether events of the kind are to come. Not to be called after `leave`.
  void want(operation what, bool wanted);
  /// No events any more, less those of this round. May be called again.
  void leave();

  void removed_from_loop(operation /*what*/) override {}
  void graceful_shutdown() override {}

private:
  caf::ref_counted& owner_;
  caf::intrusive_ptr<caf::ref_counted> held_;
  bool reads_ = false;
  bool writes_ = false;
};

} // namespace headrace::actors
