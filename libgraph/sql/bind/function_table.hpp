#pragma once

#include "libgraph/sql/bind/type_rules.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace headrace::sql {

enum class function_kind : std::uint8_t {
  scalar,
  aggregate,
  ranking, ///< only with OVER: ROW_NUMBER
};

/// When a result may be NULL.
enum class null_rule : std::uint8_t {
  any,    ///< when an argument may be
  all,    ///< when all arguments may be
  never,  //
  always, ///< whatever the arguments
};

/// One way to call a built-in function. `parameters` has a letter an argument:
///
///     b boolean   n number    i integer   s text     y bytes   d date or timestamp
///     t time of any kind      v interval  a array    m map     c comparable       x anything
///     k a word of the grammar (a unit of time, a side)
///
/// What follows '|' may be left out; '*' at the end lets the last one come again.
struct function_signature {
  std::string_view name; ///< in capitals
  std::string_view parameters;
  /// Of the arguments' types, words of the grammar left out; nothing when they do not go together.
  std::optional<logical_type> (*result)(std::span<const logical_type> arguments);
  null_rule nulls = null_rule::any;
  function_kind kind = function_kind::scalar;
};

/// Every built-in function that is bound, sorted by name; several entries are several ways.
std::span<const function_signature> all_functions();
/// The ways to call a function, by its name in capitals; empty when there is none.
std::span<const function_signature> find_function(std::string_view name);
/// Whether as many arguments may be given.
bool takes_count(const function_signature& signature, std::size_t count);
/// The letter of an argument, `takes_count` given.
char parameter_at(const function_signature& signature, std::size_t index);
/// Whether an argument of the type may stand for the letter, as it is or by an implicit cast.
bool fits(char parameter, const logical_type& type);
/// What errors call the letter: "a number".
std::string_view parameter_text(char parameter);

} // namespace headrace::sql
