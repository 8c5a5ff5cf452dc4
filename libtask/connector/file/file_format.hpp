#pragma once

#include "libgraph/connector/registry.hpp"

#include <memory>
#include <string>

namespace headrace::task {

/// The format of files: as the options say, else lines for a single STRING column, csv for others.
struct file_format {
  std::shared_ptr<const graph::format> format;
  bool has_changes = false; ///< it writes and reads updates and deletions
  graph::option_map others; ///< the options that are not the format's own
};

/// The name of that format.
std::string format_name(const graph::option_map& options, const graph::logical_type& type);

/// @errors unknown_connector, unknown_option, bad_option_value
result<file_format> choose_format(const graph::connector_registry& registry,
                                  const graph::option_map& options,
                                  const graph::logical_type& type);

} // namespace headrace::task
