#include "apps/client/cluster_subcommands.hpp"
#include "apps/cluster/process_settings.hpp"
#include "apps/node/node_subcommand.hpp"
#include "apps/run/option_list.hpp"
#include "apps/run/run_command.hpp"
#include "apps/shell/shell_command.hpp"
#include "libactors/base/version.hpp"

#include <CLI/CLI.hpp>

#include <cstdint>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

namespace {

using namespace headrace;

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
                  "The job: a shared object (.so), or a script that submits some (.lua)")
      ->required();
  run->add_option(
         "-p,--parallelism", run_options.parallelism,
         "Subtasks of operators that set none (default: the number of cores, on a cluster 1)")
      ->check(CLI::Range(1, 32768));
  run->add_option("--task-managers", run_options.task_managers, "Task managers to start")
      ->check(CLI::Range(1, 64));
  run->add_option("-s,--from-checkpoint", run_options.restore_from,
                  "Start from the state in this checkpoint's directory");
  run->add_flag("--allow-non-restored-state", run_options.allow_non_restored_state,
                "Leave out state of operators that the job no longer has");
  run->add_option("--config", config, "A headrace.yaml with settings");
  run->add_option("-D", defines, "A setting: key=value (may come several times)")
      ->allow_extra_args(false);
  run->add_option("--target", run_options.target,
                  "Run it on the cluster whose REST interface is at HOST:PORT");
  run->add_flag("-d,--detached", run_options.is_detached,
                "On a cluster: submit the job, print its id, do not wait for its end");
  run->add_flag("--json", run_options.is_json, "Print the job's id, or how it ended, as JSON");
  run->add_flag("-q,--quiet", run_options.quiet, "No progress on standard error");
  node::node_subcommand node(app);
  client::cluster_subcommands commands(app);

  shell::shell_options shell_options;
  auto* shell = app.add_subcommand("shell", "Submit jobs and look after them: typed, or by script");
  shell->footer("Without --target it starts a cluster in this process. Type help for its commands; "
                "docs/shell.md tells\n"
                "of them, and of Lua scripts. Arguments of a script stand behind --.\n"
                "Exit code: 0 all well, 1 something failed, 2 bad usage, 3 interrupted.");
  shell->add_option("script", shell_options.script, "A .lua script, or a file of commands");
  shell->add_option("-e", shell_options.text, "Commands, separated by ;");
  shell->add_option("--target", shell_options.target,
                    "Speak to the cluster whose REST interface is at HOST:PORT");
  shell->add_option("--config", config, "A headrace.yaml with settings");
  shell->add_option("-D", defines, "A setting: key=value (may come several times)")
      ->allow_extra_args(false);
  const auto* options = app.add_subcommand("options", "List all settings, as docs/options.md");

  try {
    app.parse(own, argv);
  } catch (const CLI::ParseError& wrong) {
    return app.exit(wrong) == 0 ? run::finished : run::bad_usage;
  }
  if (options->parsed()) {
    std::fputs(run::list_options().c_str(), stdout);
    return run::finished;
  }
  if (const auto code = node.run())
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

} // namespace

int main(int argc, char** argv) {
  try {
    return run_command(argc, argv);
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "headrace: %s\n", failure.what());
  } catch (...) {
    std::fputs("headrace: something was thrown that is no exception\n", stderr);
  }
  return run::failed;
}
