#include "libstate/storage/file_state_output.hpp"

#include "libactors/base/assert.hpp"

namespace headrace::state {

namespace {

constexpr std::string_view temporary_ending = ".inprogress";
constexpr std::size_t buffer_bytes = 256U * 1024U;

} // namespace

std::string file_state_output::temporary_path(const std::string& path) {
  return path + std::string(temporary_ending);
}

bool file_state_output::is_temporary(std::string_view name) {
  return name.ends_with(temporary_ending);
}

result<std::unique_ptr<state_output>> file_state_output::create(file_system& files,
                                                                std::string path) {
  auto temporary = temporary_path(path);
  HEADRACE_TRY(auto file, files.create(temporary));
  std::unique_ptr<state_output> made(
      new file_state_output(files, std::move(path), std::move(temporary), std::move(file)));
  return made;
}

file_state_output::~file_state_output() {
  if (is_finished_)
    return;
  file_.reset();
  // What cannot be removed now goes with the directory of the aborted checkpoint.
  static_cast<void>(files_->remove(temporary_).has_value());
}

status file_state_output::append(byte_view data) {
  HEADRACE_ASSERT(file_ != nullptr, "the file is open");
  position_ += data.size();
  buffered_.append(data);
  if (buffered_.size() < buffer_bytes)
    return {};
  auto written = file_->append(buffered_);
  buffered_.clear();
  return written;
}

status file_state_output::finish() {
  HEADRACE_ASSERT(file_ != nullptr, "the file is open");
  HEADRACE_CHECK(file_->append(buffered_));
  buffered_.clear();
  HEADRACE_CHECK(file_->sync());
  HEADRACE_CHECK(file_->close());
  file_.reset();
  HEADRACE_CHECK(files_->rename(temporary_, path_));
  is_finished_ = true;
  return {};
}

} // namespace headrace::state
