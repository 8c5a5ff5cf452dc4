#pragma once

#include "libactors/base/error.hpp"

namespace headrace {

/// What `file_system::open`, `stat`, `list`, `create` and `create_directories` fail with when the
/// path cannot be used before somebody changes something: no permission, no regular file, a file
/// system that is not to be written to, links in a circle, a name that is too long. What may pass
/// (no descriptor or memory left, a disk or a server that does not answer) is `storage_failed`.
inline constexpr errc file_unusable = errc{6008};

} // namespace headrace
