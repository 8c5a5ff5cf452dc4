#include "apps/run/run_sql.hpp"

#include "apps/client/sql_job.hpp"
#include "apps/cluster/job_settings.hpp"
#include "apps/cluster/mini_cluster.hpp"
#include "apps/run/job_runner.hpp"
#include "libtask/connector/registration.hpp"
#include "libgraph/sql/optimize/changelog.hpp"
#include "libgraph/sql/sql_session.hpp"
#include "libactors/base/clock.hpp"
#include "libactors/base/path.hpp"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <sys/ioctl.h>
#include <system_error>
#include <unistd.h>
#include <utility>
#include <vector>

namespace headrace::run {
namespace {

constexpr std::uint64_t script_bytes_max = sql::limits::text_bytes_max;

using client::sql_job;

result<sql_job> make_job(const sql::planned_job& planned, sql::translated_job made,
                         const run_options& options, const graph::connector_registry& connectors) {
  HEADRACE_TRY(auto out, client::make_sql_job(
                             planned, std::move(made),
                             client::sql_parallelism(
                                 planned.settings, default_parallelism(options, planned.settings)),
                             connectors));
  HEADRACE_CHECK(apply_options(options, planned.settings, out.shows_rows_at_once(), out.graph));
  return out;
}

using printer = client::collected_rows::printer;

/// Where rows and words go: standard output, or the file that the options name.
class output {
public:
  static result<output> open(const run_options& options) {
    output out;
    if (options.output.empty())
      return out;
    HEADRACE_TRY(const auto path, absolute_path(options.output));
    // What a pipe or a device was given before is not in it.
    std::error_code ignored;
    if (std::filesystem::is_regular_file(path, ignored) &&
        std::filesystem::file_size(path, ignored) > 0)
      return error(errc::bad_usage, "output is not empty, and is left as it is: " + path +
                                        "; remove it, or name another file by --output");
    HEADRACE_TRY(out.file_, make_local_file_system()->create(path));
    return out;
  }
  printer print() const {
    if (file_ == nullptr)
      return client::print_to_standard_output;
    return [to = file_](std::string_view text) { return to->append(text); };
  }
  status close() const { return file_ == nullptr ? status() : file_->close(); }

private:
  std::shared_ptr<writable_file> file_;
};

client::terminal_size size_of_terminal() {
  client::terminal_size out;
  winsize told{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &told) == 0 && told.ws_row > 0 && told.ws_col > 0)
    out = {told.ws_row, told.ws_col};
  return out;
}

/// Runs a query and shows its rows. @returns an exit code
result<int> run_query(job_runner& runner, sql_job& job, const run_options& options,
                      const printer& print) {
  int code = finished;
  const system_clock time;
  const client::live_screen screen{size_of_terminal, time};
  const bool is_drawn = options.output.empty() && isatty(STDOUT_FILENO) != 0;
  HEADRACE_CHECK(client::run_query(
      job, options.format, print, is_drawn ? &screen : nullptr,
      [&](client::collected_rows::taker take) -> result<bool> {
        // A line of progress would move the cursor.
        const bool tells = !is_drawn || options.format != "table" || isatty(STDERR_FILENO) == 0;
        HEADRACE_TRY(code, runner.run(job.graph, job.files, std::move(take), tells));
        return code == finished;
      }));
  return code;
}

/// The plans of a job, with what kinds of rows each operator gives.
sql::text_table explained(const sql::planned_job& job, const sql::translated_job& made) {
  std::string text = "== " + job.name + " ==\n";
  for (const auto& each : job.sinks)
    text += sql::to_string_with_changes(each);
  for (const auto& each : made.warnings)
    text += "warning: " + each + '\n';
  return {{"result"}, {{std::move(text)}}};
}

/// What a script's statements come to, in their order.
using sql_step = std::variant<sql::text_table, sql_job>;

/// Plans the whole script. Nothing after an error, which was told.
result<std::optional<std::vector<sql_step>>> plan_steps(const std::string& text,
                                                        const run_options& options,
                                                        const graph::connector_registry& known,
                                                        file_system& files) {
  sql::sql_session session(options.settings, task::describe_connectors(), &files);
  auto planned = sql::plan_script(text, session);
  std::vector<sql_step> steps;
  for (const auto& warning : planned.warnings)
    std::fprintf(stderr, "headrace: warning: %s\n", warning.c_str());
  for (auto& each : planned.steps) {
    if (auto* words = std::get_if<sql::text_table>(&each)) {
      if (words->of == nullptr || sql::translate(*words->of, known, planned.findings))
        steps.emplace_back(std::move(*words));
    } else if (const auto* job = std::get_if<sql::planned_job>(&each)) {
      auto made = sql::translate(*job, known, planned.findings);
      if (!made)
        continue;
      if (options.explains) {
        steps.emplace_back(explained(*job, *made));
        continue;
      }
      for (const auto& warning : made->warnings)
        std::fprintf(stderr, "headrace: warning: %s\n", warning.c_str());
      HEADRACE_TRY(auto ready, make_job(*job, std::move(*made), options, known));
      steps.emplace_back(std::move(ready));
    }
  }
  if (planned.findings.empty())
    return std::optional(std::move(steps));
  std::fprintf(stderr, "headrace: %s: %zu error%s\n", options.job.c_str(), planned.findings.size(),
               planned.findings.size() == 1 ? "" : "s");
  std::fputs((sql::to_string(planned.findings, text) + "\n").c_str(), stderr);
  return std::optional<std::vector<sql_step>>();
}

result<int> run_script(const std::string& text, const run_options& given) {
  HEADRACE_TRY(const auto options, with_cluster_settings(given));
  const auto files = make_local_file_system();
  if (!options.arguments.empty())
    return error(errc::bad_usage, "a script of SQL takes no arguments: " + options.arguments[0]);
  graph::connector_registry connectors;
  cluster::register_all_connectors(connectors, {});
  HEADRACE_TRY(auto steps, plan_steps(text, options, connectors, *files));
  if (!steps)
    return static_cast<int>(bad_usage);
  std::int32_t slots = 0;
  for (const auto& each : *steps)
    if (const auto* job = std::get_if<sql_job>(&each))
      slots = std::max(slots, cluster::slots_needed(job->graph));
  api::object_loader loader(*files);
  std::unique_ptr<job_runner> runner;
  HEADRACE_TRY(const auto into, output::open(options));
  for (auto& each : *steps) {
    if (const auto* words = std::get_if<sql::text_table>(&each)) {
      HEADRACE_CHECK(client::print_words(*words, *files, options.format, into.print()));
      continue;
    }
    if (runner == nullptr) {
      HEADRACE_TRY(runner, job_runner::start(*files, loader, options, slots));
    }
    auto& job = std::get<sql_job>(each);
    HEADRACE_TRY(const auto code,
                 job.shown && !options.is_detached
                     ? run_query(*runner, job, options, into.print())
                     : runner->run(job.graph, job.files,
                                   [](const graph::record_batch&) -> status { return {}; }));
    if (code != finished)
      return code;
  }
  HEADRACE_CHECK(into.close());
  return static_cast<int>(finished);
}

} // namespace

int run_sql(const run_options& options) {
  const auto text = make_local_file_system()->read_all(options.job, script_bytes_max);
  return text ? run_sql_text(*text, options)
              : complain({errc::bad_usage, "script cannot be read: " + options.job, text.error()});
}

int run_sql_text(const std::string& text, const run_options& options) {
  const auto code = run_script(text, options);
  return code ? *code : complain(code.error());
}

} // namespace headrace::run
