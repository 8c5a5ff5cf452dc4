#include "apps/cluster/working_directory.hpp"

#include "apps/cluster/process_settings.hpp"

#include <cerrno>
#include <charconv>
#include <csignal>
#include <unistd.h>

namespace headrace::cluster {

working_directory::working_directory(file_system& files, const std::string& base,
                                     const std::string& name)
    : files_(files), path_(base + "/" + name + "-" + std::to_string(getpid())) {
  const auto start = base + "/" + name + "-";
  if (const auto entries = files.list(base)) {
    for (const auto& entry : *entries) {
      if (!entry.is_directory || !entry.path.starts_with(start))
        continue;
      pid_t owner = 0;
      const auto* end = entry.path.data() + entry.path.size();
      const auto [stop, failed] = std::from_chars(entry.path.data() + start.size(), end, owner);
      const bool is_ours = failed == std::errc() && stop == end && owner > 0;
      if (is_ours && ::kill(owner, 0) != 0 && errno == ESRCH)
        static_cast<void>(files.remove_tree(entry.path));
    }
  }
  static_cast<void>(files.remove_tree(path_)); // of one that had this pid before
}

working_directory::~working_directory() { static_cast<void>(files_.remove_tree(path_)); }

std::string local_state_base(const configuration& settings) {
  for (const auto* key : {"taskmanager.state.local.root-dirs", "state.backend.rocksdb.localdir"}) {
    if (auto named = settings.get_path(key); !named.empty())
      return named;
  }
  return temporary_base(settings);
}

std::unique_ptr<working_directory> make_state_directory(file_system& files,
                                                        const configuration& settings) {
  const auto base = settings.get_path("state.backend.rocksdb.localdir");
  return base.empty() ? nullptr : std::make_unique<working_directory>(files, base, "state");
}

} // namespace headrace::cluster
