#pragma once

#include <span>
#include <string_view>

namespace headrace::testing {

/// Expressions of every form that the dialect has.
std::span<const std::string_view> sql_expressions();
/// Types of every form.
std::span<const std::string_view> sql_types();
/// Queries of every form.
std::span<const std::string_view> sql_queries();
/// Statements of every form that are not queries.
std::span<const std::string_view> sql_statements();

} // namespace headrace::testing
