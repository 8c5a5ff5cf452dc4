#include "test/libtask/connector/source_run.hpp"
#include "test/support/manual_clock.hpp"
#include "test/support/seed.hpp"
#include "test/support/testing_file_system.hpp"
#include "libtask/connector/registration.hpp"
#include "libgraph/connector/abilities.hpp"
#include "libgraph/data/row_format.hpp"
#include "libactors/base/ids.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace headrace::task {
namespace {

using graph::logical_type;
using testing::manual_clock;
using testing::testing_enumerator_context;
using testing::testing_file_system;

logical_type number() { return logical_type::bigint(); }
logical_type text() { return logical_type::string(); }
logical_type time() { return logical_type::timestamp(3); }

logical_type whole_type() {
  return logical_type::row({{"event_type", logical_type::integer(), ""},
                            {"person",
                             logical_type::row({{"id", number(), ""},
                                                {"name", text(), ""},
                                                {"emailAddress", text(), ""},
                                                {"creditCard", text(), ""},
                                                {"city", text(), ""},
                                                {"state", text(), ""},
                                                {"dateTime", time(), ""},
                                                {"extra", text(), ""}}),
                             ""},
                            {"auction",
                             logical_type::row({{"id", number(), ""},
                                                {"itemName", text(), ""},
                                                {"description", text(), ""},
                                                {"initialBid", number(), ""},
                                                {"reserve", number(), ""},
                                                {"dateTime", time(), ""},
                                                {"expires", time(), ""},
                                                {"seller", number(), ""},
                                                {"category", number(), ""},
                                                {"extra", text(), ""}}),
                             ""},
                            {"bid",
                             logical_type::row({{"auction", number(), ""},
                                                {"bidder", number(), ""},
                                                {"price", number(), ""},
                                                {"channel", text(), ""},
                                                {"url", text(), ""},
                                                {"dateTime", time(), ""},
                                                {"extra", text(), ""}}),
                             ""}})
      .not_null();
}

result<std::unique_ptr<graph::source>> make_source(const graph::option_map& options,
                                                   logical_type type) {
  graph::connector_registry registry;
  register_connectors(registry);
  return registry.create_source("nexmark", options,
                                std::make_shared<const logical_type>(std::move(type)));
}

/// The rows as texts, in any order.
std::vector<std::string> rows_of(const graph::source& source, std::int32_t readers,
                                 std::mt19937_64& random) {
  testing_file_system files;
  manual_clock clock;
  testing_enumerator_context context(files, readers);
  auto enumerator = source.create_enumerator(context, std::nullopt);
  REQUIRE(enumerator);
  std::vector<std::string> out;
  for (std::int32_t reader = 0; reader < readers; ++reader) {
    REQUIRE((*enumerator)->add_reader(reader));
    auto made = source.create_reader({reader, readers, files, clock, {}});
    REQUIRE(made);
    for (const auto& split : context.assigned[reader])
      REQUIRE((*made)->add_split(split));
    while (true) {
      auto got = (*made)->fetch({random() % 100 + 1, 1U << 20U});
      REQUIRE(got);
      if (!got->has_value())
        break;
      for (std::size_t i = 0; i < (*got)->rows.size(); ++i)
        out.push_back(graph::to_string(graph::row_view((*got)->rows, i)));
    }
  }
  return out;
}

std::vector<std::string> sorted(std::vector<std::string> rows) {
  std::sort(rows.begin(), rows.end());
  return rows;
}

} // namespace

