#pragma once

#include "libgraph/data/column.hpp"
#include "libactors/base/bytes.hpp"
#include "libactors/base/result.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace headrace::graph {

/// A column of the input, by its place.
struct input_column {
  std::uint32_t index = 0;
  friend bool operator==(const input_column&, const input_column&) = default;
};

/// A value: a column of one row, of the node's type. Equal when the bytes are.
struct constant_value {
  column_ptr value;
  friend bool operator==(const constant_value& left, const constant_value& right);
};

/// A built-in function or operator by its name in capitals: "+", "AND", "CASE", "CAST", "UPPER".
/// CASE has condition, value, …, and the value of ELSE; FIELD has a row and the field's place as a
/// constant INT. A word of the grammar (a unit, a side) is a constant STRING. USER, and VOLATILE
/// USER where it may give others for the same arguments, have a user's function (`encode` of it) as
/// constant BYTES, then its arguments.
struct function_call {
  std::string function;
  std::vector<std::uint32_t> arguments; ///< places of nodes before this one
  friend bool operator==(const function_call&, const function_call&) = default;
};

struct expression_node {
  std::variant<input_column, constant_value, function_call> form;
  logical_type type = logical_type::null();
  friend bool operator==(const expression_node&, const expression_node&) = default;
};

/// What is computed of each row, as a task runs it: typed, without names or source text. Nodes
/// stand behind those that they use; the last one is the whole. A value.
struct expression {
  std::vector<expression_node> nodes;

  bool is_empty() const { return nodes.empty(); }
  const expression_node& root() const { return nodes.back(); }
  const logical_type& type() const { return nodes.back().type; }
  friend bool operator==(const expression&, const expression&) = default;
};

/// Largest counts that an expression may have.
struct expression_limits {
  static constexpr std::size_t nodes = 100'000;
  static constexpr std::size_t height = 2'000; ///< nodes from the root to a leaf
};

expression make_column(std::uint32_t index, logical_type type);
/// @param value  one row
expression make_constant(column_ptr value);
expression make_call(std::string function, logical_type type, std::vector<expression> arguments);

/// One NULL of a type, and single values; `T` is the physical type.
column_ptr null_value(const logical_type& type);
column_ptr text_value(const logical_type& type, std::string_view text);
template <class T>
column_ptr fixed_value(const logical_type& type, T value) {
  auto values = buffer::allocate(sizeof(T));
  *values->mutable_as<T>() = value;
  column::parts parts;
  parts.size = 1;
  parts.values = std::move(values);
  return column::make(type, std::move(parts));
}

/// Checks what evaluation relies on: nodes in order, columns of the input that have the type, one
/// value a constant, limits. Pure.
/// @errors invalid_graph, type_mismatch
status check_expression(const expression& checked, const logical_type& input);

/// For tests and EXPLAIN: "CAST(+($0, 1)):BIGINT".
std::string to_string(const expression& from);

/// Bytes of the value, and the value of bytes. @errors malformed_message
byte_string encode_value(const column_ptr& value);
result<column_ptr> decode_value(const logical_type& type, byte_view bytes);

} // namespace headrace::graph
