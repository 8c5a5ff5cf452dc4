#include "apps/run/option_list.hpp"
#include "apps/run/run_command.hpp"
#include "libactors/base/file_system.hpp"
#include "libactors/base/version.hpp"

#include <CLI/CLI.hpp>

#include <cstdint>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

namespace {

using namespace headrace;

constexpr std::uint64_t configuration_bytes_max = std::uint64_t{1} << 20U;

/// Reads the file and then the -D words into `into`.
status read_settings(const std::string& path, const std::vector<std::string>& words,
                     configuration& into) {
  if (!path.empty()) {
    const auto files = make_local_file_system();
    HEADRACE_TRY(const auto text, files->read_all(path, configuration_bytes_max));
    HEADRACE_CHECK(into.merge_yaml(text, path));
  }
  for (const auto& word : words) {
    const auto equals = word.find('=');
    if (equals == std::string::npos)
      return error(errc::bad_usage, "-D wants key=value: " + word);
    HEADRACE_CHECK(into.set(word.substr(0, equals), word.substr(equals + 1)));
  }
  return {};
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
  auto* run = app.add_subcommand("run", "Run a job in this process, and wait for its end");
  run->footer("Arguments of the job stand behind --, e.g.\n"
              "  headrace run libword_count.so --parallelism 2 -- --input DIR --output DIR\n"
              "Exit code: 0 finished, 1 failed, 2 bad usage, 3 canceled.");
  run->add_option("job", run_options.job, "The job: a shared object (.so)")->required();
  run->add_option("-p,--parallelism", run_options.parallelism,
                  "Subtasks of operators that set none (default: the number of cores)")
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
  run->add_flag("-q,--quiet", run_options.quiet, "No progress on standard error");

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
  for (int i = own + 1; i < argc; ++i)
    run_options.arguments.emplace_back(argv[i]);
  if (const auto read = read_settings(config, defines, run_options.settings); !read) {
    std::fprintf(stderr, "headrace: %s\n", to_string(read.error()).c_str());
    return run::bad_usage;
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
