#pragma once

#include "libstate/key/key_schema.hpp"
#include "libgraph/function/state.hpp"
#include "libgraph/types/logical_type.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace headrace::state {

/// What a table is for; with the types it decides whether a restored state may be opened.
enum class table_kind : std::uint8_t {
  value = 1, ///< graph::state_kind of a user's state, same numbers
  list = 2,
  map = 3,
  reducing = 4,
  aggregating = 5,
  operator_rows = 6, ///< of a built-in operator (window or running aggregate, join side, …)
  timers = 7,
};

/// Whether user functions reach it by handles; else an operator does by batches.
constexpr bool is_user_kind(table_kind kind) {
  return kind != table_kind::operator_rows && kind != table_kind::timers;
}

/// Where values lie: `fixed_bytes` of plain memory (multiple of 8, at most 1024), or variable
/// bytes.
struct value_layout {
  static constexpr std::size_t fixed_bytes_max = 1024;
  std::size_t fixed_bytes = 0;
  bool is_variable() const { return fixed_bytes == 0; }
  static value_layout fixed(std::size_t width) { return {width}; }
  static value_layout variable() { return {0}; }
  friend bool operator==(const value_layout&, const value_layout&) = default;
};

/// Names and describes one table of a keyed backend. Stored in snapshots, compared on restore.
struct state_description {
  std::string name; ///< unique in the operator, at most 255 bytes
  table_kind kind = table_kind::operator_rows;
  graph::logical_type value_type; ///< of the accumulator, element or map value
  /// Of a map's entries. Of an operator's rows: there is one an entry of the key, and this type is
  /// behind the key's in what they are found by (`keys_of`). Else type NULL.
  graph::logical_type entry_key_type;
  value_layout layout;
  std::int64_t ttl_ms = 0; ///< 0: never expires; only for user states
  friend bool operator==(const state_description&, const state_description&) = default;
};

/// What the rows of a state are found by: the key, and the entry where an operator's rows have one.
key_schema keys_of(const key_schema& key, const state_description& state);
/// The type of values that are bytes in a form of their operator's own: it names what is in them,
/// so that an operator of a changed query is refused where it would read bytes of another meaning.
graph::logical_type bytes_of(std::vector<graph::logical_type::field> parts);
/// Whether a type is one that `bytes_of` gives: values of it are not to be decoded.
bool is_bytes_of_parts(const graph::logical_type& type);

/// What is said of a restored state that nobody has opened.
error state_left(const state_description& left);

/// Returns success when a state stored as `stored` may be opened as `wanted`. TTL may differ.
/// @errors incompatible_state  names the state and the first difference (kind, layout, or the type
///         field by field)
status check_compatible(const state_description& stored, const state_description& wanted);

} // namespace headrace::state
