#pragma once

#include "libgraph/sql/parse/statement_ast.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace headrace::sql {

/// Writes trees as SQL. Its sources: print_expression, print_query, print_statement.
class sql_writer {
public:
  std::string take() && { return std::move(out_); }

  void write(const statement& from);
  void write(const query& from);
  /// In parentheses when it binds less tightly than `least`.
  void write(const expression& from, int least = 0);
  void write(const type_name& from);
  void write(const qualified_name& from);

private:
  void put(std::string_view text) { out_ += text; }
  void put_name(std::string_view text);
  void put_string(std::string_view text);
  void put_names(const std::vector<name>& names); ///< in parentheses
  template <class T, class F>
  void put_list(const std::vector<T>& items, F write_one) {
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (i > 0)
        put(", ");
      write_one(items[i]);
    }
  }
  void put_items(const std::vector<expression>& items);

  // expressions
  void write_node(const literal& from);
  void write_node(const column_reference& from);
  void write_node(const star& from);
  void write_node(const operation& from);
  void write_node(const between& from);
  void write_node(const like& from);
  void write_node(const in_list& from);
  void write_node(const in_query& from);
  void write_node(const exists& from);
  void write_node(const subquery& from);
  void write_node(const quantified_comparison& from);
  void write_node(const case_expression& from);
  void write_node(const cast& from);
  void write_node(const symbol_argument& from);
  void write_node(const table_argument& from);
  void write_node(const descriptor& from);
  void write_node(const function_call& from);
  void write_node(const json_call& from);
  void write_node(const row_constructor& from);
  void write_node(const collection_constructor& from);
  void write_node(const item_access& from);
  void write_node(const field_access& from);
  void write_node(const match_semantics& from);
  bool write_special_call(const function_call& from);
  void write_json_default(const json_default& from, std::string_view on);
  void write_interval(const interval_qualifier& from);
  void write_rows(const query& rows); ///< in parentheses
  void write_window(const window_specification& from);
  void write_bound(const frame_bound& from);
  void write_order(const std::vector<order_item>& items);
  void write_order_item(const order_item& from);

  // queries
  void write_body(const select& from);
  void write_body(const values& from);
  void write_body(const set_operation& from);
  void write_body(const explicit_table& from);
  void write_body(const box<query>& from);
  void write_hints(const std::vector<hint>& hints);
  void write_hint_word(const hint_word& from);
  void write_grouping(const grouping& from);
  void write_table(const table_expression& from);
  void write_table_node(const table_reference& from);
  void write_table_node(const derived_table& from);
  void write_table_node(const function_table& from);
  void write_table_node(const unnest& from);
  void write_table_node(const join_table& from);
  void write_table_node(const match_recognize& from);
  void write_join_side(const table_expression& from, bool is_right);
  void write_pattern(const row_pattern& from, bool is_part);

  // statements
  void write_node(const query_statement& from);
  void write_node(const insert& from);
  void write_node(const statement_set& from);
  void write_node(const explain& from);
  void write_node(const plan_statement& from);
  void write_node(const create_table& from);
  void write_node(const create_view& from);
  void write_node(const create_function& from);
  void write_node(const create_catalog& from);
  void write_node(const create_database& from);
  void write_node(const drop& from);
  void write_node(const alter& from);
  void write_node(const set_statement& from);
  void write_node(const reset_statement& from);
  void write_node(const use& from);
  void write_node(const show& from);
  void write_node(const describe& from);
  void write_node(const stop_job& from);
  void write_node(const truncate_table& from);
  void write_node(const quit_statement& from);
  void write_action(const change_columns& from);
  void write_action(const drop_columns& from);
  void write_action(const drop_definition& from);
  void write_action(const add_partitions& from);
  void write_action(const drop_partitions& from);
  void write_action(const rename_column& from);
  void write_action(const rename_object& from);
  void write_action(const set_options& from);
  void write_action(const reset_options& from);
  void write_action(const set_comment& from);
  void write_action(const set_query& from);
  void write_column(const column_definition& from);
  void write_key(const key_constraint& from);
  void write_watermark(const watermark_definition& from);
  void write_elements(const std::vector<column_definition>& columns,
                      const std::optional<watermark_definition>& watermark,
                      const std::vector<key_constraint>& keys);
  void write_distribution(const distribution& from);
  void write_like(const like_clause& from);
  void write_options(const std::vector<option_setting>& options);
  void write_comment(const std::optional<text_value>& comment);
  void write_partition(const std::vector<partition_value>& partition);

  std::string out_;
};

} // namespace headrace::sql
