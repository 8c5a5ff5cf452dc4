#include "apps/cluster/process_settings.hpp"

#include "libactors/base/file_system.hpp"
#include "libactors/base/limits.hpp"
#include "libactors/base/path.hpp"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <unistd.h>
#include <utility>

namespace headrace::cluster {

status read_settings(const std::string& path, const std::vector<std::string>& words,
                     configuration& into) {
  if (!path.empty()) {
    const auto files = make_local_file_system();
    HEADRACE_TRY(const auto text, files->read_all(path, limits::configuration_bytes_max));
    HEADRACE_CHECK(into.merge_yaml(text, path));
  }
  for (const auto& word : words) {
    const auto equals = word.find('=');
    if (equals == std::string::npos)
      return error(errc::bad_usage, "-D wants key=value: " + word);
    HEADRACE_CHECK(into.set(word.substr(0, equals), word.substr(equals + 1)));
  }
  return check_settings(into);
}

status check_settings(const configuration& settings) {
  const auto interval = settings.get_duration("heartbeat.interval");
  const auto timeout = settings.get_duration("heartbeat.timeout");
  if (timeout >= 2 * interval)
    return {};
  return error(errc::bad_option_value,
               "heartbeat.timeout must be at least twice heartbeat.interval, but is " +
                   std::to_string(timeout.count()) + " ms with an interval of " +
                   std::to_string(interval.count()) + " ms");
}

result<logger> make_logger(const configuration& settings, log_level lowest) {
  const auto path = settings.get_path("log.file");
  if (!path.empty()) {
    auto* file = std::fopen(path.c_str(), "ae");
    if (file == nullptr)
      return error(errc::bad_option_value,
                   "log.file cannot be opened: " + path + ": " + std::string(std::strerror(errno)));
    std::fclose(file);
  }
  return logger::to(path, lowest);
}

log_level log_level_of(const configuration& settings) {
  static constexpr std::pair<std::string_view, log_level> levels[] = {
      {"trace", log_level::trace}, {"debug", log_level::debug}, {"info", log_level::info},
      {"warn", log_level::warn},   {"error", log_level::error}, {"off", log_level::off}};
  const auto text = settings.get_text("log.level");
  for (const auto& [name, level] : levels)
    if (name == text)
      return level;
  return log_level::info;
}

std::string temporary_base(const configuration& settings) {
  auto base = settings.get_path("io.tmp.dirs");
  if (!base.empty())
    return base;
  const char* named = std::getenv("TMPDIR");
  const auto directory = absolute_path(named != nullptr && *named != '\0' ? named : "/tmp");
  return (directory ? *directory : "/tmp") + "/headrace-" + std::to_string(getuid());
}

} // namespace headrace::cluster
