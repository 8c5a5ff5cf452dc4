#include "libgraph/expression/kernel/lenient_time.hpp"

#include <doctest/doctest.h>

#include <array>
#include <string>
#include <utility>

using namespace headrace;
using namespace headrace::graph;

namespace {

std::string day(std::string_view text) {
  std::string out;
  if (const auto days = read_date(text))
    append_date(*days, out);
  return out;
}

/// Seconds and nanoseconds.
std::string point(std::string_view text) {
  const auto read = read_point(text);
  return read ? std::to_string(read->seconds) + "." + std::to_string(read->nanos) : std::string();
}

} // namespace

TEST_SUITE_BEGIN("graph/expression/lenient_time");

TEST_CASE("days") {
  const std::array<std::pair<const char*, const char*>, 14> cases{
      {{"2024-02-29", "2024-02-29"},
       {"2024-2-9", "2024-02-09"},
       {" 2024-2-9 ", "2024-02-09"},
       {"2024-2", "2024-02-01"},
       {"2024", "2024-01-01"},
       {"2024-02-09 10:00:00", "2024-02-09"},
       {"2023-02-29", ""},
       {"2024-13-01", ""},
       {"2024-00-01", ""},
       {"2024-01-32", ""},
       {"2024-01-", ""},
       {"-2024", ""},
       {"", ""},
       {"today", ""}}};
  for (const auto& [text, shown] : cases) {
    CAPTURE(text);
    CHECK(day(text) == shown);
  }
}

TEST_CASE("points") {
  const std::array<std::pair<const char*, const char*>, 13> cases{
      {{"1970-1-1", "0.0"},
       {"1970-01-01 0:0:1", "1.0"},
       {"1970-01-01 00:00:00.5", "0.500000000"},
       {"1970-01-01 00:00:00.123456789", "0.123456789"},
       {"1970-02-31 00:00:00", "5011200.0"},
       {"1970-02-32 00:00:00", ""},
       {"1970-01-01T00:00:00", ""},
       {"1970-01-01 00:00", ""},
       {"1970-01-01 24:00:00", ""},
       {"1970-01-01 00:60:00", ""},
       {"1970-01-01 00:00:00.", ""},
       {"1970-01-01 00:00:00Z", ""},
       {"1970", ""}}};
  for (const auto& [text, shown] : cases) {
    CAPTURE(text);
    CHECK(point(text) == shown);
  }
}

TEST_SUITE_END();
