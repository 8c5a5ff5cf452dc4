#pragma once

#include "libgraph/sql/plan/query_planner.hpp"

#include <optional>
#include <vector>

namespace headrace::sql {

/// Makes a table's definition of what CREATE TABLE and ALTER TABLE say: resolves types, binds
/// computed columns and the watermark, takes over what LIKE names. Goes on behind an error. A
/// value, of one thread; both references outlive it.
class table_planner {
public:
  table_planner(const graph::catalog_store& catalog, std::vector<diagnostic>& findings)
      : catalog_(catalog), findings_(findings) {}

  /// Nothing after an error. With AS, the columns are those of the query.
  std::optional<graph::table_definition> plan(const create_table& from);
  /// The table as changed. @param from  of a table: all but RENAME TO
  std::optional<graph::table_definition> plan(const alter& from, graph::table_definition table);

private:
  bool fail(diagnostic_kind kind, std::string message, source_span at);
  bool take_like(const like_clause& from, graph::table_definition& into);
  bool take_query(const query& from, graph::table_definition& into);
  bool declare_column(const column_definition& from, graph::table_definition& into);
  bool add_column(const column_definition& from, graph::table_definition& into);
  std::optional<graph::table_column> column_of(const column_definition& from,
                                               const graph::table_definition& table);
  bool put_column(graph::table_column column, const column_definition& from,
                  graph::table_definition& into);
  bool set_key(const key_constraint& from, graph::table_definition& into);
  bool set_watermark(const watermark_definition& from, graph::table_definition& into);
  bool set_options(const std::vector<option_setting>& from, graph::table_definition& into,
                   bool may_overwrite);
  std::optional<std::size_t> need_column(const name& wanted, const graph::table_definition& in);
  bool check_unused(const name& column, const graph::table_definition& in);

  bool change(const change_columns& from, graph::table_definition& table);
  bool change(const drop_columns& from, graph::table_definition& table);
  bool change(const drop_definition& from, graph::table_definition& table);
  bool change(const rename_column& from, graph::table_definition& table);
  bool change(const sql::set_options& from, graph::table_definition& table);
  bool change(const reset_options& from, graph::table_definition& table);
  bool change(const set_comment& from, graph::table_definition& table);
  template <class T>
  bool change(const T& /*partitions, queries*/, graph::table_definition& /*table*/) {
    return fail(diagnostic_kind::unsupported, "this change of a table is not supported", at_);
  }

  const graph::catalog_store& catalog_;
  std::vector<diagnostic>& findings_;
  source_span at_; ///< of the table's name
};

} // namespace headrace::sql
