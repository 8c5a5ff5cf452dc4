#include "apps/cluster/working_directory.hpp"

#include "apps/cluster/process_settings.hpp"

#include <cerrno>
#include <fcntl.h>
#include <string_view>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace headrace::cluster {

namespace {

constexpr std::string_view lock_name = "/lock";
/// Of a directory that is being removed: no process takes such a name for its own.
constexpr std::string_view removed_end = ".removed";

enum class lock_state { held, taken, unknown };

struct opened_lock {
  lock_state state = lock_state::unknown;
  int descriptor = -1; ///< when held
};

/// Whether a path is that of an open file yet: who holds the lock of one that was removed meanwhile
/// holds nothing.
bool is_there_yet(int descriptor, const std::string& path) {
  struct stat open {};
  struct stat named {};
  return ::fstat(descriptor, &open) == 0 && ::lstat(path.c_str(), &named) == 0 &&
         open.st_dev == named.st_dev && open.st_ino == named.st_ino;
}

opened_lock take_lock(const std::string& directory, bool makes) {
  struct stat about {};
  if (::lstat(directory.c_str(), &about) != 0 || !S_ISDIR(about.st_mode))
    return {}; // a link leads to what may be another's
  const auto path = directory + std::string(lock_name);
  const int descriptor =
      ::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | (makes ? O_CREAT : 0), 0600);
  if (descriptor < 0)
    return {};
  const bool is_locked = ::flock(descriptor, LOCK_EX | LOCK_NB) == 0;
  const bool is_taken = !is_locked && errno == EWOULDBLOCK;
  if (is_locked && is_there_yet(descriptor, path))
    return {lock_state::held, descriptor};
  ::close(descriptor);
  return {is_locked || is_taken ? lock_state::taken : lock_state::unknown, -1};
}

std::uint64_t bytes_below(file_system& files, const std::string& directory) {
  std::uint64_t out = 0;
  const auto entries = files.list(directory);
  for (const auto& entry : entries ? *entries : std::vector<file_info>())
    out += entry.is_directory ? bytes_below(files, entry.path) : entry.size_bytes;
  return out;
}

/// Under the lock. @returns where it is now, from where nobody takes it for the one that it was
result<std::string> set_aside(file_system& files, const std::string& directory) {
  if (directory.ends_with(removed_end))
    return directory;
  auto path = directory + std::string(removed_end);
  HEADRACE_CHECK(files.rename(directory, path));
  return path;
}

/// Under the lock; that goes last, so that who is killed here leaves what the next one removes.
status remove_locked(file_system& files, const std::string& directory) {
  HEADRACE_TRY(const auto path, set_aside(files, directory));
  HEADRACE_TRY(const auto entries, files.list(path));
  for (const auto& entry : entries)
    if (entry.path != path + std::string(lock_name))
      HEADRACE_CHECK(files.remove_tree(entry.path));
  return files.remove_tree(path);
}

/// Whether there is no such directory: also when a dead process had it and it could be set aside.
bool is_free(file_system& files, const std::string& path) {
  if (!files.stat(path))
    return true;
  const auto lock = take_lock(path, false);
  if (lock.state != lock_state::held)
    return false;
  const bool is_aside = set_aside(files, path).has_value();
  ::close(lock.descriptor);
  return is_aside;
}

} // namespace

working_directory::working_directory(file_system& files, const std::string& base,
                                     const std::string& name)
    : files_(files), start_(base + "/" + name + "-") {
  for (int number = 1; lock_ < 0; ++number) {
    path_ = start_ + std::to_string(getpid()) + (number == 1 ? "" : "-" + std::to_string(number));
    if (!is_free(files, path_))
      continue;
    if (!files.create_directories(path_))
      return; // who writes there says why not
    const auto taken = take_lock(path_, true);
    lock_ = taken.descriptor;
    if (taken.state == lock_state::unknown)
      return; // nor can another process lock it, and so remove it
  }
}

working_directory::~working_directory() {
  static_cast<void>(files_.remove_tree(path_));
  if (lock_ >= 0)
    ::close(lock_);
}

void working_directory::remove_abandoned(executor& blocking, const logger& log) const {
  blocking.submit([&files = files_, start = start_, log] {
    for (const auto& each : remove_abandoned_directories(files, start)) {
      const auto bytes = std::to_string(each.size_bytes);
      if (each.removed)
        log.info("removed what a killed process left", {{"path", each.path}, {"bytes", bytes}});
      else
        log.warn(
            "what a killed process left stays",
            {{"path", each.path}, {"bytes", bytes}, {"cause", to_string(each.removed.error())}});
    }
  });
}

std::vector<abandoned_directory> remove_abandoned_directories(file_system& files,
                                                              const std::string& start) {
  std::vector<abandoned_directory> out;
  const auto entries = files.list(start.substr(0, start.rfind('/')));
  for (const auto& entry : entries ? *entries : std::vector<file_info>()) {
    if (!entry.is_directory || !entry.path.starts_with(start))
      continue;
    const auto lock = take_lock(entry.path, false);
    if (lock.state != lock_state::held)
      continue;
    const auto bytes = bytes_below(files, entry.path);
    out.push_back({entry.path, bytes, remove_locked(files, entry.path)});
    ::close(lock.descriptor);
  }
  return out;
}

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
