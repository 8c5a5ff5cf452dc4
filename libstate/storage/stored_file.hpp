#pragma once

#include "libactors/base/file_system.hpp"

#include <memory>
#include <string>

namespace headrace::state {

/// Opens a file of a checkpoint or savepoint. One that is not there although its directory is will
/// not come back on its own; where the directory is not there, either, a file system may only not
/// be mounted for a while.
/// @errors corrupt_snapshot  it is gone: the directory can be listed without it, and is one with
///                           the metadata of a checkpoint, or that of a job's shared files
///         storage_failed    it cannot be opened now, also as it or its directory is not there
result<std::unique_ptr<readable_file>> open_stored(file_system& files, const std::string& path);

} // namespace headrace::state
