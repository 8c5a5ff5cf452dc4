#pragma once

#include "libactors/base/log.hpp"
#include "libactors/base/option.hpp"

#include <string>
#include <vector>

namespace headrace::cluster {

/// Reads a file, if one is named, and then words "key=value".
/// @errors bad_usage, unknown_option, bad_option_value, bad_configuration_file, file_not_found
status read_settings(const std::string& path, const std::vector<std::string>& words,
                     configuration& into);

/// What no single option's declaration can say. @errors bad_option_value
status check_settings(const configuration& settings);

/// Writes to log.file, else to standard error. @errors bad_option_value  it cannot be opened
result<logger> make_logger(const configuration& settings, log_level lowest);

/// As log.level says.
log_level log_level_of(const configuration& settings);

/// Where working files go: io.tmp.dirs, or headrace-<user> in the system's temporary directory.
std::string temporary_base(const configuration& settings);

} // namespace headrace::cluster
