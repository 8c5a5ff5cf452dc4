#pragma once

#include "libgraph/sql/bind/bound_expression.hpp"
#include "libgraph/sql/bind/function_table.hpp"
#include "libgraph/sql/parse/query_ast.hpp"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace headrace::sql {

/// The columns that an expression may name, in the order of the input's rows: those of a table
/// after another, each table with its name.
class column_scope {
public:
  struct column {
    std::string table; ///< alias or last part of the name; empty: none
    std::string name;
    logical_type type;
    bool is_hidden = false; ///< found by table and name alone, and not by *
  };

  void add(std::string table, std::string name, logical_type type, bool is_hidden = false) {
    columns_.push_back({std::move(table), std::move(name), std::move(type), is_hidden});
  }
  const std::vector<column>& columns() const { return columns_; }

  /// Columns of the query around a sub-query are numbered from here on.
  static constexpr std::size_t outer_first = std::size_t{1} << 32U;
  /// The scope of the query around, where names are looked for that this one has not; null: none.
  void set_outer(const column_scope* outer) { outer_ = outer; }
  const column_scope* outer() const { return outer_; }

private:
  std::vector<column> columns_;
  const column_scope* outer_ = nullptr;
};

/// Gives what a query stands for as a column behind those of the scope; nothing after a finding.
using query_value_planner =
    std::function<std::optional<bound_expression>(const subquery&, source_span)>;

/// Gives what IN (query), EXISTS, or ANY or ALL of a query is for each row, likewise. With
/// `null_is_false` it may be FALSE where it would be NULL: nobody tells them apart.
using query_test_planner =
    std::function<std::optional<bound_expression>(const expression&, bool null_is_false)>;

/// What calls mean in a session, beside what is built in.
struct user_function_finder {
  /// Finds a user's function; null: there is none of the name. With `is_system`, of those alone
  /// that hide built-in ones.
  std::function<std::shared_ptr<const graph::user_function>(const qualified_name& name,
                                                            bool is_system)>
      find;
  std::string database; ///< the current one
};

/// The window of a GROUP BY, such as TUMBLE(ts, INTERVAL '1' HOUR): three columns of the scope.
struct group_window {
  const function_call* call = nullptr; ///< null: none
  std::size_t first_column = 0;        ///< start, end, last millisecond

  /// The kind of window that a call with its name stands for; nothing: for none.
  static std::optional<window_function> kind_of(const function_call& call);
};

class pattern_scope;

/// Resolves names and types of expressions over a scope. Goes on behind an error, so that the
/// errors of both sides of an operator are found; each is reported once. A value, of one thread.
class expression_binder {
public:
  /// @param scope      must outlive the binder
  /// @param functions  likewise; null: there are only built-in ones
  expression_binder(const column_scope& scope, std::vector<diagnostic>& findings,
                    const user_function_finder* functions = nullptr)
      : scope_(scope), findings_(findings), functions_(functions) {}

  /// Nothing after an error, which is among the findings.
  std::optional<bound_expression> bind(const expression& from);
  /// As `bind`, of type BOOLEAN: WHERE, ON, HAVING.
  /// @param null_is_false  nobody tells NULL from FALSE
  std::optional<bound_expression> bind_condition(const expression& from,
                                                 bool null_is_false = false);
  /// The arguments of a user's function, cast to its parameters. Nothing after a finding.
  std::optional<std::vector<bound_expression>> bind_arguments(const function_call& from,
                                                              const graph::user_function& of);
  void allow_aggregates(bool is_allowed) { allows_aggregates_ = is_allowed; }
  /// Without it a query that stands for a value is refused.
  void set_query_values(query_value_planner plan) { plan_query_value_ = std::move(plan); }
  /// Without it IN (query), EXISTS, ANY and ALL of a query are refused.
  void set_query_tests(query_test_planner plan) { plan_query_test_ = std::move(plan); }
  /// From now on the call that GROUP BY has, and TUMBLE_START and so on with its arguments, are
  /// found. @param window  must outlive the binder
  void set_group_window(const group_window& window) { group_window_ = &window; }
  /// From now on calls may have OVER. @param named  of the WINDOW clause; must outlive the binder
  void allow_windows(const std::vector<named_window>& named) { named_windows_ = &named; }
  /// From now on names and calls are those of MATCH_RECOGNIZE. @param pattern  must outlive the
  /// binder
  void set_pattern(pattern_scope& pattern) { pattern_ = &pattern; }
  /// A column of the scope, by its place.
  bound_expression column(std::size_t index, source_span at) const {
    return {bound_column{index}, scope_.columns()[index].type, at};
  }
  /// The value as another type; it may be NULL as before. Stays as it is where only that differs.
  static bound_expression cast_to(bound_expression value, const logical_type& type);
  /// Casts both to the type that they are compared in. Decimals that have none in common with all
  /// digits of both stay as they are: the comparison takes these. @returns false: there is none
  static bool cast_to_compare(bound_expression& left, bound_expression& right);

private:
  using maybe = std::optional<bound_expression>;

  maybe fail(diagnostic_kind kind, std::string message, source_span at);
  std::optional<std::vector<bound_expression>> bind_all(const std::vector<expression>& from);
  static bound_expression call(std::string function, std::vector<bound_expression> arguments,
                               logical_type type, source_span at);
  /// Casts both to what they have in common, for a comparison.
  bool align(bound_expression& left, bound_expression& right, std::string_view sign,
             source_span at);

