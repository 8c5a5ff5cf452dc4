#pragma once

#include "libgraph/sql/parse/parser.hpp"
#include "libgraph/sql/parse/token_stream.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace headrace::sql {

/// How tightly operators bind; the same numbers tell the printer where parentheses are needed.
namespace precedence {
constexpr int lowest = 0;
constexpr int or_ = 22;
constexpr int and_ = 24;
constexpr int not_ = 26;
constexpr int is = 28;
constexpr int comparison = 30;
constexpr int membership = 32; ///< IN, BETWEEN, LIKE, SIMILAR TO, OVERLAPS
constexpr int additive = 40;
constexpr int multiplicative = 60;
constexpr int sign = 80;
constexpr int access = 100; ///< `[…]`, `.field`
} // namespace precedence

int precedence_of(operator_kind kind);

/// The parser of one text: down by recursion, expressions by precedence climbing. Used once, for
/// one of the `run_…`. Its sources: parse_script, parse_statement, parse_create, parse_alter,
/// parse_query, parse_table, parse_match, parse_expression, parse_call, parse_literal, parse_type.
class statement_parser {
public:
  explicit statement_parser(std::string_view text, std::uint32_t view = 0);

  parsed<script> run_script();
  /// Runs `parse` over the whole text. A ';' may follow.
  template <class T>
  parsed<std::optional<T>> run_alone(T (statement_parser::*parse)()) {
    parsed<std::optional<T>> out;
    if (!check_size(out.findings))
      return out;
    auto value = (this->*parse)();
    in_.accept(';');
    expect_end();
    if (in_.has_failed())
      note_failure();
    else
      out.value = std::move(value);
    out.findings = std::move(findings_);
    return out;
  }

  statement parse_statement();
  query parse_query();
  expression parse_expression() { return parse_expression(precedence::lowest); }
  type_name parse_type();

private:
  /// Counts how deep the parser stands and how high the tree below it has grown. Children report
  /// their height to the scope around them; a chain of operators grows by one a link.
  class nesting_scope {
  public:
    explicit nesting_scope(statement_parser& parser);
    ~nesting_scope();
    nesting_scope(const nesting_scope&) = delete;
    nesting_scope& operator=(const nesting_scope&) = delete;
    /// False, and the parser has failed, when the nesting is too deep.
    bool is_sound() const { return is_sound_; }

  private:
    statement_parser& parser_;
    int outer_height_;
    bool is_sound_;
  };

  /// All that was parsed in the current scope becomes a child of the next node.
  void add_link();

  bool check_size(std::vector<diagnostic>& findings) const;
  void expect_end();
  void note_failure();

  // names and lists
  bool is_name(std::size_t ahead = 0) const;
  name parse_name(std::string_view what = "a name");
  qualified_name parse_qualified_name(std::string_view what = "a name");
  std::vector<name> parse_name_list();
  std::optional<name> parse_alias();
  std::optional<std::uint32_t> parse_count(std::string_view what);
  /// Calls `parse_one` for each of a list with commas between.
  template <class F>
  void parse_list(F parse_one) {
    do {
      parse_one();
    } while (in_.accept(','));
  }

  // statements
  statement parse_execute();
  statement parse_begin();
  statement_set parse_statement_set_body();
  statement parse_explain();
  plan_statement parse_compile_plan();
  insert parse_insert();
  std::vector<partition_value> parse_partition();
  static bool is_plain(std::string_view raw);
  statement parse_set();
  statement parse_reset();
  use parse_use();
  show parse_show();
  void parse_show_filter(show& out);
  describe parse_describe();
  stop_job parse_stop_job();
  text_value parse_text(std::string_view what = "a string");
  std::optional<text_value> parse_comment();
  std::vector<option_setting> parse_options();

  statement parse_create();
  create_table parse_create_table(bool is_temporary, bool replaces);
  void parse_table_element(create_table& out);
  column_definition parse_column(bool allows_bare, bool allows_position);
  void parse_column_constraint(column_definition& out);
  watermark_definition parse_watermark();
  std::optional<key_constraint> parse_key_constraint();
  std::optional<distribution> parse_distribution(kw::word verb);
  like_clause parse_like();
  create_view parse_create_view(bool is_temporary, bool replaces);
  create_function parse_create_function(bool is_alter, bool is_temporary, bool is_system);
  create_catalog parse_create_catalog();
  create_database parse_create_database();
  bool accept_if_not_exists();
  bool accept_if_exists();
  drop parse_drop();

