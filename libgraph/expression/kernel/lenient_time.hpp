#pragma once

#include "libgraph/types/logical_type.hpp"
#include "libgraph/types/value_text.hpp"

#include <cstdint>
#include <optional>
#include <string_view>

// Dates and times as the functions and casts of SQL read them from texts: with one digit where two
// are usual. Formats and literals are stricter (value_text.hpp).
namespace headrace::graph {

/// "2024-2-3", "2024-2", "2024"; what follows a space is passed over. Days since 1970.
std::optional<std::int32_t> read_date(std::string_view text);

/// A day, or a day and "1:2:3" with a fraction of up to nine digits. A day up to the 31st that the
/// month has not is its last one.
std::optional<parsed_timestamp> read_point(std::string_view text);

} // namespace headrace::graph
