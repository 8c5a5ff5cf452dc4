#include "test/libgraph/sql/testing_expressions.hpp"

#include <doctest/doctest.h>

// Expected values follow Flink's documentation of the functions.
using namespace headrace::testing;

TEST_SUITE("graph/sql/translate/collections") {

TEST_CASE("collections are made and taken apart") {
  constexpr expected_value table[] = {
      {"ARRAY[1, 2, 3]", "[1, 2, 3]"},
      {"ARRAY[1, CAST(NULL AS INT)]", "[1, null]"},
      {"MAP['a', 1, 'b', 2]", "{a=1, b=2}"},
      {"MAP['a', 1, 'a', 2]", "{a=2}"},
      {"ROW(1, 'a')", "+I[1, a]"},
      {"ARRAY[1, 2][1]", "1"},
      {"ARRAY[1, 2][3]", "null"},
      {"ARRAY[1, 2][0]", "null"},
      {"MAP['a', 1]['a']", "1"},
      {"MAP['a', 1]['b']", "null"},
      {"CARDINALITY(ARRAY[1, 2, 3])", "3"},
      {"CARDINALITY(MAP['a', 1])", "1"},
      {"CARDINALITY(MULTISET[1, 1, 2])", "3"},
      {"CARDINALITY(CAST(NULL AS ARRAY<INT>))", "null"},
      {"ELEMENT(ARRAY[7])", "7"},
      {"ELEMENT(ARRAY[1, 2])", "error: ELEMENT failed: array has more than one element: '2'"},
      {"MAP_KEYS(MAP['a', 1, 'b', 2])", "[a, b]"},
      {"MAP_VALUES(MAP['a', 1, 'b', 2])", "[1, 2]"},
      {"SPLIT('a,b,,c', ',')", "[a, b, , c]"},
      {"SPLIT('漢字', '')", "[漢, 字]"},
      {"STR_TO_MAP('a=1,b=2')", "{a=1, b=2}"},
      {"STR_TO_MAP('a:1;b', ';', ':')", "{a=1, b=null}"},
      {"items[1]", "3 | null | null | null"},
      {"items[number]", "null | null | null | null"},
      {"CARDINALITY(items)", "3 | null | 0 | 1"},
      {"ARRAY[number, 1]", "[7, 1] | [null, 1] | [-2147483648, 1] | [2147483647, 1]"},
      {"ROW(number, label)",
       "+I[7, Hello] | +I[null, null] | +I[-2147483648, ] | +I[2147483647, äöü 漢字, a text of "
       "more than twelve bytes]"},
      {"MAP['n', number]['n']", "7 | null | -2147483648 | 2147483647"},
      {"SPLIT(label, 'l')",
       "[He, , o] | null | [] | [äöü 漢字, a text of more than twe, ve bytes]"},
  };
  check_values(table);
}

TEST_CASE("values as JSON and back") {
  constexpr expected_value table[] = {
      {"JSON_QUOTE('a\"b/c')", "\"a\\\"b\\/c\""},
      {"JSON_QUOTE('')", "\"\""},
      {"JSON_QUOTE(CAST(NULL AS STRING))", "null"},
      {"JSON_UNQUOTE('\"a\\\"b\\/c\\u00e4\"')", "a\"b/cä"},
      {"JSON_UNQUOTE('\"\\ud83d\\ude00\"')", "😀"},
      {"JSON_UNQUOTE('plain')", "plain"},
      {"JSON_UNQUOTE('\"broken\\x\"')", "\"broken\\x\""},
      {"JSON_STRING(1)", "1"},
      {"JSON_STRING(1.50)", "1.50"},
      {"JSON_STRING(TRUE)", "true"},
      {"JSON_STRING('a\"b')", "\"a\\\"b\""},
      {"JSON_STRING(ARRAY[1, CAST(NULL AS INT)])", "[1,null]"},
      {"JSON_STRING(MAP['k', 1])", "{\"k\":1}"},
      {"JSON_STRING(DATE '2024-02-29')", "\"2024-02-29\""},
      {"JSON_STRING(CAST(NULL AS INT))", "null"},
      {"JSON_STRING(person)", "{\"age\":36,\"name\":\"Ada\"} | null | {\"age\":0,\"name\":\"\"} | "
                              "{\"age\":-1,\"name\":\"Bob\"}"},
  };
  check_values(table);
}

TEST_CASE("functions of arrays") {
  constexpr expected_value table[] = {
      {"ARRAY_APPEND(ARRAY[1, 2], 3)", "[1, 2, 3]"},
      {"ARRAY_CONCAT(ARRAY[1], ARRAY[2], ARRAY[1])", "[1, 2, 1]"},
      {"ARRAY_CONTAINS(ARRAY[1, 2], 2)", "true"},
      {"ARRAY_CONTAINS(ARRAY[1, 2], 3)", "false"},
      {"ARRAY_CONTAINS(ARRAY[1, CAST(NULL AS INT)], CAST(NULL AS INT))", "true"},
      {"ARRAY_CONTAINS(CAST(NULL AS ARRAY<INT>), 1)", "null"},
      {"ARRAY_DISTINCT(ARRAY[1, 2, 1])", "[1, 2]"},
      {"ARRAY_JOIN(ARRAY['a', CAST(NULL AS STRING), 'b'], '-')", "a-b"},
      {"ARRAY_JOIN(ARRAY['a', CAST(NULL AS STRING), 'b'], '-', '?')", "a-?-b"},
      {"ARRAY_MAX(ARRAY[1, 3, 2])", "3"},
      {"ARRAY_MIN(ARRAY[1, 3, CAST(NULL AS INT)])", "1"},
      {"ARRAY_MAX(CAST(NULL AS ARRAY<INT>))", "null"},
      {"ARRAY_POSITION(ARRAY['a', 'b'], 'b')", "2"},
      {"ARRAY_POSITION(ARRAY['a', 'b'], 'c')", "0"},
      {"ARRAY_REMOVE(ARRAY[1, 2, 1], 1)", "[2]"},
      {"ARRAY_REVERSE(ARRAY[1, 2, 3])", "[3, 2, 1]"},
      {"ARRAY_SLICE(ARRAY[1, 2, 3, 4], 2, 3)", "[2, 3]"},
      {"ARRAY_SLICE(ARRAY[1, 2, 3, 4], -2)", "[3, 4]"},
      {"ARRAY_SLICE(ARRAY[1, 2, 3, 4], 3, 2)", "[]"},
      {"ARRAY_UNION(ARRAY[1, 2, 1], ARRAY[2, 3])", "[1, 2, 3]"},
      {"ARRAY_CONTAINS(items, 1)", "true | null | false | false"},
      {"ARRAY_MAX(items)", "3 | null | null | null"},
      {"ARRAY_REVERSE(items)", "[2, 1, 3] | null | [] | [null]"},
  };
  check_values(table);
}
} // TEST_SUITE("graph/sql/translate/collections")