TEST_SUITE("task/connector/nexmark/nexmark_source") {
TEST_CASE("the events of a seed are the same, whatever the readers") {
  std::mt19937_64 random(testing::seed());
  const graph::option_map options{{"events.num", "10000"}, {"seed", "7"}};
  const auto one = rows_of(**make_source(options, whole_type()), 1, random);
  REQUIRE(one.size() == 10'000);
  CHECK(one[0].starts_with("+I[1, null, +I[1001, "));
  for (const int readers : {2, 3})
    CHECK(sorted(rows_of(**make_source(options, whole_type()), readers, random)) == sorted(one));
}

TEST_CASE("the events of a release are those of the next") {
  std::mt19937_64 random(testing::seed());
  std::uint64_t digest = 0;
  for (const auto& row :
       rows_of(**make_source({{"events.num", "2000"}, {"seed", "1"}, {"first-event.rate", "1000"}},
                             whole_type()),
               1, random))
    for (const char letter : row)
      digest = mix64(digest ^ static_cast<unsigned char>(letter));
  CHECK(digest == 9800610783761328718U);
}

TEST_CASE("what is not read is not made, and the rest is as it was") {
  std::mt19937_64 random(testing::seed());
  const graph::option_map options{{"events.num", "500"}};
  const auto part =
      logical_type::row(
          {{"bid",
            logical_type::row(
                {{"extra", text(), ""}, {"price", number(), ""}, {"url", text(), ""}}),
            ""},
           {"event_type", logical_type::integer(), ""}})
          .not_null();
  const auto source = std::move(*make_source(options, whole_type()));
  REQUIRE(dynamic_cast<graph::projectable_source&>(*source).project(
      std::make_shared<const logical_type>(part)));
  CHECK(*source->row_type() == part);
  const auto projected = rows_of(*source, 1, random);
  CHECK(projected == rows_of(**make_source(options, part), 1, random));
  const auto whole = rows_of(**make_source(options, whole_type()), 1, random);
  for (std::size_t i = 0; i < whole.size(); ++i) {
    // +I[+I[EXTRA, PRICE, URL], TYPE]
    const auto price = projected[i].find(", ");
    if (projected[i].starts_with("+I[null"))
      continue;
    const auto extra = projected[i].substr(6, price - 6);
    CHECK(whole[i].find(extra) != std::string::npos);
  }
}

TEST_CASE("fields may be columns") {
  std::mt19937_64 random(testing::seed());
  const auto flat = logical_type::row({{"event_type", logical_type::integer(), ""},
                                       {"person_id", number(), ""},
                                       {"auction_id", number(), ""},
                                       {"bid_auction", number(), ""}})
                        .not_null();
  const auto rows = rows_of(**make_source({{"events.num", "50"}}, flat), 1, random);
  CHECK(rows[0] == "+I[1, null, 1001, null]");
  CHECK(rows[1] == "+I[1, null, 1002, null]");
  CHECK(rows[2].starts_with("+I[2, null, null, 1"));
  CHECK(rows[48] == "+I[0, 1001, null, null]");
}

TEST_CASE("columns that it does not have are refused") {
  const auto fails = [](logical_type::field column) {
    auto made = make_source({}, logical_type::row({std::move(column)}).not_null());
    REQUIRE(!made.has_value());
    CHECK(made.error().code == errc::type_mismatch);
    return made.error().message;
  };
  CHECK(fails({"bids", logical_type::integer(), ""}).find("did you mean `bid`") !=
        std::string::npos);
  CHECK(fails({"event_type", number(), ""}).find("INT, not BIGINT") != std::string::npos);
  CHECK(fails({"bid", number(), ""}).find("a ROW that may be NULL") != std::string::npos);
  CHECK(fails({"bid", logical_type::row({{"prize", number(), ""}}), ""}).find("`bid.prize`") !=
        std::string::npos);
  CHECK(fails({"bid", logical_type::row({{"price", text(), ""}}), ""}).find("is BIGINT") !=
        std::string::npos);
  CHECK(fails({"bid_price", number().not_null(), ""}).find("may be NULL") != std::string::npos);
}

TEST_CASE("without a number of events there is no end, and they may come at their rate") {
  const auto source = make_source({{"max-emit-speed", "false"}, {"first-event.rate", "100"}},
                                  logical_type::row({{"bid_price", number(), ""}}).not_null());
  REQUIRE(source);
  CHECK((*source)->bounds() == graph::boundedness::unbounded);
  testing_file_system files;
  manual_clock clock;
  testing_enumerator_context context(files, 1);
  auto enumerator = (*source)->create_enumerator(context, std::nullopt);
  REQUIRE((*enumerator)->add_reader(0));
  auto reader = (*source)->create_reader({0, 1, files, clock, {}});
  REQUIRE((*reader)->add_split(context.assigned[0][0]));
  std::size_t rows = 0;
  for (int step = 0; step < 1000; ++step) {
    auto got = (*reader)->fetch({});
    REQUIRE((got && got->has_value()));
    rows += (*got)->rows.size();
    clock.advance_ms(2);
  }
  CHECK(rows >= 190);
  CHECK(rows <= 202);
}
} // TEST_SUITE("task/connector/nexmark/nexmark_source")

} // namespace headrace::task
