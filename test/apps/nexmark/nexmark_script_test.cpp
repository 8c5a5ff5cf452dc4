#include "apps/nexmark/nexmark_script.hpp"

#include "test/support/testing_file_system.hpp"
#include "apps/nexmark/generate_command.hpp"
#include "libgraph/sql/parse/parser.hpp"
#include "libactors/base/text.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

namespace headrace::nexmark {
namespace {

using testing::testing_file_system;

std::string text_of(testing_file_system& files, const std::string& path) {
  auto text = files.read_all(path, 1U << 24U);
  REQUIRE_MESSAGE(text.has_value(), (text ? "" : text.error().message));
  return std::string(text->begin(), text->end());
}

std::string message_of(const script_options& options, testing_file_system& files) {
  const auto made = make_script(options, files);
  REQUIRE(!made.has_value());
  CHECK(made.error().code == errc::bad_usage);
  return made.error().message;
}

} // namespace

TEST_SUITE("apps/nexmark/nexmark_script") {
TEST_CASE("there are 24 queries and four of patterns, and each is a script") {
  testing_file_system files;
  REQUIRE(generate({{{"events.num", "1"}}, "json", "/events"}, files));
  const auto names = query_names();
  REQUIRE(names.size() == 28);
  CHECK(names[0] == "q0");
  CHECK(names[2] == "q2");
  CHECK(names[10] == "q10");
  CHECK(names[24] == "p0");
  for (const auto& name : names) {
    script_options options;
    options.query = name;
    options.input = "/events";
    options.output = "/out's";
    const auto made = make_script(options, files);
    REQUIRE_MESSAGE(made.has_value(), (made ? "" : made.error().message));
    CHECK(made->find("${") == std::string::npos);
    const auto parsed = sql::parse_script(*made);
    CHECK_MESSAGE(parsed.findings.empty(), name << ": " << sql::to_string(parsed.findings, *made));
  }
}

TEST_CASE("without files the events are made as they are read, and results are forgotten") {
  testing_file_system files;
  script_options options;
  options.query = "q0";
  options.settings = {{"events.num", "5"}, {"seed", "3"}};
  const auto made = make_script(options, files);
  REQUIRE(made);
  CHECK(made->find("'connector' = 'nexmark',\n  'events.num' = '5',\n  'seed' = '3'") !=
        std::string::npos);
  CHECK(made->find("WITH (\n  'connector' = 'blackhole'\n)") != std::string::npos);
}

TEST_CASE("what is missing is told") {
  testing_file_system files;
  script_options options;
  options.query = "q24";
  CHECK(message_of(options, files).find("no query q24, there are q0, q1, q2") != std::string::npos);
  options.query = "q10";
  CHECK(message_of(options, files).find("--output") != std::string::npos);
  options.query = "q13";
  CHECK(message_of(options, files).find("--input") != std::string::npos);
  options.query = "q0";
  options.input = "/nothing";
  CHECK(message_of(options, files).find("no events in /nothing") != std::string::npos);
}

TEST_CASE("events are written as lines of JSON, with rows inside of rows") {
  testing_file_system files;
  const auto made =
      generate({{{"events.num", "5000"}, {"first-event.rate", "1000"}}, "json", "/out"}, files);
  REQUIRE_MESSAGE(made.has_value(), (made ? "" : made.error().message));
  CHECK(made->events == 5000);
  const auto text = text_of(files, made->path);
  CHECK(text.size() == made->size_bytes);
  CHECK(std::count(text.begin(), text.end(), '\n') == 5000);
  CHECK(text.starts_with(R"({"event_type":1,"person":null,"auction":{"id":1001,"itemName":")"));
  CHECK(text.find(R"("dateTime":"2015-07-15 00:00:00.001")") != std::string::npos);
  const auto side = text_of(files, "/out/side_input.csv");
  CHECK(side.starts_with("0,0\n1,1\n"));
  CHECK(side.ends_with("9999,9999\n"));
}

TEST_CASE("events are written as CSV, all fields side by side, and take the place of others") {
  testing_file_system files;
  REQUIRE(generate({{{"events.num", "10"}}, "json", "/out"}, files));
  const auto made = generate({{{"events.num", "10"}}, "csv", "/out"}, files);
  REQUIRE(made);
  CHECK(made->path == "/out/events.csv");
  CHECK(!files.stat("/out/events.json"));
  const auto text = text_of(files, made->path);
  CHECK(text.starts_with("1,,,,,,,,,1001,"));
  script_options options;
  options.query = "q0";
  options.input = "/out";
  const auto script = make_script(options, files);
  REQUIRE(script);
  CHECK(script->find("bid_auction AS auction") != std::string::npos);
  CHECK(script->find("'csv.null-literal' = ''") != std::string::npos);
}

TEST_CASE("files have an end") {
  testing_file_system files;
  const auto made = generate({{}, "json", "/out"}, files);
  REQUIRE(!made);
  CHECK(made.error().message.find("--events") != std::string::npos);
}
} // TEST_SUITE("apps/nexmark/nexmark_script")

} // namespace headrace::nexmark
