#include "libtask/connector/file/input_files.hpp"

#include "libactors/base/file_failure.hpp"
#include "libactors/base/text.hpp"

#include <algorithm>
#include <set>
#include <span>
#include <tuple>

namespace headrace::task {
namespace {

constexpr int directory_depth_max = 64;

bool is_hidden(std::string_view name) { return name.starts_with('.') || name.starts_with('_'); }
bool has_glob(std::string_view text) { return text.find_first_of("*?[") != std::string_view::npos; }

std::string_view name_of_path(std::string_view path) { return path.substr(path.rfind('/') + 1); }

error link_to_nothing(const std::string& path) {
  return {errc::input_not_found, "input is a link that leads to no file: " + path +
                                     "; mend or remove the link, or name other files"};
}

/// Whether something has this name, although nothing is found there.
bool is_link_to_nothing(file_system& files, const std::string& path) {
  const auto name = name_of_path(path);
  const auto parent = path.substr(0, path.size() - name.size());
  const auto entries = files.list(parent.empty() ? "." : parent);
  return entries && std::any_of(entries->begin(), entries->end(), [&](const file_info& entry) {
           return name_of_path(entry.path) == name && !entry.is_regular && !entry.is_directory;
         });
}

error no_match(const std::string& pattern) {
  return {errc::input_not_found,
          "no file matches the pattern: " + pattern +
              "; a file must match on every machine of the cluster, a relative pattern is taken "
              "from where the process was started, and names that start with '.' or '_' are left "
              "out unless the pattern starts so too"};
}

/// Takes a class ("[a-z]") off the front of `pattern`; whether `letter` is in it.
bool matches_class(std::string_view& pattern, char letter) {
  std::size_t at = 1;
  const bool negated = at < pattern.size() && (pattern[at] == '!' || pattern[at] == '^');
  at += negated ? 1 : 0;
  bool found = false;
  for (bool first = true; at < pattern.size() && (first || pattern[at] != ']'); first = false) {
    if (at + 2 < pattern.size() && pattern[at + 1] == '-' && pattern[at + 2] != ']') {
      found |= pattern[at] <= letter && letter <= pattern[at + 2];
      at += 3;
    } else {
      found |= pattern[at] == letter;
      ++at;
    }
  }
  pattern.remove_prefix(std::min(at + 1, pattern.size()));
  return found != negated;
}

class search {
public:
  search(file_system& files, bool recursive) : files_(files), recursive_(recursive) {}

  status add_directory(const std::string& directory, int depth) {
    HEADRACE_TRY(const auto entries, list(directory, depth));
    for (const auto& entry : entries) {
      if (is_hidden(name_of_path(entry.path)))
        continue;
      if (!entry.is_directory)
        HEADRACE_CHECK(add_file(entry));
      else if (recursive_ && is_new(entry, 0))
        HEADRACE_CHECK(add_directory(entry.path, depth + 1));
    }
    return {};
  }

  /// Matches the entries of `directory` against the first of `segments`, and what is below against
  /// the rest.
  status add_matches(const std::string& directory, std::span<const std::string_view> segments,
                     int depth) {
    const auto segment = segments.front();
    const auto rest = segments.subspan(1);
    if (segment == "**") {
      if (!rest.empty())
        HEADRACE_CHECK(add_matches(directory, rest, depth));
      HEADRACE_TRY(const auto entries, list(directory, depth));
      for (const auto& entry : entries) {
        if (is_hidden(name_of_path(entry.path)))
          continue;
        if (entry.is_directory) {
          if (is_new(entry, segments.size()))
            HEADRACE_CHECK(add_matches(entry.path, segments, depth + 1));
        } else if (rest.empty()) {
          HEADRACE_CHECK(add_file(entry));
        }
      }
      return {};
    }
    HEADRACE_TRY(const auto entries, list(directory, depth));
    for (const auto& entry : entries) {
      const auto name = name_of_path(entry.path);
      if ((is_hidden(name) && !is_hidden(segment)) || !matches_glob(segment, name))
        continue;
      if (entry.is_directory) {
        if (is_new(entry, rest.size()))
          HEADRACE_CHECK(rest.empty() ? add_directory(entry.path, depth + 1)
                                      : add_matches(entry.path, rest, depth + 1));
      } else if (rest.empty()) {
        HEADRACE_CHECK(add_file(entry));
      }
    }
    return {};
  }

  status add_file(const file_info& file) {
    if (!file.is_regular) {
      auto there = files_.stat(file.path);
      if (!there && there.error().has(errc::file_not_found))
        return link_to_nothing(file.path);
      if (!there)
        return input_failure(file.path, std::move(there).error());
      return error(errc::input_unreadable, "not a regular file: " + file.path);
    }
    found_.push_back(file);
    return {};
  }

  /// Whether the directory was not yet searched for this many segments of the pattern, under
  /// whatever path: links may lead to it again, or back up to it.
  bool is_new(const file_info& directory, std::size_t segments) {
    return directory.inode == 0 ||
           searched_.emplace(directory.device, directory.inode, segments).second;
  }

