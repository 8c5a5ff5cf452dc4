#include "libstate/storage/segment_file.hpp"

#include "libstate/storage/file_state_output.hpp"
#include "libactors/base/assert.hpp"

#include <utility>

namespace headrace::state {

segment_file::segment_file(file_system& files, std::string path, std::uint64_t full_bytes)
    : files_(&files), path_(std::move(path)), full_bytes_(full_bytes) {}

segment_file::~segment_file() {
  file_.reset();
  // What cannot be removed now goes with the directory of the aborted checkpoint.
  if (is_created_ && !is_named_)
    static_cast<void>(files_->remove(current_path()).has_value());
}

std::string segment_file::current_path() const {
  return is_named_ ? path_ : file_state_output::temporary_path(path_);
}

error segment_file::fail(error cause) {
  file_.reset();
  failure_ = cause;
  return cause;
}

status segment_file::open() {
  if (file_ != nullptr)
    return {};
  if (is_created_) {
    auto resumed = files_->resume(current_path(), written_);
    if (!resumed)
      return fail(std::move(resumed).error());
    file_ = std::move(*resumed);
    return {};
  }
  if (auto made = files_->create_directories(path_.substr(0, path_.rfind('/'))); !made)
    return fail(std::move(made).error());
  auto created = files_->create(current_path());
  if (!created)
    return fail(std::move(created).error());
  file_ = std::move(*created);
  is_created_ = true;
  return {};
}

status segment_file::write(byte_view data) {
  HEADRACE_CHECK(open());
  if (auto appended = file_->append(data); !appended)
    return fail(std::move(appended).error());
  written_ += data.size();
  return {};
}

result<std::optional<std::uint64_t>> segment_file::append(byte_view piece) {
  const std::lock_guard lock(mutex_);
  if (!takes_more())
    return std::optional<std::uint64_t>();
  const bool is_new = !is_created_;
  if (auto opened = open(); !opened) {
    if (!is_new && opened.error().has(errc::file_not_found))
      return std::optional<std::uint64_t>(); // its checkpoint was aborted: as if there were none
    return std::move(opened).error();
  }
  HEADRACE_CHECK(write(piece));
  return std::optional(std::exchange(placed_, written_));
}

std::optional<std::uint64_t> segment_file::take() {
  const std::lock_guard lock(mutex_);
  if (!takes_more())
    return std::nullopt;
  if (is_created_ && !open()) // it is gone with its checkpoint
    return std::nullopt;
  is_taken_ = true;
  return placed_;
}

status segment_file::extend(byte_view data) {
  const std::lock_guard lock(mutex_);
  HEADRACE_ASSERT(is_taken_, "it was taken");
  if (failure_)
    return *failure_;
  return write(data);
}

void segment_file::give_back(bool is_whole) {
  const std::lock_guard lock(mutex_);
  is_taken_ = false;
  if (is_whole) {
    placed_ = written_;
    return;
  }
  if (failure_)
    return;
  // Closed, so that what others have placed is not lost with the handle, and cut when it is opened.
  written_ = placed_;
  if (file_ == nullptr)
    return;
  if (auto closed = file_->close(); !closed)
    fail(std::move(closed).error());
  file_.reset();
}

status segment_file::settle(std::uint64_t end) {
  const std::lock_guard lock(mutex_);
  if (is_named_ && settled_ >= end)
    return {};
  if (failure_)
    return *failure_;
  HEADRACE_CHECK(open());
  const auto placed = placed_;
  if (auto synced = file_->sync(); !synced)
    return fail(std::move(synced).error());
  if (auto closed = file_->close(); !closed)
    return fail(std::move(closed).error());
  file_.reset();
  if (!is_named_) {
    if (auto renamed = files_->rename(current_path(), path_); !renamed)
      return fail(std::move(renamed).error());
    is_named_ = true;
  }
  settled_ = placed;
  return {};
}

bool segment_file::is_done() const {
  const std::lock_guard lock(mutex_);
  return failure_ || (!is_taken_ && !takes_more());
}

} // namespace headrace::state