  statement parse_alter();
  alter parse_alter_table();
  change_columns parse_change_columns(bool is_modify);
  void parse_drop_from_table(alter& out);
  void parse_rename_in_table(alter& out);
  std::vector<text_value> parse_key_list();

  // queries
  bool is_query_start(std::size_t ahead = 0) const;
  query parse_query_body(int least);
  query parse_query_primary();
  query parse_set_operations(query left, int least);
  query parse_query_tail(query out);
  query continue_query(query left);
  query parse_parenthesized_query();
  select parse_select();
  select_item parse_select_item();
  values parse_values();
  grouping parse_grouping();
  std::vector<hint> parse_hints();
  hint_word parse_hint_word();
  std::vector<order_item> parse_order_by();
  order_item parse_order_item();
  std::vector<common_table> parse_with(bool& is_recursive);

  // tables
  table_expression parse_from();
  table_expression parse_joins();
  std::optional<join_kind> accept_join(bool& is_natural);
  table_expression parse_table_primary();
  table_expression parse_table_source();
  table_expression parse_table_in_parentheses();
  bool is_query_in_parentheses() const;
  void parse_table_suffix(table_expression& out);
  match_recognize parse_match_recognize(table_expression input);
  row_pattern parse_pattern();
  row_pattern parse_pattern_sequence();
  row_pattern parse_pattern_factor();
  void parse_quantifier(row_pattern& out);
  void parse_match_skip(match_recognize& out);
  void parse_match_rows(match_recognize& out);

  // expressions
  expression parse_expression(int least);
  expression parse_prefix(int least);
  expression parse_primary();
  expression parse_postfix(expression value);
  bool parse_infix(expression& left, int least);
  bool parse_is(expression& left);
  bool parse_membership(expression& left);
  void parse_in(expression& left, bool is_negated);
  expression parse_binary(expression left, operator_kind kind);
  expression parse_parenthesized();
  std::vector<expression> parse_expression_list();
  expression parse_reserved_primary();
  expression parse_path();
  expression parse_case();
  expression parse_cast();
  expression parse_collection(collection_kind kind);
  expression parse_call_of(qualified_name function);
  argument parse_argument();
  void parse_call_suffix(function_call& out);
  expression parse_special_call();
  expression parse_extract();
  expression parse_position();
  /// { , argument }
  void parse_more_arguments(function_call& out);
  /// FROM start [FOR length]
  void parse_part(function_call& out);
  expression parse_substring();
  expression parse_trim();
  expression parse_overlay();
  expression parse_round_to_unit();
  expression parse_timestamp_arithmetic();
  expression parse_json_call();
  void parse_json_pairs(json_call& out);
  void parse_json_clauses(json_call& out);
  json_default parse_json_default();
  expression parse_symbol_unit();
  expression parse_table_argument();
  expression parse_descriptor();
  window_specification parse_over();
  window_specification parse_window();
  window_frame parse_frame();
  frame_bound parse_frame_bound();

  // literals and types
  bool is_string() const;
  expression parse_string_literal();
  std::string parse_plain_string(std::string_view what);
  std::optional<expression> parse_typed_literal();
  expression parse_interval();
  interval_qualifier parse_interval_qualifier();
  std::optional<interval_unit> accept_interval_unit();
  type_name parse_base_type();
  void parse_time_zone(type_name& out);
  void parse_type_arguments(type_name& out, std::string_view what);
  /// A name and a type, with a comment or without.
  void parse_field(type_name& out);
  void parse_row_fields(type_name& out);
  bool parse_null_suffix(type_name& out);

  template <class T>
  expression make(T node, source_span first) {
    return {std::move(node), in_.since(first)};
  }

  std::string_view text_;
  token_stream in_;
  std::vector<diagnostic> findings_;
  int depth_ = 0;
  bool is_in_match_ = false; ///< inside MATCH_RECOGNIZE
  int height_ = 0;           ///< of what was parsed in the current scope
};

} // namespace headrace::sql
