#include "libscheduler/rest/handler/json_text.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace headrace::scheduler {

std::string to_text(const nlohmann::ordered_json& value) {
  return value.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

std::string upper_case_of(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'a' && c <= 'z')
      c = static_cast<char>(c - 'a' + 'A');
  return out;
}

std::int64_t end_time(std::int64_t ended_ms) { return ended_ms == 0 ? -1 : ended_ms; }

std::int64_t duration_ms(std::int64_t started_ms, std::int64_t ended_ms, std::int64_t now_ms) {
  if (started_ms <= 0)
    return -1;
  return std::max<std::int64_t>(0, (ended_ms > 0 ? ended_ms : now_ms) - started_ms);
}

} // namespace headrace::scheduler
