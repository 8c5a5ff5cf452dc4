#pragma once

#include "libstate/keyed/keyed_table.hpp"
#include "libstate/keyed/state_description.hpp"
#include "libgraph/data/column.hpp"
#include "libgraph/types/logical_type.hpp"
#include "libactors/base/bytes.hpp"
#include "libactors/base/result.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

// What the states of operators say, for people who look into a savepoint. How an operator's bytes
// are read stands beside what writes them; `stored_states` knows them all. Pure.
namespace headrace::task {

struct stored_member;

/// What some stored bytes say.
struct stored_value {
  /// Bytes that say nothing more.
  struct raw {
    byte_string bytes;
  };
  /// A value of a column.
  struct cell {
    graph::column_ptr column;
    std::size_t row = 0;
  };
  using list = std::vector<stored_value>;
  using object = std::vector<stored_member>;

  std::variant<std::monostate, bool, std::int64_t, std::string, raw, cell, list, object> content{};
};

struct stored_member {
  std::string name;
  stored_value value;
};

/// Adds a member. Of a name that is there already it becomes "name 2", "name 3", …
void add_member(stored_value::object& to, std::string name, stored_value value);
/// "2024-02-29T12:34:56.789"; NULL for the time that stands for none.
stored_value time_value(std::int64_t time_ms);

/// One entry of a state, as it is stored.
struct stored_entry {
  state::state_namespace space = 0;
  byte_view entry_key; ///< of a map's entries
  byte_view value;
};
/// The same, read.
struct stored_reading {
  /// Of an entry in a namespace, what that is; nothing: a number, which says nothing where it is 0.
  std::optional<stored_member> space{};
  std::optional<stored_value> entry_key{};
  stored_value value{};
};
/// Reads an entry of one state. @errors corrupt_snapshot, malformed_message: nothing wrote it so
using stored_reader = std::function<result<stored_reading>(const stored_entry&)>;

/// What is known of an operator: how its states were declared.
class stored_operator {
public:
  explicit stored_operator(std::span<const state::state_description> states) : states_(states) {}

  /// Null: it has none of this name.
  const state::state_description* find(std::string_view name) const;
  /// What `declare_query` was given; empty where an older release stored nothing.
  std::vector<std::string> query() const;

private:
  std::span<const state::state_description> states_;
};

/// What `state::bytes_of` was given. @param type  `is_bytes_of_parts`
const std::vector<graph::logical_type::field>& parts_in(const graph::logical_type& type);
/// The error of a value that is not as its operator writes it.
error not_as_written(std::string_view state);

/// Reads rows that `graph::encode_keys` wrote of all their columns.
class stored_rows {
public:
  explicit stored_rows(std::span<const graph::logical_type::field> columns);
  /// An object of its columns for each row. @errors malformed_message
  result<std::vector<stored_value>> read(std::span<const byte_view> rows) const;

private:
  graph::row_type_ptr type_; ///< all columns may be NULL
};

} // namespace headrace::task
