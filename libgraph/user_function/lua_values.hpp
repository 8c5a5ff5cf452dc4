#pragma once

#include "libgraph/data/batch_builder.hpp"
#include "libactors/base/bytes.hpp"

#include <cstddef>

struct lua_State;

// SQL's values as Lua's (docs/functions.md has the table). All raise errors of Lua: call them where
// those are caught.
namespace headrace::graph {

/// Pushes a value.
void push_value(lua_State* lua, const column& from, std::size_t row);
/// Appends what lies at `index`, as a value of the column's type.
void append_value(lua_State* lua, int index, column_builder& to);

/// Bytes of any value of Lua but functions and the like, and the value of bytes, pushed.
void pack_value(lua_State* lua, int index, byte_string& out);
void push_packed(lua_State* lua, byte_view from);

} // namespace headrace::graph
