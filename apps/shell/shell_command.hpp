#pragma once

#include "libactors/base/option.hpp"

#include <string>
#include <vector>

namespace headrace::shell {

struct shell_options {
  std::string script; ///< path of a .lua script or of a file of commands; empty: none
  std::string text;   ///< commands; empty: none
  std::vector<std::string> arguments; ///< behind `--`: the script's
  configuration settings;
  std::string target; ///< HOST:PORT of a cluster's REST interface; empty: a cluster of its own
};

/// Runs commands, a script, or, given neither, what is typed, against a cluster in this process, or
/// the one that is named.
/// Says on standard error what failed. @returns 0 all well, 1 a command, job or script failed,
/// 2 bad usage, 3 interrupted
int run_shell(const shell_options& options);

} // namespace headrace::shell
