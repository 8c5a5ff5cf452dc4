#pragma once

#include "libstate/handle/state_handle.hpp"
#include "libstate/snapshot/snapshot_reader.hpp"
#include "libactors/base/clock.hpp"
#include "libactors/base/file_system.hpp"

#include <memory>

namespace headrace::state {

/// Opens a canonical snapshot, or a native one of the heap, which takes memory for all of it.
/// @param time  for TTL: what has expired is left out of what was native; null: nothing has
/// @errors incompatible_state  a form of another backend; those of snapshot_reader
result<std::unique_ptr<snapshot_reader>>
read_as_canonical(file_system& files, const keyed_state_handle& handle, const clock* time);

} // namespace headrace::state
