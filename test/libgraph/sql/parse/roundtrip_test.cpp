#include "test/libgraph/sql/sql_texts.hpp"
#include "libgraph/sql/parse/lexer.hpp"
#include "libgraph/sql/parse/parser.hpp"
#include "libgraph/sql/parse/printer.hpp"

#include <doctest/doctest.h>

#include <string>

// What holds for every text: it is parsed, printed and parsed again to the same tree, and a piece
// of it is parsed or refused at a place inside.
namespace headrace::sql {
namespace {

template <class T>
void check_round_trip(std::string_view text, parsed<std::optional<T>> (*parse)(std::string_view)) {
  CAPTURE(text);
  const auto first = parse(text);
  CAPTURE(to_string(first.findings, text));
  REQUIRE(first.is_sound());
  REQUIRE(first.value);
  const auto printed = to_sql(*first.value);
  CAPTURE(printed);
  const auto second = parse(printed);
  CAPTURE(to_string(second.findings, printed));
  REQUIRE(second.is_sound());
  CHECK(*second.value == *first.value);
  CHECK(to_sql(*second.value) == printed);
}

void check_findings(const std::vector<diagnostic>& findings, std::string_view text) {
  for (const auto& finding : findings) {
    CHECK_FALSE(finding.message.empty());
    CHECK(finding.at.is_known());
    CHECK(finding.at.begin <= text.size());
    CHECK(finding.at.end <= text.size());
    CHECK(finding.at.begin <= finding.at.end);
    CHECK_FALSE(excerpt(text, finding.at).empty());
  }
}

void check_cuts(std::string_view text) {
  CAPTURE(text);
  const auto tokens = tokenize(text).tokens;
  for (const auto& each : tokens) {
    const auto head = text.substr(0, each.at.begin);
    check_findings(parse_script(head).findings, head);
    const auto broken = text.substr(0, each.at.begin + (each.at.end - each.at.begin) / 2);
    check_findings(parse_script(broken).findings, broken);
    const auto tail = text.substr(each.at.begin);
    check_findings(parse_script(tail).findings, tail);
    // Without this one token.
    const auto without = std::string(head) + std::string(text.substr(each.at.end));
    check_findings(parse_script(without).findings, without);
  }
}

} // namespace

TEST_SUITE("graph/sql/parse/roundtrip") {

TEST_CASE("expressions") {
  for (const auto text : testing::sql_expressions())
    check_round_trip<expression>(text, parse_expression);
}

TEST_CASE("what is taken at its depth is taken as it is printed") {
  const std::string_view links[] = {
      "+NOT ",        "- NOT ",      "a + NOT ", "a = NOT NOT ",
      "a IN (NOT + ", "a LIKE NOT ", "(NOT ",    "a BETWEEN NOT b AND + NOT "};
  for (const auto link : links) {
    std::string text = "k";
    std::size_t taken = 0;
    for (int levels = 1; levels <= 100; ++levels) {
      text = std::string(link) + text + (link.find('(') == link.npos ? "" : ")");
      if (!parse_expression(text).is_sound())
        continue;
      ++taken;
      check_round_trip<expression>(text, parse_expression);
    }
    CAPTURE(link);
    CHECK(taken >= 20);
    CHECK(taken < 100);
  }
}

TEST_CASE("types") {
  for (const auto text : testing::sql_types())
    check_round_trip<type_name>(text, parse_type);
}

TEST_CASE("queries") {
  for (const auto text : testing::sql_queries()) {
    check_round_trip<query>(text, [](std::string_view from) { return parse_query(from); });
    check_round_trip<statement>(text, parse_statement);
  }
}

TEST_CASE("statements") {
  for (const auto text : testing::sql_statements())
    check_round_trip<statement>(text, parse_statement);
}

TEST_CASE("every text, cut at every token, is parsed or refused at a place") {
  for (const auto text : testing::sql_expressions())
    check_cuts("SELECT " + std::string(text) + " FROM t");
  for (const auto text : testing::sql_types())
    check_cuts("CREATE TABLE t (a " + std::string(text) + ")");
  for (const auto text : testing::sql_queries())
    check_cuts(text);
  for (const auto text : testing::sql_statements())
    check_cuts(text);
}

TEST_CASE("spans lie in each other") {
  const std::string text = "SELECT (a + b) * c AS d FROM t WHERE x = 1";
  const auto parsed = parse_query(text);
  REQUIRE(parsed.is_sound());
  const auto& body = std::get<select>(parsed.value->body);
  const auto shown = [&](source_span at) { return text.substr(at.begin, at.end - at.begin); };
  const auto& product = body.items[0].value;
  CHECK(shown(product.at) == "(a + b) * c");
  CHECK(shown(std::get<operation>(product.node).operands[0].at) == "(a + b)");
  CHECK(shown(std::get<operation>(product.node).sign) == "*");
  CHECK(shown(body.items[0].alias->at) == "d");
  CHECK(shown((*body.from)->at) == "t");
  CHECK(shown(body.where->at) == "x = 1");
  CHECK(body.where->at.line == 1);
  CHECK(body.where->at.column == 38);
}

} // TEST_SUITE("graph/sql/parse/roundtrip")

} // namespace headrace::sql
