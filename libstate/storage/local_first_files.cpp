#include "libstate/storage/local_first_files.hpp"

#include "libstate/storage/stored_file.hpp"

#include <charconv>
#include <string_view>
#include <utility>

namespace headrace::state {

namespace {

constexpr char piece_mark = '@';

/// The offset that a piece's name tells.
std::optional<std::uint64_t> offset_of(std::string_view number) {
  std::uint64_t out = 0;
  const auto* const end = number.data() + number.size();
  const auto [read_to, failed] = std::from_chars(number.data(), end, out);
  return failed == std::errc() && read_to == end ? std::optional(out) : std::nullopt;
}

} // namespace

/// A stored file, of which a piece is read from its copy. Counts what is read. Is opened as it is
/// stored once that is asked for.
class local_first_files::mixed_file final : public readable_file {
public:
  mixed_file(file_system& files, std::string path, piece copy,
             std::shared_ptr<std::atomic<std::uint64_t>> local_bytes,
             std::shared_ptr<std::atomic<std::uint64_t>> stored_bytes)
      : files_(&files), path_(std::move(path)), copy_(std::move(copy)),
        local_bytes_(std::move(local_bytes)), stored_bytes_(std::move(stored_bytes)) {}

  status open_stored() const {
    const std::lock_guard lock(mutex_);
    if (stored_ == nullptr) {
      HEADRACE_TRY(stored_, state::open_stored(*files_, path_));
    }
    return {};
  }
  std::uint64_t size_bytes() const override {
    // Where the storage does not answer, there may be all that is needed all the same.
    if (open_stored())
      return stored_->size_bytes();
    return copy_.file == nullptr ? 0 : copy_.offset + copy_.file->size_bytes();
  }
  result<std::size_t> read_at(std::uint64_t offset, std::span<char> out) override {
    if (copy_.file != nullptr && offset >= copy_.offset) {
      const auto begin = offset - copy_.offset;
      const auto size = copy_.file->size_bytes();
      if (begin <= size && out.size() <= size - begin)
        return count(copy_.file->read_at(begin, out), *local_bytes_);
    }
    HEADRACE_CHECK(open_stored());
    return count(stored_->read_at(offset, out), *stored_bytes_);
  }

private:
  static result<std::size_t> count(result<std::size_t> got, std::atomic<std::uint64_t>& bytes) {
    if (got)
      bytes.fetch_add(*got, std::memory_order_relaxed);
    return got;
  }

  file_system* files_;
  std::string path_;
  piece copy_;
  std::shared_ptr<std::atomic<std::uint64_t>> local_bytes_;
  std::shared_ptr<std::atomic<std::uint64_t>> stored_bytes_;
  mutable std::mutex mutex_; ///< of opening
  mutable std::unique_ptr<readable_file> stored_;
};

std::string local_first_files::name_of_piece(const std::string& file, std::uint64_t offset) {
  return offset == 0 ? file : file + piece_mark + std::to_string(offset);
}

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

result<local_first_files::piece> local_first_files::open_piece(const std::string& local) {
  auto whole = files_->open(local);
  if (whole)
    return piece{std::move(*whole), 0};
  if (!whole.error().has(errc::file_not_found))
    return std::move(whole).error();
  const auto entries = files_->list(local.substr(0, local.rfind('/')));
  const auto start = local + piece_mark;
  for (const auto& entry : entries ? *entries : std::vector<file_info>()) {
    if (!entry.path.starts_with(start))
      continue;
    if (const auto offset = offset_of(std::string_view(entry.path).substr(start.size()))) {
      HEADRACE_TRY(auto file, files_->open(entry.path));
      return piece{std::move(file), *offset};
    }
  }
  return std::move(whole).error();
}

result<std::unique_ptr<readable_file>> local_first_files::open(const std::string& path) {
  piece copy;
  if (const auto local = local_path(path)) {
    auto opened = open_piece(*local);
    if (opened) {
      copy = std::move(*opened);
      const std::lock_guard lock(mutex_);
      opened_.insert(path);
    } else {
      refuse(path, opened.error());
    }
  }
  const bool is_stored = copy.file == nullptr;
  auto made =
      std::make_unique<mixed_file>(*files_, path, std::move(copy), local_bytes_, stored_bytes_);
  if (is_stored)
    HEADRACE_CHECK(made->open_stored());
  return std::unique_ptr<readable_file>(std::move(made));
}

} // namespace headrace::state
