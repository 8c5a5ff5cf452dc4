#include "apps/nexmark/nexmark_subcommand.hpp"

#include "apps/cluster/process_settings.hpp"
#include "apps/nexmark/measure_command.hpp"
#include "apps/run/job_runner.hpp"
#include "libactors/base/path.hpp"

#include <CLI/CLI.hpp>

#include <cstdio>

namespace headrace::nexmark {

nexmark_subcommand::nexmark_subcommand(CLI::App& app) {
  auto* nexmark = app.add_subcommand("nexmark", "Make the events of the Nexmark benchmark, run its "
                                                "queries, or show them");
  nexmark->require_subcommand(1);
  generate_ = nexmark->add_subcommand(
      "generate", "Write events into a file, which Flink's filesystem source reads as well");
  add_events(*generate_);
  generate_->add_option("--format", generated_.format, "json, or csv: all fields side by side")
      ->check(CLI::IsMember({"json", "csv"}))
      ->capture_default_str();
  generate_->add_option("--output", generated_.output, "Directory that gets the files")->required();

  measured_ = nexmark->add_subcommand("run", "Run a query in this process and print its figures");
  add_query(*measured_);
  measured_
      ->add_option("-p,--parallelism", how_.parallelism,
                   "Subtasks of operators (default: the number of cores)")
      ->check(CLI::Range(1, 32768));
  measured_->add_option("--task-managers", how_.task_managers, "Task managers to start")
      ->check(CLI::Range(1, 64));
  measured_->add_flag("--json", is_json_, "Print the figures as JSON");
  measured_->add_option("--config", config_, "A headrace.yaml with settings");
  measured_->add_option("-D", defines_, "A setting: key=value (may come several times)")
      ->allow_extra_args(false);

  sql_ = nexmark->add_subcommand(
      "sql", "Print the script of a query, for headrace run, on a cluster, or for Flink");
  add_query(*sql_);
}

void nexmark_subcommand::add_events(CLI::App& to) {
  to.add_option("--events", events_, "Events in all");
  to.add_option("--rate", rate_, "Events in a second of event time (default: 10000)");
  to.add_option("--seed", seed_, "Another seed gives other events (default: 0)");
  to.add_option("--base-time", base_time_,
                "When event time begins, in UTC (default: 2015-07-15 00:00:00)");
  to.add_option("--option", options_,
                "Another option of the connector, which is nexmark, or with --input filesystem: "
                "key=value (may come several times)")
      ->allow_extra_args(false);
}

void nexmark_subcommand::add_query(CLI::App& to) {
  std::string names;
  for (const auto& each : query_names())
    names += (names.empty() ? "" : ", ") + each;
  to.add_option("--query", script_.query, "Which: " + names)->required();
  to.add_option("--input", script_.input,
                "Directory that generate has written (default: events are made as they are read)");
  to.add_option("--output", script_.output,
                "Directory for the results, as changelog-json (default: they are forgotten)");
  add_events(to);
}

status nexmark_subcommand::take_settings(graph::option_map& into) const {
  if (!events_.empty())
    into.emplace("events.num", events_);
  if (!rate_.empty())
    into.emplace("first-event.rate", rate_);
  if (!seed_.empty())
    into.emplace("seed", seed_);
  if (!base_time_.empty())
    into.emplace("base-time", base_time_);
  for (const auto& each : options_) {
    const auto equals = each.find('=');
    if (equals == std::string::npos)
      return error(errc::bad_usage, "--option wants key=value, found " + each);
    into.insert_or_assign(each.substr(0, equals), each.substr(equals + 1));
  }
  return {};
}

int nexmark_subcommand::run_generate() {
  auto directory = absolute_path(generated_.output);
  if (!directory)
    return run::complain(directory.error());
  generated_.output = std::move(*directory);
  const auto files = make_local_file_system();
  const auto made = generate(generated_, *files);
  if (!made)
    return run::complain(made.error());
  std::printf("%s: %llu events, %llu bytes\n", made->path.c_str(),
              static_cast<unsigned long long>(made->events),
              static_cast<unsigned long long>(made->size_bytes));
  return run::finished;
}

int nexmark_subcommand::run_sql() {
  const auto files = make_local_file_system();
  const auto script = make_script(script_, *files);
  if (!script)
    return run::complain(script.error());
  std::fputs(script->c_str(), stdout);
  return run::finished;
}

int nexmark_subcommand::run_measured() {
  how_.quiet = true;
  if (const auto read = cluster::read_settings(config_, defines_, how_.settings); !read)
    return run::complain(read.error());
  return measure(script_, how_, is_json_);
}

std::optional<int> nexmark_subcommand::run() {
  if (!generate_->parsed() && !measured_->parsed() && !sql_->parsed())
    return std::nullopt;
  auto& settings = generate_->parsed() ? generated_.settings : script_.settings;
  if (const auto taken = take_settings(settings); !taken)
    return run::complain(taken.error());
  if (!script_.input.empty() && settings.size() > options_.size())
    return run::complain({errc::bad_usage, "--input has its events already: leave out --events, "
                                           "--rate, --seed and --base-time"});
  return generate_->parsed() ? run_generate() : sql_->parsed() ? run_sql() : run_measured();
}

} // namespace headrace::nexmark
