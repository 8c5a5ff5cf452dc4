#include "libactors/base/file_failure.hpp"
#include "libactors/base/file_system.hpp"

#include <dirent.h>

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <system_error>
#include <unistd.h>

namespace headrace {
namespace {

constexpr std::size_t write_buffer_bytes = 64 * 1024;

error system_failure(std::string_view what, const std::string& path, int number) {
  errc code = errc::storage_failed;
  if (number == ENOSPC || number == EDQUOT) {
    code = errc::storage_full;
  } else if (number == ENOENT || number == ENOTDIR) {
    code = errc::file_not_found;
  }
  return {code, std::string(what) + ": " + path + ", " + std::system_category().message(number)};
}

/// Of a path that is opened, looked at or made.
error path_failure(std::string_view what, const std::string& path, int number) {
  auto failed = system_failure(what, path, number);
  if (number == EACCES || number == EPERM || number == ELOOP || number == ENXIO ||
      number == ENAMETOOLONG || number == EROFS || number == EISDIR)
    failed.code = file_unusable;
  return failed;
}

/// Closes on destruction, without a word.
class descriptor {
public:
  explicit descriptor(int number) : number_(number) {}
  descriptor(descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  descriptor& operator=(descriptor&&) = delete;
  ~descriptor() {
    if (number_ >= 0) {
      ::close(number_);
    }
  }
  int number() const { return number_; }
  int release() { return std::exchange(number_, -1); }

private:
  int number_;
};

int open_retrying(const std::string& path, int flags) {
  int number = -1;
  do {
    number = ::open(path.c_str(), flags | O_CLOEXEC, 0666);
  } while (number < 0 && errno == EINTR);
  return number;
}

std::string parent_of(const std::string& path) {
  const auto slash = path.find_last_of('/');
  if (slash == std::string::npos) {
    return ".";
  }
  return slash == 0 ? "/" : path.substr(0, slash);
}

status sync_descriptor(int number, const std::string& path) {
  int failed = 0;
  do {
    failed = ::fsync(number);
  } while (failed != 0 && errno == EINTR);
  // Pipes and devices cannot be synced, and need not be.
  if (failed != 0 && errno != EINVAL && errno != EROFS) {
    return system_failure("cannot sync", path, errno);
  }
  return {};
}

status sync_directory(const std::string& path) {
  const descriptor opened(open_retrying(path, O_RDONLY | O_DIRECTORY));
  if (opened.number() < 0) {
    return system_failure("cannot open directory", path, errno);
  }
  return sync_descriptor(opened.number(), path);
}

/// Files of /proc say that they are regular, and empty however much is read from them.
bool is_made_up(const std::string& path, const struct stat& about) {
  constexpr auto proc_magic = 0x9fa0;
  struct statfs system {};
  return about.st_size == 0 && ::statfs(path.c_str(), &system) == 0 && system.f_type == proc_magic;
}

file_info to_info(const std::string& path, const struct stat& about) {
  return {.path = path,
          .size_bytes = static_cast<std::uint64_t>(about.st_size),
          .modified_ms = static_cast<std::int64_t>(about.st_mtim.tv_sec) * 1'000 +
                         about.st_mtim.tv_nsec / 1'000'000,
          .is_directory = S_ISDIR(about.st_mode),
          .is_regular = S_ISREG(about.st_mode) && !is_made_up(path, about),
          .device = about.st_dev,
          .inode = about.st_ino};
}

class local_readable final : public readable_file {
public:
  local_readable(std::string path, descriptor opened, std::uint64_t size)
      : path_(std::move(path)), opened_(std::move(opened)), size_bytes_(size) {}

  std::uint64_t size_bytes() const override { return size_bytes_; }

