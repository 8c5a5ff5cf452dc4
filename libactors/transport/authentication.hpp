#pragma once

#include "libactors/base/bytes.hpp"

#include <string>

namespace headrace::actors {

/// HMAC-SHA256: 32 bytes.
byte_string hmac_sha256(byte_view key, byte_view text);
/// Takes the same time wherever they differ.
bool equal_in_constant_time(byte_view one, byte_view other);

} // namespace headrace::actors
