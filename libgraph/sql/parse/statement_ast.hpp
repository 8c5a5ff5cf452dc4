#pragma once

#include "libgraph/sql/parse/query_ast.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace headrace::sql {

struct statement;

/// A key or value in quotes: 'connector' = 'datagen'.
struct text_value {
  std::string text;
  source_span at;
  friend bool operator==(const text_value&, const text_value&) = default;
};
struct option_setting {
  text_value key;
  text_value value;
  friend bool operator==(const option_setting&, const option_setting&) = default;
};

// ---- tables ---------------------------------------------------------------------------------

/// Where ALTER TABLE puts a column.
struct column_position {
  std::optional<name> after; ///< nothing: FIRST
  friend bool operator==(const column_position&, const column_position&) = default;
};

struct metadata_column {
  std::optional<text_value> key; ///< FROM 'key'; nothing: the column's name
  bool is_virtual = false;
  friend bool operator==(const metadata_column&, const metadata_column&) = default;
};

/// A column: physical (`type` alone), of metadata, or computed (`computed` alone). Only the name in
/// the column list of CREATE TABLE … AS.
struct column_definition {
  name label;
  std::optional<type_name> type;
  std::optional<metadata_column> metadata;
  std::optional<expression> computed;
  bool is_primary_key = false; ///< written at the column
  std::optional<text_value> comment;
  std::optional<column_position> position; ///< only in ALTER TABLE
  source_span at;
  friend bool operator==(const column_definition&, const column_definition&) = default;
};

struct watermark_definition {
  qualified_name column; ///< perhaps a field of a row
  expression value;
  source_span at;
  friend bool operator==(const watermark_definition&, const watermark_definition&) = default;
};

/// PRIMARY KEY or UNIQUE over columns.
struct key_constraint {
  std::optional<name> label;
  bool is_primary = true;
  std::vector<name> columns;
  bool is_not_enforced = false;
  source_span at;
  friend bool operator==(const key_constraint&, const key_constraint&) = default;
};

enum class distribution_kind : std::uint8_t { unsaid, hash, range };
/// `DISTRIBUTED BY HASH (a) INTO 4 BUCKETS`
struct distribution {
  distribution_kind kind = distribution_kind::unsaid;
  std::vector<name> columns;
  std::optional<std::uint32_t> buckets;
  friend bool operator==(const distribution&, const distribution&) = default;
};

enum class like_feature : std::uint8_t {
  all,
  constraints,
  distribution,
  generated,
  metadata,
  options,
  partitions,
  watermarks
};
enum class like_strategy : std::uint8_t { including, excluding, overwriting };
struct like_option {
  like_strategy strategy = like_strategy::including;
  like_feature feature = like_feature::all;
  friend bool operator==(const like_option&, const like_option&) = default;
};
struct like_clause {
  qualified_name table;
  std::vector<like_option> options;
  friend bool operator==(const like_clause&, const like_clause&) = default;
};

struct create_table {
  bool is_temporary = false;
  bool replaces = false;
  bool if_not_exists = false;
  qualified_name table;
  std::vector<column_definition> columns;
  std::vector<key_constraint> keys;
  std::optional<watermark_definition> watermark;
  std::optional<text_value> comment;
  std::optional<distribution> distributed_by;
  std::vector<name> partitioned_by;
  std::vector<option_setting> options;
  std::optional<like_clause> like;
  std::optional<query> as;
  friend bool operator==(const create_table&, const create_table&) = default;
};

struct view_column {
  name label;
  std::optional<text_value> comment;
  friend bool operator==(const view_column&, const view_column&) = default;
};
struct create_view {
  bool is_temporary = false;
  bool replaces = false;
  bool if_not_exists = false;
  qualified_name view;
  std::vector<view_column> columns;
  std::optional<text_value> comment;
  query rows;
  friend bool operator==(const create_view&, const create_view&) = default;
};

