#pragma once

#include "libactors/base/bytes.hpp"

#include <memory>

namespace headrace {

/// Bytes that someone holds: cheap to copy; immutable once shared.
struct shared_bytes {
  byte_view view;
  std::shared_ptr<const void> owner; ///< none: they live for ever
};

} // namespace headrace
