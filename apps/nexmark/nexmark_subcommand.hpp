#pragma once

#include "apps/nexmark/generate_command.hpp"
#include "apps/nexmark/nexmark_script.hpp"
#include "apps/run/run_command.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace headrace::nexmark {

/// `headrace nexmark generate`, `run` and `sql` on the command line.
class nexmark_subcommand {
public:
  /// `app` lives longer.
  explicit nexmark_subcommand(CLI::App& app);
  /// To be called when all is parsed. @returns the exit code; nothing when it was another command
  std::optional<int> run();

private:
  void add_events(CLI::App& to);
  void add_query(CLI::App& to);
  int run_generate();
  int run_sql();
  int run_measured();
  /// What the generator is told. @errors bad_usage
  status take_settings(graph::option_map& into) const;

  CLI::App* generate_ = nullptr;
  CLI::App* measured_ = nullptr;
  CLI::App* sql_ = nullptr;
  generate_options generated_;
  script_options script_;
  run::run_options how_;
  bool is_json_ = false;
  std::string events_;
  std::string rate_;
  std::string seed_;
  std::string base_time_;
  std::vector<std::string> options_;
  std::string config_;
  std::vector<std::string> defines_;
};

} // namespace headrace::nexmark
