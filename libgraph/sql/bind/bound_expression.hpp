#pragma once

#include "libgraph/sql/bind/type_rules.hpp"

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace headrace::sql {

struct bound_expression;

/// A column of the input, by its place.
struct bound_column {
  std::size_t index = 0;
  friend bool operator==(const bound_column&, const bound_column&) = default;
};

/// A field of a row.
struct bound_field {
  box<bound_expression> row;
  std::size_t index = 0;
  friend bool operator==(const bound_field&, const bound_field&) = default;
};

/// A constant; its value is the literal's text, read by the expression's type. NULL has none.
struct bound_constant {
  std::optional<std::string> text;
  std::optional<interval_qualifier> interval;
  friend bool operator==(const bound_constant&, const bound_constant&) = default;
};

/// A built-in function or operator, by its name in capitals: "+", "AND", "CASE", "CAST", "UPPER".
/// CASE has condition, value, …, and the value of ELSE. A word of the grammar is a constant among
/// the arguments.
struct bound_call {
  std::string function;
  std::vector<bound_expression> arguments;
  std::optional<box<bound_expression>> filter; ///< of an aggregate
  bool is_aggregate = false;
  bool is_distinct = false;
  friend bool operator==(const bound_call&, const bound_call&);
};

/// An expression whose names and types are known. All casts stand in it.
struct bound_expression {
  std::variant<bound_constant, bound_column, bound_field, bound_call> node;
  logical_type type = logical_type::null();
  source_span at;
  friend bool operator==(const bound_expression&, const bound_expression&) = default;
};

inline bool operator==(const bound_call& left, const bound_call& right) {
  return left.function == right.function && left.arguments == right.arguments &&
         left.filter == right.filter && left.is_aggregate == right.is_aggregate &&
         left.is_distinct == right.is_distinct;
}

/// Calls `see` for each column in it, which may be changed.
void visit_columns(bound_expression& in, const std::function<void(bound_column&)>& see);
void visit_columns(const bound_expression& in, const std::function<void(const bound_column&)>& see);

/// For tests and EXPLAIN: "CAST(+($0, 1)):BIGINT"; constants as they were written, columns as
/// $index.
std::string to_string(const bound_expression& from);
/// With columns by their names.
std::string to_string(const bound_expression& from, std::span<const std::string> names);

} // namespace headrace::sql
