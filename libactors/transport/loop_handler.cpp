#include "libactors/transport/loop_handler.hpp"

#include <utility>

namespace headrace::actors {

void loop_handler::want(operation what, bool wanted) {
  auto& is = what == operation::read ? reads_ : writes_;
  if (is == wanted) {
    return;
  }
  is = wanted;
  if (wanted) {
    held_.reset(&owner_);
    backend().add(what, fd(), this);
  } else {
    backend().del(what, fd(), this);
  }
}

void loop_handler::leave() {
  want(operation::read, false);
  want(operation::write, false);
  if (held_) {
    // Runs in the next round; where there is none, it goes with the loop.
    backend().post([held = std::move(held_)] {});
  }
}

} // namespace headrace::actors
