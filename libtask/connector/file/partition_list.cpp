#include "libtask/connector/file/partition_list.hpp"

#include "libactors/base/path.hpp"

#include <algorithm>
#include <cstddef>

namespace headrace::task {
namespace {

struct partition_lister {
  file_system& files;
  std::span<const std::string> keys;
  std::string_view missing;
  const std::map<std::string, std::string, std::less<>>& fixed;
  std::vector<std::string> found;

  /// @param depth  how many keys have their directory already, which `name` tells
  status list(const std::string& directory, std::size_t depth, const std::string& name) {
    if (depth == keys.size()) {
      found.push_back(name);
      return {};
    }
    const auto entries = files.list(directory);
    if (!entries)
      return entries.error().code == errc::file_not_found ? status() : status(entries.error());
    for (const auto& each : *entries) {
      if (!each.is_directory)
        continue;
      const auto values = parse_partition(keys.subspan(depth, 1), each.path, missing);
      if (!values)
        continue;
      const auto value = values->front().value_or(std::string(missing));
      if (const auto only = fixed.find(keys[depth]); only != fixed.end() && only->second != value)
        continue;
      HEADRACE_CHECK(
          list(each.path, depth + 1, name + (name.empty() ? "" : "/") + keys[depth] + '=' + value));
    }
    return {};
  }
};

} // namespace

result<std::vector<std::string>>
list_partitions(file_system& files, std::string_view directory, std::span<const std::string> keys,
                std::string_view missing,
                const std::map<std::string, std::string, std::less<>>& fixed) {
  HEADRACE_TRY(const auto path, local_path(directory));
  partition_lister lister{files, keys, missing, fixed, {}};
  HEADRACE_CHECK(lister.list(path, 0, {}));
  std::sort(lister.found.begin(), lister.found.end());
  return std::move(lister.found);
}

} // namespace headrace::task
