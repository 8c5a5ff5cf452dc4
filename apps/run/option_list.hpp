#pragma once

#include <string>

namespace headrace::run {

/// All options as a Markdown list: what `headrace options` prints and docs/options.md holds.
std::string list_options();

} // namespace headrace::run