enum class function_language : std::uint8_t { unsaid, java, scala, python, sql, lua, cpp };
struct resource {
  std::string kind; ///< LIBRARY, JAR, FILE, ARCHIVE, ARTIFACT
  text_value path;
  friend bool operator==(const resource&, const resource&) = default;
};
struct function_parameter {
  name label;
  type_name type;
  friend bool operator==(const function_parameter&, const function_parameter&) = default;
};
/// CREATE FUNCTION and ALTER FUNCTION. A function of a text says what it takes and returns:
///
///     CREATE FUNCTION twice(a BIGINT) RETURNS BIGINT LANGUAGE LUA AS $$ return 2 * a $$
///     CREATE FUNCTION up_to(n INT) RETURNS TABLE (i INT) LANGUAGE LUA AS $$ … $$
///     CREATE FUNCTION last(a INT) RETURNS AGGREGATE INT NOT DETERMINISTIC LANGUAGE LUA AS $$ … $$
///
/// One of a library need not: CREATE FUNCTION twice AS 'twice' LANGUAGE CPP USING LIBRARY 'x.so'
struct create_function {
  bool is_alter = false;
  bool is_temporary = false;
  bool is_system = false;
  bool if_not_exists = false; ///< of ALTER: IF EXISTS
  qualified_name function;
  std::optional<std::vector<function_parameter>> parameters;
  std::optional<type_name> returns; ///< a value, or an aggregate of them
  std::optional<std::vector<function_parameter>> returned_columns; ///< of TABLE (…)
  bool is_aggregate = false;
  std::optional<bool> is_deterministic; ///< nothing: unsaid
  text_value body;                      ///< a class, a symbol of a shared object, or a text in `$$`
  bool is_text = false;                 ///< written in `$$`
  function_language language = function_language::unsaid;
  std::vector<resource> resources;
  std::vector<option_setting> options;
  friend bool operator==(const create_function&, const create_function&) = default;
};

struct create_catalog {
  bool if_not_exists = false;
  name catalog;
  std::optional<text_value> comment;
  std::vector<option_setting> options;
  friend bool operator==(const create_catalog&, const create_catalog&) = default;
};
struct create_database {
  bool if_not_exists = false;
  qualified_name database;
  std::optional<text_value> comment;
  std::vector<option_setting> options;
  friend bool operator==(const create_database&, const create_database&) = default;
};

enum class object_kind : std::uint8_t { catalog, database, table, view, function };
struct drop {
  object_kind kind = object_kind::table;
  bool is_temporary = false;
  bool is_system = false;
  bool if_exists = false;
  qualified_name object;
  bool cascades = false; ///< of a database; RESTRICT is the default
  friend bool operator==(const drop&, const drop&) = default;
};

// ---- ALTER ----------------------------------------------------------------------------------

/// ADD or MODIFY: columns, keys and a watermark, as in CREATE TABLE.
struct change_columns {
  bool is_modify = false;
  bool is_list = false; ///< in parentheses
  std::vector<column_definition> columns;
  std::vector<key_constraint> keys;
  std::optional<watermark_definition> watermark;
  std::optional<distribution> distributed_by;
  friend bool operator==(const change_columns&, const change_columns&) = default;
};
struct drop_columns {
  bool is_list = false;
  std::vector<qualified_name> columns;
  friend bool operator==(const drop_columns&, const drop_columns&) = default;
};
enum class droppable : std::uint8_t { primary_key, constraint, watermark, distribution };
struct drop_definition {
  droppable what = droppable::primary_key;
  std::optional<name> constraint;
  friend bool operator==(const drop_definition&, const drop_definition&) = default;
};
struct partition_value {
  name column;
  std::optional<expression> value; ///< a literal; nothing: dynamic
  friend bool operator==(const partition_value&, const partition_value&) = default;
};
struct add_partitions {
  bool if_not_exists = false;
  std::vector<std::vector<partition_value>> partitions;
  friend bool operator==(const add_partitions&, const add_partitions&) = default;
};
struct drop_partitions {
  bool if_exists = false;
  std::vector<std::vector<partition_value>> partitions;
  friend bool operator==(const drop_partitions&, const drop_partitions&) = default;
};
struct rename_column {
  qualified_name from;
  name to;
  friend bool operator==(const rename_column&, const rename_column&) = default;
};
struct rename_object {
  qualified_name to;
  friend bool operator==(const rename_object&, const rename_object&) = default;
};
struct set_options {
  std::vector<option_setting> options;
  friend bool operator==(const set_options&, const set_options&) = default;
};
struct reset_options {
  std::vector<text_value> keys;
  friend bool operator==(const reset_options&, const reset_options&) = default;
};
struct set_comment {
  text_value comment;
  friend bool operator==(const set_comment&, const set_comment&) = default;
};
struct set_query {
  query rows;
  friend bool operator==(const set_query&, const set_query&) = default;
};

