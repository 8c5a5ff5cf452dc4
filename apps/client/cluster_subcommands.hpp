#pragma once

#include "apps/client/gc_command.hpp"
#include "apps/client/inspect_command.hpp"
#include "apps/client/job_commands.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace CLI {
class App;
}

namespace headrace::client {

/// `headrace jobs`, `info`, `cancel`, `stop`, `savepoint`, `checkpoints` and `actors` on the
/// command line.
class cluster_subcommands {
public:
  /// `app` lives longer.
  explicit cluster_subcommands(CLI::App& app);
  /// To be called when all is parsed. @returns the exit code; nothing when it was another command
  std::optional<int> run();

private:
  CLI::App* add(CLI::App& app, command what, const char* name, const char* description);
  void add_type(CLI::App& to);
  void add_inspect(CLI::App& to);
  void add_gc(CLI::App& app);

  std::vector<std::pair<CLI::App*, command>> commands_;
  command_options options_;
  CLI::App* inspect_ = nullptr;
  inspect_options inspected_;
  CLI::App* gc_ = nullptr;
  gc_options collected_;
  std::string type_ = "canonical"; ///< of a savepoint
  bool drains_ = false;
  std::string config_;
  std::vector<std::string> defines_;
};

} // namespace headrace::client
