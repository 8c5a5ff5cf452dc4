#pragma once

#include <cstddef>
#include <string>

namespace headrace::client {

/// What `headrace savepoint inspect` was told.
struct inspect_options {
  std::string path;        ///< of a savepoint or checkpoint
  std::string of_operator; ///< uid, name, or the first digits of its id; empty: all
  std::string state; ///< whose entries are printed; empty: no entries, but what states there are
  std::size_t rows_max = 20;
  bool is_json = false;
};

/// Prints what is in a savepoint. @returns the exit code
int run_inspect(const inspect_options& options);

} // namespace headrace::client
