#include "test/libgraph/sql/testing_expressions.hpp"

#include <doctest/doctest.h>

// Expected values follow Flink's documentation of CAST.
using namespace headrace::testing;

TEST_SUITE("graph/sql/translate/cast") {

TEST_CASE("values become texts") {
  constexpr expected_value table[] = {
      {"CAST(-7 AS STRING)", "-7"},
      {"CAST(TRUE AS STRING)", "TRUE"},
      {"CAST(1e7 AS STRING)", "1.0E7"},
      {"CAST(1.50 AS STRING)", "1.50"},
      {"CAST(DATE '2024-02-29' AS STRING)", "2024-02-29"},
      {"CAST(TIME '12:34:56' AS STRING)", "12:34:56"},
      {"CAST(TIMESTAMP '2024-02-29 12:34:56.100' AS STRING)", "2024-02-29 12:34:56.100"},
      {"CAST(TIMESTAMP '2024-02-29 12:34:56' AS STRING)", "2024-02-29 12:34:56"},
      {"CAST(INTERVAL '1-2' YEAR TO MONTH AS STRING)", "+1-02"},
      {"CAST(INTERVAL '1 02:03:04.5' DAY TO SECOND AS STRING)", "+1 02:03:04.500"},
      {"CAST(-INTERVAL '1' HOUR AS STRING)", "-0 01:00:00.000"},
      {"CAST('abcdef' AS VARCHAR(3))", "abc"},
      {"CAST('漢字x' AS VARCHAR(2))", "漢字"},
      {"CAST('a' AS CHAR(3)) || '|'", "a  |"},
      {"CAST(12345 AS VARCHAR(3))", "123"},
      {"CAST(ARRAY[1, 2] AS STRING)", "[1, 2]"},
      {"CAST(MAP['a', 1] AS STRING)", "{a=1}"},
      {"CAST(ROW(1, 'a') AS STRING)", "(1, a)"},
      {"CAST(CAST(NULL AS INT) AS STRING)", "null"},
      {"CAST(X'6869' AS STRING)", "hi"},
      {"CAST('hi' AS BYTES)", "[104, 105]"},
      {"CAST('hello' AS VARBINARY(2))", "[104, 101]"},
      {"CAST(number AS STRING)", "7 | null | -2147483648 | 2147483647"},
      {"CAST(items AS STRING)", "[3, 1, 2] | null | [] | [NULL]"},
      {"CAST(person AS STRING)", "(Ada, 36) | null | (, 0) | (Bob, -1)"},
      {"CAST(fine AS STRING)", "2024-02-29 12:34:56.789123456 | null | "
                               "1969-12-31 23:59:59.999000000 | 2024-12-31 23:59:59.999999999"},
  };
  check_values(table);
}

TEST_CASE("texts become values") {
  constexpr expected_value table[] = {
      {"CAST(' 42 ' AS INT)", "42"},
      {"CAST('+42' AS BIGINT)", "42"},
      {"CAST('1.9' AS INT)", "1"},
      {"CAST('128' AS TINYINT)", "error: CAST failed: no TINYINT: '128'"},
      {"CAST('abc' AS INT)", "error: CAST failed: no INT: 'abc'"},
      {"CAST('' AS INT)", "error: CAST failed: no INT: ''"},
      {"TRY_CAST('abc' AS INT)", "null"},
      {"TRY_CAST('12' AS INT)", "12"},
      {"CAST('1.5e3' AS DOUBLE)", "1500.0"},
      {"CAST('NaN' AS DOUBLE)", "NaN"},
      {"CAST('x' AS DOUBLE)", "error: CAST failed: no DOUBLE: 'x'"},
      {"CAST('0.1' AS FLOAT)", "0.1"},
      {"CAST('12.345' AS DECIMAL(4, 2))", "12.35"},
      {"CAST('12345' AS DECIMAL(4, 2))", "null"},
      {"CAST('x' AS DECIMAL(4, 2))", "error: CAST failed: no DECIMAL(4, 2): 'x'"},
      {"CAST('TRUE' AS BOOLEAN)", "true"},
      {"CAST('false' AS BOOLEAN)", "false"},
      {"CAST('maybe' AS BOOLEAN)", "error: CAST failed: no BOOLEAN: 'maybe'"},
      {"CAST('2024-02-29' AS DATE)", "2024-02-29"},
      {"CAST('2024-02-30' AS DATE)", "error: CAST failed: no DATE: '2024-02-30'"},
      {"CAST('12:34:56' AS TIME)", "12:34:56"},
      {"CAST('2024-02-29 12:34:56.789' AS TIMESTAMP(3))", "2024-02-29T12:34:56.789"},
      {"CAST('2024-02-29 12:34:56.789' AS TIMESTAMP(0))", "2024-02-29T12:34:56"},
      {"CAST('2024-02-29' AS TIMESTAMP(3))", "2024-02-29T00:00"},
      {"CAST('soon' AS TIMESTAMP(3))", "error: CAST failed: no TIMESTAMP(3): 'soon'"},
      {"TRY_CAST('soon' AS TIMESTAMP(3))", "null"},
      {"ts > '2024-03-01 00:00:00'", "false | null | false | true"},
      {"TRY_CAST(label AS INT)", "null | null | null | null"},
      {"CAST(CAST(big AS STRING) AS BIGINT)", "7 | null | -9223372036854775808 | "
                                              "9223372036854775807"},
  };
  check_values(table);
}

TEST_CASE("times become other times") {
  constexpr expected_value table[] = {
      {"CAST(DATE '2024-02-29' AS TIMESTAMP(3))", "2024-02-29T00:00"},
      {"CAST(TIMESTAMP '1969-12-31 23:59:59' AS DATE)", "1969-12-31"},
      {"CAST(TIMESTAMP '1969-12-31 23:59:58' AS TIME)", "23:59:58"},
      {"CAST(TIME '01:02:03' AS TIMESTAMP(0))", "1970-01-01T01:02:03"},
      {"CAST(TIMESTAMP '2024-01-01 00:00:00.123456' AS TIMESTAMP(3))", "2024-01-01T00:00:00.123"},
      {"CAST(TIMESTAMP '2024-01-01 00:00:00.123' AS TIMESTAMP(9))", "2024-01-01T00:00:00.123"},
      {"CAST(fine AS TIMESTAMP(1))", "2024-02-29T12:34:56.700 | null | 1969-12-31T23:59:59.900 | "
                                     "2024-12-31T23:59:59.900"},
      {"CAST(fine AS TIMESTAMP(6))",
       "2024-02-29T12:34:56.789123 | null | 1969-12-31T23:59:59.999 | 2024-12-31T23:59:59.999999"},
      {"CAST(INTERVAL '1' DAY AS BIGINT)", "86400000"},
      {"CAST(INTERVAL '1' YEAR AS INT)", "12"},
  };
  check_values(table);
}

TEST_CASE("instants are shown and read in the session's zone") {
  constexpr expected_value table[] = {
      {"CAST(CAST('2024-07-01 12:00:00' AS TIMESTAMP_LTZ(0)) AS STRING)", "2024-07-01 12:00:00"},
      {"CAST(zoned AS STRING)", "2024-02-29 13:34:56.789 | null | 1970-01-01 00:59:59.999 | "
                                "2025-01-01 00:59:59.999"},
      {"CAST(zoned AS DATE)", "2024-02-29 | null | 1970-01-01 | 2025-01-01"},
      {"CAST(TIMESTAMP '2024-07-01 12:00:00' AS TIMESTAMP_LTZ(3))", "2024-07-01T10:00:00Z"},
      {"CAST(DATE '2024-01-01' AS TIMESTAMP_LTZ(3))", "2023-12-31T23:00:00Z"},
      {"CAST('2024-07-01 12:00:00' AS TIMESTAMP_LTZ(3))", "2024-07-01T10:00:00Z"},
      {"CAST('2024-07-01 12:00:00+05:00' AS TIMESTAMP_LTZ(3))", "2024-07-01T07:00:00Z"},
      // The hour that is left out, and the one that comes twice (the first).
      {"CAST(TIMESTAMP '2024-03-31 02:30:00' AS TIMESTAMP_LTZ(3))", "2024-03-31T01:30:00Z"},
      {"CAST(TIMESTAMP '2024-10-27 02:30:00' AS TIMESTAMP_LTZ(3))", "2024-10-27T00:30:00Z"},
      {"CAST(TIMESTAMP '2080-07-01 12:00:00' AS TIMESTAMP_LTZ(3))", "2080-07-01T10:00:00Z"},
  };
  check_values(table, "Europe/Berlin");
}

TEST_CASE("nested values are cast inside") {
  constexpr expected_value table[] = {
      {"CAST(items AS ARRAY<STRING>)", "[3, 1, 2] | null | [] | [null]"},
      {"CAST(ARRAY['1', '2'] AS ARRAY<INT>)", "[1, 2]"},
      {"CAST(ARRAY['1', 'x'] AS ARRAY<INT>)", "error: CAST failed: no INT: 'x'"},
      {"TRY_CAST(ARRAY['1', 'x'] AS ARRAY<INT>)", "[1, null]"},
      {"CAST(person AS ROW<name STRING, age BIGINT>).age + 1", "37 | null | 1 | 0"},
  };
  check_values(table);
}
} // TEST_SUITE("graph/sql/translate/cast")
