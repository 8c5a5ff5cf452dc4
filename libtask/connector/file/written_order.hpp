#pragma once

#include "libactors/base/file_system.hpp"

#include <vector>

namespace headrace::task {

/// Puts files into the order in which they were written. Files whose paths differ in the last
/// number alone are one writer's: they come by that number ("part-2" before "part-10"). Those of
/// several writers come by the time of their last change, where none goes before one of its writer
/// with a smaller number; at equal times by path, with numbers in it as such.
///
///     part-b-0-0 (12:00)  part-b-0-1 (12:01)  part-a-0-0 (12:05)      two jobs, one after the
///     other
std::vector<file_info> in_written_order(std::vector<file_info> files);

} // namespace headrace::task
