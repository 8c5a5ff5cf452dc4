#include "libgraph/sql/parse/lexer.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace headrace::sql {
namespace {

std::vector<std::string> texts(std::string_view text) {
  std::vector<std::string> out;
  for (const auto& each : tokenize(text).tokens)
    if (each.kind != token_kind::end)
      out.emplace_back(text.substr(each.at.begin, each.at.end - each.at.begin));
  return out;
}

std::string reason(std::string_view text) {
  for (const auto& each : tokenize(text).tokens)
    if (each.kind == token_kind::malformed)
      return malformed_reason(text, each);
  return {};
}

using words = std::vector<std::string>;

} // namespace

TEST_SUITE("graph/sql/parse/lexer") {

TEST_CASE("a text is cut into tokens") {
  CHECK(texts("a<=b<>c!=d||e=>f") ==
        words{"a", "<=", "b", "<>", "c", "!=", "d", "||", "e", "=>", "f"});
  CHECK(texts("ROW<a ARRAY<INT>>") == words{"ROW", "<", "a", "ARRAY", "<", "INT", ">", ">"});
  CHECK(texts("1.5e3 .5 1. 2e 3e+4") == words{"1.5e3", ".5", "1.", "2", "e", "3e+4"});
  CHECK(texts("'a''b' `c``d` X'0f' U&'x' N'y' _utf8'z'") ==
        words{"'a''b'", "`c``d`", "X'0f'", "U&'x'", "N'y'", "_utf8'z'"});
  CHECK(texts("a -- b\n/* c */ d /*+ e */ f * / g") ==
        words{"a", "d", "/*+", "e", "*/", "f", "*", "/", "g"});
  CHECK(texts("$$ a ; ' $$ t$errors") == words{"$$ a ; ' $$", "t$errors"});
  CHECK(texts("\xEF\xBB\xBF"
              "a\xC2\xA0größe 漢字") == words{"a", "größe", "漢字"});
  CHECK(texts("") == words{});
}

TEST_CASE("places count lines and code points") {
  const auto tokens = tokenize("ä b\n  'ö' c").tokens;
  REQUIRE(tokens.size() == 5);
  CHECK(tokens[1].at.line == 1);
  CHECK(tokens[1].at.column == 3);
  CHECK(tokens[2].at.line == 2);
  CHECK(tokens[2].at.column == 3);
  CHECK(tokens[3].at.column == 7);
}

TEST_CASE("parentheses know their ends") {
  const auto list = tokenize("(a (b) c) (d");
  CHECK(list.closing[0] == 6);
  CHECK(list.closing[2] == 4);
  CHECK(list.closing[7] == 9);
}

TEST_CASE("what is no token is explained") {
  CHECK(reason("/* a") == "comment without end: expected '*/'");
  CHECK(reason("'a''") == "string without end: expected a closing quote");
  CHECK(reason("`a") == "name without end: expected a closing '`'");
  CHECK(reason("``") == "empty name");
  CHECK(reason("$$a$") == "body without end: expected a closing '$$'");
  CHECK(reason("\"a\"") == "unexpected '\"': strings stand in single quotes, names in backticks");
  CHECK(reason("a # b") == "unexpected character: '#'");
  CHECK(reason("a \x01") == "unexpected character: code 1");
  CHECK(reason("‘a’") == "typographic quote ‘: strings stand in single quotes ('), names in "
                         "backticks");
  CHECK(reason("a \xFF") == "text is not valid UTF-8");
  CHECK(reason("'\xC0\x80'") == "text is not valid UTF-8");
}

TEST_CASE("values are unquoted") {
  const auto value = [](std::string_view text) {
    return string_value(text, tokenize(text).tokens[0]);
  };
  CHECK(value("'it''s'") == "it's");
  CHECK(value("N'x'") == "x");
  CHECK(value("''") == "");
  CHECK(value("''''") == "'");
  CHECK(name_value("`a``b`", tokenize("`a``b`").tokens[0]) == "a`b");
  CHECK(unescape_unicode("a\\0041\\+01F600\\\\", '\\') == "aA😀\\");
  CHECK(unescape_unicode("\\D83D\\DE00", '\\') == "😀");
  CHECK_FALSE(unescape_unicode("\\D83D", '\\'));
  CHECK_FALSE(unescape_unicode("\\004", '\\'));
  CHECK_FALSE(unescape_unicode("\\+110000", '\\'));
}

TEST_CASE("names are quoted where they have to be") {
  CHECK(quote_name("abc") == "abc");
  CHECK(quote_name("größe") == "größe");
  CHECK(quote_name("select") == "`select`");
  CHECK(quote_name("Key") == "`Key`");
  CHECK(quote_name("a b") == "`a b`");
  CHECK(quote_name("a`b") == "`a``b`");
  CHECK(quote_name("1a") == "`1a`");
  CHECK(quote_name("t$errors") == "t$errors");
}

TEST_CASE("words are found in any case") {
  CHECK(find_keyword("select") == kw::select_);
  CHECK(find_keyword("SeLeCt") == kw::select_);
  CHECK(find_keyword("selects") == kw::none);
  CHECK(text_of(kw::timestamp_ltz_) == "TIMESTAMP_LTZ");
  CHECK(is_reserved(kw::select_));
  CHECK(is_reserved(kw::count_));
  CHECK_FALSE(is_reserved(kw::key_));
  CHECK_FALSE(is_reserved(kw::none));
  CHECK(may_name_function(kw::count_));
  CHECK(may_name_function(kw::left_));
  CHECK_FALSE(may_name_function(kw::select_));
  for (const auto* word : {"CHANGELOG_MODE", "COLUMNS",    "CONFLICT",
                           "DEDUPLICATE",    "DO",         "ENFORCED",
                           "ESTIMATED_COST", "IF",         "JSON_EXECUTION_PLAN",
                           "PLAN_ADVICE",    "METADATA",   "MODEL",
                           "NOTHING",        "OVERWRITE",  "OVERWRITING",
                           "PARTITIONED",    "PARTITIONS", "UUID",
                           "VIRTUAL",        "ANALYZE",    "COMPUTE",
                           "STATISTICS"}) {
    CAPTURE(word);
    CHECK_FALSE(is_reserved(find_keyword(word)));
  }
}

} // TEST_SUITE("graph/sql/parse/lexer")

} // namespace headrace::sql
