#pragma once

#include "libgraph/types/logical_type.hpp"

#include <array>
#include <optional>
#include <string>
#include <string_view>

// What a source of files knows of a record beside what stands in it: SQL's METADATA. The option
// `metadata.keys` names what is wanted; the rows then have a field of it, "$file.size".
namespace headrace::graph {

inline constexpr std::string_view metadata_option = "metadata.keys";
inline constexpr std::array<std::string_view, 4> file_metadata_keys{
    "file.path", "file.name", "file.size", "file.modification-time"};

/// The type of a key; nothing: there is none of the name.
inline std::optional<logical_type> file_metadata_type(std::string_view key) {
  if (key == "file.path" || key == "file.name")
    return logical_type::string().not_null();
  if (key == "file.size")
    return logical_type::bigint().not_null();
  if (key == "file.modification-time")
    return logical_type::timestamp_ltz(3).not_null();
  return std::nullopt;
}

inline std::string metadata_field(std::string_view key) { return "$" + std::string(key); }

} // namespace headrace::graph