  result<std::size_t> read_at(std::uint64_t offset, std::span<char> out) override {
    std::size_t got = 0;
    while (got < out.size()) {
      const auto more = ::pread(opened_.number(), out.data() + got, out.size() - got,
                                static_cast<off_t>(offset + got));
      if (more == 0) {
        break;
      }
      if (more < 0) {
        if (errno == EINTR) {
          continue;
        }
        return system_failure("cannot read", path_, errno);
      }
      got += static_cast<std::size_t>(more);
    }
    return got;
  }

private:
  std::string path_;
  descriptor opened_;
  std::uint64_t size_bytes_;
};

class local_writable final : public writable_file {
public:
  local_writable(std::string path, descriptor opened)
      : path_(std::move(path)), opened_(std::move(opened)) {}

  status append(byte_view data) override {
    if (held_.size() + data.size() < write_buffer_bytes) {
      held_.append(data);
      return {};
    }
    HEADRACE_CHECK(flush());
    if (data.size() < write_buffer_bytes) {
      held_.append(data);
      return {};
    }
    return write(data);
  }

  status sync() override {
    HEADRACE_CHECK(flush());
    return sync_descriptor(opened_.number(), path_);
  }

  status close() override {
    HEADRACE_CHECK(flush());
    if (::close(opened_.release()) != 0 && errno != EINTR) {
      return system_failure("cannot close", path_, errno);
    }
    return {};
  }

private:
  status flush() {
    HEADRACE_CHECK(write(held_));
    held_.clear();
    return {};
  }

  status write(byte_view data) {
    while (!data.empty()) {
      const auto put = ::write(opened_.number(), data.data(), data.size());
      if (put < 0) {
        if (errno == EINTR) {
          continue;
        }
        return system_failure("cannot write", path_, errno);
      }
      data.remove_prefix(static_cast<std::size_t>(put));
    }
    return {};
  }

  std::string path_;
  descriptor opened_;
  byte_string held_;
};

class local_file_system final : public file_system {
public:
  result<std::unique_ptr<readable_file>> open(const std::string& path) override {
    // Without O_NONBLOCK a pipe would be waited for until somebody writes to it.
    descriptor opened(open_retrying(path, O_RDONLY | O_NONBLOCK));
    struct stat about {};
    if (opened.number() < 0 || ::fstat(opened.number(), &about) != 0) {
      const bool leads_nowhere = errno == ELOOP || errno == ENXIO; // links in a circle, a socket
      return path_failure(leads_nowhere ? "no regular file" : "cannot open", path, errno);
    }
    if (!S_ISREG(about.st_mode)) {
      return error(file_unusable, "no regular file: " + path);
    }
    return std::unique_ptr<readable_file>(std::make_unique<local_readable>(
        path, std::move(opened), static_cast<std::uint64_t>(about.st_size)));
  }

  result<std::unique_ptr<writable_file>> create(const std::string& path) override {
    descriptor opened(open_retrying(path, O_WRONLY | O_CREAT | O_TRUNC));
    if (opened.number() < 0) {
      return path_failure("cannot create", path, errno);
    }
    return std::unique_ptr<writable_file>(
        std::make_unique<local_writable>(path, std::move(opened)));
  }

  result<std::unique_ptr<writable_file>> resume(const std::string& path,
                                                std::uint64_t size_bytes) override {
    descriptor opened(open_retrying(path, O_WRONLY));
    struct stat about {};
    if (opened.number() < 0 || ::fstat(opened.number(), &about) != 0) {
      return system_failure("cannot resume", path, errno);
    }
    const auto present = static_cast<std::uint64_t>(about.st_size);
    if (present < size_bytes) {
      return error(errc::storage_failed, "file shorter than what was written: " + path + ", " +
                                             std::to_string(present) + " bytes of " +
                                             std::to_string(size_bytes));
    }
    if (::ftruncate(opened.number(), static_cast<off_t>(size_bytes)) != 0 ||
        ::lseek(opened.number(), 0, SEEK_END) < 0) {
      return system_failure("cannot resume", path, errno);
    }
    return std::unique_ptr<writable_file>(
        std::make_unique<local_writable>(path, std::move(opened)));
  }

  status rename(const std::string& from, const std::string& to) override {
    if (::rename(from.c_str(), to.c_str()) != 0) {
      return system_failure("cannot rename", from + " to " + to, errno);
    }
    return sync_directory(parent_of(to));
  }

