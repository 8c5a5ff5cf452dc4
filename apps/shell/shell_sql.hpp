#pragma once

#include "apps/client/sql_job.hpp"
#include "apps/shell/shell_session.hpp"
#include "libgraph/connector/registry.hpp"
#include "libgraph/sql/sql_session.hpp"
#include "libactors/base/option.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace headrace::shell {

/// Whether a command is SQL: it begins with a word that begins a statement. Pure.
bool is_sql(std::string_view command);
/// Where the statement that a text begins with ends: at the place of its ';', which is not in
/// quotes, a comment, a function's `$$ … $$` or a set of statements that is open. npos: it does
/// not. Pure.
std::size_t end_of_sql(std::string_view text);

/// Where what statements give goes.
struct sql_output {
  std::string format;                    ///< "table", or "json": an object a line
  client::collected_rows::printer print; ///< rows, and the words of SHOW, DESCRIBE and EXPLAIN
  client::collected_rows::printer tell;  ///< lines about what is done
  bool takes_endless = true;             ///< else a query that does not end is refused
};

/// Runs the statements of SQL that are typed into the shell: one session, whose tables and settings
/// stay. An INSERT becomes a job of the cluster, which goes on by itself; a SELECT is waited for,
/// and shown. For the thread that reads the commands.
class shell_sql {
public:
  /// `session` lives longer.
  shell_sql(shell_session& session, configuration settings, sql_output to);

  /// Runs one statement. @returns the job of an INSERT
  /// @errors bad_usage  with what is wrong with it, and where; job_failed
  result<std::optional<job_id>> run(std::string_view statement);

private:
  result<std::optional<job_id>> run_job(const sql::planned_job& planned, std::string_view text);
  status show_rows(client::sql_job& job);
  status show_jobs(const sql::show& wanted);
  status describe_job(const std::string& job);
  status stop_job(const sql::stop_job& wanted);

  shell_session& session_;
  sql::sql_session sql_;
  graph::connector_registry connectors_;
  sql_output to_;
};

} // namespace headrace::shell
