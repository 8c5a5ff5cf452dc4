#pragma once

#include "apps/nexmark/nexmark_script.hpp"
#include "apps/run/run_command.hpp"

#include <cstdint>
#include <string>

namespace headrace::nexmark {

/// What a run came to.
struct figures {
  std::string query;
  std::uint64_t events = 0;
  double seconds = 0;      ///< from the script to its end, the cluster's start with it
  double core_seconds = 0; ///< of this process meanwhile
  std::uint64_t peak_memory_bytes = 0;
};
std::string as_text(const figures& of);
/// One object on a line.
std::string as_json(const figures& of);

/// How many events the script reads. @errors bad_usage  it has no end; those of files
result<std::uint64_t> count_events(const script_options& options, file_system& files);

/// Runs a query in this process and prints its figures. @returns the exit code
int measure(const script_options& options, run::run_options how, bool is_json);

} // namespace headrace::nexmark
