#include "apps/client/live_table.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace headrace::client {

TEST_SUITE_BEGIN("apps/client/live_table");

namespace {
const std::vector<std::string> names{"name", "n"};
} // namespace

TEST_CASE("a table is written over what was shown before") {
  live_table table;

  CHECK(table.draw(names, {{"ann", "1"}}, 0, {24, 80}) == "name  n\nann   1\n");
  CHECK(table.draw(names, {{"ann", "2"}, {"bob", std::nullopt}}, 0, {24, 80}) ==
        "\x1b[2F\x1b[Jname  n\nann   2\nbob   <NULL>\n");
  CHECK(table.clear() == "\x1b[3F\x1b[J");
  CHECK(table.clear().empty());
}

TEST_CASE("rows that have no room are counted") {
  live_table table;
  const std::vector<text_row> rows{{"a", "1"}, {"b", "2"}, {"c", "3"}, {"d", "4"}};

  CHECK(live_table::rows_max({6, 80}) == 3);
  CHECK(table.draw(names, rows, 0, {6, 80}) ==
        "name  n\na     1\nb     2\nc     3\n… 1 more row\n");
  CHECK(table.draw(names, {{"a", "1"}}, 7, {6, 80}) ==
        "\x1b[5F\x1b[Jname  n\na     1\n… 7 more rows\n");
  CHECK(table.draw(names, rows, 0, {1, 80}) == "\x1b[3F\x1b[Jname  n\na     1\n… 3 more rows\n");
}

TEST_CASE("long lines are cut, and nothing in a value moves the cursor") {
  live_table table;

  CHECK(table.draw(names, {{"żółw morski", "1"}}, 0, {24, 8}) == "name   …\nżółw mo…\n");
  CHECK(table.draw({"n"}, {{"a\nb\x1b[J\x7f"}}, 0, {24, 80}) == "\x1b[2F\x1b[Jn\na b [J \n");
  CHECK(table.draw({"n"}, {{"exactly8"}}, 0, {24, 8}) == "\x1b[2F\x1b[Jn\nexactly8\n");
}

TEST_CASE("drawing takes a tenth of the time, and pauses for a tenth of a second") {
  drawing_pace pace;
  CHECK(pace.is_due(0));

  pace.drawn(1'000, 2'000);
  CHECK_FALSE(pace.is_due(101'999));
  CHECK(pace.is_due(102'000));
  pace.drawn(200'000, 300'000);
  CHECK_FALSE(pace.is_due(1'199'999));
  CHECK(pace.is_due(1'200'000));
}

TEST_SUITE_END();

} // namespace headrace::client
