#include "libactors/base/text.hpp"

#include <doctest/doctest.h>

#include <array>

using namespace headrace;

TEST_SUITE("actors/base/text") {

TEST_CASE("the nearest name is at most a third of the wanted one away") {
  constexpr std::array<std::string_view, 3> names{"window", "watermark", "where"};

  CHECK(nearest_name("windwo", names) == "window");
  CHECK(nearest_name("qyt", std::array<std::string_view, 1>{"qty"}) == "qty");
  CHECK(nearest_name("watermrk", names) == "watermark");
  CHECK(nearest_name("group", names).empty());
  CHECK(nearest_name("", names).empty());
  CHECK(nearest_name("window", {}).empty());
}

TEST_CASE("letters change their case, other bytes stay") {
  CHECK(in_capitals("aZ_9\xc3\xa4z") == "AZ_9\xc3\xa4Z");
  CHECK(in_lower_case("aZ_9\xc3\x84") == "az_9\xc3\x84");
  CHECK(in_capitals("").empty());
}

TEST_CASE("text is split, joined and trimmed") {
  CHECK(split_text("a,,b", ',') == std::vector<std::string_view>{"a", "", "b"});
  CHECK(split_text("", ',') == std::vector<std::string_view>{""});
  const std::vector<std::string> parts{"a", "", "b"};
  CHECK(join_text(parts, ", ") == "a, , b");
  CHECK(join_text({}, ",").empty());
  CHECK(trim_text(" \t a b\r\n") == "a b");
  CHECK(trim_text(" \n ").empty());
}

} // TEST_SUITE("actors/base/text")
