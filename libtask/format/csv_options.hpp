#pragma once

#include "libgraph/connector/format.hpp"
#include "libactors/base/option.hpp"

#include <optional>
#include <span>
#include <string>

namespace headrace::task {

/// How CSV is written and read. A value.
struct csv_options {
  char delimiter = ',';
  std::optional<char> quote = '"';
  std::optional<char> escape;
  std::optional<std::string> null_literal;
  char array_delimiter = ';';
  bool has_header = false;     ///< the first line of a file holds names: read over, not written
  bool allow_comments = false; ///< lines that start with '#' are no records
  bool allow_newlines = false; ///< line breaks inside quotes; files are then read whole
  graph::malformed_policy on_malformed = graph::malformed_policy::fail;
  bool nulls_fields = false; ///< what cannot be read is NULL, where its type has that

  /// What `parse` takes.
  static std::span<const option_declaration> declared();
  /// @errors unknown_option, bad_option_value
  static result<csv_options> parse(const graph::option_map& given);
};

} // namespace headrace::task
