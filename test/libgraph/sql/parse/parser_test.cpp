#include "libgraph/sql/parse/parser.hpp"

#include "libgraph/sql/parse/printer.hpp"

#include <doctest/doctest.h>

#include <string>

namespace headrace::sql {
namespace {

/// "line:column message" of each finding, one a line.
std::string findings(std::string_view text) {
  std::string out;
  for (const auto& each : parse_script(text).findings) {
    if (!out.empty())
      out += "\n";
    out += std::to_string(each.at.line) + ":" + std::to_string(each.at.column) + " " + each.message;
  }
  return out;
}

std::string normalized(std::string_view text) {
  const auto parsed = parse_expression(text);
  return parsed.value ? to_sql(*parsed.value) : to_string(parsed.findings, text);
}

std::string repeated(std::string_view text, int times) {
  std::string out;
  for (int i = 0; i < times; ++i)
    out += text;
  return out;
}

bool is_too_large(std::string_view text) {
  const auto parsed = parse_script(text);
  return parsed.findings.size() == 1 && parsed.findings[0].kind == diagnostic_kind::too_large;
}

} // namespace

TEST_SUITE("graph/sql/parse/parser") {

TEST_CASE("operators bind as in the dialect") {
  const auto same = [](std::string_view one, std::string_view other) {
    CAPTURE(one);
    const auto first = parse_expression(one);
    const auto second = parse_expression(other);
    REQUIRE(first.value);
    REQUIRE(second.value);
    CHECK(*first.value == *second.value);
  };
  same("a OR b AND c", "a OR (b AND c)");
  same("NOT a = b AND c", "(NOT (a = b)) AND c");
  same("a = b IS NULL", "(a = b) IS NULL");
  same("a = b IN (1)", "a = (b IN (1))");
  same("a BETWEEN 1 AND 2 AND b", "(a BETWEEN 1 AND 2) AND b");
  same("a || b + c", "(a || b) + c");
  same("a - b - c * d", "(a - b) - (c * d)");
  same("-a[1]", "-(a[1])");
  same("a < b = c", "(a < b) = c");
  same("a LIKE b || c ESCAPE d", "a LIKE (b || c) ESCAPE d");
  same("SUBSTRING(a FROM 2 FOR 3)", "substring(a, 2, 3)");
  same("TRIM('x' FROM a)", "TRIM(BOTH 'x' FROM a)");
  same("a <> b", "a != b");
  same("CEILING(a)", "CEIL(a)");
  same("x IN ((SELECT 1) UNION (SELECT 2))", "x IN (SELECT 1 UNION SELECT 2)");
}

TEST_CASE("trees are written in one way") {
  CHECK(normalized("a+b*(c-d)") == "a + b * (c - d)");
  CHECK(normalized("a between symmetric 1 and 2") == "a BETWEEN SYMMETRIC 1 AND 2");
  CHECK(normalized("f ( distinct x ) over ( partition by y )") ==
        "f(DISTINCT x) OVER (PARTITION BY y)");
  CHECK(normalized("- - 1") == "- -1");
  CHECK(normalized("interval '1' days") == "INTERVAL '1' DAY");
}

TEST_CASE("a chain of AND, OR or || is one node, however long") {
  auto text = std::string("a") + repeated(" AND a", 100'000);
  const auto parsed = parse_expression(text);
  REQUIRE(parsed.is_sound());
  CHECK(std::get<operation>(parsed.value->node).operands.size() == 100'001);
}

TEST_CASE("errors say what was expected") {
  CHECK(findings("SELECT FROM t") ==
        "1:8 expected an expression, found the reserved word FROM; as a name it stands in "
        "backticks: `FROM`");
  CHECK(findings("SELECT a FROM") ==
        "1:14 expected a table, LATERAL, UNNEST or TABLE, found the end of the text");
  CHECK(findings("CREATE TABLE t (a INT") ==
        "1:22 expected ',', ')', METADATA, CONSTRAINT, PRIMARY or COMMENT, found the end of the "
        "text");
  CHECK(findings("CREATE TABLE t (order INT)").find("as a name it stands in backticks: `order`") !=
        std::string::npos);
  CHECK(findings("SELECT a FROM t WHERE a = 'x") ==
        "1:27 string without end: expected a closing quote");
  CHECK(findings("SELECT CAST(a AS INTEGR)") == "1:18 unknown type: INTEGR, did you mean INTEGER");
  CHECK(findings("SELECT EXTRACT(YAER FROM ts)") ==
        "1:16 expected a unit of time, found 'YAER', did you mean YEAR");
  CHECK(findings("CREATE TABLE t (a)") == "1:17 column has no type: a");
  CHECK(findings("SELECT INTERVAL '1' DAY TO YEAR").find("interval has no such range") !=
        std::string::npos);
  CHECK(findings("INSERT INTO t PARTITION (a = b) SELECT 1") ==
        "1:30 expected a literal as a partition's value");
  CHECK(findings("UPDATE t SET a = 1") == "1:1 UPDATE is not supported");
  CHECK(findings("CREATE TABLE t (a INT PRIMARY KEY ENFORCED)").find("NOT ENFORCED") !=
        std::string::npos);
}

TEST_CASE("a misspelt keyword is found") {
  CHECK(findings("SELEC a FROM t").find("did you mean SELECT") != std::string::npos);
  CHECK(findings("SELECT a FORM t") == "1:10 expected FROM, found 'FORM', which is near to it");
  CHECK(findings("SELECT a FROM t WHRE a = 1") ==
        "1:17 expected WHERE, found 'WHRE', which is near to it");
  CHECK(findings("SELECT a FROM t GROUPE BY a") ==
        "1:17 expected GROUP, found 'GROUPE', which is near to it");
  CHECK(findings("CREATE TABEL t (a INT)").find("did you mean TABLE") != std::string::npos);
  CHECK(findings("SELECT a FROM t WHERE a LKE 'x'").find("did you mean LIKE") != std::string::npos);
}

TEST_CASE("errors of several statements are reported together") {
  const auto text = "SELECT 1;\nSELEC 2;\nSELECT ';' FROM;\nSELECT 3;\nDROP TABL t";
  const auto parsed = parse_script(text);
  REQUIRE(parsed.findings.size() == 3);
  CHECK(parsed.findings[0].at.line == 2);
  CHECK(parsed.findings[1].at.line == 3);
  CHECK(parsed.findings[2].at.line == 5);
  CHECK(parsed.value.statements.size() == 2);

  const auto set = parse_script("EXECUTE STATEMENT SET BEGIN\nINSERT INTO a SELEC 1;\n"
                                "INSERT INTO b SELECT 2;\nINSERT c SELECT 3;\nEND;\nSELECT 4");
  REQUIRE(set.findings.size() == 2);
  CHECK(set.findings[0].at.line == 2);
  CHECK(set.findings[1].at.line == 4);
  CHECK(set.value.statements.size() == 1);
}

TEST_CASE("an excerpt shows the place") {
  const std::string text = "SELECT a,\n  ä + # FROM t";
  const auto parsed = parse_script(text);
  REQUIRE(parsed.findings.size() == 1);
  CHECK(to_string(parsed.findings, text) == "line 2, column 7: unexpected character: '#'\n"
                                            "  2 |   ä + # FROM t\n"
                                            "    |       ^");

  const auto wide = "SELECT " + repeated("a, ", 200) + "# FROM t" + repeated(" ", 200);
  const auto shown = to_string(parse_script(wide).findings, wide);
  CHECK(shown.find("  1 | ...") != std::string::npos);
  CHECK(shown.size() < 400);
}

TEST_CASE("a script has as many statements as it says") {
  CHECK(parse_script("").value.statements.empty());
  CHECK(parse_script(" ; ;; -- nothing\n").value.statements.empty());
  CHECK(parse_script("SELECT 1; SELECT 2").value.statements.size() == 2);
  CHECK(parse_script("SELECT 1 -- ;\n; SELECT ';';").value.statements.size() == 2);
  CHECK(parse_script("SET a = b;SET 'c' = 'd';").value.statements.size() == 2);
}

TEST_CASE("SET takes a line as it is") {
  const auto setting = [](std::string_view text) {
    const auto parsed = parse_statement(text);
    REQUIRE(parsed.value);
    const auto& given = *std::get<set_statement>(parsed.value->node).setting;
    return given.key.text + "|" + given.value.text;
  };
  CHECK(setting("SET 'a' = 'b'") == "a|b");
  CHECK(setting("SET a.b-c = 10 s ;") == "a.b-c|10 s");
  CHECK(setting("SET a = file:///x#y") == "a|file:///x#y");
  CHECK(setting("SET a='it''s'") == "a|it's");
  CHECK(setting("SET a =") == "a|");
  CHECK(findings("SET a").find("expected SET 'key' = 'value'") != std::string::npos);
  for (const auto* text : {"SET a\x01 = b", "SET a\xFF = b", "SET a = b\x01", "RESET a\xFF"}) {
    CAPTURE(text);
    CHECK(findings(text).find("control character or is not valid UTF-8") != std::string::npos);
  }
}

TEST_CASE("what is too deep or too long is refused, not crashed on") {
  CHECK(is_too_large("SELECT " + repeated("(", 100'000) + "1" + repeated(")", 100'000)));
  CHECK(is_too_large("SELECT " + repeated("(", 100'000)));
  CHECK(is_too_large("SELECT " + repeated("NOT ", 100'000) + "a"));
  CHECK(is_too_large("SELECT " + repeated("- ", 100'000) + "1"));
  CHECK(is_too_large("SELECT 1" + repeated(" + 1", 100'000)));
  CHECK(is_too_large("SELECT a" + repeated("[1]", 100'000)));
  CHECK(is_too_large("SELECT " + repeated("CASE WHEN ", 100'000)));
  CHECK(is_too_large("SELECT " + repeated("f(", 100'000)));
  CHECK(is_too_large("SELECT CAST(a AS " + repeated("ARRAY<", 100'000)));
  CHECK(is_too_large("SELECT CAST(a AS INT" + repeated(" ARRAY", 100'000) + ")"));
  CHECK(is_too_large("SELECT 1 FROM " + repeated("(", 100'000) + "t"));
  CHECK(is_too_large("SELECT 1 FROM t" + repeated(" CROSS JOIN t", 100'000)));
  CHECK(is_too_large("SELECT 1 FROM t" + repeated(", t", 100'000)));
  CHECK(is_too_large(repeated("(", 100'000) + "SELECT 1"));
  CHECK(is_too_large(repeated("(SELECT 1 LIMIT ", 100'000)));
  CHECK(is_too_large(repeated("EXPLAIN ", 100'000) + "SELECT 1"));
  CHECK(is_too_large("SELECT 1 GROUP BY " + repeated("ROLLUP (", 100'000)));
  CHECK(is_too_large("SELECT 1 FROM t MATCH_RECOGNIZE (PATTERN (" + repeated("(", 100'000)));
  CHECK(is_too_large("WITH a AS (" + repeated("WITH a AS (", 100'000)));
  CHECK(is_too_large(repeated("SELECT 1 EXCEPT SELECT 2 UNION ", 100'000) + "SELECT 1"));
  // Nested chains: each is short enough, their sum is not.
  std::string nested = "a";
  for (int i = 0; i < 60; ++i)
    nested = "(" + nested + ")" + repeated(" + 1", 50);
  CHECK(is_too_large("SELECT " + nested));
  CHECK(is_too_large(std::string(limits::text_bytes_max + 1, ' ')));

  CHECK(parse_script("SELECT " + repeated("(", 80) + "1" + repeated(")", 80)).is_sound());
  CHECK(parse_script("SELECT 1" + repeated(" + 1", 700)).is_sound());
  CHECK(parse_script("SELECT 1" + repeated(" UNION ALL SELECT 1", 5'000)).is_sound());
  CHECK(parse_script("SELECT 1 IN (1" + repeated(", 1", 100'000) + ")").is_sound());
}

} // TEST_SUITE("graph/sql/parse/parser")

} // namespace headrace::sql
