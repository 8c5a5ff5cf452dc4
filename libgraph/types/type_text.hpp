#pragma once

#include "libgraph/types/logical_type.hpp"

#include <optional>
#include <string_view>

namespace headrace::graph {

/// The type that `to_sql` writes so, of those that have no others in them; nothing: there is none.
/// For texts that a description stores; what users write is parsed by `sql/parse`.
std::optional<logical_type> parse_scalar_type(std::string_view text);

} // namespace headrace::graph
