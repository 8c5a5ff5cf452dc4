#include "libactors/base/version.hpp"

#include <doctest/doctest.h>

#include <algorithm>

TEST_SUITE("actors/base/version") {

TEST_CASE("a version is three numbers") {
  auto version = headrace::version();

  CHECK(std::count(version.begin(), version.end(), '.') == 2);
  CHECK(version.find_first_not_of("0123456789.") == std::string_view::npos);
}

} // TEST_SUITE("actors/base/version")
