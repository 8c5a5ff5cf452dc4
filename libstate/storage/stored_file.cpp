#include "libstate/storage/stored_file.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

namespace headrace::state {

namespace {

constexpr std::string_view metadata_name = "/_metadata";
constexpr std::string_view shared_name = "/shared";

/// Whether the directory can be looked into, is what it was, and has the file no more. An empty
/// directory may be the place where a file system is mounted.
bool is_gone(file_system& files, const std::string& directory, const std::string& path) {
  const auto entries = files.list(directory);
  if (!entries)
    return false;
  const auto has = [&](const std::string& wanted) {
    return std::any_of(entries->begin(), entries->end(),
                       [&](const file_info& each) { return each.path == wanted; });
  };
  const bool is_shared = ("/" + directory).ends_with(shared_name);
  return !has(path) && (is_shared || has(directory + std::string(metadata_name)));
}

} // namespace

result<std::unique_ptr<readable_file>> open_stored(file_system& files, const std::string& path) {
  auto file = files.open(path);
  if (file || file.error().code != errc::file_not_found)
    return file;
  const auto slash = path.rfind('/');
  if (slash != std::string::npos && is_gone(files, path.substr(0, slash), path))
    return error(errc::corrupt_snapshot,
                 "a file of the checkpoint is gone, though its directory is there: bring it back, "
                 "or restore from another checkpoint or savepoint: " +
                     path,
                 std::move(file).error());
  // As good as new when it comes back, as a directory that was not mounted for a while.
  return error(errc::storage_failed, "a file of the checkpoint is missing: " + path,
               std::move(file).error());
}

} // namespace headrace::state
