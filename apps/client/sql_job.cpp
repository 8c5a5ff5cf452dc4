#include "apps/client/sql_job.hpp"

#include "apps/client/result_table.hpp"
#include "apps/cluster/job_settings.hpp"
#include "apps/cluster/mini_cluster.hpp"
#include "libtask/connector/file/partition_list.hpp"
#include "libtask/format/changelog_json_format.hpp"
#include "libtask/format/json_format.hpp"
#include "libgraph/job_graph/native_libraries.hpp"
#include "libgraph/stream_graph/job_graph_builder.hpp"

#include <nlohmann/json.hpp>

#include <cstdio>
#include <utility>
#include <vector>

namespace headrace::client {
namespace {

/// Rows as lines of JSON, behind what they do when they are changes.
result<std::string> as_json(const graph::record_batch& rows, bool are_changes) {
  if (rows.is_empty())
    return std::string();
  HEADRACE_TRY(const auto format,
               are_changes ? task::make_changelog_json_format({}) : task::make_json_format({}));
  HEADRACE_TRY(const auto encoder, format->create_encoder(rows.type()));
  std::string out;
  HEADRACE_CHECK(encoder->encode(rows, out));
  return out;
}

status print_table(const result_table& table, const std::string& format,
                   const collected_rows::printer& print) {
  if (format == "json") {
    HEADRACE_TRY(const auto lines, as_json(table.rows(), false));
    return print(lines);
  }
  HEADRACE_TRY(const auto rows, table.texts());
  return print(format == "csv" ? rows_as_csv(table.names(), rows)
                               : rows_as_table(table.names(), rows));
}

void warn_of_unmatched(const result_table& table) {
  if (table.unmatched() > 0)
    std::fprintf(stderr, "headrace: warning: rows taken back that were not there: %zu\n",
                 table.unmatched());
}

/// Draws the table as it changes. In the end it stands there whole, or, of a job that never ends,
/// as it was last.
result<bool> run_drawn(sql_job& job, const collected_rows::printer& print,
                       const live_screen& screen,
                       const std::function<result<bool>(collected_rows::taker)>& run) {
  result_table table(*job.shown, job.time_zone);
  live_table drawn;
  drawing_pace pace;
  bool has_changed = false;
  const auto draw = [&]() -> status {
    const auto begun_us = screen.time.now_us();
    const auto size = screen.size();
    HEADRACE_TRY(const auto rows, table.texts(live_table::rows_max(size)));
    has_changed = false;
    HEADRACE_CHECK(print(drawn.draw(table.names(), rows, table.shown_size() - rows.size(), size)));
    pace.drawn(begun_us, screen.time.now_us());
    return {};
  };
  HEADRACE_TRY(const auto has_finished, run([&](const graph::record_batch& taken) -> status {
                 table.take(taken);
                 has_changed |= !taken.is_empty();
                 return has_changed && pace.is_due(screen.time.now_us()) ? draw() : status();
               }));
  if (has_finished) {
    HEADRACE_CHECK(print(drawn.clear()));
    HEADRACE_CHECK(print_table(table, "table", print));
  } else if (has_changed) {
    HEADRACE_CHECK(draw());
  }
  warn_of_unmatched(table);
  return has_finished;
}

} // namespace

result<sql_job> make_sql_job(const sql::planned_job& planned, sql::translated_job made,
                             std::int32_t parallelism,
                             const graph::connector_registry& connectors) {
  sql_job out;
  HEADRACE_TRY(out.graph, graph::build_job_graph(made.program, parallelism));
  out.graph.hash = graph::graph_hash(out.graph);
  for (const auto& digest : graph::native_libraries(out.graph))
    if (const auto found = planned.libraries.find(digest); found != planned.libraries.end())
      out.files.push_back({found->second, digest});
  HEADRACE_TRY(out.is_bounded, cluster::is_bounded(out.graph, {}, connectors));
  out.shown = std::move(made.shown);
  out.time_zone = planned.settings.get_text("table.local-time-zone");
  return out;
}

std::int32_t sql_parallelism(const configuration& settings, std::int32_t otherwise) {
  const auto wanted = settings.get_int("table.exec.resource.default-parallelism");
  return wanted > 0 ? static_cast<std::int32_t>(wanted) : otherwise;
}

status print_words(sql::text_table words, file_system& files, const std::string& format,
                   const collected_rows::printer& print) {
  if (const auto& of = words.listing) {
    HEADRACE_TRY(auto names,
                 task::list_partitions(files, of->directory, of->keys, of->missing, of->fixed));
    for (auto& each : names)
      words.rows.push_back({std::move(each)});
  }
  std::vector<text_row> rows;
  for (const auto& row : words.rows)
    rows.emplace_back(row.begin(), row.end());
  if (format == "csv")
    return print(rows_as_csv(words.columns, rows));
  if (format == "json") {
    std::string lines;
    for (const auto& row : words.rows) {
      nlohmann::ordered_json object;
      for (std::size_t i = 0; i < row.size(); ++i)
        object[words.columns[i]] = row[i];
      lines += object.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + '\n';
    }
    return print(lines);
  }
  if (words.columns != std::vector<std::string>{"result"})
    return print(rows_as_table(words.columns, rows));
  for (const auto& row : words.rows) // a text of several lines
    HEADRACE_CHECK(print(row[0] + '\n'));
  return {};
}

result<bool> run_query(sql_job& job, const std::string& format,
                       const collected_rows::printer& print, const live_screen* screen,
                       const std::function<result<bool>(collected_rows::taker)>& run) {
  if (screen != nullptr && format == "table")
    return run_drawn(job, print, *screen, run);
  if (!job.is_bounded && format == "json")
    return run([&](const graph::record_batch& taken) -> status {
      HEADRACE_TRY(const auto lines, as_json(taken, true));
      return lines.empty() ? status() : print(lines);
    });
  if (!job.is_bounded || format == "changelog")
    return run(collected_rows::lines_to(print));
  result_table table(*job.shown, job.time_zone);
  HEADRACE_TRY(const auto has_finished, run([&](const graph::record_batch& taken) -> status {
                 table.take(taken);
                 return {};
               }));
  warn_of_unmatched(table);
  if (has_finished)
    HEADRACE_CHECK(print_table(table, format, print));
  return has_finished;
}

} // namespace headrace::client
