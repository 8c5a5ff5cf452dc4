#pragma once

#include "libactors/base/file_system.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace headrace::task {

/// Whether `name` matches one segment of a glob: `*`, `?`, `[a-z]`, `[!a-z]`.
bool matches_glob(std::string_view pattern, std::string_view name);

/// Whether a file may be one that `find_input_files` finds by `input`: told by what `input` begins
/// with, up to the first wildcard.
bool is_of_input(std::string_view input, std::string_view path);

/// What a failed call of the file system about an input means for the job.
/// @returns input_not_found, input_unreadable when somebody has to change something first, or the
///          file system's own code: that may pass, so the job may try again
error input_failure(const std::string& path, error cause);

/// What to make of a pattern that leads to no file.
enum class empty_match : std::uint8_t { refused, allowed };

/// Finds the files that `path` means, sorted by path: a file; a directory's files (and, when
/// `recursive`, those of its directories), which may be none; or those that match a glob, whose
/// `**` stands for any number of directories. Links are followed. Inside directories, names that
/// start with '.' or '_' are left out unless the glob starts so too. Blocks.
/// @errors input_not_found   nothing there, a link to nothing, or a glob without a file
/// @errors input_unreadable  a directory may not be listed, something in it is no regular file, or
///                           directories nest too deep (a link to its own parent)
/// @errors storage_failed    the storage does not answer now
result<std::vector<file_info>> find_input_files(file_system& files, const std::string& path,
                                                bool recursive,
                                                empty_match none = empty_match::refused);

} // namespace headrace::task
