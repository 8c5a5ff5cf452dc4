#pragma once

#include "libgraph/user_function/user_code.hpp"

#include <memory>

namespace headrace::graph {

/// Functions in Lua; see docs/functions.md. Each has a Lua state of its own.
/// @errors data_errc::user_code_failed  a body that does not compile; functions of an aggregate
///         that are missing
result<std::unique_ptr<user_scalar>> make_lua_scalar(const user_function& of);
result<std::unique_ptr<user_table>> make_lua_table(const user_function& of);
result<std::unique_ptr<user_aggregate>> make_lua_aggregate(const user_function& of);

/// What an aggregate's body defines beside what it must: sets `has_retract` and `has_merge`.
/// Compiles bodies of any form. @errors data_errc::user_code_failed
status check_lua(user_function& of);

/// Whether a parameter may be called so in Lua.
bool is_lua_name(std::string_view name);

} // namespace headrace::graph
