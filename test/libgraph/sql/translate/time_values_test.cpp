#include "test/libgraph/sql/testing_expressions.hpp"

#include <doctest/doctest.h>

// Expected values follow Flink's documentation of the functions, and Java's calendar; weeks of ISO
// 8601 are those of coreutils' date.
using namespace headrace::testing;

TEST_SUITE("graph/sql/translate/time") {

TEST_CASE("parts of times") {
  constexpr expected_value table[] = {
      {"EXTRACT(YEAR FROM DATE '2024-02-29')", "2024"},
      {"EXTRACT(QUARTER FROM DATE '2024-02-29')", "1"},
      {"EXTRACT(DAY FROM DATE '2024-02-29')", "29"},
      {"EXTRACT(DOY FROM DATE '2024-12-31')", "366"},
      {"EXTRACT(WEEK FROM DATE '2021-01-03')", "53"},
      {"EXTRACT(WEEK FROM DATE '2024-12-30')", "1"},
      {"EXTRACT(ISOYEAR FROM DATE '2021-01-03')", "2020"},
      {"EXTRACT(DOW FROM DATE '2024-02-25')", "1"},
      {"EXTRACT(ISODOW FROM DATE '2024-02-25')", "7"},
      {"EXTRACT(CENTURY FROM DATE '2000-01-01')", "20"},
      {"EXTRACT(CENTURY FROM DATE '2001-01-01')", "21"},
      {"EXTRACT(MILLENNIUM FROM DATE '2001-01-01')", "3"},
      {"EXTRACT(DECADE FROM DATE '1999-01-01')", "199"},
      {"EXTRACT(HOUR FROM TIMESTAMP '1969-12-31 23:59:58')", "23"},
      {"EXTRACT(SECOND FROM TIMESTAMP '1969-12-31 23:59:58.5')", "58"},
      {"EXTRACT(MILLISECOND FROM TIMESTAMP '2024-01-01 00:00:58.5')", "500"},
      {"EXTRACT(EPOCH FROM TIMESTAMP '1970-01-02 00:00:00')", "86400"},
      {"EXTRACT(MINUTE FROM TIME '12:34:56')", "34"},
      {"EXTRACT(DAY FROM INTERVAL '1 02:03:04' DAY TO SECOND)", "1"},
      {"EXTRACT(HOUR FROM INTERVAL '1 02:03:04' DAY TO SECOND)", "2"},
      {"EXTRACT(MONTH FROM INTERVAL '1-2' YEAR TO MONTH)", "2"},
      {"YEAR(ts)", "2024 | null | 1969 | 2024"},
      {"MONTH(ts)", "2 | null | 12 | 12"},
      {"DAYOFMONTH(day_of_sale)", "29 | null | 31 | 31"},
      {"DAYOFWEEK(day_of_sale)", "5 | null | 4 | 3"},
      {"DAYOFYEAR(ts)", "60 | null | 365 | 366"},
      {"WEEK(ts)", "9 | null | 1 | 1"},
      {"QUARTER(ts)", "1 | null | 4 | 4"},
      {"HOUR(ts)", "12 | null | 23 | 23"},
      {"MINUTE(ts)", "34 | null | 59 | 59"},
      {"SECOND(ts)", "56 | null | 59 | 59"},
  };
  check_values(table);
  constexpr expected_value zoned[] = {
      {"HOUR(zoned)", "13 | null | 0 | 0"},
      {"YEAR(zoned)", "2024 | null | 1970 | 2025"},
  };
  check_values(zoned, "Europe/Berlin");
}

TEST_CASE("times to a unit, and by units") {
  constexpr expected_value table[] = {
      {"FLOOR(TIMESTAMP '2024-02-29 12:34:56' TO HOUR)", "2024-02-29T12:00"},
      {"CEIL(TIMESTAMP '2024-02-29 12:34:56' TO HOUR)", "2024-02-29T13:00"},
      {"CEIL(TIMESTAMP '2024-02-29 12:00:00' TO HOUR)", "2024-02-29T12:00"},
      {"FLOOR(DATE '2024-02-29' TO MONTH)", "2024-02-01"},
      {"CEIL(DATE '2024-02-29' TO MONTH)", "2024-03-01"},
      {"FLOOR(DATE '2024-05-29' TO QUARTER)", "2024-04-01"},
      {"FLOOR(DATE '2024-02-29' TO WEEK)", "2024-02-25"},
      {"FLOOR(DATE '2024-02-29' TO YEAR)", "2024-01-01"},
      {"FLOOR(DATE '2000-02-29' TO CENTURY)", "1901-01-01"},
      {"FLOOR(TIMESTAMP '1969-12-31 23:59:59' TO DAY)", "1969-12-31T00:00"},
      {"TIMESTAMPADD(DAY, 1, DATE '2024-02-28')", "2024-02-29"},
      {"TIMESTAMPADD(MONTH, 1, TIMESTAMP '2024-01-31 12:00:00')", "2024-02-29T12:00"},
      {"TIMESTAMPADD(MINUTE, -90, TIMESTAMP '2024-01-01 00:00:00')", "2023-12-31T22:30"},
      {"TIMESTAMPDIFF(DAY, DATE '2024-02-28', DATE '2024-03-01')", "2"},
      {"TIMESTAMPDIFF(MONTH, DATE '2024-01-31', DATE '2024-02-29')", "1"},
      {"TIMESTAMPDIFF(MONTH, DATE '2024-01-30', DATE '2024-02-28')", "0"},
      {"TIMESTAMPDIFF(YEAR, DATE '2024-02-29', DATE '2023-02-28')", "-1"},
      {"TIMESTAMPDIFF(HOUR, TIMESTAMP '2024-01-01 01:59:00', TIMESTAMP '2024-01-01 00:00:00')",
       "-1"},
      {"FLOOR(fine TO SECOND)",
       "2024-02-29T12:34:56 | null | 1969-12-31T23:59:59 | 2024-12-31T23:59:59"},
      {"CEIL(fine TO DAY)", "2024-03-01T00:00 | null | 1970-01-01T00:00 | 2025-01-01T00:00"},
      {"TIMESTAMPADD(SECOND, 1, fine)",
       "2024-02-29T12:34:57.789123456 | null | 1970-01-01T00:00:00.999 | "
       "2025-01-01T00:00:00.999999999"},
  };
  check_values(table);
  constexpr expected_value zoned[] = {
      {"FLOOR(zoned TO DAY)", "2024-02-28T23:00:00Z | null | 1969-12-31T23:00:00Z | "
                              "2024-12-31T23:00:00Z"},
      // A day with a change of the clocks has 23 hours.
      {"CEIL(CAST('2024-03-31 12:00:00' AS TIMESTAMP_LTZ(3)) TO DAY)", "2024-03-31T22:00:00Z"},
      {"FLOOR(CAST('2024-03-31 12:00:00' AS TIMESTAMP_LTZ(3)) TO DAY)", "2024-03-30T23:00:00Z"},
  };
  check_values(zoned, "Europe/Berlin");
}

TEST_CASE("times and texts by patterns") {
  constexpr expected_value table[] = {
      {"DATE_FORMAT(TIMESTAMP '2024-02-29 13:04:05.678', 'yyyy-MM-dd HH:mm:ss.SSS')",
       "2024-02-29 13:04:05.678"},
      {"DATE_FORMAT(TIMESTAMP '2024-02-29 13:04:05', 'EEEE, d. MMMM yy, h:mm a')",
       "Thursday, 29. February 24, 1:04 PM"},
      {"DATE_FORMAT(TIMESTAMP '2024-02-09 00:04:05', 'EEE MMM d hh K k')", "Fri Feb 9 12 0 24"},
      {"DATE_FORMAT(DATE '2024-02-29', 'yyyyMMdd')", "20240229"},
      {"DATE_FORMAT(DATE '2024-02-29', '''Q''Q D')", "Q1 60"},
      {"DATE_FORMAT('2024-02-29 13:04:05', 'HH')", "13"},
      {"DATE_FORMAT('no time', 'HH')", "null"},
      {"TO_TIMESTAMP('2024-02-29 13:04:05')", "2024-02-29T13:04:05"},
      {"TO_TIMESTAMP('2024-02-29')", "2024-02-29T00:00"},
      {"TO_TIMESTAMP('nothing')", "null"},
      {"TO_TIMESTAMP('29.02.2024 13:04', 'dd.MM.yyyy HH:mm')", "2024-02-29T13:04"},
      {"TO_TIMESTAMP('20240229130405', 'yyyyMMddHHmmss')", "2024-02-29T13:04:05"},
      {"TO_TIMESTAMP('2024-02-29T13:04:05.5', 'yyyy-MM-dd''T''HH:mm:ss[.S]')",
       "2024-02-29T13:04:05.500"},
      {"TO_TIMESTAMP('2024-02-29T13:04:05', 'yyyy-MM-dd''T''HH:mm:ss[.S]')", "2024-02-29T13:04:05"},
      {"TO_TIMESTAMP('1:05 PM Feb 9 2024', 'h:mm a MMM d yyyy')", "2024-02-09T13:05"},
      {"TO_TIMESTAMP('2024-02-30', 'yyyy-MM-dd')", "2024-02-29T00:00"},
      {"TO_TIMESTAMP('2024-13-01', 'yyyy-MM-dd')", "null"},
      {"TO_DATE('2024-02-29')", "2024-02-29"},
      {"TO_DATE('29/02/2024', 'dd/MM/yyyy')", "2024-02-29"},
      {"TO_DATE('x')", "null"},
      {"FROM_UNIXTIME(0)", "1970-01-01 00:00:00"},
      {"FROM_UNIXTIME(1709210045, 'yyyy/MM/dd')", "2024/02/29"},
      {"TO_TIMESTAMP_LTZ(1000)", "1970-01-01T00:00:01Z"},
      {"TO_TIMESTAMP_LTZ(1000, 0)", "1970-01-01T00:16:40Z"},
      {"TO_TIMESTAMP_LTZ(1000, 3)", "1970-01-01T00:00:01Z"},
      {"TO_TIMESTAMP_LTZ(1000, 5)",
       "error: TO_TIMESTAMP_LTZ failed: precision is neither 0 nor 3: '5'"},
      {"UNIX_TIMESTAMP('1970-01-01 00:00:10')", "10"},
      {"UNIX_TIMESTAMP('1970', 'yyyy')", "0"},
      {"UNIX_TIMESTAMP('x')", "-9223372036854775808"},
      {"DATE_FORMAT(ts, 'HH:mm')", "12:34 | null | 23:59 | 23:59"},
      {"DATE_FORMAT(fine, 'ss.SSSSSSSSS')", "56.789123456 | null | 59.999000000 | 59.999999999"},
  };
  check_values(table);
  constexpr expected_value zoned[] = {
      {"DATE_FORMAT(zoned, 'HH:mm')", "13:34 | null | 00:59 | 00:59"},
      {"FROM_UNIXTIME(0)", "1970-01-01 01:00:00"},
      {"UNIX_TIMESTAMP('1970-01-01 01:00:10')", "10"},
  };
  check_values(zoned, "Europe/Berlin");
  CHECK(values_of("DATE_FORMAT(ts, 'yyyy b')") ==
        "error: pattern of a date has a letter that is not supported, 'b': 'yyyy b'");
}

TEST_CASE("mathematics") {
  // Reals are those of C's math library.
  constexpr expected_value table[] = {
      {"ABS(-7)", "7"},
      {"ABS(-1.50)", "1.50"},
      {"ABS(CAST(-2147483648 AS INT))", "-2147483648"},
      {"SIGN(-3)", "-1"},
      {"SIGN(0e0)", "0.0"},
      {"SIGN(2.5)", "1.0"},
      {"CEIL(1.2)", "2"},
      {"CEIL(-1.2)", "-1"},
      {"FLOOR(-1.2)", "-2"},
      {"FLOOR(1.7e0)", "1.0"},
      {"FLOOR(7)", "7"},
      {"ROUND(2.5)", "3"},
      {"ROUND(-2.5)", "-3"},
      {"ROUND(2.345, 2)", "2.35"},
      {"ROUND(1.005e0, 2)", "1.01"},
      {"ROUND(125, -1)", "130"},
      {"ROUND(1234.5e0, -2)", "1200.0"},
      {"TRUNCATE(2.349, 2)", "2.34"},
      {"TRUNCATE(-2.9e0)", "-2.0"},
      {"TRUNCATE(129, -1)", "120"},
      {"SQRT(16)", "4.0"},
      {"SQRT(-1)", "NaN"},
      {"POWER(2, 10)", "1024.0"},
      {"LN(E())", "1.0"},
      {"LOG10(1000)", "3.0"},
      {"LOG2(8)", "3.0"},
      {"LOG(2, 8)", "3.0"},
      {"LOG(0)", "-Infinity"},
      {"EXP(0)", "1.0"},
      {"SIN(0)", "0.0"},
      {"COS(0)", "1.0"},
      {"ATAN2(0, 1)", "0.0"},
      {"DEGREES(PI())", "180.0"},
      {"RADIANS(180)", "3.141592653589793"},
      {"ABS(CAST(NULL AS INT))", "null"},
      {"ABS(number)", "7 | null | -2147483648 | 2147483647"},
      {"FLOOR(amount)", "12 | null | -100000000 | 99999999"},
      {"CEIL(price)", "2.0 | null | -0.0 | 1.0E10"},
      {"ROUND(amount, 1)", "12.3 | null | -100000000.0 | 100000000.0"},
  };
  check_values(table);
}
} // TEST_SUITE("graph/sql/translate/time")
