#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace headrace::scheduler {

/// Writes JSON; bytes that are no UTF-8 (names and words of users) become replacement characters.
std::string to_text(const nlohmann::ordered_json& value);

std::string upper_case_of(std::string_view text);
/// -1: not ended, as in Flink. @param ended_ms  0: not yet
std::int64_t end_time(std::int64_t ended_ms);
/// -1: not started, as in Flink.
std::int64_t duration_ms(std::int64_t started_ms, std::int64_t ended_ms, std::int64_t now_ms);

} // namespace headrace::scheduler
