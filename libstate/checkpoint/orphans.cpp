#include "libstate/checkpoint/orphans.hpp"

#include "libstate/checkpoint/checkpoint_files.hpp"
#include "libstate/checkpoint/checkpoint_storage.hpp"

#include <algorithm>
#include <set>
#include <string_view>

namespace headrace::state {

namespace {

std::string_view last_part(std::string_view path) {
  const auto slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

bool is_job(std::string_view name) { return parse_id<job_tag>(name).has_value(); }

class orphan_search {
public:
  orphan_search(file_system& files, std::int64_t before_ms)
      : files_(files), before_ms_(before_ms) {}

  status search(const std::string& root) {
    HEADRACE_TRY(const auto entries, files_.list(root));
    if (is_job(last_part(root)))
      HEADRACE_CHECK(look_at_job(root, entries));
    for (const auto& entry : entries) {
      if (!entry.is_directory)
        continue;
      const auto name = last_part(entry.path);
      if (is_job(name)) {
        HEADRACE_TRY(const auto of_job, files_.list(entry.path));
        HEADRACE_CHECK(look_at_job(entry.path, of_job));
      } else if (name.starts_with("savepoint-")) {
        has_any_ = true;
        HEADRACE_CHECK(look_at(entry.path, orphan::kind::incomplete_savepoint));
      }
    }
    if (!has_any_)
      return error(errc::file_not_found,
                   "no checkpoints there: " + root +
                       "; name a directory of checkpoints (execution.checkpointing.dir), or that "
                       "of one job in it");
    for (const auto& job : known_jobs_) // once all is known that is used
      HEADRACE_CHECK(find_unused(job));
    return {};
  }
  std::vector<orphan> take() { return std::move(found_); }

private:
  status look_at_job(const std::string& directory, const std::vector<file_info>& entries) {
    has_any_ = true;
    bool are_all_known = true;
    for (const auto& entry : entries) {
      if (!entry.is_directory || !last_part(entry.path).starts_with("chk-"))
        continue;
      HEADRACE_CHECK(look_at(entry.path, orphan::kind::incomplete_checkpoint));
      const auto checkpoint = read_checkpoint(files_, entry.path);
      if (checkpoint)
        add_used(*checkpoint);
      else if (!checkpoint.error().has(errc::file_not_found))
        are_all_known = false;
    }
    if (are_all_known)
      known_jobs_.push_back(directory);
    return {};
  }

  status find_unused(const std::string& directory) {
    const auto shared = files_.list(directory + "/shared");
    if (!shared && shared.error().has(errc::file_not_found))
      return {};
    if (!shared)
      return shared.error();
    for (const auto& entry : *shared) {
      if (!used_.contains(std::string(last_part(entry.path))) && entry.modified_ms < before_ms_)
        found_.push_back(
            {orphan::kind::shared_file, entry.path, entry.size_bytes, entry.modified_ms});
    }
    return {};
  }

  void add_used(const completed_checkpoint& checkpoint) {
    for (const auto& [path, bytes] : files_of(checkpoint))
      used_.emplace(last_part(path));
  }

  /// Notes a directory that has no manifest and in which nothing is new.
  status look_at(const std::string& directory, orphan::kind what) {
    HEADRACE_TRY(const auto entries, files_.list(directory));
    orphan made{what, directory, 0, 0};
    for (const auto& entry : entries) {
      if (last_part(entry.path) == "_metadata")
        return {};
      made.size_bytes += entry.size_bytes;
      made.modified_ms = std::max(made.modified_ms, entry.modified_ms);
    }
    HEADRACE_TRY(const auto itself, files_.stat(directory));
    made.modified_ms = std::max(made.modified_ms, itself.modified_ms);
    if (made.modified_ms < before_ms_)
      found_.push_back(std::move(made));
    return {};
  }

  file_system& files_;
  std::int64_t before_ms_;
  bool has_any_ = false;                ///< a job's directory, or a savepoint
  std::vector<std::string> known_jobs_; ///< directories of jobs whose manifests could all be read
  /// Names of files, which are unique: the way to them may be spelled otherwise in a manifest.
  std::set<std::string> used_;
  std::vector<orphan> found_;
};

} // namespace

result<std::vector<orphan>> find_orphans(file_system& files, const std::string& root,
                                         std::int64_t before_ms) {
  auto directory = root;
  while (directory.size() > 1 && directory.ends_with('/'))
    directory.pop_back();
  orphan_search search(files, before_ms);
  HEADRACE_CHECK(search.search(directory));
  return search.take();
}

status remove_orphan(file_system& files, const orphan& what) {
  return what.what == orphan::kind::shared_file ? files.remove(what.path)
                                                : files.remove_tree(what.path);
}

} // namespace headrace::state
