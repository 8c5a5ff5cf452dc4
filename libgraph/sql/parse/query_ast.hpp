#pragma once

#include "libgraph/sql/parse/expression_ast.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace headrace::sql {

struct table_expression;

/// A word of a hint: `t`, `c.d.t`, `'1 d'`, `100`.
struct hint_word {
  enum class kind : std::uint8_t { name, string, number };
  kind written = kind::name;
  std::string text;
  friend bool operator==(const hint_word&, const hint_word&) = default;
};
struct hint_argument {
  std::optional<hint_word> key; ///< 'key' = 'value'
  hint_word value;
  friend bool operator==(const hint_argument&, const hint_argument&) = default;
};
/// `/*+ STATE_TTL('a' = '1 d') */`
struct hint {
  name label;
  std::vector<hint_argument> arguments;
  friend bool operator==(const hint&, const hint&) = default;
};

struct select_item {
  expression value; ///< perhaps a star
  std::optional<name> alias;
  friend bool operator==(const select_item&, const select_item&) = default;
};

/// An element of GROUP BY.
struct grouping {
  enum class kind : std::uint8_t { expressions, sets, rollup, cube };
  kind written = kind::expressions;
  std::vector<expression> expressions; ///< `a` has one, `(a, b)` two, `()` none
  std::vector<grouping> elements;      ///< of GROUPING SETS, ROLLUP, CUBE
  source_span at;
  friend bool operator==(const grouping&, const grouping&);
};

struct named_window {
  name label;
  window_specification window;
  friend bool operator==(const named_window&, const named_window&) = default;
};

struct select {
  std::vector<hint> hints;
  bool is_distinct = false;
  std::vector<select_item> items;
  std::optional<box<table_expression>> from;
  std::optional<expression> where;
  bool has_group_by = false;
  std::vector<grouping> group_by;
  std::optional<expression> having;
  std::vector<named_window> windows;
  std::optional<expression> qualify;
  friend bool operator==(const select&, const select&);
};

/// Rows of VALUES; each has one item or more.
struct values {
  std::vector<std::vector<expression>> rows;
  friend bool operator==(const values&, const values&) = default;
};

enum class set_operator : std::uint8_t { union_, intersect, except };
/// Two or more queries, from left to right.
struct set_operation {
  set_operator kind = set_operator::union_;
  bool is_all = false;
  std::vector<query> operands;
  friend bool operator==(const set_operation&, const set_operation&);
};

/// `TABLE t` in place of a query.
struct explicit_table {
  qualified_name table;
  friend bool operator==(const explicit_table&, const explicit_table&) = default;
};

struct common_table {
  name label;
  std::vector<name> columns;
  box<query> rows;
  friend bool operator==(const common_table&, const common_table&) = default;
};

/// A query with what stands around it. `body` is a query only where parentheses keep the order of
/// the inner one apart: `(SELECT … LIMIT 3) ORDER BY a`.
struct query {
  bool is_recursive = false;
  std::vector<common_table> with;
  std::variant<select, values, set_operation, explicit_table, box<query>> body;
  std::vector<order_item> order_by;
  std::optional<expression> limit; ///< FETCH FIRST, too
  std::optional<expression> offset;
  source_span at;
  friend bool operator==(const query&, const query&) = default;
};

// ---- what stands in FROM --------------------------------------------------------------------

struct table_reference {
  qualified_name table;
  std::vector<hint> hints;
  friend bool operator==(const table_reference&, const table_reference&) = default;
};

struct derived_table {
  box<query> rows;
  bool is_lateral = false;
  friend bool operator==(const derived_table&, const derived_table&) = default;
};

/// `TABLE(f(…))`, `f(…)`, `LATERAL TABLE(f(…))`.
struct function_table {
  expression call;
  bool is_lateral = false;
  friend bool operator==(const function_table&, const function_table&) = default;
};

struct unnest {
  std::vector<expression> collections;
  bool has_ordinality = false;
  friend bool operator==(const unnest&, const unnest&) = default;
};

enum class join_kind : std::uint8_t { inner, left, right, full, cross, comma };
struct join_table {
  join_kind kind = join_kind::inner;
  bool is_natural = false;
  box<table_expression> left;
  box<table_expression> right;
  std::optional<expression> on;
  std::vector<name> common_columns; ///< USING (…)
  source_span sign;
  friend bool operator==(const join_table&, const join_table&) = default;
};

/// A part of PATTERN.
struct row_pattern {
  enum class kind : std::uint8_t { variable, sequence, alternation, exclusion, permutation, empty };
  kind written = kind::empty;
  std::string variable;
  std::vector<row_pattern> parts;
  std::uint32_t repeat_min = 1;
  std::optional<std::uint32_t> repeat_max = 1; ///< nothing: without end
  bool is_quantified = false;
  bool is_reluctant = false;
  source_span at;
  friend bool operator==(const row_pattern&, const row_pattern&);
};

struct labeled_expression {
  name label;
  expression value;
  friend bool operator==(const labeled_expression&, const labeled_expression&) = default;
};

enum class match_skip : std::uint8_t { unsaid, past_last_row, to_next_row, to_first, to_last };
struct pattern_subset {
  name label;
  std::vector<name> variables;
  friend bool operator==(const pattern_subset&, const pattern_subset&) = default;
};

struct match_recognize {
  box<table_expression> input;
  std::vector<expression> partition_by;
  std::vector<order_item> order_by;
  std::vector<labeled_expression> measures;
  std::optional<bool> all_rows_per_match; ///< nothing: unsaid, which is one row
  match_skip skip = match_skip::unsaid;
  std::optional<name> skip_variable;
  row_pattern pattern;
  bool is_anchored_at_start = false;
  bool is_anchored_at_end = false;
  std::optional<expression> within;
  std::vector<pattern_subset> subsets;
  std::vector<labeled_expression> defines;
  friend bool operator==(const match_recognize&, const match_recognize&) = default;
};

struct table_alias {
  name label;
  std::vector<name> columns;
  friend bool operator==(const table_alias&, const table_alias&) = default;
};

struct table_expression {
  std::variant<table_reference, derived_table, function_table, unnest, join_table, match_recognize>
      node;
  std::optional<expression> system_time; ///< FOR SYSTEM_TIME AS OF
  std::optional<table_alias> alias;
  source_span at;
  friend bool operator==(const table_expression&, const table_expression&) = default;
};

} // namespace headrace::sql
