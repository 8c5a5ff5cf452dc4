#include "libgraph/sql/bind/expression_binder.hpp"

#include "libgraph/sql/parse/parser.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cctype>
#include <string>

namespace headrace::sql {
namespace {

column_scope test_scope() {
  using t = logical_type;
  column_scope out;
  const auto add = [&](std::string name, const t& type) { out.add("t", std::move(name), type); };
  add("flag", t::boolean());
  add("tiny", t::tinyint());
  add("small", t::smallint());
  add("number", t::integer());
  add("big", t::bigint());
  add("id", t::bigint().not_null());
  add("single", t::float32());
  add("price", t::float64());
  add("amount", t::decimal(10, 2));
  add("label", t::string());
  add("code", t::character(3));
  add("data", t::bytes());
  add("day_of_sale", t::date());
  add("clock", t::time(0));
  add("ts", t::timestamp(3));
  add("zoned", t::timestamp_ltz(3));
  add("items", t::array(t::integer()));
  add("counts", t::map(t::string(), t::bigint()));
  add("person", t::row({{"name", t::string().not_null(), ""},
                        {"home", t::row({{"city", t::string(), ""}}), ""}}));
  out.add("u", "id", t::bigint());
  out.add("u", "total", t::integer());
  return out;
}

struct binding {
  std::string shown; ///< empty after an error
  std::string type;
  std::string errors;
};

binding bind(std::string_view text, bool allows_aggregates = true) {
  const auto parsed = parse_expression(text);
  CAPTURE(to_string(parsed.findings, text));
  REQUIRE(parsed.value);
  static const auto scope = test_scope();
  std::vector<diagnostic> findings;
  expression_binder binder(scope, findings);
  binder.allow_aggregates(allows_aggregates);
  const auto bound = binder.bind(*parsed.value);
  binding out;
  if (bound) {
    CHECK(findings.empty());
    out.shown = to_string(*bound);
    out.type = bound->type.to_sql();
  } else {
    CHECK_FALSE(findings.empty());
  }
  for (const auto& each : findings) {
    CHECK(each.at.is_known());
    out.errors +=
        (out.errors.empty() ? "" : "\n") + std::to_string(each.at.column) + " " + each.message;
  }
  return out;
}

struct expected_type {
  std::string_view text;
  std::string_view type;
};

} // namespace

TEST_SUITE("graph/sql/bind/expression_binder") {

TEST_CASE("types are those of the dialect") {
  constexpr expected_type table[] = {
      {"NULL", "NULL"},
      {"TRUE", "BOOLEAN NOT NULL"},
      {"1", "INT NOT NULL"},
      {"2147483647", "INT NOT NULL"},
      {"2147483648", "BIGINT NOT NULL"},
      {"-2147483648", "INT NOT NULL"},
      {"-9223372036854775808", "BIGINT NOT NULL"},
      {"9223372036854775808", "DECIMAL(19, 0) NOT NULL"},
      {"0.908", "DECIMAL(4, 3) NOT NULL"},
      {"12.50", "DECIMAL(4, 2) NOT NULL"},
      {"1e3", "DOUBLE NOT NULL"},
      {"'abc'", "CHAR(3) NOT NULL"},
      {"'ä漢'", "CHAR(2) NOT NULL"},
      {"X'0aff'", "BINARY(2) NOT NULL"},
      {"DATE '2024-02-29'", "DATE NOT NULL"},
      {"TIMESTAMP '2024-02-29 12:34:56.123'", "TIMESTAMP(3) NOT NULL"},
      {"INTERVAL '1' DAY", "INTERVAL DAY(2) TO SECOND(3) NOT NULL"},
      {"INTERVAL '1-2' YEAR TO MONTH", "INTERVAL YEAR(2) TO MONTH NOT NULL"},
      // arithmetic
      {"number + 1", "INT"},
      {"tiny + small", "SMALLINT"},
      {"number / number", "INT"},
      {"number + big", "BIGINT"},
      {"number * single", "FLOAT"},
      {"amount * single", "DOUBLE"},
      {"amount + amount", "DECIMAL(11, 2)"},
      {"amount * amount", "DECIMAL(21, 4)"},
      {"amount / amount", "DECIMAL(23, 13)"},
      {"amount % 7", "DECIMAL(10, 2)"},
      {"0.908 * big", "DECIMAL(24, 3)"},
      {"CAST(amount AS DECIMAL(38, 10)) * amount", "DECIMAL(38, 6)"},
      {"id + 1", "BIGINT NOT NULL"},
      {"-number", "INT"},
      {"ts - INTERVAL '5' SECOND", "TIMESTAMP(3)"},
      {"INTERVAL '1' DAY + day_of_sale", "DATE"},
      {"INTERVAL '1' DAY * 3", "INTERVAL DAY(2) TO SECOND(3) NOT NULL"},
      {"label || 'x'", "STRING"},
      // conditions
      {"number = big", "BOOLEAN"},
      {"id = 1", "BOOLEAN NOT NULL"},
      {"number IS NULL", "BOOLEAN NOT NULL"},
      {"label = 'x' AND NOT flag", "BOOLEAN"},
      {"flag IS TRUE", "BOOLEAN NOT NULL"},
      {"number IS DISTINCT FROM 1", "BOOLEAN NOT NULL"},
      {"ts > '2024-01-01 00:00:00'", "BOOLEAN"},
      {"number BETWEEN 1 AND big", "BOOLEAN"},
      {"label LIKE 'x!%' ESCAPE '!'", "BOOLEAN"},
      {"number IN (1, 2, 3)", "BOOLEAN"},
      // CASE, CAST
      {"CASE WHEN flag THEN 1 ELSE big END", "BIGINT"},
      {"CASE WHEN flag THEN 1 ELSE 2 END", "INT NOT NULL"},
      {"CASE number WHEN 1 THEN 'a' WHEN 2 THEN 'bcd' END", "VARCHAR(3)"},
      {"CAST(label AS BIGINT)", "BIGINT"},
      {"CAST(1 AS BIGINT)", "BIGINT NOT NULL"},
      {"TRY_CAST('1' AS BIGINT)", "BIGINT"},
      {"CAST(NULL AS ARRAY<INT>)", "ARRAY<INT>"},
      // nested
      {"items[1]", "INT"},
      {"counts['a']", "BIGINT"},
      {"person.name", "STRING"},
      {"t.person.home.city", "STRING"},
      {"ROW(1, 'a')", "ROW<`EXPR$0` INT NOT NULL, `EXPR$1` CHAR(1) NOT NULL> NOT NULL"},
      {"ARRAY[1, big]", "ARRAY<BIGINT> NOT NULL"},
      {"MAP['a', 1]", "MAP<CHAR(1) NOT NULL, INT NOT NULL> NOT NULL"},
      // functions
      {"UPPER(label)", "STRING"},
      {"upper('x')", "STRING NOT NULL"},
      {"CHAR_LENGTH(code)", "INT"},
      {"ABS(amount)", "DECIMAL(10, 2)"},
      {"MOD(id, 10000)", "INT NOT NULL"},
      {"FLOOR(amount)", "DECIMAL(10, 0)"},
      {"FLOOR(ts TO HOUR)", "TIMESTAMP(3)"},
      {"EXTRACT(YEAR FROM ts)", "BIGINT"},
      {"HOUR(ts)", "BIGINT"},
      {"TIMESTAMPADD(DAY, 1, ts)", "TIMESTAMP(3)"},
      {"TIMESTAMPDIFF(MINUTE, ts, zoned)", "INT"},
      {"COALESCE(number, big, 0)", "BIGINT NOT NULL"},
      {"NULLIF(number, 0)", "INT"},
      {"IF(flag, 1, 2)", "INT"},
      {"SPLIT_INDEX(label, '/', 3)", "STRING"},
      {"REGEXP_EXTRACT(label, '(a)(b)', 2)", "STRING"},
      {"TRIM(LEADING 'x' FROM label)", "STRING"},
      {"POSITION('a' IN label)", "INT"},
      {"DATE_FORMAT(ts, 'yyyy-MM-dd')", "STRING"},
      {"CURRENT_TIMESTAMP", "TIMESTAMP_LTZ(3) NOT NULL"},
      {"PROCTIME()", "TIMESTAMP_LTZ(3) NOT NULL"},
      {"CARDINALITY(items) + CARDINALITY(counts)", "INT"},
      {"ARRAY_CONTAINS(items, 1)", "BOOLEAN"},
      {"COUNT(*)", "BIGINT NOT NULL"},
      {"COUNT(DISTINCT label)", "BIGINT NOT NULL"},
      {"SUM(number)", "INT"},
      {"SUM(amount)", "DECIMAL(38, 2)"},
      {"AVG(amount)", "DECIMAL(38, 6)"},
      {"AVG(big)", "BIGINT"},
      {"MAX(id)", "BIGINT"},
      {"MIN(label)", "STRING"},
  };
  for (const auto& each : table) {
    CAPTURE(each.text);
    // `id` is in both tables.
    std::string text(each.text);
    for (std::size_t at = 0; (at = text.find("id", at)) != text.npos; at += 4)
      if ((at == 0 || !std::isalnum(static_cast<unsigned char>(text[at - 1]))) &&
          (at + 2 == text.size() || !std::isalnum(static_cast<unsigned char>(text[at + 2]))))
        text.insert(at, "t.");
    const auto bound = bind(std::string_view(text));
    CAPTURE(bound.errors);
    CHECK(bound.type == each.type);
  }
}

TEST_CASE("casts are put where they are needed") {
  CHECK(bind("number = big").shown == "=(CAST($3):BIGINT, $4)");
  CHECK(bind("number = 1").shown == "=($3, 1)");
  CHECK(bind("ts = '2024-01-01 00:00:00'").shown ==
        "=($14, CAST('2024-01-01 00:00:00'):TIMESTAMP(3) NOT NULL)");
  CHECK(bind("CASE WHEN flag THEN 1 END").shown == "CASE($0, 1, NULL)");
  CHECK(bind("COALESCE(number, big)").shown == "COALESCE(CAST($3):BIGINT, $4)");
  CHECK(bind("number NOT IN (1, big)").shown ==
        "NOT IN(CAST($3):BIGINT, CAST(1):BIGINT NOT NULL, $4)");
  CHECK(bind("number NOT BETWEEN 1 AND 2").shown == "NOT(AND(>=($3, 1), <=($3, 2)))");
  CHECK(bind("t.id = u.id").shown == "=($5, $19)");
  CHECK(bind("person.home.city").shown == "$18.1.0");
}

TEST_CASE("unknown names are told with the nearest") {
  CHECK(bind("numbr + 1").errors == "1 unknown column: numbr, did you mean number");
  CHECK(bind("t.numbr").errors == "3 unknown column of t: numbr, did you mean number");
  CHECK(bind("x.number").errors == "1 unknown table or column: x, did you mean t");
  CHECK(bind("person.nam").errors == "8 unknown field: nam, did you mean name");
  CHECK(bind("number.x").errors == "8 only a ROW has fields, found INT");
  CHECK(bind("id").errors == "1 column is in several tables: id, in t, u");
  CHECK(bind("UPER(label)").errors == "1 unknown function: UPER, did you mean UPPER");
  CHECK(bind("a.b.f(1)").errors == "1 unknown function: a.b.f");
}

TEST_CASE("what does not go together is refused at its place") {
  CHECK(bind("number = label").errors == "8 cannot compare by =: INT and STRING; CAST one side");
  CHECK(bind("label + 1").errors == "7 no operator + for STRING and INT");
  CHECK(bind("ts - ts").errors == "4 no operator - for TIMESTAMP(3) and TIMESTAMP(3)");
  CHECK(bind("flag AND number").errors == "10 expected a condition, found INT");
  CHECK(bind("NOT label").errors == "5 expected a condition, found STRING");
  CHECK(bind("number || 'x'").errors == "8 no operator || for INT and CHAR(1)");
  CHECK(bind("CASE WHEN flag THEN 1 ELSE 'x' END").errors ==
        "1 results of CASE have no type in common: INT, CHAR(1)");
  CHECK(bind("CAST(ts AS INT)").errors == "1 cannot cast TIMESTAMP(3) to INT");
  CHECK(bind("CAST(1 AS DECIMAL(39, 0))").errors ==
        "11 precision of DECIMAL is out of range: 39, allowed are 1 to 38");
  CHECK(bind("CAST(1 AS DECIMAL(3, 4))").errors ==
        "11 scale of DECIMAL is larger than its precision: 4 and 3");
  CHECK(bind("CAST(1 AS TIMESTAMP(10))").errors ==
        "11 precision of TIMESTAMP is out of range: 10, allowed are 0 to 9");
  CHECK(bind("UPPER(number)").errors == "7 argument 1 of UPPER is a STRING, found INT");
  CHECK(bind("UPPER(label, label)").errors == "1 UPPER does not take 2 arguments");
  CHECK(bind("UPPER()").errors == "1 UPPER does not take 0 arguments");
  CHECK(bind("COALESCE(1, 'x')").errors == "1 arguments of COALESCE have no type in common");
  CHECK(bind("items['x']").errors.find("only an ARRAY") != std::string::npos);
  CHECK(bind("counts[1]").errors == "8 key of the map is STRING, found INT");
  CHECK(bind("DATE '2024-02-30'").errors == "1 expected a date such as DATE '2024-02-29'");
  CHECK(bind("TIMESTAMP 'x'").errors.find("expected a timestamp") != std::string::npos);
  CHECK(bind("123456789012345678901234567890123456789").errors.find("more than 38 digits") !=
        std::string::npos);
  CHECK(bind("ROW_NUMBER()").errors == "1 ROW_NUMBER needs OVER (…)");
  CHECK(bind("SUM(number)", false).errors == "1 an aggregate does not stand here: SUM");
  CHECK(bind("SUM(MAX(number))").errors == "5 an aggregate does not stand inside another one: MAX");
  CHECK(bind("UPPER(DISTINCT label)").errors == "1 DISTINCT is for aggregates: UPPER");
}

TEST_CASE("several errors are found at once") {
  CHECK(bind("numbr + UPER(label)").errors ==
        "1 unknown column: numbr, did you mean number\n9 unknown function: UPER, did you mean "
        "UPPER");
}

TEST_CASE("the table of functions is sorted, and every entry can be called") {
  const auto all = all_functions();
  CHECK(std::is_sorted(all.begin(), all.end(),
                       [](const auto& left, const auto& right) { return left.name < right.name; }));
  for (const auto& each : all) {
    CAPTURE(each.name);
    CHECK_FALSE(find_function(each.name).empty());
    CHECK((each.result != nullptr));
    for (const char letter : each.parameters)
      CHECK(std::string_view("bnisydtvamcxk|*").find(letter) != std::string_view::npos);
  }
  CHECK(find_function("NO_SUCH").empty());
}

} // TEST_SUITE("graph/sql/bind/expression_binder")

} // namespace headrace::sql
