#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace headrace::client {

// Words for people. Pure.

/// Lays columns out under one another, two blanks between; the last one is not padded.
std::string text_table(const std::vector<std::vector<std::string>>& rows);
/// A name that a user gave, as a terminal may get it: without control characters, of 200 bytes at
/// most.
std::string shown_name(std::string_view name);
/// "2.5 s", "1 min 05 s", "1 h 01 min"; "-" for less than nothing.
std::string describe_duration(std::int64_t ms);
/// @param share  in [0, 1]. "26 %"
std::string describe_share(float share);
/// "1 restart", "2 restarts"
std::string describe_count(std::uint64_t count, std::string_view what);

} // namespace headrace::client
