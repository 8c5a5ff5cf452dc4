#pragma once

#include "libactors/base/file_system.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace headrace::task {

/// Whether `name` matches one segment of a glob: `*`, `?`, `[a-z]`, `[!a-z]`.
bool matches_glob(std::string_view pattern, std::string_view name);

/// Finds the files that `path` means, sorted by path: a file; a directory's files (and, when
/// `recursive`, those of its directories); or those that match a glob, whose `**` stands for any
/// number of directories. Links are followed. Inside directories, names that start with '.' or '_'
/// are left out unless the glob starts so too. Blocks.
/// @errors input_not_found   nothing there; a glob that matches nothing is no error
/// @errors input_unreadable  a directory cannot be listed, or directories nest too deep (a link to
///                           its own parent)
result<std::vector<file_info>> find_input_files(file_system& files, const std::string& path,
                                                bool recursive);

} // namespace headrace::task
