#pragma once

#include "apps/node/node_command.hpp"

#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace headrace::node {

/// `headrace node` on the command line.
class node_subcommand {
public:
  /// `app` lives longer.
  explicit node_subcommand(CLI::App& app);
  /// To be called when all is parsed. @returns the exit code; nothing when it was another command
  std::optional<int> run();

private:
  CLI::App* command_;
  node_command_options options_;
  std::string role_ = "standalone";
  std::string config_;
  std::vector<std::string> defines_;
};

} // namespace headrace::node
