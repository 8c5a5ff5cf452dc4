#pragma once

#include "libactors/base/ids.hpp"

#include <cstdint>
#include <string>

namespace headrace {

/// A client's order to take a savepoint, by which it asks how that went.
using savepoint_trigger_id = id128<struct savepoint_trigger_tag>;

} // namespace headrace

namespace headrace::graph {

/// Whether, and how, a job ends with a savepoint.
enum class savepoint_stop : std::uint8_t {
  none,    ///< it goes on
  suspend, ///< nothing is emitted behind the barrier; the tasks finish when it is complete
  drain,   ///< the same, and before it event time ends: all windows and timers fire
};

/// What makes a savepoint of a checkpoint; rides on its trigger and its barriers. A value.
struct savepoint_order {
  std::string directory;  ///< where each task writes its part
  bool is_native = false; ///< in the form of the state backend, else canonical
  savepoint_stop stop = savepoint_stop::none;
  friend bool operator==(const savepoint_order&, const savepoint_order&) = default;
};

} // namespace headrace::graph
