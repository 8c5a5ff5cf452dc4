#pragma once

#include "libgraph/data/batch_builder.hpp"
#include "libgraph/user_function/user_function.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

// User functions, ready to be called by one thread. Called a batch at a time.
namespace headrace::graph {

/// An argument: a value by row, or one for all rows.
struct user_argument {
  const column* values = nullptr;
  bool is_constant = false;
  std::size_t at(std::size_t row) const { return is_constant ? 0 : row; }
};
using user_arguments = std::span<const user_argument>;

/// The rows of a batch that a function is called for, in order.
struct user_rows {
  const std::uint32_t* rows = nullptr; ///< nullptr: all of [0, count)
  std::size_t count = 0;
  std::uint32_t at(std::size_t index) const {
    return rows == nullptr ? static_cast<std::uint32_t>(index) : rows[index];
  }
};

class user_scalar {
public:
  virtual ~user_scalar() = default;
  /// Appends a value for each of the rows. @errors data_errc::user_code_failed
  virtual status compute(user_arguments arguments, user_rows rows, column_builder& out) = 0;
};

class user_table {
public:
  virtual ~user_table() = default;
  /// Calls the function for the rows from `from` on, until about `rows_max` rows are made.
  /// @param parents  gets, by row that is made, which of `rows` it is of
  /// @param out      a column a column of the function
  /// @returns the next one of `rows`. @errors data_errc::user_code_failed
  virtual result<std::size_t> make(user_arguments arguments, user_rows rows, std::size_t from,
                                   std::size_t rows_max, std::vector<std::uint32_t>& parents,
                                   batch_builder& out) = 0;
};

/// An aggregate; what it keeps of a group are bytes of its own.
class user_aggregate {
public:
  virtual ~user_aggregate() = default;
  virtual status create(byte_string& group) = 0;
  virtual status accumulate(byte_string& group, user_arguments arguments, std::size_t row) = 0;
  /// Takes a row back. Only where the definition has it.
  virtual status retract(byte_string& group, user_arguments arguments, std::size_t row) = 0;
  /// Adds what another group has. Only where the definition has it.
  virtual status merge(byte_string& group, byte_view other) = 0;
  /// Appends the value.
  virtual status tell(byte_view group, column_builder& out) = 0;
};

/// Make a function of its definition. That of a library, in C++, is looked up at the first call.
/// @errors data_errc::user_code_failed  with what is wrong in its code
result<std::unique_ptr<user_scalar>> make_user_scalar(const user_function& of);
result<std::unique_ptr<user_table>> make_user_table(const user_function& of);
result<std::unique_ptr<user_aggregate>> make_user_aggregate(const user_function& of);

} // namespace headrace::graph
