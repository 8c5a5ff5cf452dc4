#include "libgraph/sql/bind/function_table.hpp"

#include <algorithm>
#include <array>

namespace headrace::sql {
namespace {

using types = std::span<const logical_type>;
using maybe_type = std::optional<logical_type>;

maybe_type boolean(types) { return logical_type::boolean(); }
maybe_type integer(types) { return logical_type::integer(); }
maybe_type bigint(types) { return logical_type::bigint(); }
maybe_type float64(types) { return logical_type::float64(); }
maybe_type text(types) { return logical_type::string(); }
maybe_type bytes(types) { return logical_type::bytes(); }
maybe_type date(types) { return logical_type::date(); }
maybe_type timestamp_millis(types) { return logical_type::timestamp(3); }
maybe_type zoned_millis(types) { return logical_type::timestamp_ltz(3); }
maybe_type first(types given) { return given[0]; }
maybe_type second(types given) { return given[1]; }
maybe_type common(types given) { return common_type(given); }
maybe_type common_behind_first(types given) { return common_type(given.subspan(1)); }
maybe_type reals(types) { return logical_type::array(logical_type::float64()); }
maybe_type texts(types) { return logical_type::array(logical_type::string()); }
maybe_type text_map(types) {
  return logical_type::map(logical_type::string(), logical_type::string());
}
maybe_type element(types given) { return given[0].child(0); }
maybe_type keys(types given) { return logical_type::array(given[0].child(0)); }
maybe_type map_values(types given) { return logical_type::array(given[0].child(1)); }
maybe_type array_of(types given) { return logical_type::array(given[0]); }
maybe_type multiset_of(types given) { return logical_type::multiset(given[0]); }

/// An array's element and a value.
maybe_type if_element(types given, maybe_type out) {
  const logical_type both[] = {given[0].child(0), given[1]};
  return common_type(both) ? std::move(out) : std::nullopt;
}
maybe_type contains(types given) { return if_element(given, logical_type::boolean()); }
maybe_type array_position(types given) { return if_element(given, logical_type::integer()); }
maybe_type array_remove(types given) { return if_element(given, given[0]); }

maybe_type modulo(types given) {
  return arithmetic_type(operator_kind::modulo, given[0], given[1]);
}
/// CEIL and FLOOR of a number: no digits behind the point.
maybe_type whole(types given) {
  if (given[0].root() == type_root::decimal)
    return logical_type::decimal(given[0].precision(), 0);
  return given[0];
}
/// ROUND without a literal number of digits.
maybe_type rounded(types given) {
  if (given[0].root() != type_root::decimal || given.size() > 1)
    return given[0];
  return logical_type::decimal(
      std::min(38, std::max(1, 1 + given[0].precision() - given[0].scale())), 0);
}
template <int Length>
maybe_type text_of_length(types) {
  return logical_type::character(Length);
}
maybe_type short_text(types) { return logical_type::varchar(128); }
maybe_type time_of_day(types) { return logical_type::time(0); }
maybe_type entries(types given) {
  return logical_type::array(
      logical_type::row({{"key", given[0].child(0), {}}, {"value", given[0].child(1), {}}}));
}
/// The array, with elements that may be NULL when what is added may be.
maybe_type with_element(types given) {
  const auto& element = given[0].child(0);
  return logical_type::array(given[1].is_nullable() ? element.nullable() : element);
}
maybe_type map_of_arrays(types given) {
  return logical_type::map(given[0].child(0), given[1].child(0));
}

maybe_type sum(types given) {
  if (given[0].root() == type_root::decimal)
    return logical_type::decimal(38, given[0].scale());
  return given[0];
}
maybe_type average(types given) {
  if (given[0].root() == type_root::decimal)
    return logical_type::decimal(38, std::max(6, given[0].scale()));
  return given[0];
}

constexpr auto scalar = function_kind::scalar;
constexpr auto aggregate = function_kind::aggregate;
constexpr auto ranking = function_kind::ranking;
constexpr auto any = null_rule::any;
constexpr auto all = null_rule::all;
constexpr auto never = null_rule::never;
constexpr auto always = null_rule::always;

constexpr std::array functions{
    function_signature{"ABS", "n", first, any, scalar},
    function_signature{"ACOS", "n", float64, any, scalar},
    function_signature{"APPROX_COUNT_DISTINCT", "x", bigint, never, aggregate},
    function_signature{"ARRAY_AGG", "x", array_of, always, aggregate},
    function_signature{"ARRAY_APPEND", "ax", with_element, any, scalar},
    function_signature{"ARRAY_CONCAT", "a*", common, any, scalar},
    function_signature{"ARRAY_CONTAINS", "ax", contains, any, scalar},
    function_signature{"ARRAY_DISTINCT", "a", first, any, scalar},
    function_signature{"ARRAY_EXCEPT", "aa", common, any, scalar},
    function_signature{"ARRAY_INTERSECT", "aa", common, any, scalar},
    function_signature{"ARRAY_JOIN", "as|s", text, any, scalar},
    function_signature{"ARRAY_MAX", "a", element, always, scalar},
    function_signature{"ARRAY_MIN", "a", element, always, scalar},
    function_signature{"ARRAY_POSITION", "ax", array_position, any, scalar},
    function_signature{"ARRAY_PREPEND", "ax", with_element, any, scalar},
    function_signature{"ARRAY_REMOVE", "ax", array_remove, any, scalar},
    function_signature{"ARRAY_REVERSE", "a", first, any, scalar},
    function_signature{"ARRAY_SLICE", "ai|i", first, any, scalar},
    function_signature{"ARRAY_SORT", "a|bb", first, any, scalar},
    function_signature{"ARRAY_UNION", "aa", common, any, scalar},
    function_signature{"ASCII", "s", integer, any, scalar},
    function_signature{"ASIN", "n", float64, any, scalar},
    function_signature{"ATAN", "n", float64, any, scalar},
    function_signature{"ATAN2", "nn", float64, any, scalar},
    function_signature{"AVG", "n", average, always, aggregate},
    function_signature{"BIN", "i", text, any, scalar},
    function_signature{"BTRIM", "s|s", text, any, scalar},
    function_signature{"CARDINALITY", "a", integer, any, scalar},
    function_signature{"CARDINALITY", "m", integer, any, scalar},
    function_signature{"CEIL", "n", whole, any, scalar},
    function_signature{"CEIL", "tk", first, any, scalar},
    function_signature{"CHARACTER_LENGTH", "s", integer, any, scalar},
    function_signature{"CHAR_LENGTH", "s", integer, any, scalar},
    function_signature{"CHR", "i", text, any, scalar},
    function_signature{"COALESCE", "x*", common, all, scalar},
    function_signature{"COLLECT", "x", multiset_of, never, aggregate},
    function_signature{"CONCAT", "s*", text, any, scalar},
    function_signature{"CONCAT_WS", "s|s*", text, any, scalar},
    function_signature{"CONVERT_TZ", "sss", text, always, scalar},
    function_signature{"COS", "n", float64, any, scalar},
    function_signature{"COSH", "n", float64, any, scalar},
    function_signature{"COT", "n", float64, any, scalar},
    function_signature{"COUNT", "x*", bigint, never, aggregate},
    function_signature{"CUME_DIST", "", float64, never, ranking},
    function_signature{"CURRENT_DATE", "", date, never, scalar},
    function_signature{"CURRENT_ROW_TIMESTAMP", "", zoned_millis, never, scalar},
    function_signature{"CURRENT_TIME", "", time_of_day, never, scalar},
    function_signature{"CURRENT_TIMESTAMP", "", zoned_millis, never, scalar},
    function_signature{"CURRENT_WATERMARK", "d", first, always, scalar},
    function_signature{"DATE_FORMAT", "ds", text, any, scalar},
    function_signature{"DATE_FORMAT", "ss", text, any, scalar},
    function_signature{"DAYOFMONTH", "d", bigint, any, scalar},
    function_signature{"DAYOFWEEK", "d", bigint, any, scalar},
    function_signature{"DAYOFYEAR", "d", bigint, any, scalar},
    function_signature{"DECODE", "ys", text, any, scalar},
    function_signature{"DEGREES", "n", float64, any, scalar},
    function_signature{"DENSE_RANK", "", bigint, never, ranking},
    function_signature{"E", "", float64, never, scalar},
    function_signature{"ELEMENT", "a", element, always, scalar},
    function_signature{"ELT", "is*", text, always, scalar},
    function_signature{"ELT", "iy*", bytes, always, scalar},
    function_signature{"ENCODE", "ss", bytes, any, scalar},
    function_signature{"ENDSWITH", "ss", boolean, any, scalar},
    function_signature{"ENDSWITH", "yy", boolean, any, scalar},
    function_signature{"EXP", "n", float64, any, scalar},
    function_signature{"EXTRACT", "kt", bigint, any, scalar},
    function_signature{"EXTRACT", "kv", bigint, any, scalar},
    function_signature{"FIRST_VALUE", "x", first, always, aggregate},
    function_signature{"FLOOR", "n", whole, any, scalar},
    function_signature{"FLOOR", "tk", first, any, scalar},
    function_signature{"FROM_BASE64", "s", text, any, scalar},
    function_signature{"FROM_UNIXTIME", "i|s", text, any, scalar},
    function_signature{"GREATEST", "c*", common, any, scalar},
    function_signature{"GROUPING", "x*", bigint, never, scalar},
    function_signature{"GROUPING_ID", "x*", bigint, never, scalar},
    function_signature{"HEX", "i", text, any, scalar},
    function_signature{"HEX", "s", text, any, scalar},
    function_signature{"HOUR", "d", bigint, any, scalar},
    function_signature{"IF", "bxx", common_behind_first, always, scalar},
    function_signature{"IFNULL", "xx", common, all, scalar},
    function_signature{"INET_ATON", "s", bigint, always, scalar},
    function_signature{"INET_NTOA", "i", text, always, scalar},
    function_signature{"INITCAP", "s", text, any, scalar},
    function_signature{"INSTR", "ss|ii", integer, any, scalar},
    function_signature{"IS_ALPHA", "s", boolean, never, scalar},
    function_signature{"IS_DECIMAL", "s", boolean, never, scalar},
    function_signature{"IS_DIGIT", "s", boolean, never, scalar},
    function_signature{"JSON_QUOTE", "s", text, any, scalar},
    function_signature{"JSON_STRING", "x", text, any, scalar},
    function_signature{"JSON_UNQUOTE", "s", text, any, scalar},
    function_signature{"LAG", "x|ix", first, always, aggregate},
    function_signature{"LAST_VALUE", "x", first, always, aggregate},
    function_signature{"LEAD", "x|ix", first, always, aggregate},
    function_signature{"LEAST", "c*", common, any, scalar},
    function_signature{"LEFT", "si", text, any, scalar},
    function_signature{"LISTAGG", "s|s", text, always, aggregate},
    function_signature{"LN", "n", float64, any, scalar},
    function_signature{"LOCALTIME", "", time_of_day, never, scalar},
    function_signature{"LOCALTIMESTAMP", "", timestamp_millis, never, scalar},
    function_signature{"LOCATE", "ss|i", integer, any, scalar},
    function_signature{"LOG", "n|n", float64, any, scalar},
    function_signature{"LOG10", "n", float64, any, scalar},
    function_signature{"LOG2", "n", float64, any, scalar},
    function_signature{"LOWER", "s", text, any, scalar},
    function_signature{"LPAD", "sis", text, always, scalar},
    function_signature{"LTRIM", "s|s", text, any, scalar},
    function_signature{"MAP_ENTRIES", "m", entries, any, scalar},
    function_signature{"MAP_FROM_ARRAYS", "aa", map_of_arrays, any, scalar},
    function_signature{"MAP_KEYS", "m", keys, any, scalar},
    function_signature{"MAP_UNION", "m*", common, any, scalar},
    function_signature{"MAP_VALUES", "m", map_values, any, scalar},
    function_signature{"MAX", "c", first, always, aggregate},
    function_signature{"MD5", "s", text_of_length<32>, any, scalar},
    function_signature{"MIN", "c", first, always, aggregate},
    function_signature{"MINUTE", "d", bigint, any, scalar},
    function_signature{"MOD", "nn", modulo, any, scalar},
    function_signature{"MONTH", "d", bigint, any, scalar},
    function_signature{"NOW", "", zoned_millis, never, scalar},
    function_signature{"NTILE", "i", bigint, never, ranking},
    function_signature{"NULLIF", "xx", first, always, scalar},
    function_signature{"OVERLAY", "ssi|i", text, any, scalar},
    function_signature{"PARSE_URL", "ss|s", text, always, scalar},
    function_signature{"PERCENTILE", "na|i", reals, always, aggregate},
    function_signature{"PERCENTILE", "nn|i", float64, always, aggregate},
    function_signature{"PERCENT_RANK", "", float64, never, ranking},
    function_signature{"PI", "", float64, never, scalar},
    function_signature{"POSITION", "ss|i", integer, any, scalar},
    function_signature{"POWER", "nn", float64, any, scalar},
    function_signature{"PRINTF", "s|x*", text, always, scalar},
    function_signature{"PROCTIME", "", zoned_millis, never, scalar},
    function_signature{"QUARTER", "d", bigint, any, scalar},
    function_signature{"RADIANS", "n", float64, any, scalar},
    function_signature{"RAND", "|i", float64, any, scalar},
    function_signature{"RAND_INTEGER", "i|i", integer, any, scalar},
    function_signature{"RANK", "", bigint, never, ranking},
    function_signature{"REGEXP", "ss", boolean, any, scalar},
    function_signature{"REGEXP_COUNT", "ss", integer, always, scalar},
    function_signature{"REGEXP_EXTRACT", "ss|i", text, always, scalar},
    function_signature{"REGEXP_EXTRACT_ALL", "ss|i", texts, always, scalar},
    function_signature{"REGEXP_INSTR", "ss", integer, always, scalar},
    function_signature{"REGEXP_REPLACE", "sss", text, any, scalar},
    function_signature{"REGEXP_SUBSTR", "ss", text, always, scalar},
    function_signature{"REPEAT", "si", text, any, scalar},
    function_signature{"REPLACE", "sss", text, any, scalar},
    function_signature{"REVERSE", "s", text, any, scalar},
    function_signature{"RIGHT", "si", text, any, scalar},
    function_signature{"ROUND", "n|i", rounded, any, scalar},
    function_signature{"ROW_NUMBER", "", bigint, never, ranking},
    function_signature{"RPAD", "sis", text, always, scalar},
    function_signature{"RTRIM", "s|s", text, any, scalar},
    function_signature{"SECOND", "d", bigint, any, scalar},
    function_signature{"SHA1", "s", text_of_length<40>, any, scalar},
    function_signature{"SHA2", "si", short_text, any, scalar},
    function_signature{"SHA224", "s", text_of_length<56>, any, scalar},
    function_signature{"SHA256", "s", text_of_length<64>, any, scalar},
    function_signature{"SHA384", "s", text_of_length<96>, any, scalar},
    function_signature{"SHA512", "s", text_of_length<128>, any, scalar},
    function_signature{"SIGN", "n", first, any, scalar},
    function_signature{"SIN", "n", float64, any, scalar},
    function_signature{"SINH", "n", float64, any, scalar},
    function_signature{"SPLIT", "ss", texts, any, scalar},
    function_signature{"SPLIT_INDEX", "ssi", text, always, scalar},
    function_signature{"SQRT", "n", float64, any, scalar},
    function_signature{"STARTSWITH", "ss", boolean, any, scalar},
    function_signature{"STARTSWITH", "yy", boolean, any, scalar},
    function_signature{"STDDEV_POP", "n", average, always, aggregate},
    function_signature{"STDDEV_SAMP", "n", average, always, aggregate},
    function_signature{"STR_TO_MAP", "s|ss", text_map, any, scalar},
    function_signature{"SUB-QUERY", "a", element, always, scalar}, // of the planner
    function_signature{"SUBSTR", "si|i", text, always, scalar},
    function_signature{"SUBSTRING", "si|i", text, always, scalar},
    function_signature{"SUM", "n", sum, always, aggregate},
    function_signature{"TAN", "n", float64, any, scalar},
    function_signature{"TANH", "n", float64, any, scalar},
    function_signature{"TIMESTAMPADD", "kit", second, any, scalar},
    function_signature{"TIMESTAMPDIFF", "kdd", integer, any, scalar},
    function_signature{"TO_BASE64", "s", text, any, scalar},
    function_signature{"TO_DATE", "s|s", date, always, scalar},
    function_signature{"TO_TIMESTAMP", "s|s", timestamp_millis, always, scalar},
    function_signature{"TO_TIMESTAMP_LTZ", "n|i", zoned_millis, always, scalar},
    function_signature{"TO_TIMESTAMP_LTZ", "s|ss", zoned_millis, always, scalar},
    function_signature{"TRANSLATE", "sss", text, any, scalar},
    function_signature{"TRIM", "ks|s", text, any, scalar},
    function_signature{"TRUNCATE", "n|i", first, any, scalar},
    function_signature{"TYPEOF", "x", text, never, scalar},
    function_signature{"UNHEX", "s", bytes, always, scalar},
    function_signature{"UNIX_TIMESTAMP", "", bigint, never, scalar},
    function_signature{"UNIX_TIMESTAMP", "s|s", bigint, any, scalar},
    function_signature{"UPPER", "s", text, any, scalar},
    function_signature{"URL_DECODE", "s", text, always, scalar},
    function_signature{"URL_ENCODE", "s", text, any, scalar},
    function_signature{"UUID", "", text, never, scalar},
    function_signature{"VAR_POP", "n", average, always, aggregate},
    function_signature{"VAR_SAMP", "n", average, always, aggregate},
    function_signature{"WEEK", "d", bigint, any, scalar},
    function_signature{"YEAR", "d", bigint, any, scalar},
};

/// Letters that must be given, all letters, and whether the last one repeats.
struct shape {
  std::size_t least = 0;
  std::size_t most = 0;
  bool repeats = false;
};

shape shape_of(std::string_view parameters) {
  shape out;
  bool is_optional = false;
  for (const char letter : parameters) {
    if (letter == '|') {
      is_optional = true;
    } else if (letter == '*') {
      out.repeats = true;
    } else {
      ++out.most;
      out.least += is_optional ? 0 : 1;
    }
  }
  return out;
}

} // namespace

std::span<const function_signature> all_functions() { return functions; }

std::span<const function_signature> find_function(std::string_view name) {
  const auto by_name = [](const function_signature& each, std::string_view wanted) {
    return each.name < wanted;
  };
  const auto begin = std::lower_bound(functions.begin(), functions.end(), name, by_name);
  auto end = begin;
  while (end != functions.end() && end->name == name)
    ++end;
  return {begin, end};
}

bool takes_count(const function_signature& signature, std::size_t count) {
  const auto form = shape_of(signature.parameters);
  return count >= form.least && (count <= form.most || form.repeats);
}

char parameter_at(const function_signature& signature, std::size_t index) {
  char last = 'x';
  for (const char letter : signature.parameters) {
    if (letter == '|' || letter == '*')
      continue;
    last = letter;
    if (index == 0)
      return letter;
    --index;
  }
  return last;
}

bool fits(char parameter, const logical_type& type) {
  const auto root = type.root();
  if (root == type_root::null)
    return parameter != 'k' && parameter != 'a' && parameter != 'm';
  switch (parameter) {
  case 'b':
    return root == type_root::boolean;
  case 'n':
    return is_numeric(root);
  case 'i':
    return is_exact_integer(root);
  case 's':
    return is_character(root);
  case 'y':
    return is_binary(root);
  case 'd':
    return is_timestamp(root) || root == type_root::date;
  case 't':
    return is_timestamp(root) || root == type_root::date || root == type_root::time;
  case 'v':
    return is_interval(root);
  case 'a':
    return root == type_root::array || root == type_root::multiset;
  case 'm':
    return root == type_root::map;
  case 'c':
    return root != type_root::map && root != type_root::multiset;
  case 'x':
    return true;
  default:
    return false;
  }
}

std::string_view parameter_text(char parameter) {
  switch (parameter) {
  case 'b':
    return "a BOOLEAN";
  case 'n':
    return "a number";
  case 'i':
    return "an integer";
  case 's':
    return "a STRING";
  case 'y':
    return "BYTES";
  case 'd':
    return "a DATE or TIMESTAMP";
  case 't':
    return "a DATE, TIME or TIMESTAMP";
  case 'v':
    return "an INTERVAL";
  case 'a':
    return "an ARRAY";
  case 'm':
    return "a MAP";
  case 'c':
    return "something comparable";
  case 'k':
    return "a word such as DAY";
  default:
    return "a value";
  }
}

} // namespace headrace::sql
