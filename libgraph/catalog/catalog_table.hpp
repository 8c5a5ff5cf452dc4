#pragma once

#include "libgraph/types/logical_type.hpp"
#include "libgraph/user_function/user_function.hpp"
#include "libactors/base/result.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace headrace::graph {

/// `catalog.database.object`, all three known.
struct object_path {
  std::string catalog;
  std::string database;
  std::string object;

  /// With backticks: "`c`.`d`.`t`".
  std::string to_sql() const;
  friend auto operator<=>(const object_path&, const object_path&) = default;
};

/// Options of WITH, by key.
using object_options = std::map<std::string, std::string, std::less<>>;

/// How a column comes by its values.
enum class column_kind : std::uint8_t {
  physical, ///< the connector's rows have it
  computed, ///< by an expression over the others
  metadata, ///< the connector gives it beside the row
};

struct table_column {
  std::string name;
  logical_type type;
  column_kind kind = column_kind::physical;
  std::string expression;   ///< of a computed column, as SQL
  std::string metadata_key; ///< of a metadata column
  bool is_virtual = false;  ///< a metadata column that is not written
  std::string comment;
  friend bool operator==(const table_column&, const table_column&) = default;
};

/// WATERMARK FOR column AS expression.
struct table_watermark {
  std::string column;
  std::string expression; ///< as SQL
  friend bool operator==(const table_watermark&, const table_watermark&) = default;
};

/// What a table's definition says, checked: names are unique, keys and partitions are columns.
struct table_definition {
  std::vector<table_column> columns;
  std::optional<table_watermark> watermark;
  std::vector<std::string> primary_key; ///< empty: none
  std::vector<std::string> partitioned_by;
  object_options options;
  std::string comment;
  /// The columns that a query sees, in their order: all of them.
  logical_type row_type() const;
  /// Returns the index of the column, or nothing.
  std::optional<std::size_t> find_column(std::string_view name) const;
  friend bool operator==(const table_definition&, const table_definition&) = default;
};

struct view_definition {
  std::string query;   ///< as SQL
  std::string catalog; ///< what short names in it are completed with
  std::string database;
  std::vector<table_column> columns;
  std::string comment;
  friend bool operator==(const view_definition&, const view_definition&) = default;
};

struct function_definition {
  std::shared_ptr<const user_function> code; ///< never null
  std::vector<std::string> resources;        ///< paths of what the code lies in
  friend bool operator==(const function_definition&, const function_definition&) = default;
};

/// @errors bad_usage  a name is there twice; a key or partition column is missing or may be NULL;
/// all
///                    columns are partition columns
status check_table(const table_definition& table);

} // namespace headrace::graph
