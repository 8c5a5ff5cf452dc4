#include "libstate/checkpoint/checkpoint_storage.hpp"
#include "libstate/checkpoint/orphans.hpp"
#include "libstate/checkpoint/snapshot_segments.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <set>

namespace headrace::state {

namespace {

constexpr std::string_view manifest_name = "_metadata";
constexpr std::string_view checkpoint_start = "chk-";
constexpr std::string_view savepoint_start = "savepoint-";
constexpr std::uint64_t manifest_bytes_max = 1ULL << 30U;

std::string_view last_part(std::string_view path) {
  const auto slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

/// The complete checkpoints in a directory or, when it holds job directories, in each of those.
void add_complete(file_system& files, const std::string& directory, int depth,
                  std::vector<std::string>& out) {
  constexpr std::size_t named_most = 10;
  const auto entries = files.list(directory);
  for (const auto& entry : entries ? *entries : std::vector<file_info>()) {
    if (!entry.is_directory || out.size() >= named_most)
      continue;
    const auto name = last_part(entry.path);
    if (!name.starts_with(checkpoint_start) && !name.starts_with(savepoint_start)) {
      if (depth > 0)
        add_complete(files, entry.path, depth - 1, out);
    } else if (files.stat(entry.path + "/" + std::string(manifest_name))) {
      out.push_back(entry.path);
    }
  }
}

/// Names the complete checkpoints below a directory or, when there is none, beside it.
std::string complete_near(file_system& files, const std::string& directory) {
  std::vector<std::string> found;
  add_complete(files, directory, 1, found);
  const auto slash = directory.rfind('/');
  if (found.empty())
    add_complete(files, slash == std::string::npos ? "." : directory.substr(0, slash), 0, found);
  if (found.empty())
    return ", nor below or beside it";
  std::string out = "; complete are";
  for (const auto& path : found)
    out += (out.ends_with("are") ? " " : ", ") + path;
  return out;
}

/// The id of a checkpoint's directory; nothing for other names.
std::optional<checkpoint_id> id_of(std::string_view name) {
  if (!name.starts_with(checkpoint_start))
    return std::nullopt;
  name.remove_prefix(checkpoint_start.size());
  checkpoint_id id = 0;
  const auto [end, failed] = std::from_chars(name.data(), name.data() + name.size(), id);
  if (failed != std::errc() || end != name.data() + name.size())
    return std::nullopt;
  return id;
}

std::set<std::string> shared_paths(const completed_checkpoint& checkpoint) {
  std::set<std::string> out;
  for (const auto& [id, one] : checkpoint.operators) {
    for (const auto& [subtask, state] : one.subtasks) {
      for (const auto* handles : {&state.keyed, &state.raw_keyed}) {
        for (const auto& handle : *handles) {
          for (const auto& file : handle.shared)
            out.insert(file.segment.path);
        }
      }
    }
  }
  return out;
}

class file_checkpoint_storage final : public checkpoint_storage {
public:
  file_checkpoint_storage(file_system& files, std::string root, job_id job)
      : files_(&files), job_directory_(std::move(root) + "/" + to_string(job)) {}

  status begin(checkpoint_id id) override {
    HEADRACE_CHECK(files_->remove_tree(directory(id)));
    return files_->create_directories(directory(id));
  }

  std::string directory(checkpoint_id id) const override {
    return job_directory_ + "/" + std::string(checkpoint_start) + std::to_string(id);
  }

  status begin_savepoint(const std::string& directory) override {
    const auto found = files_->stat(directory);
    if (found)
      return error(errc::storage_failed, "savepoint's directory is there already: " + directory);
    if (found.error().code != errc::file_not_found)
      return found.error();
    return files_->create_directories(directory);
  }

  result<std::unique_ptr<subtask_target>> open(const std::string& checkpoint_directory,
                                               const subtask_file& name,
                                               bool is_savepoint) override {
    return snapshot_segments(*files_, 0).open(checkpoint_directory, name, is_savepoint);
  }

  status complete(completed_checkpoint& checkpoint) override {
    if (checkpoint.directory.empty())
      checkpoint.directory = directory(checkpoint.id);
    HEADRACE_CHECK(files_->create_directories(checkpoint.directory));
    return files_->write_atomically(checkpoint.directory + "/" + std::string(manifest_name),
                                    encode_manifest(checkpoint));
  }

  result<std::vector<checkpoint_id>> list() override {
    std::vector<checkpoint_id> out;
    auto entries = files_->list(job_directory_);
    if (!entries) {
      if (entries.error().code == errc::file_not_found)
        return out;
      return std::move(entries).error();
    }
    for (const auto& entry : *entries) {
      const auto id = id_of(last_part(entry.path));
      if (!entry.is_directory || !id)
        continue;
      const auto found = files_->stat(directory(*id) + "/" + std::string(manifest_name));
      if (found)
        out.push_back(*id);
      else if (found.error().code != errc::file_not_found)
        return found.error();
    }
    std::sort(out.begin(), out.end());
    return out;
  }

  result<completed_checkpoint> read(checkpoint_id id) override {
    return read_checkpoint(*files_, directory(id));
  }

  status remove(const completed_checkpoint& checkpoint,
                const std::vector<completed_checkpoint>& kept) override {
    // Without its manifest it is no checkpoint: what fails from here on leaves no half of one.
    HEADRACE_CHECK(files_->remove(checkpoint.directory + "/" + std::string(manifest_name)));
    HEADRACE_CHECK(files_->remove_tree(checkpoint.directory));
    auto unused = shared_paths(checkpoint);
    for (const auto& other : kept) {
      for (const auto& path : shared_paths(other))
        unused.erase(path);
    }
    for (const auto& path : unused) {
      if (path.starts_with(shared_directory() + "/")) // else it is a savepoint's
        HEADRACE_CHECK(files_->remove(path));
    }
    return {};
  }

  status abort(checkpoint_id id) override { return remove_incomplete(directory(id)); }

  status abort_savepoint(const std::string& directory) override {
    return remove_incomplete(directory);
  }

  result<std::vector<checkpoint_id>> retain(std::size_t count) override {
    HEADRACE_ASSERT(count >= 1, "the newest checkpoint is kept");
    HEADRACE_TRY(auto ids, list());
    if (ids.size() <= count)
      return ids;
    const std::vector<checkpoint_id> kept_ids(ids.end() - static_cast<std::ptrdiff_t>(count),
                                              ids.end());
    std::vector<completed_checkpoint> kept;
    for (const auto id : kept_ids) {
      HEADRACE_TRY(auto one, read(id));
      kept.push_back(std::move(one));
    }
    ids.resize(ids.size() - count);
    for (const auto id : ids) {
      HEADRACE_TRY(const auto old, read(id));
      HEADRACE_CHECK(remove(old, kept));
    }
    return kept_ids;
  }

  status leave(bool is_over) override {
    if (is_over)
      HEADRACE_CHECK(remove_orphans());
    HEADRACE_CHECK(remove_empty(shared_directory()));
    return remove_empty(job_directory_);
  }

private:
  std::string shared_directory() const { return job_directory_ + "/shared"; }

  status remove_orphans() {
    const auto found =
        find_orphans(*files_, job_directory_, std::numeric_limits<std::int64_t>::max());
    if (!found && !found.error().has(errc::file_not_found))
      return found.error();
    for (const auto& each : found ? *found : std::vector<orphan>())
      HEADRACE_CHECK(remove_orphan(*files_, each));
    return {};
  }

  status remove_empty(const std::string& directory) {
    const auto entries = files_->list(directory);
    if (!entries && entries.error().code != errc::file_not_found)
      return entries.error();
    return entries && entries->empty() ? files_->remove_tree(directory) : status();
  }

  status remove_incomplete(const std::string& directory) {
    const auto found = files_->stat(directory + "/" + std::string(manifest_name));
    if (found)
      return {}; // it is complete after all
    if (found.error().code != errc::file_not_found)
      return found.error();
    return files_->remove_tree(directory);
  }

  file_system* files_;
  std::string job_directory_;
};

} // namespace

std::unique_ptr<checkpoint_storage> make_file_checkpoint_storage(file_system& files,
                                                                 std::string root, job_id job) {
  return std::make_unique<file_checkpoint_storage>(files, std::move(root), job);
}

result<completed_checkpoint> read_checkpoint(file_system& files, const std::string& path) {
  auto directory = path;
  if (last_part(directory) == manifest_name)
    directory.resize(directory.size() - manifest_name.size());
  while (directory.size() > 1 && directory.ends_with('/'))
    directory.pop_back();
  auto stored = files.read_all(directory + "/" + std::string(manifest_name), manifest_bytes_max);
  if (!stored && stored.error().has(errc::file_not_found))
    return error(errc::file_not_found,
                 "no complete checkpoint there: " + directory + complete_near(files, directory),
                 std::move(stored).error());
  if (!stored)
    return std::move(stored).error();
  return decode_manifest(*stored, directory);
}

} // namespace headrace::state
