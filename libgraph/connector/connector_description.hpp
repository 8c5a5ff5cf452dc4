#pragma once

#include "libactors/base/option.hpp"

#include <optional>
#include <string>
#include <vector>

namespace headrace::graph {

/// What there is to connect to under a name, with the options that it takes. Their texts are
/// constants.
struct connector_description {
  std::string name;
  std::optional<std::vector<option_declaration>> source;
  std::optional<std::vector<option_declaration>> sink;
  std::optional<std::vector<option_declaration>> format;
};

} // namespace headrace::graph
