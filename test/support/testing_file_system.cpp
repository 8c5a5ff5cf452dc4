#include "test/support/testing_file_system.hpp"

#include "libactors/base/assert.hpp"

#include <algorithm>
#include <cstring>

namespace headrace::testing {
namespace {

error not_found(const std::string& path) {
  return {errc::file_not_found, "no such file or directory: " + path};
}

} // namespace

class testing_file_system::reader final : public readable_file {
public:
  reader(testing_file_system& owner, std::string path, std::shared_ptr<content> file)
      : owner_(owner), path_(std::move(path)), file_(std::move(file)) {}
  std::uint64_t size_bytes() const override {
    const std::lock_guard hold(owner_.mutex_);
    return file_->bytes.size();
  }
  result<std::size_t> read_at(std::uint64_t offset, std::span<char> out) override {
    const std::lock_guard hold(owner_.mutex_);
    HEADRACE_CHECK(owner_.ask("read", path_));
    if (offset >= file_->bytes.size())
      return std::size_t{0};
    const auto size = std::min<std::size_t>(out.size(), file_->bytes.size() - offset);
    std::memcpy(out.data(), file_->bytes.data() + offset, size);
    return size;
  }

private:
  testing_file_system& owner_;
  std::string path_;
  std::shared_ptr<content> file_;
};

class testing_file_system::writer final : public writable_file {
public:
  writer(testing_file_system& owner, std::string path, std::shared_ptr<content> file)
      : owner_(owner), path_(std::move(path)), file_(std::move(file)), epoch_(owner.epoch_) {}
  status append(byte_view data) override {
    const std::lock_guard hold(owner_.mutex_);
    HEADRACE_CHECK(check("append"));
    if (owner_.capacity_) {
      std::uint64_t used = 0;
      for (const auto& [path, file] : owner_.files_)
        used += file->bytes.size();
      if (used + data.size() > *owner_.capacity_) {
        file_->bytes.append(data.substr(0, *owner_.capacity_ - std::min(used, *owner_.capacity_)));
        return error(errc::storage_full, "no space left on device: " + path_);
      }
    }
    file_->bytes.append(data);
    return {};
  }
  status sync() override {
    const std::lock_guard hold(owner_.mutex_);
    HEADRACE_CHECK(check("sync"));
    file_->synced = file_->bytes.size();
    return {};
  }
  status close() override {
    const std::lock_guard hold(owner_.mutex_);
    return check("close");
  }

private:
  status check(const char* call) {
    if (epoch_ != owner_.epoch_)
      return error(errc::storage_failed, "the process that opened it is gone: " + path_);
    return owner_.ask(call, path_);
  }
  testing_file_system& owner_;
  std::string path_;
  std::shared_ptr<content> file_;
  std::uint64_t epoch_;
};

void testing_file_system::intercept(interceptor asked) {
  const std::lock_guard hold(mutex_);
  asked_ = std::move(asked);
}

void testing_file_system::set_capacity(std::uint64_t bytes) {
  const std::lock_guard hold(mutex_);
  capacity_ = bytes;
}

void testing_file_system::crash() {
  const std::lock_guard hold(mutex_);
  ++epoch_;
  for (auto& [path, file] : files_)
    file->bytes.resize(file->synced);
}

void testing_file_system::put(const std::string& path, byte_string bytes) {
  const std::lock_guard hold(mutex_);
  const auto size = bytes.size();
  files_[path] = std::make_shared<content>(content{std::move(bytes), size});
}

const byte_string& testing_file_system::at(const std::string& path) const {
  const std::lock_guard hold(mutex_);
  const auto found = files_.find(path);
  HEADRACE_ASSERT(found != files_.end(), "the test names a file that is there");
  return found->second->bytes;
}

std::vector<std::string> testing_file_system::paths() const {
  const std::lock_guard hold(mutex_);
  std::vector<std::string> out;
  for (const auto& [path, file] : files_)
    out.push_back(path);
  return out;
}

status testing_file_system::ask(const char* call, const std::string& path) {
  ++calls_;
  if (asked_) {
    if (auto failure = asked_(call, path))
      return std::move(*failure);
  }
  return {};
}

bool testing_file_system::is_directory(const std::string& path) const {
  const auto prefix = path.ends_with('/') ? path : path + "/";
  const auto inside = files_.lower_bound(prefix);
  const auto below = directories_.lower_bound(prefix);
  return directories_.contains(path) ||
         (inside != files_.end() && inside->first.starts_with(prefix)) ||
         (below != directories_.end() && below->starts_with(prefix));
}

result<std::unique_ptr<readable_file>> testing_file_system::open(const std::string& path) {
  const std::lock_guard hold(mutex_);
  HEADRACE_CHECK(ask("open", path));
  const auto found = files_.find(path);
  if (found == files_.end())
    return not_found(path);
  return std::unique_ptr<readable_file>(std::make_unique<reader>(*this, path, found->second));
}

result<std::unique_ptr<writable_file>> testing_file_system::create(const std::string& path) {
  const std::lock_guard hold(mutex_);
  HEADRACE_CHECK(ask("create", path));
  auto file = std::make_shared<content>();
  files_[path] = file;
  return std::unique_ptr<writable_file>(std::make_unique<writer>(*this, path, std::move(file)));
}

result<std::unique_ptr<writable_file>> testing_file_system::resume(const std::string& path,
                                                                   std::uint64_t size_bytes) {
  const std::lock_guard hold(mutex_);
  HEADRACE_CHECK(ask("resume", path));
  const auto found = files_.find(path);
  if (found == files_.end())
    return not_found(path);
  if (found->second->bytes.size() < size_bytes)
    return error(errc::storage_failed, "file is too short to go on: " + path);
  found->second->bytes.resize(size_bytes);
  found->second->synced = std::min<std::size_t>(found->second->synced, size_bytes);
  return std::unique_ptr<writable_file>(std::make_unique<writer>(*this, path, found->second));
}

status testing_file_system::rename(const std::string& from, const std::string& to) {
  const std::lock_guard hold(mutex_);
  HEADRACE_CHECK(ask("rename", from));
  const auto found = files_.find(from);
  if (found == files_.end())
    return not_found(from);
  auto file = found->second;
  files_.erase(found);
  files_[to] = std::move(file);
  return {};
}

status testing_file_system::link(const std::string& from, const std::string& to) {
  const std::lock_guard hold(mutex_);
  HEADRACE_CHECK(ask("link", from));
  const auto found = files_.find(from);
  if (found == files_.end())
    return not_found(from);
  if (files_.contains(to))
    return error(errc::storage_failed, "is there already: " + to);
  files_[to] = found->second;
  return {};
}

status testing_file_system::remove(const std::string& path) {
  const std::lock_guard hold(mutex_);
  HEADRACE_CHECK(ask("remove", path));
  files_.erase(path);
  return {};
}

status testing_file_system::remove_tree(const std::string& path) {
  const std::lock_guard hold(mutex_);
  HEADRACE_CHECK(ask("remove_tree", path));
  const auto inside = [&](const std::string& name) {
    return name == path || name.starts_with(path + "/");
  };
  std::erase_if(files_, [&](const auto& entry) { return inside(entry.first); });
  std::erase_if(directories_, inside);
  return {};
}

status testing_file_system::create_directories(const std::string& path) {
  const std::lock_guard hold(mutex_);
  HEADRACE_CHECK(ask("create_directories", path));
  if (files_.contains(path))
    return error(errc::storage_failed, "not a directory: " + path);
  directories_.insert(path);
  return {};
}

result<file_info> testing_file_system::stat(const std::string& path) {
  const std::lock_guard hold(mutex_);
  HEADRACE_CHECK(ask("stat", path));
  if (const auto found = files_.find(path); found != files_.end())
    return file_info{path, found->second->bytes.size(), 0, false};
  if (is_directory(path))
    return file_info{path, 0, 0, true};
  return not_found(path);
}

result<std::vector<file_info>> testing_file_system::list(const std::string& directory) {
  const std::lock_guard hold(mutex_);
  HEADRACE_CHECK(ask("list", directory));
  if (!is_directory(directory))
    return not_found(directory);
  const auto prefix = directory.ends_with('/') ? directory : directory + "/";
  std::map<std::string, file_info> entries;
  const auto add = [&](const std::string& path, std::uint64_t size, bool is_directory_itself) {
    if (!path.starts_with(prefix) || path.size() == prefix.size())
      return;
    const auto end = path.find('/', prefix.size());
    const auto entry = path.substr(0, end);
    entries[entry] = end == std::string::npos ? file_info{entry, size, 0, is_directory_itself}
                                              : file_info{entry, 0, 0, true};
  };
  for (const auto& [path, file] : files_)
    add(path, file->bytes.size(), false);
  for (const auto& path : directories_)
    add(path, 0, true);
  std::vector<file_info> out;
  for (auto& [path, info] : entries)
    out.push_back(std::move(info));
  return out;
}

} // namespace headrace::testing
