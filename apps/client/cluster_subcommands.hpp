#pragma once

#include "apps/client/job_commands.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace CLI {
class App;
}

namespace headrace::client {

/// `headrace jobs`, `info`, `cancel`, `stop` and `actors` on the command line.
class cluster_subcommands {
public:
  /// `app` lives longer.
  explicit cluster_subcommands(CLI::App& app);
  /// To be called when all is parsed. @returns the exit code; nothing when it was another command
  std::optional<int> run();

private:
  void add(CLI::App& app, command what, const char* name, const char* description);

  std::vector<std::pair<CLI::App*, command>> commands_;
  command_options options_;
  std::string config_;
  std::vector<std::string> defines_;
};

} // namespace headrace::client
