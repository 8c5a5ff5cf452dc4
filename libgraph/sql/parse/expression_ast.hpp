#pragma once

#include "libgraph/sql/parse/type_ast.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace headrace::sql {

struct expression;
struct query;
struct order_item;
struct window_specification;

enum class literal_kind : std::uint8_t {
  null,
  boolean, ///< text: TRUE, FALSE; UNKNOWN is null
  integer,
  decimal,
  approximate,
  string,
  binary, ///< text: hexadecimal digits
  date,
  time,
  timestamp,
  timestamp_ltz,
  interval,
};

/// A constant; `text` is its value as it was written, without quotes.
struct literal {
  literal_kind kind = literal_kind::null;
  std::string text;
  bool is_negative = false; ///< INTERVAL -'1' DAY
  std::optional<interval_qualifier> interval;
  friend bool operator==(const literal&, const literal&) = default;
};

/// A column, perhaps of a named table, perhaps a field of a row: which one, the binder says.
struct column_reference {
  qualified_name path;
  friend bool operator==(const column_reference&, const column_reference&) = default;
};

/// `*`, `t.*`, `t.row_column.*`.
struct star {
  std::optional<qualified_name> of;
  friend bool operator==(const star&, const star&) = default;
};

/// Operators by what stands between, before or after the operands.
enum class operator_kind : std::uint8_t {
  or_,  ///< two or more operands
  and_, ///< two or more operands
  not_,
  is_null,
  is_not_null,
  is_true,
  is_not_true,
  is_false,
  is_not_false,
  is_unknown,
  is_not_unknown,
  is_json,
  is_not_json,
  is_json_object,
  is_not_json_object,
  is_json_array,
  is_not_json_array,
  is_json_scalar,
  is_not_json_scalar,
  equal,
  not_equal,
  less,
  less_or_equal,
  greater,
  greater_or_equal,
  is_distinct_from,
  is_not_distinct_from,
  overlaps, ///< of two rows
  plus,
  minus,
  times,
  divide,
  modulo,
  concat, ///< two or more operands
  negate,
  positive,
};

struct operation {
  operator_kind kind = operator_kind::and_;
  std::vector<expression> operands;
  source_span sign; ///< of the (first) operator
  friend bool operator==(const operation&, const operation&);
};

struct between {
  bool is_negated = false;
  bool is_symmetric = false;
  box<expression> value;
  box<expression> low;
  box<expression> high;
  friend bool operator==(const between&, const between&) = default;
};

enum class like_kind : std::uint8_t { like, similar };
struct like {
  like_kind kind = like_kind::like;
  bool is_negated = false;
  box<expression> value;
  box<expression> pattern;
  std::optional<box<expression>> escape;
  friend bool operator==(const like&, const like&) = default;
};

struct in_list {
  bool is_negated = false;
  box<expression> value; ///< a row, when several columns are compared
  std::vector<expression> items;
  friend bool operator==(const in_list&, const in_list&);
};

struct in_query {
  bool is_negated = false;
  box<expression> value;
  box<query> items;
  friend bool operator==(const in_query&, const in_query&) = default;
};

struct exists {
  box<query> rows;
  friend bool operator==(const exists&, const exists&) = default;
};

/// A query in place of a value.
struct subquery {
  box<query> rows;
  friend bool operator==(const subquery&, const subquery&) = default;
};

/// `x > ALL (SELECT …)`, `x = ANY (1, 2)`.
struct quantified_comparison {
  operator_kind kind = operator_kind::equal;
  bool is_all = false; ///< else ANY, which SOME is, too
  box<expression> value;
  std::vector<expression> items; ///< empty: the query's rows
  std::optional<box<query>> rows;
  friend bool operator==(const quantified_comparison&, const quantified_comparison&);
};

struct when_branch;
struct case_expression {
  std::optional<box<expression>> operand; ///< CASE x WHEN 1 …
  std::vector<when_branch> branches;
  std::optional<box<expression>> otherwise;
  friend bool operator==(const case_expression&, const case_expression&);
};

struct cast {
  bool is_try = false;
  box<expression> value;
  type_name type;
  friend bool operator==(const cast&, const cast&) = default;
};

/// A word that stands as an argument: a unit of time, a side of TRIM.
struct symbol_argument {
  std::string text; ///< in capitals; units in the singular
  friend bool operator==(const symbol_argument&, const symbol_argument&) = default;
};

/// `TABLE t`, `TABLE (query)`, with PARTITION BY and ORDER BY.
struct table_argument {
  std::optional<qualified_name> table; ///< else the query
  std::optional<box<query>> rows;
  std::vector<expression> partition_by;
  std::vector<order_item> order_by;
  friend bool operator==(const table_argument&, const table_argument&);
};

struct descriptor {
  std::vector<name> columns;
  friend bool operator==(const descriptor&, const descriptor&) = default;
};

struct argument;
enum class null_treatment : std::uint8_t { unsaid, ignore, respect };

