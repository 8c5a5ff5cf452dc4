#pragma once

#include "libgraph/data/record_batch.hpp"
#include "libgraph/expression/expression.hpp"

#include <span>
#include <string>
#include <string_view>

namespace headrace::testing {

/// The row type of `sample_rows`: a column of every kind, each named for its type.
const graph::row_type_ptr& sample_type();
/// Four rows: usual values, NULLs, least or empty values, greatest or odd ones.
const graph::record_batch& sample_rows();

/// An expression of SQL over the columns of `sample_type`, bound and translated; fails the test
/// when it is not sound.
graph::expression expression_of(std::string_view text, std::string_view zone = "UTC");

/// The value as rows are printed; "error: …" for one that is refused. An expression without columns
/// is also computed with its constants as columns, and must give the same.
std::string value_of(std::string_view text, std::string_view zone = "UTC");
/// The values over `sample_rows`: "7 | null | 0 | -1".
std::string values_of(std::string_view text, std::string_view zone = "UTC");

struct expected_value {
  std::string_view text;
  std::string_view value;
};
/// Checks all of a table, by `value_of` or, where a column is named, `values_of`.
void check_values(std::span<const expected_value> table, std::string_view zone = "UTC");

} // namespace headrace::testing
