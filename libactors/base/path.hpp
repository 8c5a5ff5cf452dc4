#pragma once

#include "libactors/base/result.hpp"

#include <string>
#include <string_view>

namespace headrace {

/// What a user may give for a path: words for errors.
inline constexpr std::string_view allowed_paths =
    "a path of this machine, or a URI of one that starts with 'file:' (file:///data); other file "
    "systems are not supported";

/// The path that a user means: "file:/a", "file:///a" and "file://localhost/a" are "/a"; a path
/// stays as it is, less slashes at its end. Nothing is decoded: "%20" are three characters.
/// @errors bad_usage  a URI of another scheme ("s3://…") or of another machine ("file://host/a")
result<std::string> local_path(std::string_view given);

/// The same, made absolute by the working directory of this process: for what other processes,
/// which stand elsewhere, are to find as well. Empty stays empty. @errors those of `local_path`
result<std::string> absolute_path(std::string_view given);

/// Whether file_system::write_atomically writes there, or did when its process ended: for who owns
/// the directory, to remove it at its start. Defined beside it.
bool is_unfinished_file(std::string_view path);

} // namespace headrace
