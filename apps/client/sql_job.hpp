#pragma once

#include "apps/client/collected_rows.hpp"
#include "apps/client/job_files.hpp"
#include "apps/client/live_table.hpp"
#include "libgraph/connector/registry.hpp"
#include "libgraph/job_graph/job_graph.hpp"
#include "libgraph/sql/sql_session.hpp"
#include "libactors/base/clock.hpp"
#include "libactors/base/result.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace headrace::client {

/// What a statement of SQL runs, and how its rows are shown.
struct sql_job {
  graph::job_graph graph;      ///< without the settings of the job, and artifacts
  std::vector<job_file> files; ///< libraries of functions that it calls
  std::optional<sql::shown_rows> shown;
  std::string time_zone;
  bool is_bounded = true;

  /// Whether it takes no checkpoints when the settings say nothing of them: between two of them
  /// rows would not be shown.
  bool shows_rows_at_once() const { return is_bounded || shown.has_value(); }
};

/// @param parallelism  of operators that set none
/// @errors invalid_graph, and what the connectors say of their options
result<sql_job> make_sql_job(const sql::planned_job& planned, sql::translated_job made,
                             std::int32_t parallelism, const graph::connector_registry& connectors);

/// Prints what SHOW, DESCRIBE and EXPLAIN say.
/// @param files   where partitions lie
/// @param format  "csv", "json" (an object a line), else a table
/// @errors what the storage says of partitions that are to be shown, and what `print` says
status print_words(sql::text_table words, file_system& files, const std::string& format,
                   const collected_rows::printer& print);

/// The subtasks of a job's operators that set none, as `table.exec.resource.default-parallelism`
/// says of SQL's; else `otherwise`.
std::int32_t sql_parallelism(const configuration& settings, std::int32_t otherwise);

/// A terminal that a table is drawn on while it changes.
struct live_screen {
  std::function<terminal_size()> size;
  const clock& time;
};

/// Runs a job and shows its rows: as a table when it has ended, or as changes, as they come, where
/// it never ends or `format` ("table", "csv", "json", "changelog") says so.
/// @param screen  what `print` writes to, when tables are drawn as they change; null: they are not
/// @param run  runs the job, gives its rows to the taker, and tells whether it finished
/// @returns what `run` does
result<bool> run_query(sql_job& job, const std::string& format,
                       const collected_rows::printer& print, const live_screen* screen,
                       const std::function<result<bool>(collected_rows::taker)>& run);

} // namespace headrace::client