  status link(const std::string& from, const std::string& to) override {
    if (::link(from.c_str(), to.c_str()) != 0) {
      return system_failure("cannot link", from + " to " + to, errno);
    }
    return {};
  }

  status remove(const std::string& path) override {
    if (::unlink(path.c_str()) == 0 || errno == ENOENT || errno == ENOTDIR) {
      return {};
    }
    if ((errno == EISDIR || errno == EPERM) && ::rmdir(path.c_str()) == 0) {
      return {};
    }
    return system_failure("cannot remove", path, errno);
  }

  status remove_tree(const std::string& path) override {
    struct stat about {};
    if (::lstat(path.c_str(), &about) != 0) {
      if (errno == ENOENT || errno == ENOTDIR) {
        return {};
      }
      return system_failure("cannot remove", path, errno);
    }
    if (S_ISDIR(about.st_mode)) { // a link to a directory is removed, not what it leads to
      HEADRACE_TRY(const auto names, names_in(path));
      for (const auto& name : names) {
        HEADRACE_CHECK(remove_tree(path + '/' + name));
      }
    }
    return remove(path);
  }

  status create_directories(const std::string& path) override {
    struct stat about {};
    if (::stat(path.c_str(), &about) == 0) {
      return S_ISDIR(about.st_mode) ? status()
                                    : path_failure("cannot create directory", path, ENOTDIR);
    }
    if (errno != ENOENT) {
      return path_failure("cannot create directory", path, errno);
    }
    auto trimmed = path;
    while (trimmed.size() > 1 && trimmed.back() == '/') {
      trimmed.pop_back();
    }
    const auto parent = parent_of(trimmed);
    if (parent != trimmed) {
      HEADRACE_CHECK(create_directories(parent));
    }
    if (::mkdir(trimmed.c_str(), 0777) != 0 && errno != EEXIST) {
      return path_failure("cannot create directory", path, errno);
    }
    return sync_directory(parent);
  }

  result<file_info> stat(const std::string& path) override {
    struct stat about {};
    if (::stat(path.c_str(), &about) != 0) {
      return path_failure("cannot stat", path, errno);
    }
    return to_info(path, about);
  }

  result<std::vector<file_info>> list(const std::string& directory) override {
    HEADRACE_TRY(const auto names, names_in(directory));
    std::vector<file_info> entries;
    entries.reserve(names.size());
    for (const auto& name : names) {
      const auto path = directory.ends_with('/') ? directory + name : directory + '/' + name;
      struct stat about {};
      if (::stat(path.c_str(), &about) == 0) {
        entries.push_back(to_info(path, about));
      } else if (errno != ENOENT) {
        return path_failure("cannot stat", path, errno);
      } else if (::lstat(path.c_str(), &about) == 0) { // else it was removed meanwhile
        entries.push_back({.path = path, .is_regular = false});
      }
    }
    return entries;
  }

private:
  static result<std::vector<std::string>> names_in(const std::string& directory) {
    DIR* listing = ::opendir(directory.c_str());
    if (listing == nullptr) {
      const int number = errno;
      struct stat about {};
      if (number == ENOTDIR && ::stat(directory.c_str(), &about) == 0) {
        return error(errc::storage_failed, "cannot list: " + directory + " is no directory");
      }
      return path_failure("cannot list", directory, number);
    }
    std::vector<std::string> names;
    errno = 0;
    while (const auto* entry = ::readdir(listing)) {
      const std::string name = entry->d_name;
      if (name != "." && name != "..") {
        names.push_back(name);
      }
      errno = 0;
    }
    const int failed = errno;
    ::closedir(listing);
    if (failed != 0) {
      return system_failure("cannot list", directory, failed);
    }
    std::sort(names.begin(), names.end());
    return names;
  }
};

} // namespace

std::unique_ptr<file_system> make_local_file_system() {
  return std::make_unique<local_file_system>();
}

} // namespace headrace
