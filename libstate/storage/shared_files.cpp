#include "libstate/storage/shared_files.hpp"

#include <utility>
#include <vector>

namespace headrace::state {

std::optional<shared_files::stored>
shared_files::use(std::string_view name, checkpoint_id checkpoint, const snapshot_target& target) {
  const std::lock_guard lock(mutex_);
  const auto known = entries_.find(name);
  if (known == entries_.end() || !target.shares(known->second.what.file.segment.path))
    return std::nullopt;
  known->second.undecided.insert(checkpoint);
  return known->second.what;
}

void shared_files::add(stored what, checkpoint_id checkpoint) {
  const std::lock_guard lock(mutex_);
  auto name = what.file.name;
  entries_[std::move(name)] = {std::move(what), false, {checkpoint}};
}

void shared_files::adopt(stored what) {
  const std::lock_guard lock(mutex_);
  auto name = what.file.name;
  entries_[std::move(name)] = {std::move(what), true, {}};
}

status shared_files::forget_removed(file_system& files) {
  std::vector<std::pair<std::string, std::string>> doubtful; // names and paths
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [name, held] : entries_)
      if (!held.is_of_complete && held.undecided.empty())
        doubtful.emplace_back(name, held.what.file.segment.path);
  }
  for (const auto& [name, path] : doubtful) {
    const auto found = files.stat(path);
    if (found)
      continue;
    if (!found.error().has(errc::file_not_found))
      return found.error();
    const std::lock_guard lock(mutex_);
    const auto known = entries_.find(name);
    if (known != entries_.end() && known->second.what.file.segment.path == path)
      entries_.erase(known);
  }
  return {};
}

status shared_files::keep_only(const std::set<std::string_view>& names, file_system& files) {
  std::vector<std::string> unused;
  {
    const std::lock_guard lock(mutex_);
    std::erase_if(entries_, [&](const auto& one) {
      const auto& [name, held] = one;
      if (names.contains(name) || (!held.is_of_complete && !held.undecided.empty()))
        return false;
      if (!held.is_of_complete)
        unused.push_back(held.what.file.segment.path);
      return true;
    });
  }
  for (const auto& path : unused)
    HEADRACE_CHECK(files.remove(path));
  return {};
}

void shared_files::on_completed(checkpoint_id checkpoint) {
  const std::lock_guard lock(mutex_);
  for (auto& [name, one] : entries_) {
    one.is_of_complete = one.is_of_complete || one.undecided.contains(checkpoint);
    // Older ones that nobody told of have been subsumed.
    one.undecided.erase(one.undecided.begin(), one.undecided.upper_bound(checkpoint));
  }
}

void shared_files::on_aborted(checkpoint_id checkpoint) {
  const std::lock_guard lock(mutex_);
  for (auto& [name, one] : entries_)
    one.undecided.erase(checkpoint);
}

} // namespace headrace::state
