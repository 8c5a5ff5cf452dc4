#include "libgraph/connector/option_set.hpp"

#include "libgraph/connector/rate_limiter.hpp"

#include <doctest/doctest.h>

#include <array>

namespace headrace::graph {
namespace {

constexpr std::array declared{
    option_declaration{"path", option_type::text, "", "a path"},
    option_declaration{"size", option_type::memory_size, "64 mb", "a size", 1},
    option_declaration{"wait", option_type::duration, "1 s", "a time"},
    option_declaration{"share", option_type::real, "0.5", "a share", 0, 1},
    option_declaration{"mode", option_type::text, "a", "a mode", std::nullopt, std::nullopt, "a|b"},
    option_declaration{"on", option_type::boolean, "false", "a switch"},
    option_declaration{"letter", option_type::text, ",", "a letter"},
};

error failure(const option_map& given) {
  auto parsed = option_set::parse("test", declared, given);
  REQUIRE_FALSE(parsed);
  return parsed.error();
}

} // namespace

TEST_SUITE("graph/connector/option_set") {
TEST_CASE("values are read with their type, or the default") {
  const auto set = option_set::parse("test", declared, {{"size", "2 kb"}, {"on", "TRUE"}});
  REQUIRE(set);
  CHECK(set->get_memory_size("size") == 2048);
  CHECK(set->get_duration("wait").count() == 1000);
  CHECK(set->get_real("share") == 0.5);
  CHECK(set->get_text("mode") == "a");
  CHECK(set->get_bool("on"));
  CHECK_FALSE(set->has("path"));
  CHECK(set->need_text("path").error().code == errc::bad_option_value);
}

TEST_CASE("what is wrong is named, with what would be right") {
  CHECK(failure({{"pth", "x"}}).message == "unknown option of test: 'pth', did you mean 'path'");
  CHECK(failure({{"something else", "x"}}).message.find("known are 'path'") != std::string::npos);
  CHECK(failure({{"size", "many"}}).message.find("a size such as '64 mb'") != std::string::npos);
  CHECK(failure({{"size", "0"}}).message.find("at least 1") != std::string::npos);
  CHECK(failure({{"share", "1.5"}}).message.find("at most 1") != std::string::npos);
  CHECK(failure({{"mode", "c"}}).message.find("one of a|b") != std::string::npos);
  CHECK(failure({{"on", "yes"}}).code == errc::bad_option_value);
}

TEST_CASE("characters may be escaped") {
  const auto letter = [](const char* text) {
    const auto set = option_set::parse("test", declared, {{"letter", text}});
    return set->get_char("letter");
  };
  CHECK(*letter("|") == '|');
  CHECK(*letter("\\t") == '\t');
  CHECK(*letter("\\u0001") == '\x01');
  CHECK(letter("ab").error().code == errc::bad_option_value);
  CHECK(letter("ü").error().code == errc::bad_option_value);
}

TEST_CASE("durations and sizes have units") {
  CHECK(parse_duration("1 min")->count() == 60'000);
  CHECK(parse_duration("7")->count() == 7);
  CHECK_FALSE(parse_duration("1 fortnight"));
  CHECK_FALSE(parse_duration(""));
  CHECK_FALSE(parse_duration("-1 s"));
  CHECK(parse_memory_size("1 G") == std::uint64_t{1} << 30U);
  CHECK_FALSE(parse_memory_size("99999999 tb"));
}

TEST_CASE("options of a format are split off") {
  option_map options{{"csv.null-literal", "n"}, {"csv", "x"}, {"path", "/"}, {"csvx.a", "b"}};
  const auto taken = take_prefixed(options, "csv");
  CHECK(taken == option_map{{"null-literal", "n"}});
  CHECK(options.size() == 3);
}

TEST_CASE("a rate saves up for a second at most") {
  rate_limiter limiter(10);
  CHECK(limiter.allowance(0) == 1);
  limiter.take(1);
  CHECK(limiter.allowance(50'000) == 0);
  CHECK(limiter.wait().count() == 51);
  CHECK(limiter.allowance(100'000) == 1);
  CHECK(limiter.allowance(60'000'000) == 10);
  rate_limiter none(0);
  CHECK(none.allowance(0) > 1'000'000);
}
} // TEST_SUITE("graph/connector/option_set")

} // namespace headrace::graph
