#pragma once

#include "libgraph/sql/bind/bound_expression.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace headrace::sql {

/// A value of the rows that a match has so far: of those that one variable has taken, or of all.
struct pattern_value {
  enum class kind : std::uint8_t {
    first,      ///< of the row `offset` rows behind the first one
    last,       ///< of the row `offset` rows before the last one
    aggregate,  ///< over all of them
    match_time, ///< when the match was found
  };
  kind what = kind::last;
  std::optional<std::size_t> variable; ///< nothing: of all
  std::int32_t offset = 0;
  std::size_t column = 0;                  ///< of the input, with `first` and `last`
  std::string function;                    ///< of an aggregate, in capitals
  std::vector<bound_expression> arguments; ///< over the input's columns; COUNT without any: rows
  logical_type type = logical_type::null();
  friend bool operator==(const pattern_value&, const pattern_value&) = default;
};

/// What names and calls stand for inside of MATCH_RECOGNIZE: of a condition of DEFINE columns of
/// the row that it is about, else values of the rows of a match, which come behind the input's
/// columns.
class pattern_scope {
public:
  pattern_scope(std::vector<std::string> variables, std::size_t width)
      : variables_(std::move(variables)), width_(width) {}

  /// What is bound from now on is the condition of a variable; nothing: MEASURES.
  void set_current(std::optional<std::size_t> variable) { current_ = variable; }
  std::optional<std::size_t> current() const { return current_; }
  /// The type of MATCH_ROWTIME(); nothing: rows are ordered by processing time.
  void set_time_type(logical_type type) { time_type_ = std::move(type); }
  const std::optional<logical_type>& time_type() const { return time_type_; }

  const std::vector<std::string>& variables() const { return variables_; }
  std::optional<std::size_t> find(std::string_view variable) const;
  /// The column that a value is; equal ones are one.
  std::size_t add(pattern_value value);
  const std::vector<pattern_value>& values() const { return values_; }

private:
  std::vector<std::string> variables_;
  std::size_t width_;
  std::optional<std::size_t> current_;
  std::optional<logical_type> time_type_;
  std::vector<pattern_value> values_;
};

} // namespace headrace::sql