/// ALTER CATALOG, DATABASE, TABLE and VIEW; which action goes with which object, the parser knows.
struct alter {
  object_kind kind = object_kind::table;
  bool if_exists = false;
  qualified_name object;
  std::variant<change_columns, drop_columns, drop_definition, add_partitions, drop_partitions,
               rename_column, rename_object, set_options, reset_options, set_comment, set_query>
      action;
  friend bool operator==(const alter&, const alter&) = default;
};

// ---- what runs ------------------------------------------------------------------------------

enum class conflict_action : std::uint8_t { nothing, error, deduplicate };
struct insert {
  bool overwrites = false;
  qualified_name table;
  std::vector<hint> hints;
  std::vector<partition_value> partition;
  std::vector<qualified_name> columns;
  query rows;
  std::optional<conflict_action> on_conflict;
  source_span at;
  friend bool operator==(const insert&, const insert&) = default;
};

/// One job of several INSERTs.
struct statement_set {
  std::vector<insert> inserts;
  friend bool operator==(const statement_set&, const statement_set&) = default;
};

/// A query as a statement: its rows are shown.
struct query_statement {
  query rows;
  friend bool operator==(const query_statement&, const query_statement&) = default;
};

enum class explain_detail : std::uint8_t {
  estimated_cost,
  changelog_mode,
  json_execution_plan,
  plan_advice
};
struct explain {
  std::vector<explain_detail> details;
  box<statement> of; ///< a query, INSERT, statement set or CREATE TABLE … AS
  friend bool operator==(const explain&, const explain&) = default;
};

/// COMPILE PLAN 'file' [IF NOT EXISTS] FOR …, COMPILE AND EXECUTE PLAN …, EXECUTE PLAN 'file'.
struct plan_statement {
  bool compiles = false;
  bool executes = false;
  bool if_not_exists = false;
  text_value file;
  std::optional<box<statement>> of;
  friend bool operator==(const plan_statement&, const plan_statement&) = default;
};

// ---- the session ----------------------------------------------------------------------------

/// SET, SET 'k' = 'v', SET k = v.
struct set_statement {
  std::optional<option_setting> setting; ///< nothing: show all
  friend bool operator==(const set_statement&, const set_statement&) = default;
};
struct reset_statement {
  std::optional<text_value> key; ///< nothing: all
  friend bool operator==(const reset_statement&, const reset_statement&) = default;
};

struct use {
  object_kind kind = object_kind::database; ///< or a catalog
  qualified_name object;
  friend bool operator==(const use&, const use&) = default;
};

enum class show_kind : std::uint8_t {
  catalogs,
  databases,
  tables,
  views,
  functions,
  user_functions,
  columns,
  partitions,
  modules,
  full_modules,
  jobs,
  jars,
  connectors,
  current_catalog,
  current_database,
  create_table,
  create_view,
  create_catalog
};
enum class show_filter : std::uint8_t { none, like, ilike };
struct show {
  show_kind kind = show_kind::tables;
  std::optional<qualified_name>
      in; ///< FROM or IN; the table or view of COLUMNS, PARTITIONS, CREATE
  std::vector<partition_value> partition;
  show_filter filter = show_filter::none;
  bool is_filter_negated = false;
  text_value pattern;
  friend bool operator==(const show&, const show&) = default;
};

enum class describe_kind : std::uint8_t { catalog, database, table, function, job, connector };
struct describe {
  describe_kind kind = describe_kind::table;
  bool is_extended = false;
  qualified_name object;        ///< of a job or connector: none
  std::optional<text_value> id; ///< of a job or connector
  friend bool operator==(const describe&, const describe&) = default;
};

struct stop_job {
  text_value job;
  bool with_savepoint = false;
  bool with_drain = false;
  friend bool operator==(const stop_job&, const stop_job&) = default;
};
struct truncate_table {
  qualified_name table;
  friend bool operator==(const truncate_table&, const truncate_table&) = default;
};

/// The end of a script, as the SQL client has it: what follows does not run.
struct quit_statement {
  friend bool operator==(const quit_statement&, const quit_statement&) = default;
};

struct statement {
  std::variant<query_statement, insert, statement_set, explain, plan_statement, create_table,
               create_view, create_function, create_catalog, create_database, drop, alter,
               set_statement, reset_statement, use, show, describe, stop_job, truncate_table,
               quit_statement>
      node;
  source_span at; ///< without the ';'
  friend bool operator==(const statement&, const statement&) = default;
};

} // namespace headrace::sql
