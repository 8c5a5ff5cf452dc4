#pragma once

#include "libgraph/connector/format.hpp"
#include "libactors/base/file_system.hpp"
#include "libactors/base/result.hpp"

#include <cstdint>
#include <string>

namespace headrace::nexmark {

struct generate_options {
  graph::option_map settings; ///< of the source `nexmark`; events.num among them
  std::string format = "json";
  std::string output; ///< a directory
};

/// What was written.
struct generated {
  std::string path; ///< of the events
  std::uint64_t events = 0;
  std::uint64_t size_bytes = 0;
};

/// Writes the events into a file, in their order, and the side input of q13 beside them.
/// @errors bad_option_value, unknown_option, storage_full and what else files may do
result<generated> generate(const generate_options& options, file_system& files);

} // namespace headrace::nexmark
