#pragma once

#include "apps/shell/shell_session.hpp"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace headrace::shell {

struct lua_options {
  std::string name;                   ///< of the script, for messages
  std::vector<std::string> arguments; ///< the script's `arguments`
  configuration settings;             ///< of every submission
  std::function<void(std::string_view text)> print;
};

/// Runs a Lua 5.4 script over a session: it submits jobs, waits for them and asserts on how they
/// went (docs/shell.md lists the functions). In a sandbox: no files, no processes, no loading of
/// code; its memory is bounded, and an interrupt of the session ends it.
/// @errors user_function_failed  names script and line
status run_lua(shell_session& session, std::string_view text, const lua_options& options);

} // namespace headrace::shell
