#include "test/libgraph/sql/testing_expressions.hpp"

#include <doctest/doctest.h>

// Expected values follow Flink's documentation of the functions; those marked (sqlite) are what
// sqlite3 3.40 gives, digests are those of coreutils.
using namespace headrace::testing;

TEST_SUITE("graph/sql/translate/text") {

TEST_CASE("parts of texts count code points from 1") {
  constexpr expected_value table[] = {
      {"CHAR_LENGTH('漢字')", "2"}, // (sqlite: length)
      {"CHARACTER_LENGTH('')", "0"},
      {"SUBSTRING('Headrace' FROM 5)", "race"},       // (sqlite)
      {"SUBSTRING('Headrace' FROM 1 FOR 4)", "Head"}, // (sqlite)
      {"SUBSTR('Headrace', 0, 2)", "He"},
      {"SUBSTR('Headrace', -4)", "race"}, // (sqlite)
      {"SUBSTR('Headrace', -9)", ""},
      {"SUBSTR('Headrace', 2, -1)", "null"},
      {"SUBSTR('Headrace', 9)", ""}, // (sqlite)
      {"SUBSTR('äöü', 2, 1)", "ö"},  // (sqlite)
      {"SUBSTR('abc', 2, 2147483647)", "bc"},
      {"SUBSTR(CAST(NULL AS STRING), 1)", "null"},
      {"SUBSTR('abc', CAST(NULL AS INT))", "null"},
      {"LEFT('漢字x', 2)", "漢字"},
      {"LEFT('abc', -1)", ""},
      {"LEFT('abc', 9)", "abc"},
      {"RIGHT('漢字x', 2)", "字x"},
      {"RIGHT('abc', 0)", ""},
      {"RIGHT('abc', 9)", "abc"},
      {"TRIM('  a  ')", "a"},                     // (sqlite)
      {"TRIM(LEADING 'x' FROM 'xxaxx')", "axx"},  // (sqlite: ltrim)
      {"TRIM(TRAILING 'x' FROM 'xxaxx')", "xxa"}, // (sqlite: rtrim)
      {"TRIM(BOTH 'xy' FROM 'xyaxy')", "a"},      // (sqlite)
      {"TRIM(BOTH FROM ' a ')", "a"},
      {"LTRIM('  a ')", "a "},
      {"RTRIM('  a ')", "  a"},
      {"LTRIM('xya', 'yx')", "a"},
      {"RTRIM('aää', 'ä')", "a"},
      {"POSITION('d' IN 'Headrace')", "4"}, // (sqlite: instr)
      {"POSITION('字' IN '漢字')", "2"},    // (sqlite: instr)
      {"POSITION('x' IN 'Headrace')", "0"},
      {"POSITION('' IN 'abc')", "1"},
      {"LOCATE('a', 'Headrace')", "3"},
      {"LOCATE('a', 'Headrace', 4)", "6"},
      {"LOCATE('a', 'Headrace', 0)", "3"},
      {"INSTR('Headrace', 'a')", "3"}, // (sqlite)
      {"INSTR('Headrace', 'a', 1, 2)", "6"},
      {"INSTR('Headrace', 'a', -1)", "6"},
      {"ASCII('a')", "97"},
      {"ASCII('')", "0"},
      {"SPLIT_INDEX('a,b,,c', ',', 0)", "a"},
      {"SPLIT_INDEX('a,b,,c', ',', 2)", ""},
      {"SPLIT_INDEX('a,b,,c', ',', 4)", "null"},
      {"SPLIT_INDEX('a,b', ',', -1)", "null"},
      {"SPLIT_INDEX('', ',', 0)", "null"},
      {"SPLIT_INDEX('https://a/b', '/', 3)", "b"},
      {"CHAR_LENGTH(label)", "5 | null | 0 | 40"},
      {"SUBSTR(label, 2, 3)", "ell | null |  | öü "},
      {"TRIM(label)", "Hello | null |  | äöü 漢字, a text of more than twelve bytes"},
      {"RIGHT(label, 14)", "Hello | null |  | n twelve bytes"},
      {"POSITION('l' IN label)", "3 | null | 0 | 32"},
      {"SPLIT_INDEX(label, ' ', 1)", "null | null | null | 漢字,"},
  };
  check_values(table);
}

TEST_CASE("texts made of others") {
  constexpr expected_value table[] = {
      {"UPPER('straße é')", "STRASSE É"},
      {"LOWER('ÄÖÜ ΣΩ ЖЯ')", "äöü σω жя"},
      {"UPPER('łódź čeština')", "ŁÓDŹ ČEŠTINA"},
      {"INITCAP('hello wORLD-x 1a')", "Hello World-X 1a"},
      {"REPEAT('ab', 3)", "ababab"},
      {"REPEAT('ab', 0)", ""},
      {"REPEAT('ab', -1)", ""},
      {"REPEAT('ab', 2147483647)", "error: REPEAT failed: text of more than 64 MiB"},
      {"REPLACE('aXbX', 'X', 'yy')", "ayybyy"}, // (sqlite)
      {"REPLACE('ab', '', '-')", "-a-b-"},
      {"REPLACE('ab', 'a', '')", "b"}, // (sqlite)
      {"REVERSE('a漢b')", "b漢a"},
      {"LPAD('hi', 4, '!?')", "!?hi"},
      {"LPAD('hi', 1, '!?')", "h"},
      {"LPAD('hi', 5, 'xy')", "xyxhi"},
      {"LPAD('hi', -1, 'x')", "null"},
      {"LPAD('hi', 5, '')", "null"},
      {"RPAD('hi', 5, 'xy')", "hixyx"},
      {"RPAD('漢字', 1, 'x')", "漢"},
      {"OVERLAY('xxxxxtest' PLACING 'xxxx' FROM 6)", "xxxxxxxxx"},
      {"OVERLAY('xxxxxtest' PLACING 'xxxx' FROM 6 FOR 2)", "xxxxxxxxxst"},
      {"OVERLAY('abc' PLACING 'X' FROM 0)", "abc"},
      {"OVERLAY('abc' PLACING 'X' FROM 9)", "abc"},
      {"'a' || 'b' || 'c'", "abc"},
      {"'a' || CAST(NULL AS STRING)", "null"}, // (sqlite)
      {"CONCAT('a', 'b', 'c')", "abc"},
      {"CONCAT('a', CAST(NULL AS STRING))", "null"},
      {"CONCAT_WS('-', 'a', CAST(NULL AS STRING), 'b')", "a-b"},
      {"CONCAT_WS(CAST(NULL AS STRING), 'a', 'b')", "null"},
      {"CONCAT_WS(',')", ""},
      {"CHR(97)", "a"},
      {"CHR(353)", "a"},
      {"CHR(-1)", ""},
      {"CHR(228)", "ä"},
      {"IS_ALPHA('abc')", "true"},
      {"IS_ALPHA('a1')", "false"},
      {"IS_ALPHA('')", "false"},
      {"IS_DIGIT('123')", "true"},
      {"IS_DIGIT('1.5')", "false"},
      {"IS_DIGIT(CAST(NULL AS STRING))", "false"},
      {"IS_DECIMAL('-1.5e3')", "true"},
      {"IS_DECIMAL('x')", "false"},
      {"UPPER(label)", "HELLO | null |  | ÄÖÜ 漢字, A TEXT OF MORE THAN TWELVE BYTES"},
      {"label || '!'", "Hello! | null | ! | äöü 漢字, a text of more than twelve bytes!"},
      {"CONCAT_WS('/', label, 'x')",
       "Hello/x | x | /x | äöü 漢字, a text of more than twelve bytes/x"},
      {"REVERSE(SUBSTR(label, 1, 3))", "leH | null |  | üöä"},
  };
  check_values(table);
}

TEST_CASE("texts as codes") {
  constexpr expected_value table[] = {
      {"MD5('hello')", "5d41402abc4b2a76b9719d911017c592"},
      {"MD5('')", "d41d8cd98f00b204e9800998ecf8427e"},
      {"SHA1('hello')", "aaf4c61ddcc5e8a2dabede0f3b482cd9aea9434d"},
      {"SHA224('hello')", "ea09ae9cc6768c50fcee903ed054556e5bfc8347907f12598aa24193"},
      {"SHA256('hello')", "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"},
      {"SHA2('hello', 256)", "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"},
      {"SHA2('hello', 1)", "error: SHA2 failed: no SHA2 of so many bits, expected 224, 256, 384 or "
                           "512: '1'"},
      {"MD5(CAST(NULL AS STRING))", "null"},
      {"TO_BASE64('hello world')", "aGVsbG8gd29ybGQ="},
      {"FROM_BASE64('aGVsbG8gd29ybGQ=')", "hello world"},
      {"FROM_BASE64('?')", "error: FROM_BASE64 failed: no base 64: '?'"},
      {"HEX(20)", "14"},
      {"HEX(-1)", "FFFFFFFFFFFFFFFF"},
      {"HEX('hello,world')", "68656C6C6F2C776F726C64"}, // (sqlite)
      {"BIN(4)", "100"},
      {"BIN(0)", "0"},
      {"UNHEX('4D7953514C')", "[77, 121, 83, 81, 76]"},
      {"UNHEX('G')", "null"},
      {"UNHEX('F')", "[15]"},
      {"URL_ENCODE('a b/ä')", "a+b%2F%C3%A4"},
      {"URL_DECODE('a+b%2F%C3%A4')", "a b/ä"},
      {"URL_DECODE('%2')", "null"},
      {"PARSE_URL('http://facebook.com/path1/p.php?k1=v1&k2=v2#Ref1', 'QUERY', 'k1')", "v1"},
      {"PARSE_URL('http://facebook.com/path1/p.php?k1=v1&k2=v2#Ref1', 'HOST')", "facebook.com"},
      {"PARSE_URL('http://facebook.com/path1/p.php?k1=v1&k2=v2#Ref1', 'PATH')", "/path1/p.php"},
      {"PARSE_URL('http://facebook.com/path1/p.php?k1=v1&k2=v2#Ref1', 'QUERY')", "k1=v1&k2=v2"},
      {"PARSE_URL('http://facebook.com/path1/p.php?k1=v1&k2=v2#Ref1', 'REF')", "Ref1"},
      {"PARSE_URL('http://u@h:80/f?x=1', 'AUTHORITY')", "u@h:80"},
      {"PARSE_URL('http://u@h:80/f?x=1', 'USERINFO')", "u"},
      {"PARSE_URL('http://u@h:80/f?x=1', 'FILE')", "/f?x=1"},
      {"PARSE_URL('http://u@h:80/f?x=1', 'PROTOCOL')", "http"},
      {"PARSE_URL('http://h/', 'QUERY')", "null"},
      {"PARSE_URL('no url', 'HOST')", "null"},
  };
  check_values(table);
}

TEST_CASE("LIKE, SIMILAR TO, regular expressions") {
  constexpr expected_value table[] = {
      {"'abc' LIKE 'abc'", "true"},
      {"'abc' LIKE 'a%'", "true"},
      {"'abc' LIKE '%c'", "true"},
      {"'abc' LIKE '%b%'", "true"},
      {"'abc' LIKE 'a_c'", "true"},
      {"'aäc' LIKE 'a_c'", "true"},
      {"'abc' LIKE '_'", "false"},
      {"'abc' LIKE ''", "false"},
      {"'' LIKE '%'", "true"},
      {"'abcabc' LIKE 'a%c'", "true"},
      {"'abcab' LIKE 'a%c'", "false"},
      {"'abab' LIKE 'ab%ab'", "true"},
      {"'aba' LIKE 'ab%ba'", "false"},
      {"'axbyc' LIKE 'a%b%c'", "true"},
      {"'ABC' LIKE 'abc'", "false"},
      {"'a%c' LIKE 'a!%c' ESCAPE '!'", "true"},
      {"'abc' LIKE 'a!%c' ESCAPE '!'", "false"},
      {"'a!c' LIKE 'a!!c' ESCAPE '!'", "true"},
      {"'xay' LIKE '%_a_'", "true"},
      {"'ay' LIKE '%_a_'", "false"},
      {"'abc' NOT LIKE 'a%'", "false"},
      {"CAST(NULL AS STRING) LIKE 'a'", "null"},
      {"'abc' SIMILAR TO 'a(b|x)c'", "true"},
      {"'abc' SIMILAR TO 'a%'", "true"},
      {"'abc' SIMILAR TO 'b'", "false"},
      {"'a.c' SIMILAR TO 'a.c'", "true"},
      {"'abc' SIMILAR TO 'a.c'", "false"},
      {"'a1' SIMILAR TO 'a[0-9]'", "true"},
      {"'abc' NOT SIMILAR TO '_+'", "false"},
      {"REGEXP('foobar', 'o+b')", "true"},
      {"REGEXP('foobar', '^b')", "false"},
      {"REGEXP(CAST(NULL AS STRING), 'a')", "null"},
      {"REGEXP_EXTRACT('foothebar', 'foo(.*?)(bar)', 2)", "bar"},
      {"REGEXP_EXTRACT('foothebar', 'foo(.*?)(bar)')", "foothebar"},
      {"REGEXP_EXTRACT('foothebar', 'foo(.*?)(bar)', 3)", "null"},
      {"REGEXP_EXTRACT('x', 'y', 0)", "null"},
      {"REGEXP_REPLACE('foobar', 'oo|ar', '')", "fb"},
      {"REGEXP_REPLACE('2024-02', '(\\d+)-(\\d+)', '$2/$1')", "$2/$1"},
      {"label LIKE '%text%'", "false | null | false | true"},
      {"label LIKE label", "true | null | true | true"},
      {"label NOT LIKE 'H_llo'", "false | null | true | true"},
      {"REGEXP(label, 'l{2}')", "true | null | false | false"},
  };
  check_values(table);
  CHECK(values_of("REGEXP(label, '(?=a)')")
            .starts_with("error: REGEXP: regular expression is malformed or has what is not "
                         "supported"));
  CHECK(values_of("label LIKE 'a!b' ESCAPE '!'") ==
        "error: escape of LIKE stands before another letter than %, _ or itself: 'b'");
}
} // TEST_SUITE("graph/sql/translate/text")
