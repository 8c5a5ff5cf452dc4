#pragma once

#include "apps/run/run_command.hpp"

namespace headrace::run {

/// Runs a script of SQL statements, in this process or on the cluster that is named. All of it is
/// planned first, so that a script with an error runs nothing and tells all its errors. Then each
/// INSERT, statement set and SELECT is a job, one after the other.
///
/// The rows of a SELECT over bounded tables are shown as a table at its end, those of an unbounded
/// one as changes, as they come.
/// @returns the exit code: bad_usage for a script with errors
int run_sql(const run_options& options);

/// Likewise with the script's text. `options.job` names it, in errors.
int run_sql_text(const std::string& text, const run_options& options);

} // namespace headrace::run
