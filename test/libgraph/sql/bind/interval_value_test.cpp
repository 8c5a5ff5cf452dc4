#include "libgraph/sql/bind/interval_value.hpp"

#include <doctest/doctest.h>

namespace headrace::sql {

TEST_SUITE("graph/sql/bind/interval_value") {

TEST_CASE("an interval is months or milliseconds") {
  using unit = interval_unit;
  const auto value = [](std::string_view text, unit from, std::optional<unit> to = std::nullopt) {
    interval_qualifier qualifier;
    qualifier.from = from;
    qualifier.to = to;
    return interval_value(text, qualifier);
  };

  CHECK(value("10", unit::second) == 10'000);
  CHECK(value("1.5", unit::second) == 1'500);
  CHECK(value("0.0019", unit::second) == 1);
  CHECK(value("-2", unit::week) == -1'209'600'000);
  CHECK(value("3", unit::year) == 36);
  CHECK(value("1-2", unit::year, unit::month) == 14);
  CHECK(value("1 02:03:04.5", unit::day, unit::second) == 93'784'500);
  CHECK(value("02:03", unit::hour, unit::minute) == 7'380'000);

  CHECK_FALSE(value("", unit::second));
  CHECK_FALSE(value("1.5", unit::minute));
  CHECK_FALSE(value("1", unit::year, unit::month));
  CHECK_FALSE(value("1-2-3", unit::year, unit::month));
  CHECK_FALSE(value("999999999999999999", unit::week));
}

} // TEST_SUITE("graph/sql/bind/interval_value")

} // namespace headrace::sql
