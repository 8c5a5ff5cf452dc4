#pragma once

#include "libgraph/spec/over_frame.hpp"
#include "libgraph/sql/bind/type_rules.hpp"
#include "libgraph/user_function/user_function.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace headrace::sql {

struct bound_expression;
struct bound_over;

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
/// the arguments. A user's function has its name in backticks.
struct bound_call {
  std::string function;
  std::vector<bound_expression> arguments;
  std::optional<box<bound_expression>> filter; ///< of an aggregate
  std::optional<box<bound_over>> over;         ///< of a function over a window of rows
  bool is_aggregate = false;                   ///< of the rows of a group; with `over` it is none
  bool is_distinct = false;
  std::shared_ptr<const graph::user_function> user{}; ///< null: built in
  friend bool operator==(const bound_call&, const bound_call&);
};

/// Whether both are none, or the same function.
inline bool are_same(const std::shared_ptr<const graph::user_function>& left,
                     const std::shared_ptr<const graph::user_function>& right) {
  return left == right || (left != nullptr && right != nullptr && *left == *right);
}

/// An expression whose names and types are known. All casts stand in it.
struct bound_expression {
  std::variant<bound_constant, bound_column, bound_field, bound_call> node;
  logical_type type = logical_type::null();
  source_span at;
  friend bool operator==(const bound_expression&, const bound_expression&) = default;
};

enum class window_function : std::uint8_t { tumble, hop, cumulate, session };

/// One direction of an order.
struct sort_direction {
  bool is_descending = false;
  bool nulls_first = false;
  friend bool operator==(const sort_direction&, const sort_direction&) = default;
};

/// OVER (PARTITION BY … ORDER BY … frame): the rows that a function sees, up to the current one.
struct bound_over {
  std::vector<bound_expression> partition_by;
  std::vector<bound_expression> order_by;
  std::vector<sort_direction> directions; ///< one an expression of `order_by`
  bool is_rows = false;                   ///< else RANGE: with all rows that are equal in the order
  std::optional<std::int64_t> preceding;  ///< rows, or milliseconds; nothing: all that came before
  graph::over_frame frame;                ///< the same and more; columns are of `bounds`
  std::vector<bound_expression> bounds;   ///< of a RANGE by a distance
  friend bool operator==(const bound_over&, const bound_over&) = default;
};

inline bool operator==(const bound_call& left, const bound_call& right) {
  return left.function == right.function && left.arguments == right.arguments &&
         left.filter == right.filter && left.over == right.over &&
         left.is_aggregate == right.is_aggregate && left.is_distinct == right.is_distinct &&
         are_same(left.user, right.user);
}

/// Calls `see` for each expression right below a call; those of its window last.
template <class Call, class See>
void for_each_child(Call& call, const See& see) {
  for (auto& each : call.arguments)
    see(each);
  if (call.filter)
    see(**call.filter);
  if (!call.over)
    return;
  for (auto& each : (*call.over)->partition_by)
    see(each);
  for (auto& each : (*call.over)->order_by)
    see(each);
  for (auto& each : (*call.over)->bounds)
    see(each);
}

/// Calls `see` for each column in it, which may be changed.
void visit_columns(bound_expression& in, const std::function<void(bound_column&)>& see);
void visit_columns(const bound_expression& in, const std::function<void(const bound_column&)>& see);

/// Puts another expression in place of each column for which `find` gives one.
void replace_columns(
    bound_expression& in,
    const std::function<std::optional<bound_expression>(const bound_column&)>& find);

/// For tests and EXPLAIN: "CAST(+($0, 1)):BIGINT"; constants as they were written, columns as
/// $index.
std::string to_string(const bound_expression& from);
/// With columns by their names.
std::string to_string(const bound_expression& from, std::span<const std::string> names);

} // namespace headrace::sql