  maybe bind_node(const literal& from, source_span at);
  maybe bind_node(const column_reference& from, source_span at);
  maybe bind_node(const operation& from, source_span at);
  maybe bind_node(const between& from, source_span at);
  maybe bind_node(const like& from, source_span at);
  maybe bind_node(const in_list& from, source_span at);
  std::optional<maybe> bind_in_rows(const in_list& from, source_span at);
  static bound_expression junction(std::string_view word, std::vector<bound_expression> operands,
                                   source_span at);
  static bound_expression compare_each(const bound_expression& value,
                                       std::vector<bound_expression> items, bool is_negated,
                                       source_span at);
  maybe bind_node(const case_expression& from, source_span at);
  maybe bind_node(const cast& from, source_span at);
  maybe bind_node(const function_call& from, source_span at);
  maybe bind_node(const json_call& from, source_span at);
  maybe bind_node(const symbol_argument& from, source_span at);
  maybe bind_node(const row_constructor& from, source_span at);
  maybe bind_node(const collection_constructor& from, source_span at);
  maybe bind_node(const item_access& from, source_span at);
  maybe bind_node(const field_access& from, source_span at);
  maybe bind_node(const subquery& from, source_span at);
  maybe bind_node(const exists& from, source_span at);
  maybe bind_node(const in_query& from, source_span at);
  maybe bind_node(const quantified_comparison& from, source_span at);
  maybe bind_query_test(expression test, std::string_view word);
  maybe bind_node(const match_semantics& from, source_span at);
  maybe resolve(const column_reference& from, source_span at);
  /// What is bound with queries, or not at all yet.
  template <class T>
  maybe bind_node(const T&, source_span at) {
    return fail(diagnostic_kind::unsupported, "this form of expression is not supported", at);
  }

  maybe bind_number(const literal& from, bool is_negative, source_span at);
  maybe bind_logic(const operation& from, std::string_view word, source_span at);
  maybe bind_comparison(const operation& from, std::string_view sign, source_span at);
  maybe bind_overlaps(const operation& from, source_span at);
  maybe bind_is_json(const operation& from, source_span at);
  maybe bind_json_search(const json_call& from, source_span at);
  maybe bind_json_aggregate(const json_call& from, source_span at);
  maybe bind_json_made(const json_call& from, source_span at);
  /// What JSON_VALUE gives when there is nothing, as an argument of its kernel.
  maybe bind_json_default(const std::optional<json_default>& from, const logical_type& type,
                          source_span at);
  maybe bind_field(bound_expression row, const name& field);
  maybe bind_current_database(const function_call& from, source_span at);
  // --- users' functions (bind_user_function.cpp)
  maybe bind_user_call(const function_call& from,
                       std::shared_ptr<const graph::user_function> function, source_span at);
  std::optional<std::vector<const expression*>> place_arguments(const function_call& from,
                                                                const graph::user_function& of);
  // --- MATCH_RECOGNIZE (bind_match.cpp)
  bool note_variable(std::optional<std::size_t> variable, source_span at);
  maybe bind_pattern_column(const column_reference& from, source_span at);
  maybe bind_navigation(const function_call& from, const std::string& function, source_span at);
  maybe bind_pattern_aggregate(const function_call& from, const std::string& function,
                               std::span<const function_signature> ways, source_span at);
  /// What a call is in a pattern; nothing when it is one as elsewhere.
  std::optional<maybe> bind_pattern_call(const function_call& from, source_span at);
  // --- OVER (bind_over.cpp)
  maybe bind_over_call(const function_call& from, const std::string& function,
                       std::span<const function_signature> ways, source_span at);
  /// What a call tells of the window of GROUP BY; nothing when it is about something else.
  std::optional<maybe> bind_group_window(const function_call& from, source_span at);
  std::optional<window_specification> resolve_window(const window_specification& from);
  std::optional<bound_over> bind_window(const window_specification& from);
  bool bind_frame(const window_frame& from, source_span at, bound_over& out);
  bool bind_edge(const frame_bound& from, bound_over& out, graph::over_edge& edge);

  maybe unknown_column(const name& wanted, std::string_view table);
  maybe unknown_function(const function_call& from);
  /// What a result's type becomes by the values of constant arguments.
  logical_type type_by_constants(std::string_view function, const logical_type& type,
                                 std::vector<bound_expression>& arguments);
  bool fit_percentile(std::vector<bound_expression>& arguments);
  maybe apply(std::span<const function_signature> ways, const function_call& from,
              std::vector<bound_expression> arguments, source_span at);

  const column_scope& scope_;
  std::vector<diagnostic>& findings_;
  const user_function_finder* functions_;
  bool allows_aggregates_ = false;
  bool is_in_aggregate_ = false;
  query_value_planner plan_query_value_;
  query_test_planner plan_query_test_;
  bool null_is_false_ = false;                               ///< of what is bound next
  const std::vector<named_window>* named_windows_ = nullptr; ///< null: no OVER here
  bool is_in_window_ = false;
  const group_window* group_window_ = nullptr;
  pattern_scope* pattern_ = nullptr; ///< null: not in MATCH_RECOGNIZE
  /// Which rows of a match the columns are of.
  struct navigation {
    bool is_inside = false; ///< of a call
    bool is_last = true;
    std::int32_t offset = 0;
    bool has_variable = false; ///< some column was seen
    std::optional<std::size_t> variable;
  };
  navigation navigation_;
};

} // namespace headrace::sql
