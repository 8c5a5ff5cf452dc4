#pragma once

#include "libgraph/catalog/catalog_store.hpp"
#include "libgraph/sql/bind/expression_binder.hpp"
#include "libgraph/sql/parse/statement_ast.hpp"
#include "libgraph/sql/plan/hints.hpp"
#include "libgraph/sql/plan/logical_plan.hpp"

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace headrace::sql {

/// What short names are completed with.
struct name_context {
  std::string catalog;
  std::string database;
};

/// Plans queries over the tables of a catalog: resolves names and types, expands views, stars and
/// common tables, and makes the tree of operators. Goes on behind an error where it can, so that
/// several are found. A value, of one thread; `catalog` and `findings` outlive it.
class query_planner {
public:
  query_planner(const graph::catalog_store& catalog, std::vector<diagnostic>& findings)
      : query_planner(catalog, {catalog.current_catalog(), catalog.current_database()}, findings) {}
  query_planner(const graph::catalog_store& catalog, name_context names,
                std::vector<diagnostic>& findings)
      : catalog_(catalog), names_(std::move(names)),
        findings_(findings), functions_{[this](const qualified_name& name, bool is_system) {
                                          return find_function(name, is_system);
                                        },
                                        catalog.current_database()} {}
  query_planner(const query_planner&) = delete; // its functions are found through itself
  query_planner& operator=(const query_planner&) = delete;
  ~query_planner() = default;

  /// The rows of a query. Nothing after an error, which is among the findings.
  std::optional<plan_node> plan(const query& from) { return plan_query(from); }
  /// Views whose late rows are read, by this statement or one that runs in the same job: their
  /// windows give them. Those that this statement reads are added.
  void keep_late(std::set<graph::object_path> of) { views_->late = std::move(of); }
  const std::set<graph::object_path>& late_views() const { return views_->late; }
  /// In batch mode windows take any time: without watermarks too.
  void set_batch(bool is_batch) { views_->is_batch = is_batch; }
  /// Where the texts of the views go that the statement reads, each when it is planned; outlives
  /// the planner.
  void keep_texts(view_texts& in) { views_->texts = &in; }

  /// The rows of a query into a table: matched by position, with casts that need not be asked for.
  std::optional<plan_node> plan(const insert& from);
  /// The rows of a query, shown to the one who asks.
  std::optional<plan_node> plan_collected(const query& from);

  /// Completes a name and finds what it leads to; nothing, and a finding, when there is none.
  std::optional<graph::named_relation> find_relation(const qualified_name& name);
  /// A user's function; null: there is none. With `is_system`, of those that hide built-in ones.
  std::shared_ptr<const graph::user_function> find_function(const qualified_name& name,
                                                            bool is_system) const;
  std::shared_ptr<const graph::user_function> find_any_function(const qualified_name& name) const {
    auto out = find_function(name, true);
    return out != nullptr ? out : find_function(name, false);
  }
  /// Whether the path leads to a view that reads itself, at once or through others.
  static bool is_over_itself(const graph::catalog_store& catalog, const graph::object_path& path);
  /// The binder's scope of a table's columns.
  static column_scope scope_of(const std::vector<plan_column>& columns, const std::string& table);

private:
  /// A plan, and how its columns are named: one entry a column.
  struct relation {
    plan_node plan;
    column_scope scope;
  };
  struct common_table_plan {
    std::string name;
    plan_node plan;
  };
  struct planned_view {
    std::optional<plan_node> rows;
    std::string failure; ///< without rows
  };
  /// What the views of one statement came to: each is planned once.
  struct view_plans {
    std::map<graph::object_path, planned_view> known;
    std::set<graph::object_path> late;    ///< whose late rows are kept
    std::vector<graph::object_path> open; ///< being planned, each read by the one before it
    std::size_t operators = 0;            ///< of what was put in
    std::string refusal; ///< why none can be planned that has this one below it; said once
    bool has_cycle = false;
    bool is_batch = false;
    view_texts* texts = nullptr; ///< null: nobody asks
  };
  /// A query's rows before ORDER BY: perhaps with columns behind, that only it needs.
  struct ordered {
    plan_node plan;
    std::size_t visible = 0;
    std::vector<sort_key> keys;
  };
  struct select_output {
    bound_expression value;
    std::string name;
  };

  /// The keys of several sets, as columns behind those of the rows.
  struct grouping_sets {
    std::vector<bound_expression> keys;
    std::vector<logical_type> key_types;     ///< nullable where a set has not the key
    std::vector<bound_expression> groupings; ///< GROUPING(…), each once
    std::size_t first_key = 0;
    std::size_t first_grouping = 0; ///< the set's number is behind them
  };

  std::nullopt_t fail(diagnostic_kind kind, std::string message, source_span at);
  std::nullopt_t unsupported(std::string message, source_span at) {
    return fail(diagnostic_kind::unsupported, std::move(message), at);
  }
  /// False, for those who only tell whether all is well.
  bool refuse(std::string message, source_span at) {
    unsupported(std::move(message), at);
    return false;
  }

  // --- queries (plan_query.cpp)
  std::optional<plan_node> plan_query(const query& from);
  std::optional<ordered> plan_body(const query& from);
  bool plan_common_table(const common_table& from);
  std::optional<plan_node> plan_values(const values& from, source_span at);
  std::optional<plan_node> plan_set(const set_operation& from, source_span at);
  static plan_node cast_columns(plan_node plan, const std::vector<logical_type>& types);
  /// Whether values of a type have an order; tells where not.
  bool check_order(const logical_type& type, source_span at);
  std::optional<ordered> order_rows(plan_node plan, const std::vector<order_item>& by);
  std::optional<std::int64_t> plan_count(const expression& from, std::string_view word);
  bool rename_columns(std::vector<plan_column>& columns, const std::vector<name>& names,
                      source_span at);

  // --- INSERT (plan_insert.cpp)
  using persisted_columns = std::vector<const graph::table_column*>;
  /// The values of INSERT … PARTITION, by the table's columns.
  std::optional<std::vector<std::optional<bound_expression>>>
  bind_partition(const insert& from, const graph::table_definition& table,
                 const persisted_columns& persisted);
  bool set_overwrite(const insert& from, sink_node& into);
  std::optional<std::vector<std::optional<std::size_t>>>
  match_columns(const std::vector<qualified_name>& listed, const persisted_columns& persisted);
  std::optional<plan_node> fit_rows(const insert& from, plan_node rows,
                                    const persisted_columns& persisted,
                                    const std::vector<std::optional<std::size_t>>& source,
                                    const std::vector<std::optional<bound_expression>>& fixed);

  // --- SELECT (plan_select.cpp)
  std::optional<ordered> plan_select(const select& from, const std::vector<order_item>& order_by,
                                     source_span at);
  std::optional<ordered>
  plan_hinted_select(const select& from, const std::vector<order_item>& order_by, source_span at);
  /// @param correlations  gets what names columns of the query around; null: nothing may
  std::optional<relation> plan_where(relation input, const expression& condition,
                                     std::vector<bound_expression>* correlations = nullptr);
  std::optional<std::vector<bound_expression>>
  bind_keys(const select& from, const group_window& window, expression_binder& binder);
  bool bind_items(const select& from, const relation& input, expression_binder& binder,
                  std::vector<select_output>& out);
  bool expand_star(const star& from, source_span at, const relation& input,
                   expression_binder& binder, std::vector<select_output>& out);
  bool bind_order(const order_item& from, bool is_distinct, expression_binder& binder,
                  std::vector<select_output>& items, std::vector<std::string>& names, ordered& out);
  std::optional<plan_node> plan_groups(plan_node rows, std::vector<bound_expression> keys,
                                       std::vector<bound_expression>& outputs,
                                       std::optional<bound_expression> having,
                                       std::optional<bound_expression>* qualify = nullptr);
  std::optional<bound_expression> bind_qualify(const select& from, const relation& input,
                                               const std::vector<select_output>& items);
  static plan_node plan_windows(plan_node rows, std::vector<bound_expression>& outputs,
                                std::optional<bound_expression> qualify);
  void explain_alias(const select& from, std::size_t first_finding);

  // --- queries inside expressions (plan_sub_query.cpp)
  /// Rows of a sub-query, and what ties them to those of the query around: conditions over its
  /// columns, and over those from `column_scope::outer_first` on.
  struct sub_rows {
    plan_node plan;
    std::vector<bound_expression> items; ///< of its list; nothing where only rows are wanted
    std::vector<std::string> names;      ///< of the items
    std::vector<bound_expression> correlations;
    std::string label{}; ///< of the table that they come from alone; empty: none
  };
  enum class wanted_items : std::uint8_t {
    none,
    own,     ///< over its own columns
    lateral, ///< that may name columns around, too
  };
  std::optional<sub_rows> plan_sub_rows(const query& from, const column_scope& outer,
                                        wanted_items wanted);
  std::optional<sub_rows> plan_correlated(const query& from, const column_scope& outer,
                                          wanted_items wanted);
  bool names_around(const query& from, const column_scope& outer);
  /// A condition with a query in it as a join: IN, EXISTS, ANY, ALL.
  std::optional<relation> plan_query_condition(relation input, const expression& condition);
  std::optional<relation> plan_in_query(relation input, const in_query& from, source_span at);
  std::optional<relation> plan_comparison(relation input, const quantified_comparison& from,
                                          bool is_negated, source_span at);
  std::optional<relation> plan_exists(relation input, const exists& from, bool is_negated,
                                      source_span at);
  std::optional<relation> join_query(relation input, sub_rows rows, join_type kind,
                                     std::vector<bound_expression> parts, source_span at);
  static relation keep_if(relation input, bound_expression condition, bool is_negated);
  /// Values of the rows around, and what of the query's rows is to be equal to them.
  struct matched_values {
    std::vector<bound_expression> values;
    std::vector<expression> items;
    bool may_be_null = false; ///< found: one of them
  };
  /// Joins the values of an aggregate without GROUP BY to the rows, as columns behind the others;
  /// gives what they are for each row.
  /// @param matched  the row is of the query's rows that are equal to these values
  std::optional<std::vector<bound_expression>>
  plan_aggregate_row(relation& input, const query& from, source_span at,
                     matched_values* matched = nullptr);
  bool tie_values(matched_values& matched, const relation& rows,
                  std::vector<bound_expression>& outer_keys, std::vector<bound_expression>& keys,
                  source_span at);
  /// Likewise of a query in place of a value.
  std::optional<bound_expression> plan_query_value(relation& input, const subquery& from,
                                                   source_span at);

  // --- tests by queries, as values (plan_query_test.cpp)
  /// IN (query), EXISTS, and ANY and ALL of a query, as what each row gives: where they stand in an
  /// expression. What they need is joined to the rows.
  std::optional<bound_expression> plan_query_test(relation& input, const expression& test,
                                                  bool null_is_false);
  std::optional<bound_expression> plan_exists_test(relation& input, const exists& from,
                                                   source_span at);
  std::optional<bound_expression> plan_in_test(relation& input, const in_query& from,
                                               bool null_is_false, source_span at);
  std::optional<bound_expression> plan_comparison_test(relation& input,
                                                       const quantified_comparison& from,
                                                       bool null_is_false, source_span at);
  std::optional<bound_expression> bind_tested(relation& input, const expression& from);
  /// As plan_aggregate_row; it says why a query cannot be about rows of the one around it.
  std::optional<std::vector<bound_expression>> plan_facts(relation& input, const query& of,
                                                          const query& facts, source_span at,
                                                          matched_values* matched = nullptr);
  void allow_queries(expression_binder& binder, relation& input);

  // --- GROUPING SETS (plan_grouping_sets.cpp)
  static bool has_grouping_sets(const select& from);
  static void find_groupings(const bound_expression& in, std::vector<bound_expression>& out);
  std::optional<std::vector<std::vector<std::size_t>>>
  sets_of(const grouping& from, expression_binder& binder, std::vector<bound_expression>& keys);
  bool find_keys(bound_expression& in, const grouping_sets& sets, bool in_aggregate);
  std::optional<grouping_sets> plan_sets(plan_node& rows, const select& from,
                                         expression_binder& binder,
                                         std::vector<bound_expression*> expressions);

  // --- FROM (plan_from.cpp)
  std::optional<relation> plan_table(const table_expression& from);
  std::optional<relation> plan_node_of(const table_reference& from, source_span at) {
    return plan_named(from, at);
  }
  std::optional<relation> plan_node_of(const derived_table& from, source_span at);
  std::optional<relation> plan_node_of(const function_table& from, source_span at);
  std::optional<relation> plan_node_of(const join_table& from, source_span at) {
    return plan_join(from, at);
  }
  std::optional<relation> plan_node_of(const unnest& from, source_span at);
  std::optional<relation> plan_node_of(const match_recognize& from, source_span at) {
    return plan_match(from, at);
  }
  std::optional<relation> plan_named(const table_reference& from, source_span at);
  /// VIEW$late.
  std::optional<relation> plan_late(const table_reference& from, source_span at);
  /// TABLE$errors.
  std::optional<relation> plan_dead_letters(const table_reference& from, source_span at);
  /// Whether there is a table or view of the name.
  bool is_known(const qualified_name& name);
  std::optional<plan_node> plan_relation(const graph::named_relation& found,
                                         const std::vector<hint>& hints, source_span at);
  std::optional<plan_node> plan_scan(const graph::object_path& path,
                                     const graph::table_definition& table,
                                     const std::vector<hint>& hints, source_span at);
  std::optional<plan_node> plan_view(const graph::object_path& path,
                                     const graph::view_definition& view, source_span at);
  planned_view plan_new_view(const graph::object_path& path, const graph::view_definition& view);
  std::optional<plan_node> put_in(const plan_node& rows, const std::string& label, source_span at);
  bool put_partitions(const graph::object_path& path, const graph::table_definition& table,
                      graph::object_options& into, source_span at);
  std::optional<plan_node> add_watermark(plan_node plan, const graph::table_watermark& watermark,
                                         source_span at);
  /// What a table's options say of its watermark, which `plan` makes.
  bool apply_watermark_options(plan_node& plan, const std::string& table,
                               const graph::object_options& options, source_span at);
  std::optional<relation> apply_alias(relation made, const table_alias& alias);

  // --- joins and windows (plan_join.cpp, plan_window.cpp)
  std::optional<relation> plan_join(const join_table& from, source_span at);
  std::optional<bound_expression> bind_shared(const relation& joined, std::size_t left_count,
                                              const std::vector<name>& shared, source_span at);
  std::optional<relation> merge_columns(relation joined, std::size_t left_count,
                                        const std::vector<name>& shared, join_type kind);
  std::optional<relation> plan_window(const function_call& from, source_span at);
  std::optional<relation> plan_group_window(relation input, const select& from,
                                            group_window& found);

  // --- UNNEST, LATERAL (plan_correlate.cpp)
  /// Whether the right side of a join is made of each row of the left one.
  bool is_correlated(const table_expression& right) const;
  std::optional<relation> plan_correlate(const join_table& from, source_span at);
  std::optional<relation> plan_unnest(relation input, const unnest& from, join_type kind,
                                      const std::optional<table_alias>& alias, source_span at);
  std::optional<relation> plan_table_function(relation input, const function_table& from,
                                              join_type kind,
                                              const std::optional<table_alias>& alias,
                                              source_span at);
  std::optional<relation> plan_lateral(relation input, const derived_table& from, join_type kind,
                                       const std::optional<table_alias>& alias, source_span at);
  /// The rows of a function behind those columns of the input that `made` passes on.
  std::optional<relation> correlated(relation input, correlate_node made,
                                     const std::optional<table_alias>& alias, source_span at);
  bool is_true(const expression& condition);

  // --- MATCH_RECOGNIZE (plan_match.cpp)
  std::optional<relation> plan_match(const match_recognize& from, source_span at);
  bool find_match_rows(const match_recognize& from, const relation& input, match_node& out);
  bool flatten_pattern(const row_pattern& from, match_node& out);
  bool add_variable(const row_pattern& from, match_node& out);
  bool check_last_variable(const match_recognize& from, const match_node& of);
  bool bind_defines(const match_recognize& from, expression_binder& binder, pattern_scope& pattern,
                    match_node& out);
  bool bind_measures(const match_recognize& from, expression_binder& binder, plan_node& out);
  bool find_skip(const match_recognize& from, match_node& out);

  /// In batch mode makes a time of a column that is a time, if it can be that of windows.
  void make_time(plan_node& rows, std::size_t column) const;

  // --- FOR SYSTEM_TIME AS OF (plan_temporal_join.cpp)
  std::optional<relation> plan_temporal_join(const join_table& from, source_span at);
  std::optional<relation> plan_lookup_join(const join_table& from, relation left, source_span at);
  std::optional<relation> plan_version_join(const join_table& from, relation left,
                                            std::size_t left_time, source_span at);
  std::optional<scan_node> plan_lookup_table(const table_expression& from,
                                             std::vector<plan_column>& columns, std::string& label);
  /// Which column of the input says as of when; nothing by the clock. @returns whether it is one
  bool find_asked_time(const expression& asked, const relation& input,
                       std::optional<std::size_t>& column);
  /// The primary key of the table that is named; nothing of others.
  std::optional<std::vector<std::size_t>> find_primary_key(const table_expression& of,
                                                           const std::vector<plan_column>& columns);

  const graph::catalog_store& catalog_;
  name_context names_;
  std::vector<diagnostic>& findings_;
  user_function_finder functions_;
  std::vector<common_table_plan> common_tables_; ///< the newest last
  select_hints* hints_ = nullptr;                ///< of the SELECT that is planned
  std::shared_ptr<view_plans> views_ = std::make_shared<view_plans>(); ///< also of inner planners
};

/// What a table of FROM is called: its alias, or the last part of its name; empty: nothing.
std::string label_of(const table_expression& from);
/// Items that pass all columns on.
std::vector<bound_expression> identity_items(const std::vector<plan_column>& columns);
/// Rows for which the condition is true.
plan_node filtered(plan_node input, bound_expression condition);
/// A column for each item, named so; a column that is passed on keeps what it has to do with time.
plan_node projected(plan_node input, std::vector<bound_expression> items,
                    std::vector<std::string> names);

/// The name of a computed column. That of what names no column has its value too: state that
/// depends on it is told by the names of columns, and must not be taken for another's.
std::string computed_name(std::string name, const bound_expression& from);

/// One row, for a SELECT without FROM, and for what is made of no other row. Its column has no name
/// that can be written.
plan_node one_row(source_span at);

/// Each row with the bounds of its windows behind the input's columns.
plan_node windowed(plan_node input, window_node made, source_span at);

/// What a watermark's expression over `column` means; nothing when it is neither the column nor the
/// column less a constant interval.
std::optional<watermark_node> watermark_of(const bound_expression& expression, std::size_t column);

} // namespace headrace::sql
