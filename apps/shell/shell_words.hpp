#pragma once

#include "libscheduler/client/job_status.hpp"
#include "libactors/base/result.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace headrace::shell {

/// Splits a line at blanks; quotes ('…' and "…") keep them, a backslash outside of '…' takes the
/// next character as it is, and # begins a comment. Pure. @errors bad_usage  an open quote
result<std::vector<std::string>> split_words(std::string_view line);

/// Splits a text into commands, at line ends and semicolons outside of quotes; a statement of SQL
/// goes on to its semicolon. Each has the number of its line, from 1; empty ones and comments, from
/// # or -- on, are left out. Pure.
struct script_line {
  int number = 1;
  std::string text;
};
std::vector<script_line> split_commands(std::string_view text);

/// What a user gave, for an error: control characters written out, and cut when it is long.
std::string in_short(std::string_view text);

/// One line on how a job is doing.
std::string describe_job(const scheduler::job_status& job, std::int64_t now_ms);

} // namespace headrace::shell
