#pragma once

#include "libgraph/sql/parse/expression_ast.hpp"
#include "libgraph/types/logical_type.hpp"

#include <optional>
#include <span>
#include <vector>

// Flink's rules for types: what a written type means, what two types have in common, what an
// operator makes of them. Nullability goes along: a result may be NULL when an operand may.
namespace headrace::sql {

using graph::logical_type;
using graph::type_root;

bool is_exact_integer(type_root root); ///< TINYINT … BIGINT
bool is_numeric(type_root root);
bool is_character(type_root root); ///< CHAR, VARCHAR
bool is_binary(type_root root);
bool is_timestamp(type_root root); ///< with or without zone
bool is_interval(type_root root);

/// What a written type means; nothing, and a finding, for what is out of range or no type of a
/// column.
std::optional<logical_type> resolve_type(const type_name& written,
                                         std::vector<diagnostic>& findings);

/// Whether values are the same in both, NULL apart.
bool is_same_but_null(const logical_type& left, const logical_type& right);

/// The least type that all can be cast to without being asked; nothing when there is none. All but
/// NULLs: NULL.
std::optional<logical_type> common_type(std::span<const logical_type> types);

/// Whether a decimal type has all values of an exact number, or NULL.
bool holds_digits(const logical_type& decimal, const logical_type& of);
/// The decimal type that has an integer type's values.
logical_type decimal_of(const logical_type& integer);

/// +, -, *, / and % of numbers, times and intervals; nothing when they do not go together. Integers
/// stay integers, and wrap; decimals grow as far as 38 digits, then give up digits behind the
/// point.
std::optional<logical_type> arithmetic_type(operator_kind kind, const logical_type& left,
                                            const logical_type& right);

/// Whether = and < have a meaning, perhaps after a cast of one side.
bool is_comparable(const logical_type& left, const logical_type& right);

/// Whether INSERT may cast so without being asked: to what holds all values, and to texts, decimals
/// and times of fewer digits.
bool is_implicitly_castable(const logical_type& from, const logical_type& to);

/// Whether CAST(… AS …) has a meaning.
bool is_castable(const logical_type& from, const logical_type& to);

} // namespace headrace::sql
