#include "libstate/storage/local_first_files.hpp"

#include <utility>

namespace headrace::state {

namespace {

/// A file whose reads are counted.
class counted_file final : public readable_file {
public:
  counted_file(std::unique_ptr<readable_file> file,
               std::shared_ptr<std::atomic<std::uint64_t>> bytes)
      : file_(std::move(file)), bytes_(std::move(bytes)) {}
  std::uint64_t size_bytes() const override { return file_->size_bytes(); }
  result<std::size_t> read_at(std::uint64_t offset, std::span<char> out) override {
    auto got = file_->read_at(offset, out);
    if (got)
      bytes_->fetch_add(*got, std::memory_order_relaxed);
    return got;
  }

private:
  std::unique_ptr<readable_file> file_;
  std::shared_ptr<std::atomic<std::uint64_t>> bytes_;
};

} // namespace

local_first_files::local_first_files(file_system& files, std::string stored, std::string local)
    : files_(&files), stored_(std::move(stored) + "/"), local_(std::move(local)),
      local_bytes_(std::make_shared<std::atomic<std::uint64_t>>(0)),
      stored_bytes_(std::make_shared<std::atomic<std::uint64_t>>(0)) {}

std::optional<std::string> local_first_files::local_path(const std::string& path) const {
  if (local_.empty() || !path.starts_with(stored_))
    return std::nullopt;
  const std::lock_guard lock(mutex_);
  if (refused_.contains(path))
    return std::nullopt;
  return local_ + "/" + path.substr(stored_.size());
}

void local_first_files::note(const std::string& path, const error& why) {
  if (refused_.insert(path).second && refusals_.size() < refusals_max)
    refusals_.push_back({path, why});
}

void local_first_files::refuse(const std::string& path, const error& why) {
  const std::lock_guard lock(mutex_);
  note(path, why);
}

bool local_first_files::refuse_opened(const error& why) {
  const std::lock_guard lock(mutex_);
  const auto opened = std::exchange(opened_, {});
  for (const auto& path : opened)
    note(path, why);
  if (!opened.empty())
    local_bytes_->store(0, std::memory_order_relaxed);
  return !opened.empty();
}

void local_first_files::count_local(std::uint64_t bytes) {
  local_bytes_->fetch_add(bytes, std::memory_order_relaxed);
}

restore_tally local_first_files::tally() const {
  restore_tally out;
  out.local_bytes = local_bytes_->load(std::memory_order_relaxed);
  out.bytes = out.local_bytes + stored_bytes_->load(std::memory_order_relaxed);
  const std::lock_guard lock(mutex_);
  out.refusals = refusals_;
  out.refused = refused_.size();
  return out;
}

result<std::unique_ptr<readable_file>> local_first_files::open(const std::string& path) {
  if (const auto local = local_path(path)) {
    if (auto copy = files_->open(*local)) {
      const std::lock_guard lock(mutex_);
      opened_.insert(path);
      return std::unique_ptr<readable_file>(
          std::make_unique<counted_file>(std::move(*copy), local_bytes_));
    } else {
      refuse(path, copy.error());
    }
  }
  HEADRACE_TRY(auto stored, files_->open(path));
  return std::unique_ptr<readable_file>(
      std::make_unique<counted_file>(std::move(stored), stored_bytes_));
}

} // namespace headrace::state
