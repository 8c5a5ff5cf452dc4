#pragma once

#include "libactors/base/error.hpp"

namespace headrace {

/// What `file_system::open`, `stat` and `list` fail with when the file cannot be used before
/// somebody changes something: no permission, no regular file, links in a circle, a name that is
/// too long. What may pass (no descriptor or memory left, a disk or a server that does not answer)
/// is `storage_failed`.
inline constexpr errc file_unusable = errc{6008};

} // namespace headrace
