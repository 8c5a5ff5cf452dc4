#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headrace {

/// Returns the candidate with the smallest edit distance to `wanted`, when that is at most a third
/// of its length (rounded up); else an empty view.
std::string_view nearest_name(std::string_view wanted,
                              std::span<const std::string_view> candidates);
std::vector<std::string_view> split_text(std::string_view text, char separator);
std::string join_text(std::span<const std::string> parts, std::string_view separator);
std::string_view trim_text(std::string_view text);
/// ASCII letters in capitals; others stay.
std::string in_capitals(std::string_view text);
/// ASCII letters in lower case; others stay.
std::string in_lower_case(std::string_view text);

} // namespace headrace
