#pragma once

#include "apps/shell/shell_session.hpp"
#include "apps/shell/shell_sql.hpp"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace headrace::shell {

/// Runs the shell's commands: words in, text out. For the thread that reads the commands.
class shell_commands {
public:
  using printer = std::function<void(std::string_view text)>;
  /// `session` lives longer. `settings` are those of every submission.
  shell_commands(shell_session& session, configuration settings, printer print);

  /// Runs one command, or one statement of SQL. An empty line does nothing.
  /// @errors bad_usage  unknown, or wrongly used; and what the command fails with
  status run(std::string_view line);
  /// Runs commands until one fails. @errors names the line, where the text has several
  status run_all(std::string_view text);
  bool is_over() const { return is_over_; }

  /// What may follow, for the word that begins at the end of `line`.
  std::vector<std::string> complete(std::string_view line);

private:
  struct command;
  static const std::vector<command>& all();
  using words = std::vector<std::string>;

  status submit(const words& given);
  status wait(const words& given);
  status watch(const words& given);
  status cancel(const words& given);
  status stop(const words& given);
  status savepoint(const words& given);
  status jobs(const words& given);
  status info(const words& given);
  status actors(const words& given);
  status source(const words& given);
  status help(const words& given);
  status quit(const words& given);

  client::collected_rows::printer output();
  result<job_id> job_of(const words& given);
  status await_end(const job_id& job, std::chrono::milliseconds longest, bool tells);
  std::int64_t now_ms() const;

  shell_session& session_;
  configuration settings_;
  printer print_;
  bool is_over_ = false;
  int sources_ = 0; ///< files that are being read
  shell_sql sql_;
};

} // namespace headrace::shell
