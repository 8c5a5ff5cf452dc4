#include "apps/client/cluster_subcommands.hpp"
#include "apps/cluster/process_settings.hpp"
#include "apps/nexmark/nexmark_subcommand.hpp"
#include "apps/node/node_subcommand.hpp"
#include "apps/run/option_list.hpp"
#include "apps/run/run_command.hpp"
#include "apps/run/run_sql.hpp"
#include "apps/shell/shell_command.hpp"
#include "libactors/base/text.hpp"
#include "libactors/base/version.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <fcntl.h>
#include <string>
#include <string_view>
#include <unistd.h>
#include <vector>

namespace {

using namespace headrace;

/// Says what no command knows, with what may have been meant.
int complain_of_extras(const CLI::App& app) {
  const CLI::App* command = &app;
  for (const CLI::App* parsed : app.get_subcommands())
    command = parsed;
  const auto words = app.remaining(true);
  const auto option = std::find_if(words.begin(), words.end(),
                                   [](const auto& word) { return word.starts_with('-'); });
  const auto given = option != words.end() ? option->substr(0, option->find('=')) : words.front();
  std::vector<std::string> known;
  for (const auto* each : command->get_options())
    known.insert(known.end(), each->get_lnames().begin(), each->get_lnames().end());
  const std::vector<std::string_view> names(known.begin(), known.end());
  const auto bare = given.substr(std::min(given.size(), given.find_first_not_of('-')));
  const auto nearest = option == words.end() ? std::string_view() : nearest_name(bare, names);
  std::fprintf(stderr, "headrace: %s has no %s %s", command->get_name().c_str(),
               option != words.end() ? "option" : "further argument", given.c_str());
  if (!nearest.empty())
    std::fprintf(stderr, ", did you mean --%s", std::string(nearest).c_str());
  std::fprintf(stderr, "\n");
  if (nearest.empty() && command->get_name() == "run")
    std::fprintf(stderr, "Arguments of the job stand behind --: headrace run JOB -- %s …\n",
                 given.c_str());
  std::fprintf(stderr, "headrace %s --help lists what there is\n", command->get_name().c_str());
  return run::bad_usage;
}

/// Says that no command was named, or none that there is, with what may have been meant.
int complain_of_command(const CLI::App& app) {
  std::vector<std::string> known;
  for (const auto* each : app.get_subcommands(nullptr))
    known.push_back(each->get_name());
  const auto words = app.remaining(true);
  const auto command = std::find_if(words.begin(), words.end(),
                                    [](const auto& word) { return !word.starts_with('-'); });
  if (command != words.end()) {
    const std::vector<std::string_view> names(known.begin(), known.end());
    const auto nearest = nearest_name(*command, names);
    std::fprintf(stderr, "headrace: no such command: %s%s%s\n", command->c_str(),
                 nearest.empty() ? "" : ", did you mean ", std::string(nearest).c_str());
  } else if (!words.empty()) {
    std::fprintf(stderr, "headrace: a command is missing, and there is no option %s before it\n",
                 words.front().c_str());
  } else {
    std::fprintf(stderr, "headrace: a command is missing\n");
  }
  std::fprintf(stderr, "Commands: %s; headrace --help tells what they do\n",
               join_text(known, ", ").c_str());
  return run::bad_usage;
}

int run_command(int argc, char** argv) {
  // What stands behind `--` is the job's own.
  int own = argc;
  for (int i = 1; i < argc && own == argc; ++i)
    if (std::string(argv[i]) == "--")
      own = i;

  CLI::App app{"A distributed stream processor", "headrace"};
  app.set_version_flag("--version", "headrace " + std::string{version()});
  app.require_subcommand(1);

  run::run_options run_options;
  std::string config;
  std::vector<std::string> defines;
  auto* run =
      app.add_subcommand("run", "Run a job in this process or on a cluster, and wait for its end");
  run->footer("Arguments of the job stand behind --, e.g.\n"
              "  headrace run libword_count.so --parallelism 2 -- --input DIR --output DIR\n"
              "Ctrl-C cancels the job, also on a cluster; a second one ends this process alone.\n"
              "Exit code: 0 finished, 1 failed, 2 bad usage, 3 canceled.");
  run->add_option("job", run_options.job,
                  "The job: a shared object (.so), or a script: of SQL (.sql), or in Lua (.lua)")
      ->required();
  run->add_option(
         "-p,--parallelism", run_options.parallelism,
         "Subtasks of operators that set none (default: the number of cores, on a cluster 1)")
      ->check(CLI::Range(1, 32768));
  auto* own_task_managers =
      run->add_option("--task-managers", run_options.task_managers,
                      "Task managers to start, where the cluster is in this process")
          ->check(CLI::Range(1, 64));
  run->add_option("-s,--from-savepoint,--fromSavepoint,--from-checkpoint", run_options.restore_from,
                  "Start from the state in the directory of this savepoint or checkpoint")
      ->check([](const std::string& given) {
        return std::string(given.empty() ? "no directory; leave it out to start without state"
                                         : "");
      });
  run->add_flag("-n,--allow-non-restored-state,--allowNonRestoredState",
                run_options.allow_non_restored_state,
                "Leave out state of operators that the job no longer has");
  run->add_option("--config", config, "A headrace.yaml with settings");
  run->add_option("-D", defines, "A setting: key=value (may come several times)")
      ->allow_extra_args(false);
  run->add_option("--target", run_options.target,
                  "Run it on the cluster whose REST interface is at HOST:PORT")
      ->excludes(own_task_managers);
  run->add_flag("-d,--detached", run_options.is_detached,
                "On a cluster: submit the job, print its id, do not wait for its end");
  run->add_flag("--json", run_options.is_json, "Print the job's id, or how it ended, as JSON");
  run->add_flag("-q,--quiet", run_options.quiet, "No progress on standard error");
  run->add_option("--format", run_options.format,
                  "How rows of SQL queries are shown: table, csv, json: an object a line, or "
                  "changelog, as they come")
      ->check(CLI::IsMember({"table", "csv", "json", "changelog"}));
  run->add_option("--output", run_options.output,
                  "File that gets the rows of SQL queries (default: standard output)");
  auto* explain = app.add_subcommand("explain", "Show the plans of a script of SQL; run nothing");
  explain->add_option("script", run_options.job, "The script (.sql)")->required();
  explain->add_option("-D", defines, "A setting: key=value (may come several times)")
      ->allow_extra_args(false);
  node::node_subcommand node(app);
  nexmark::nexmark_subcommand nexmark(app);
  client::cluster_subcommands commands(app);

  shell::shell_options shell_options;
  auto* shell = app.add_subcommand("shell", "Submit jobs and look after them: typed, or by script");
  shell->footer("Without --target it starts a cluster in this process. Type help for its commands; "
                "docs/shell.md tells\n"
                "of them, and of Lua scripts. Arguments of a script stand behind --.\n"
                "Exit code: 0 all well, 1 something failed, 2 bad usage, 3 interrupted.");
  shell->add_option("script", shell_options.script,
                    "A script in Lua (.lua) or of SQL (.sql), or a file of commands");
  shell->add_option("-e", shell_options.text, "Commands, separated by ;");
  shell->add_option("--target", shell_options.target,
                    "Speak to the cluster whose REST interface is at HOST:PORT");
  shell->add_option("--config", config, "A headrace.yaml with settings");
  shell->add_option("-D", defines, "A setting: key=value (may come several times)")
      ->allow_extra_args(false);
  const auto* options = app.add_subcommand("options", "List all settings, as docs/options.md");

  try {
    app.parse(own, argv);
  } catch (const CLI::ExtrasError&) {
    return complain_of_extras(app);
  } catch (const CLI::ParseError& wrong) {
    if (wrong.get_exit_code() == static_cast<int>(CLI::ExitCodes::RequiredError) &&
        app.get_subcommands().empty())
      return complain_of_command(app);
    return app.exit(wrong) == 0 ? run::finished : run::bad_usage;
  }
  if (options->parsed()) {
    std::fputs(run::list_options().c_str(), stdout);
    return run::finished;
  }
  if (const auto code = node.run())
    return *code;
  if (const auto code = nexmark.run())
    return *code;
  if (const auto code = commands.run())
    return *code;
  if (run_options.is_detached && run_options.target.empty()) {
    std::fprintf(stderr,
                 "headrace: --detached wants --target: a job in this process ends with it\n");
    return run::bad_usage;
  }
  for (int i = own + 1; i < argc; ++i)
    run_options.arguments.emplace_back(argv[i]);
  if (const auto read = cluster::read_settings(config, defines, run_options.settings); !read) {
    std::fprintf(stderr, "headrace: %s\n", to_string(read.error()).c_str());
    return run::bad_usage;
  }
  if (explain->parsed()) {
    run_options.explains = true;
    return run::run_sql(run_options);
  }
  if (shell->parsed() && shell_options.script.ends_with(".sql")) {
    run_options.job = shell_options.script;
    run_options.target = shell_options.target;
    return run::run_job(run_options);
  }
  if (shell->parsed() || run_options.job.ends_with(".lua")) {
    shell_options.settings = run_options.settings;
    shell_options.arguments = run_options.arguments;
    if (!shell->parsed()) {
      shell_options.script = run_options.job;
      shell_options.target = run_options.target;
    }
    if (run_options.parallelism > 0)
      static_cast<void>(shell_options.settings.set("parallelism.default",
                                                   std::to_string(run_options.parallelism)));
    return shell::run_shell(shell_options);
  }
  return run::run_job(run_options);
}

/// Keeps files of this program from becoming a standard stream that it was started without. Writing
/// to such a stream fails, as it should.
void occupy_standard_streams() {
  int descriptor = 0;
  while (descriptor >= 0 && descriptor <= STDERR_FILENO)
    descriptor = ::open("/dev/null", O_RDONLY); // the lowest that is free
  if (descriptor >= 0)
    ::close(descriptor);
}

/// @returns the code, or failed when words on standard output were lost
int with_output_written(int code) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0)
    return code;
  if (code != run::finished)
    return code; // the cause was told
  std::fprintf(stderr, "headrace: cannot write to standard output: %s\n", std::strerror(errno));
  return run::failed;
}

} // namespace

int main(int argc, char** argv) {
  occupy_standard_streams();
  try {
    return with_output_written(run_command(argc, argv));
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "headrace: %s\n", failure.what());
  } catch (...) {
    std::fputs("headrace: something was thrown that is no exception\n", stderr);
  }
  return run::failed;
}
