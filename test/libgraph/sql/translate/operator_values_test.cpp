#include "test/libgraph/sql/testing_expressions.hpp"

#include <doctest/doctest.h>

// Expected values follow the documented rules: three-valued logic of SQL, Java's arithmetic, the
// digits of decimals. Those marked (sqlite) are what `sqlite3` 3.40 gives for the same text.
using namespace headrace::testing;

TEST_SUITE("graph/sql/translate/operators") {

TEST_CASE("logic has three values") {
  constexpr expected_value table[] = {
      // (sqlite), but for the words
      {"TRUE AND TRUE", "true"},
      {"TRUE AND FALSE", "false"},
      {"TRUE AND CAST(NULL AS BOOLEAN)", "null"},
      {"FALSE AND CAST(NULL AS BOOLEAN)", "false"},
      {"CAST(NULL AS BOOLEAN) AND FALSE", "false"},
      {"FALSE OR FALSE", "false"},
      {"FALSE OR CAST(NULL AS BOOLEAN)", "null"},
      {"CAST(NULL AS BOOLEAN) OR TRUE", "true"},
      {"NOT TRUE", "false"},
      {"NOT CAST(NULL AS BOOLEAN)", "null"},
      {"CAST(NULL AS BOOLEAN) IS TRUE", "false"},
      {"CAST(NULL AS BOOLEAN) IS NOT TRUE", "true"},
      {"FALSE IS FALSE", "true"},
      {"CAST(NULL AS BOOLEAN) IS FALSE", "false"},
      {"CAST(NULL AS BOOLEAN) IS UNKNOWN", "true"},
      {"TRUE IS NOT UNKNOWN", "true"},
      {"flag AND number > 0", "true | null | false | true"},
      {"flag OR number > 0", "true | null | false | true"},
      {"NOT flag", "false | null | true | false"},
      {"flag IS NOT FALSE", "true | true | false | true"},
      {"NOT (flag AND big > 0) OR tiny IS NULL", "false | true | true | false"},
  };
  check_values(table);
}

TEST_CASE("comparisons") {
  constexpr expected_value table[] = {
      {"1 = 1", "true"},
      {"1 <> 1", "false"},
      {"1 < 2.5", "true"},
      {"2 >= 2e0", "true"},
      {"'a' < 'b'", "true"},
      {"'abc' < 'ab'", "false"},
      {"'Z' < 'a'", "true"}, // by bytes (sqlite)
      {"'ä' > 'z'", "true"}, // by bytes (sqlite)
      {"'a text of more than twelve bytes' = 'a text of more than twelve bytes'", "true"},
      {"'a text of more than twelve bytes' <> 'a text of more than twelve bytex'", "true"},
      {"CAST(NULL AS INT) = 1", "null"},
      {"CAST(NULL AS INT) IS DISTINCT FROM 1", "true"},
      {"CAST(NULL AS INT) IS DISTINCT FROM CAST(NULL AS INT)", "false"},
      {"1 IS NOT DISTINCT FROM 1", "true"},
      {"CAST(NULL AS INT) IS NULL", "true"},
      {"1 IS NOT NULL", "true"},
      {"2 BETWEEN 1 AND 3", "true"},
      {"2 NOT BETWEEN 1 AND 3", "false"},
      {"2 BETWEEN SYMMETRIC 3 AND 1", "true"},
      {"2 BETWEEN 3 AND 1", "false"},
      {"2 BETWEEN CAST(NULL AS INT) AND 1", "false"}, // (sqlite)
      {"2 IN (1, 2, 3)", "true"},
      {"2 IN (1, 3)", "false"},
      {"2 IN (1, CAST(NULL AS INT))", "null"}, // (sqlite)
      {"2 NOT IN (1, CAST(NULL AS INT))", "null"},
      {"1 NOT IN (1, CAST(NULL AS INT))", "false"},
      {"2 NOT IN (1, 3)", "true"},
      {"'b' IN ('a', 'b')", "true"},
      {"1 IN (1, 2, 3, 4, 5, 6, 7, 8, 9, 10)", "true"},
      {"11 IN (1, 2, 3, 4, 5, 6, 7, 8, 9, 10)", "false"},
      {"DATE '2024-01-02' > DATE '2024-01-01'", "true"},
      {"number = 7", "true | null | false | false"},
      {"number <> 7", "false | null | true | true"},
      {"7 < big", "false | null | false | true"},
      {"big > number", "false | null | false | true"},
      {"label = 'Hello'", "true | null | false | false"},
      {"label >= 'H'", "true | null | false | true"},
      {"label IS NULL", "false | true | false | false"},
      {"label IN ('Hello', '')", "true | null | true | false"},
      {"number IN (big, 1)", "true | null | false | false"},
      {"number NOT IN (big, 1)", "false | null | true | true"},
      {"price > 0", "true | null | false | true"},
      {"amount <= 12.34", "true | null | true | false"},
      {"items = items", "true | null | true | true"},
      {"flag = TRUE", "true | null | false | true"},
  };
  check_values(table);
}

TEST_CASE("integers wrap and divide as Java's do") {
  constexpr expected_value table[] = {
      {"7 + 3", "10"},
      {"7 - 10", "-3"},
      {"2147483647 + 1", "-2147483648"},
      {"-2147483648 - 1", "2147483647"},
      {"9223372036854775807 + 1", "-9223372036854775808"},
      {"65536 * 65536", "0"},
      {"2147483647 * CAST(2 AS BIGINT)", "4294967294"},
      {"7 / 2", "3"},   // (sqlite)
      {"-7 / 2", "-3"}, // (sqlite)
      {"7 % -3", "1"},  // (sqlite)
      {"-7 % 3", "-1"}, // (sqlite)
      {"MOD(-7, 3)", "-1"},
      {"MOD(10000000000, 7)", "4"},
      {"-2147483648 / -1", "-2147483648"},
      {"-2147483648 % -1", "0"},
      {"1 / 0", "error: / failed: division by zero"},
      {"1 % 0", "error: % failed: division by zero"},
      {"CAST(NULL AS INT) + 1", "null"},
      {"CAST(NULL AS INT) / 0", "null"},
      {"-(2147483647)", "-2147483647"},
      {"number + 1", "8 | null | -2147483647 | -2147483648"},
      {"tiny + tiny", "14 | null | 0 | -2"},
      {"small * 2", "14 | null | -65536 | 65534"},
      {"big - 1", "6 | null | 9223372036854775807 | 9223372036854775806"},
      {"number / 2", "3 | null | -1073741824 | 1073741823"},
      {"-number", "-7 | null | -2147483648 | -2147483647"},
      {"big % 10", "7 | null | -8 | 7"},
      {"number / (number - 7)", "error: / failed: division by zero"},
  };
  check_values(table);
}

TEST_CASE("floating point follows IEEE") {
  constexpr expected_value table[] = {
      {"1e0 / 4", "0.25"},
      {"1e0 + 2", "3.0"},
      {"CAST(1 AS FLOAT) / 3", "0.33333334"},
      {"7.5e0 % 2", "1"}, // the remainder is of the divisor's type
      {"7.5e0 % 2e0", "1.5"},
      {"price * 2", "3.0 | null | -0.5 | 2.0E10"},
      {"single + single", "3.0 | null | -0.5 | 2.0E10"},
      {"1 / price", "0.6666666666666666 | null | -4.0 | 1.0E-10"},
      {"price / 0", "Infinity | null | -Infinity | Infinity"},
      {"-price", "-1.5 | null | 0.25 | -1.0E10"},
  };
  check_values(table);
}

TEST_CASE("decimals are exact, rounded half up, NULL beyond their digits") {
  constexpr expected_value table[] = {
      {"1.10 + 2.205", "3.305"},
      {"1.5 - 2.25", "-0.75"},
      {"1.5 * 1.5", "2.25"},
      {"0.908 * CAST(100 AS BIGINT)", "90.800"},
      {"1.00 / 3", "0.3333333333333"},
      {"2.00 / 3", "0.6666666666667"},
      {"10 % 3.5", "3.0"},
      {"-10 % 3.5", "-3.0"},
      {"1.0 / 0", "error: / failed: division by zero"},
      {"1.5 % 0", "error: % failed: division by zero"},
      {"CAST(99999999999999999999999999999999999999 AS DECIMAL(38, 0)) + 1", "null"},
      {"CAST(99999999999999999999999999999999999999 AS DECIMAL(38, 0)) * 10", "null"},
      {"CAST(1 AS DECIMAL(38, 10)) * CAST(2.5 AS DECIMAL(38, 10))", "2.500000"},
      {"CAST(12345678901234567890.123456789 AS DECIMAL(38, 9)) * 1.000000001",
       "12345678913580246791.3580247"},
      {"CAST(12.345 AS DECIMAL(4, 2))", "12.35"},
      {"CAST(-12.345 AS DECIMAL(4, 2))", "-12.35"},
      {"CAST(123.45 AS DECIMAL(4, 2))", "null"},
      {"amount + amount", "24.68 | null | -199999999.98 | 199999999.98"},
      {"amount * amount", "152.2756 | null | 9999999998000000.0001 | 9999999998000000.0001"},
      {"amount / 7", "1.7628571428571 | null | -14285714.2842857142857 | 14285714.2842857142857"},
      {"-amount", "-12.34 | null | 99999999.99 | -99999999.99"},
      {"amount - 0.001", "12.339 | null | -99999999.991 | 99999999.989"},
      {"amount % 10", "2.34 | null | -9.99 | 9.99"},
  };
  check_values(table);
}

TEST_CASE("times and intervals add up by the calendar") {
  constexpr expected_value table[] = {
      {"DATE '2024-02-29' + INTERVAL '1' DAY", "2024-03-01"},
      {"DATE '2024-02-29' - INTERVAL '1' YEAR", "2023-02-28"},
      {"DATE '2024-01-31' + INTERVAL '1' MONTH", "2024-02-29"},
      {"INTERVAL '1-1' YEAR TO MONTH + DATE '2024-01-31'", "2025-02-28"},
      {"TIMESTAMP '2024-02-29 23:59:59' + INTERVAL '1.5' SECOND", "2024-03-01T00:00:00.500"},
      {"TIMESTAMP '2024-02-29 12:00:00' - INTERVAL '1 02:03:04' DAY TO SECOND",
       "2024-02-28T09:56:56"},
      {"TIMESTAMP '1969-12-31 23:59:59.999' - INTERVAL '1' MONTH", "1969-11-30T23:59:59.999"},
      {"TIME '23:59:59' + INTERVAL '2' SECOND", "00:00:01"},
      {"TIME '00:00:01' - INTERVAL '2' SECOND", "23:59:59"},
      {"INTERVAL '1' DAY + INTERVAL '2' HOUR", "PT26H"},
      {"INTERVAL '1' YEAR - INTERVAL '1' MONTH", "P11M"},
      {"INTERVAL '90' MINUTE * 2", "PT3H"},
      {"-INTERVAL '1' DAY", "PT-24H"},
      {"INTERVAL -'1' DAY", "PT-24H"},
      {"CAST(NULL AS DATE) + INTERVAL '1' DAY", "null"},
      {"day_of_sale + INTERVAL '1' MONTH", "2024-03-29 | null | 1970-01-31 | 2025-01-31"},
      {"ts - INTERVAL '1' HOUR",
       "2024-02-29T11:34:56.789 | null | 1969-12-31T22:59:59.999 | 2024-12-31T22:59:59.999"},
      {"fine + INTERVAL '1' MONTH", "2024-03-29T12:34:56.789123456 | null | "
                                    "1970-01-31T23:59:59.999 | 2025-01-31T23:59:59.999999999"},
  };
  check_values(table);
}

TEST_CASE("a branch that is not taken cannot fail") {
  constexpr expected_value table[] = {
      {"CASE WHEN 1 = 1 THEN 2 ELSE 1 / 0 END", "2"},
      {"IF(1 = 2, 1 / 0, 3)", "3"},
      {"COALESCE(1, 1 / 0)", "1"},
      {"COALESCE(CAST(NULL AS INT), 1 / 0)", "error: / failed: division by zero"},
      {"FALSE AND 1 / 0 = 1", "false"},
      {"TRUE OR 1 / 0 = 1", "true"},
      {"TRUE AND 1 / 0 = 1", "error: / failed: division by zero"},
      {"CASE WHEN number <> 7 THEN 1 / (number - 7) ELSE -1 END", "-1 | -1 | 0 | 0"},
      {"CASE WHEN number = 7 THEN 'seven' WHEN number > 7 THEN label END",
       "seven | null | null | äöü 漢字, a text of more than twelve bytes"},
      {"CASE number WHEN 7 THEN 'a' WHEN 2147483647 THEN 'z' ELSE '?' END", "a | ? | ? | z"},
      {"number = 7 OR 10 / (number - 7) = 0", "true | null | true | true"},
      {"number <> 7 AND 10 / (number - 7) = 0", "false | null | true | true"},
      {"COALESCE(number, 5)", "7 | 5 | -2147483648 | 2147483647"},
      {"COALESCE(label, 'none')", "Hello | none |  | äöü 漢字, a text of more than twelve bytes"},
      {"IFNULL(big, number)", "7 | null | -9223372036854775808 | 9223372036854775807"},
      {"NULLIF(number, 7)", "null | null | -2147483648 | 2147483647"},
      {"NULLIF(1, 2)", "1"},
      {"NULLIF(1, 1e0)", "null"},
      {"IF(flag, 'yes', 'no')", "yes | no | no | yes"},
      {"CASE WHEN flag THEN items END", "[3, 1, 2] | null | null | [null]"},
      {"person.name", "Ada | null |  | Bob"},
      {"person.age + 1", "37 | null | 1 | 0"},
  };
  check_values(table);
}

TEST_CASE("the least and the greatest") {
  constexpr expected_value table[] = {
      {"GREATEST(1, 3, 2)", "3"},
      {"LEAST(1, 3, 2)", "1"},
      {"GREATEST(1, CAST(NULL AS INT))", "null"},
      {"GREATEST('b', 'abc')", "b"},
      {"LEAST(1.5, 2)", "1.5"},
      {"GREATEST(number, 10)", "10 | null | 10 | 2147483647"},
      {"LEAST(label, 'I')", "Hello | null |  | I"},
      {"TYPEOF(1)", "INT NOT NULL"},
      {"TYPEOF(label)", "STRING | STRING | STRING | STRING"},
  };
  check_values(table);
}

TEST_CASE("numbers are cast as Java casts them") {
  constexpr expected_value table[] = {
      {"CAST(300 AS TINYINT)", "44"},
      {"CAST(3000000000 AS INT)", "-1294967296"},
      {"CAST(1.9e0 AS INT)", "1"},
      {"CAST(-1.9e0 AS INT)", "-1"},
      {"CAST(1e20 AS BIGINT)", "9223372036854775807"},
      {"CAST(-1e20 AS INT)", "-2147483648"},
      {"CAST(1e20 AS TINYINT)", "-1"},
      {"CAST(2.5 AS INT)", "2"},
      {"CAST(1 AS BOOLEAN)", "true"},
      {"CAST(0.0 AS BOOLEAN)", "false"},
      {"CAST(TRUE AS INT)", "1"},
      {"CAST(FALSE AS DOUBLE)", "0.0"},
      {"CAST(1 AS DECIMAL(5, 2))", "1.00"},
      {"CAST(12345 AS DECIMAL(4, 0))", "null"},
      {"CAST(0.1e0 AS DECIMAL(5, 3))", "0.100"},
      {"CAST(1.5 AS DOUBLE)", "1.5"},
      {"TRY_CAST(300 AS TINYINT)", "44"},
      {"CAST(big AS INT)", "7 | null | 0 | -1"},
      {"CAST(price AS BIGINT)", "1 | null | 0 | 10000000000"},
      {"CAST(amount AS INT)", "12 | null | -99999999 | 99999999"},
      {"CAST(amount AS DOUBLE)", "12.34 | null | -9.999999999E7 | 9.999999999E7"},
      {"CAST(number AS DECIMAL(12, 1))", "7.0 | null | -2147483648.0 | 2147483647.0"},
  };
  check_values(table);
}
} // TEST_SUITE("graph/sql/translate/operators")
