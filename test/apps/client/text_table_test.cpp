#include "apps/client/text_table.hpp"

#include <doctest/doctest.h>

namespace headrace::client {

TEST_SUITE("client/text_table") {
TEST_CASE("a table is as wide as it needs to be") {
  CHECK(text_table({{"A", "LONG"}, {"abc", "d"}}) == "A    LONG\nabc  d\n");
  CHECK(text_table({}).empty());
}

TEST_CASE("durations and shares are for people") {
  CHECK(describe_duration(-1) == "-");
  CHECK(describe_duration(1'250) == "1.2 s");
  CHECK(describe_duration(65'000) == "1 min 05 s");
  CHECK(describe_duration(3'661'000) == "1 h 01 min");
  CHECK(describe_share(0.256F) == "26 %");
}
} // TEST_SUITE("client/text_table")

} // namespace headrace::client
