#pragma once

#include <span>
#include <string_view>

namespace headrace {

/// A file that the program has with it.
struct embedded_text {
  std::string_view name; ///< of the file, without its suffix
  std::string_view text;
};

/// apps/nexmark/sql/*.sql, sorted by name.
std::span<const embedded_text> nexmark_sql();

} // namespace headrace
