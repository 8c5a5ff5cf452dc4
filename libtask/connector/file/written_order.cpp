#include "libtask/connector/file/written_order.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace headrace::task {
namespace {

bool is_digit(char letter) { return letter >= '0' && letter <= '9'; }

/// Takes a number off the front, without leading zeros.
std::string_view take_number(std::string_view& from) {
  const auto begin = std::min(from.find_first_not_of('0'), from.size());
  auto end = begin;
  while (end < from.size() && is_digit(from[end]))
    ++end;
  const auto out = from.substr(begin, end - begin);
  from.remove_prefix(end);
  return out;
}

/// "part-2" before "part-10": numbers in paths count as such.
bool is_before(std::string_view left, std::string_view right) {
  while (!left.empty() && !right.empty()) {
    if (is_digit(left.front()) && is_digit(right.front())) {
      const auto one = take_number(left);
      const auto other = take_number(right);
      if (one.size() != other.size())
        return one.size() < other.size();
      if (one != other)
        return one < other;
    } else if (left.front() != right.front()) {
      return left.front() < right.front();
    } else {
      left.remove_prefix(1);
      right.remove_prefix(1);
    }
  }
  return left.size() < right.size();
}

/// The path without the last number of the file's name.
std::string writer_of(std::string_view path) {
  auto end = path.size();
  while (end > 0 && path[end - 1] != '/' && !is_digit(path[end - 1]))
    --end;
  auto begin = end;
  while (begin > 0 && is_digit(path[begin - 1]))
    --begin;
  return std::string(path.substr(0, begin)) + '/' + std::string(path.substr(end));
}

} // namespace

std::vector<file_info> in_written_order(std::vector<file_info> files) {
  std::sort(files.begin(), files.end(), [](const file_info& left, const file_info& right) {
    return is_before(left.path, right.path);
  });
  std::map<std::string, std::int64_t> latest_ms; // of a writer's files so far
  std::vector<std::pair<std::int64_t, file_info>> timed;
  timed.reserve(files.size());
  for (auto& file : files) {
    const auto at = latest_ms.try_emplace(writer_of(file.path), file.modified_ms).first;
    at->second = std::max(at->second, file.modified_ms);
    timed.emplace_back(at->second, std::move(file));
  }
  std::stable_sort(timed.begin(), timed.end(),
                   [](const auto& left, const auto& right) { return left.first < right.first; });
  files.clear();
  for (auto& [time_ms, file] : timed)
    files.push_back(std::move(file));
  return files;
}

} // namespace headrace::task