/// A call. The special forms are calls of the same function: `SUBSTRING(x FROM a FOR b)` has three
/// arguments, `EXTRACT(YEAR FROM x)`, `TRIM(BOTH y FROM x)`, `TIMESTAMPADD(DAY, …)` and
/// `CEIL(x TO DAY)` have a symbol in the place of the word, `POSITION(x IN y)` has x, y;
/// `TRIM(x)` has the side and the value.
struct function_call {
  qualified_name function; ///< in capitals when the grammar knows it, else as written
  bool is_bare = false;    ///< without parentheses: CURRENT_DATE
  bool is_distinct = false;
  std::vector<argument> arguments;
  std::vector<order_item> within_group;
  std::optional<box<expression>> filter;
  null_treatment nulls = null_treatment::unsaid;
  std::optional<box<window_specification>> over;
  friend bool operator==(const function_call&, const function_call&);
};

enum class json_behavior : std::uint8_t {
  null,
  error,
  empty_array,
  empty_object,
  default_,
  true_,
  false_,
  unknown
};
struct json_default {
  json_behavior behavior = json_behavior::null;
  std::optional<box<expression>> value; ///< of DEFAULT
  friend bool operator==(const json_default&, const json_default&) = default;
};
enum class json_wrapper : std::uint8_t { unsaid, without, conditional, unconditional };
enum class json_nulls : std::uint8_t { unsaid, null, absent };

struct json_pair;
/// JSON_VALUE, JSON_QUERY, JSON_EXISTS, JSON_OBJECT, JSON_ARRAY, JSON_OBJECTAGG, JSON_ARRAYAGG.
struct json_call {
  std::string function; ///< in capitals
  std::vector<expression> arguments;
  std::vector<json_pair> pairs; ///< of JSON_OBJECT and JSON_OBJECTAGG
  std::optional<type_name> returning;
  std::optional<json_default> on_empty;
  std::optional<json_default> on_error;
  json_wrapper wrapper = json_wrapper::unsaid;
  json_nulls nulls = json_nulls::unsaid;
  std::optional<box<expression>> filter;
  friend bool operator==(const json_call&, const json_call&);
};

struct row_constructor {
  std::vector<expression> items; ///< one only when written with ROW
  bool is_explicit = false;      ///< written with ROW
  friend bool operator==(const row_constructor&, const row_constructor&);
};

enum class collection_kind : std::uint8_t { array, map, multiset };
/// ARRAY[…], MAP[k, v, …], MULTISET[…], or with a query in parentheses.
struct collection_constructor {
  collection_kind kind = collection_kind::array;
  std::vector<expression> items;
  std::optional<box<query>> rows;
  friend bool operator==(const collection_constructor&, const collection_constructor&);
};

/// `a[1]`, `m['k']`.
struct item_access {
  box<expression> value;
  box<expression> index;
  friend bool operator==(const item_access&, const item_access&) = default;
};

/// A field of what is no column: `f(x).b`, `a[1].b`.
struct field_access {
  box<expression> value;
  name field;
  friend bool operator==(const field_access&, const field_access&) = default;
};

/// FINAL and RUNNING in MEASURES and DEFINE.
struct match_semantics {
  bool is_final = false;
  box<expression> value;
  friend bool operator==(const match_semantics&, const match_semantics&) = default;
};

struct expression {
  std::variant<literal, column_reference, star, operation, between, like, in_list, in_query, exists,
               subquery, quantified_comparison, case_expression, cast, symbol_argument,
               table_argument, descriptor, function_call, json_call, row_constructor,
               collection_constructor, item_access, field_access, match_semantics>
      node;
  source_span at;
  friend bool operator==(const expression&, const expression&) = default;
};

struct when_branch {
  std::vector<expression> conditions; ///< several only after CASE x: WHEN 1, 2 THEN
  expression value;
  friend bool operator==(const when_branch&, const when_branch&) = default;
};

struct argument {
  std::optional<name> label; ///< f(label => value)
  expression value;
  friend bool operator==(const argument&, const argument&) = default;
};

struct json_pair {
  expression key;
  expression value;
  friend bool operator==(const json_pair&, const json_pair&) = default;
};

struct order_item {
  expression value;
  bool is_descending = false;
  std::optional<bool> nulls_first;
  friend bool operator==(const order_item&, const order_item&) = default;
};

enum class frame_bound_kind : std::uint8_t {
  unbounded_preceding,
  preceding,
  current_row,
  following,
  unbounded_following
};
struct frame_bound {
  frame_bound_kind kind = frame_bound_kind::current_row;
  std::optional<expression> offset;
  friend bool operator==(const frame_bound&, const frame_bound&) = default;
};

struct window_frame {
  bool is_rows = false; ///< else RANGE
  frame_bound start;
  std::optional<frame_bound> end; ///< else the current row
  friend bool operator==(const window_frame&, const window_frame&) = default;
};

/// `OVER (w PARTITION BY … ORDER BY … ROWS …)`; `OVER w` has the name and no parentheses.
struct window_specification {
  std::optional<name> base;
  bool is_reference = false; ///< OVER w
  std::vector<expression> partition_by;
  std::vector<order_item> order_by;
  std::optional<window_frame> frame;
  source_span at;
  friend bool operator==(const window_specification&, const window_specification&) = default;
};

} // namespace headrace::sql
