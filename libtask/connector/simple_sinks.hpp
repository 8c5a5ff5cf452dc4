#pragma once

#include "libgraph/connector/registry.hpp"
#include "libactors/base/option.hpp"

#include <functional>
#include <memory>
#include <string_view>
#include <vector>

namespace headrace::task {

/// Where `print` writes: whole lines, several at once; called from several threads.
/// @errors output_failed    it takes no more
/// @errors output_unusable  likewise, and trying again is vain
using print_target = std::function<status(std::string_view)>;

/// `print`: each row as a line, "+I[a, 1]", behind "3> " when it is one of several subtasks.
/// @param to        standard output
/// @param to_error  standard error, for the option that wants it
graph::connector_registry::sink_factory make_print_factory(print_target to, print_target to_error);

/// `blackhole`: reads every value and forgets it.
result<std::unique_ptr<graph::sink>> make_blackhole_sink(const graph::connector_registry& registry,
                                                         const graph::option_map& options,
                                                         graph::row_type_ptr type);

/// What `print` takes.
std::vector<option_declaration> print_sink_options();

} // namespace headrace::task
