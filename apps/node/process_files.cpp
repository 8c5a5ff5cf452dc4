#include "apps/node/process_files.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>
#include <utility>

namespace headrace::node {

result<directory_lock> directory_lock::take(const std::string& directory,
                                            const std::string& taken) {
  const auto path = directory + "/lock";
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (descriptor < 0)
    return error(errc::storage_failed,
                 "cannot open " + path + ": " + std::string(std::strerror(errno)));
  if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
    const int why = errno;
    ::close(descriptor);
    if (why != EWOULDBLOCK)
      return error(errc::storage_failed,
                   "cannot lock " + path + ": " + std::string(std::strerror(why)));
    return error(errc::bad_usage, taken + ": " + directory);
  }
  return directory_lock(descriptor);
}

directory_lock::directory_lock(directory_lock&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)) {}

directory_lock::~directory_lock() {
  if (descriptor_ >= 0)
    ::close(descriptor_); // the lock goes with it
}

told_files::~told_files() {
  for (const auto& path : paths_)
    static_cast<void>(files_.remove(path));
}

status told_files::write(const std::string& path, const std::string& content) {
  if (path.empty())
    return {};
  HEADRACE_CHECK(files_.write_atomically(path, content));
  paths_.push_back(path);
  return {};
}

} // namespace headrace::node
