#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// How the calls of aggregates are told by the descriptions of states, and by their names.
namespace headrace::task {

/// A call as `group_cells::text_of` tells it: "SUM(DISTINCT BIGINT)".
struct told_call {
  std::string function;
  bool is_distinct = false;
  std::vector<std::string> arguments; ///< their types
};
/// Nothing: it is no text of a call.
std::optional<told_call> read_call_text(std::string_view text);

/// The state of a call that is kept in states of the key: "0-MIN-STRING".
/// @param number  of the call in its operator
std::string call_state_name(std::size_t number, const std::string& function,
                            std::span<const std::string> arguments);

} // namespace headrace::task
