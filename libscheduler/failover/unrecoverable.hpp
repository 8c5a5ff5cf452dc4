#pragma once

#include "libactors/base/error.hpp"

namespace headrace::scheduler {

/// Whether a failure comes again however often a job restarts: what the job's description, its code
/// or its options say is wrong, or what it reads is not there, or it may not write its output.
/// Such a job fails at once, whatever its restart strategy. Faults of the storage may pass.
bool is_unrecoverable(const error& failure);

} // namespace headrace::scheduler