  std::vector<file_info> take() {
    const auto by_path = [](const auto& a, const auto& b) { return a.path < b.path; };
    const auto same = [](const auto& a, const auto& b) { return a.path == b.path; };
    std::sort(found_.begin(), found_.end(), by_path);
    found_.erase(std::unique(found_.begin(), found_.end(), same), found_.end());
    return std::move(found_);
  }

private:
  result<std::vector<file_info>> list(const std::string& directory, int depth) {
    if (depth > directory_depth_max)
      return error(errc::input_unreadable,
                   "input directories nest too deep, does a link lead back to its parent: " +
                       directory);
    auto entries = files_.list(directory);
    if (!entries)
      return input_failure(directory, std::move(entries).error());
    return entries;
  }

  file_system& files_;
  bool recursive_;
  std::vector<file_info> found_;
  std::set<std::tuple<std::uint64_t, std::uint64_t, std::size_t>> searched_;
};

result<std::vector<file_info>> find_matches(search& found, file_system& files,
                                            const std::string& pattern) {
  std::string base = pattern.starts_with('/') ? "/" : ".";
  auto segments = split_text(pattern, '/');
  std::erase(segments, std::string_view());
  std::size_t fixed = 0;
  while (fixed + 1 < segments.size() && !has_glob(segments[fixed])) {
    base = base == "." ? std::string(segments[fixed])
                       : base + (base == "/" ? "" : "/") + std::string(segments[fixed]);
    ++fixed;
  }
  auto root = files.stat(base);
  if (!root && !root.error().has(errc::file_not_found))
    return input_failure(base, std::move(root).error());
  if (!root)
    return error(errc::input_not_found, "input not found: " + base + ", of " + pattern,
                 std::move(root).error());
  const auto patterns = std::span(segments).subspan(fixed);
  found.is_new(*root, patterns.size());
  HEADRACE_CHECK(found.add_matches(base, patterns, 0));
  return found.take();
}

} // namespace

bool is_of_input(std::string_view input, std::string_view path) {
  const auto wild = input.find_first_of("*?[");
  if (wild != std::string_view::npos)
    return path.starts_with(input.substr(0, wild));
  while (input.size() > 1 && input.ends_with('/'))
    input.remove_suffix(1);
  if (!path.starts_with(input))
    return false;
  return path.size() == input.size() || input.ends_with('/') || path[input.size()] == '/';
}

error input_failure(const std::string& path, error cause) {
  if (cause.has(errc::file_not_found))
    return {errc::input_not_found,
            "input not found: " + path +
                "; each task manager must see the files at the same path as the job manager",
            std::move(cause)};
  if (cause.has(file_unusable))
    return {errc::input_unreadable,
            "input is not readable: " + path +
                "; check its permissions and those of the directories above",
            std::move(cause)};
  const auto code = cause.code;
  return {code, "input cannot be read now: " + path, std::move(cause)};
}

bool matches_glob(std::string_view pattern, std::string_view name) {
  while (!pattern.empty()) {
    if (pattern.front() == '*') {
      pattern.remove_prefix(pattern.find_first_not_of('*') == std::string_view::npos
                                ? pattern.size()
                                : pattern.find_first_not_of('*'));
      if (pattern.empty())
        return true;
      for (std::size_t skip = 0; skip <= name.size(); ++skip) {
        if (matches_glob(pattern, name.substr(skip)))
          return true;
      }
      return false;
    }
    if (name.empty())
      return false;
    if (pattern.front() == '[' && pattern.find(']', 1) != std::string_view::npos) {
      if (!matches_class(pattern, name.front()))
        return false;
    } else {
      if (pattern.front() != '?' && pattern.front() != name.front())
        return false;
      pattern.remove_prefix(1);
    }
    name.remove_prefix(1);
  }
  return name.empty();
}

result<std::vector<file_info>> find_input_files(file_system& files, const std::string& path,
                                                bool recursive, empty_match none) {
  search found(files, recursive);
  auto itself = files.stat(path);
  if (itself) {
    found.is_new(*itself, 0);
    HEADRACE_CHECK(itself->is_directory ? found.add_directory(path, 0) : found.add_file(*itself));
    return found.take();
  }
  if (!itself.error().has(errc::file_not_found))
    return input_failure(path, std::move(itself).error());
  if (is_link_to_nothing(files, path))
    return link_to_nothing(path);
  if (!has_glob(path))
    return error(errc::input_not_found,
                 "input not found: " + path +
                     "; a path must exist on every machine of the cluster, and a relative one is "
                     "taken from where the process was started",
                 std::move(itself).error());
  HEADRACE_TRY(auto matches, find_matches(found, files, path));
  if (matches.empty() && none == empty_match::refused)
    return no_match(path);
  return matches;
}

} // namespace headrace::task
