#pragma once

#include "apps/shell/shell_session.hpp"

#include <string>
#include <string_view>
#include <vector>

struct lua_State;

namespace headrace::shell {

// Between C++ values and a script's. They push one value onto Lua's stack.

void push_texts(lua_State* lua, const std::vector<std::string>& texts);
/// id, name, state, restarts, checkpoints, records, runtime, failure, …, vertices.
void push_status(lua_State* lua, const scheduler::job_status& status);
/// A list of actors by number; silent nodes under "silent".
void push_actors(lua_State* lua, const client::actor_list& listing);

/// A list of rows, each with its columns by name; NULL is nil.
/// @param lines  a JSON object a line
void push_rows(lua_State* lua, std::string_view lines);

/// Reads the table at `index`: arguments, parallelism, savepoint, settings.
/// @errors bad_usage  an unknown field, or one of another type; unknown_option, bad_option_value
status read_submission(lua_State* lua, int index, submission& into);

/// Reads the table at `index`: directory, type ("canonical", "native"), drain (where it ends a
/// job).
/// @errors bad_usage
status read_savepoint_wish(lua_State* lua, int index, scheduler::savepoint_wish& into);

} // namespace headrace::shell
