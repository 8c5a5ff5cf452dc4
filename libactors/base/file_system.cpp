#include "libactors/base/file_system.hpp"

#include "libactors/base/path.hpp"

#include <atomic>
#include <unistd.h>

namespace headrace {
namespace {

/// Behind it come the process and a number.
constexpr std::string_view temporary_mark = ".tmp-";

} // namespace

result<byte_string> file_system::read_all(const std::string& path, std::uint64_t bytes_max) {
  HEADRACE_TRY(auto file, open(path));
  const auto size = file->size_bytes();
  if (size > bytes_max) {
    return error(errc::storage_failed, "file too large: " + path + ", " + std::to_string(size) +
                                           " bytes of at most " + std::to_string(bytes_max));
  }
  byte_string content(static_cast<std::size_t>(size), '\0');
  HEADRACE_TRY(const auto got, file->read_at(0, content));
  content.resize(got);
  return content;
}

bool is_unfinished_file(std::string_view path) {
  const auto mark = path.rfind(temporary_mark);
  if (mark == std::string_view::npos) {
    return false;
  }
  const auto rest = path.substr(mark + temporary_mark.size());
  return !rest.empty() && rest.find_first_not_of("0123456789-") == std::string_view::npos;
}

status file_system::write_atomically(const std::string& path, byte_view data) {
  // Unique, so that two writers of one path never share a temporary file; the last rename wins.
  static std::atomic<std::uint64_t> serial{0};
  const auto temporary = path + std::string(temporary_mark) + std::to_string(::getpid()) + '-' +
                         std::to_string(serial.fetch_add(1, std::memory_order_relaxed));
  const auto write = [&]() -> status {
    HEADRACE_TRY(auto file, create(temporary));
    HEADRACE_CHECK(file->append(data));
    HEADRACE_CHECK(file->sync());
    HEADRACE_CHECK(file->close());
    return rename(temporary, path);
  };
  auto written = write();
  if (!written) {
    static_cast<void>(remove(temporary)); // the first error is the one to tell
  }
  return written;
}

} // namespace headrace
