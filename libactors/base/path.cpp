#include "libactors/base/path.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstring>
#include <unistd.h>

namespace headrace {
namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/// The scheme of a URI ("s3" of "s3://bucket"); empty for a path.
std::string_view scheme_of(std::string_view given) {
  const auto colon = given.find(':');
  if (colon == std::string_view::npos || !is_letter(given.front()))
    return {};
  const auto scheme = given.substr(0, colon);
  const bool has_name = std::all_of(scheme.begin(), scheme.end(), [](char c) {
    return is_letter(c) || (c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.';
  });
  const bool has_path = given.substr(colon + 1).starts_with('/');
  return has_name && (has_path || scheme == "file") ? scheme : std::string_view();
}

error refused(std::string_view given, const std::string& why) {
  return {errc::bad_usage, "not usable as a path: '" + std::string(given) + "', " + why +
                               "; allowed is " + std::string(allowed_paths)};
}

} // namespace

result<std::string> local_path(std::string_view given) {
  auto path = given;
  if (given.find('\0') != std::string_view::npos)
    return refused(given.substr(0, given.find('\0')), "a zero byte follows");
  if (const auto scheme = scheme_of(given); !scheme.empty()) {
    if (scheme != "file")
      return refused(given, "there is no file system for '" + std::string(scheme) + "'");
    path.remove_prefix(scheme.size() + 1);
    if (path.starts_with("//")) {
      path.remove_prefix(2);
      const auto host = path.substr(0, path.find('/'));
      if (!host.empty() && host != "localhost")
        return refused(given, "it names the machine '" + std::string(host) + "'");
      path.remove_prefix(host.size());
    }
    if (path.empty())
      return refused(given, "it names no path");
  }
  while (path.size() > 1 && path.ends_with('/'))
    path.remove_suffix(1);
  return std::string(path);
}

result<std::string> absolute_path(std::string_view given) {
  const auto local = local_path(given);
  if (!local || local->empty() || local->front() == '/')
    return local;
  auto path = *local;
  std::array<char, PATH_MAX> here{};
  if (::getcwd(here.data(), here.size()) == nullptr)
    return error(errc::storage_failed, "working directory cannot be read, give an absolute path: " +
                                           path + ": " + std::strerror(errno));
  while (path.starts_with("./"))
    path.erase(0, std::min(path.find_first_not_of('/', 1), path.size()));
  std::string out(here.data());
  if (!path.empty() && path != ".")
    out += (out == "/" ? "" : "/") + path;
  return out;
}

} // namespace headrace
