#include "libactors/base/version.hpp"

#include <CLI/CLI.hpp>

#include <string>

int main(int argc, char** argv) {
  CLI::App app{"A distributed stream processor", "headrace"};
  app.set_version_flag("--version", "headrace " + std::string{headrace::version()});
  app.require_subcommand(0, 1);
  CLI11_PARSE(app, argc, argv);
  return 0;
}
