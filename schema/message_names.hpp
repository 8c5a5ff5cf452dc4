#pragma once

#include <cstdint>
#include <string_view>

namespace headrace::schema {

/// Returns the name of a message's type by Cap'n Proto's id, e.g. "SubmitJob"; empty: not one of
/// ours. Generated from the schemas.
std::string_view message_name(std::uint64_t type_id);

} // namespace headrace::schema
