#include "libstate/checkpoint/snapshot_segments.hpp"

#include "libstate/storage/file_state_output.hpp"
#include "libstate/storage/segment_file.hpp"

#include <utility>
#include <vector>

namespace headrace::state {

namespace {

std::string shared_beside(const std::string& checkpoint_directory) {
  const auto slash = checkpoint_directory.find_last_of('/');
  return slash == std::string::npos ? "shared" : checkpoint_directory.substr(0, slash) + "/shared";
}

std::string name_of(const subtask_file& of) {
  return to_string(of.vertex) + "-" + std::to_string(of.subtask) + "-" +
         std::to_string(of.generation) + "-" + std::to_string(of.attempt);
}

} // namespace

/// The segments of one checkpoint.
class snapshot_segments::pool {
public:
  pool(file_system& files, std::uint64_t full_bytes) : files_(&files), full_bytes_(full_bytes) {}

  bool has_own_files() const { return full_bytes_ == 0; }

  struct placed {
    std::shared_ptr<segment_file> segment;
    std::uint64_t offset = 0;
  };
  /// Places a whole part, one after the other, so that small ones begin no segment each.
  /// @param path  of the segment that is begun where there is none with room
  result<placed> append(byte_view part, const std::string& path) {
    const std::lock_guard lock(mutex_);
    std::erase_if(segments_, [](const auto& one) { return one->is_done(); });
    for (const auto& one : segments_) {
      HEADRACE_TRY(const auto offset, one->append(part));
      if (offset)
        return placed{one, *offset};
    }
    const auto begun = begin(path);
    HEADRACE_TRY(const auto offset, begun->append(part));
    return placed{begun, offset.value_or(0)};
  }
  /// A segment for one who writes alone until it gives it back.
  placed take(const std::string& path) {
    const std::lock_guard lock(mutex_);
    for (const auto& one : segments_)
      if (const auto offset = one->take())
        return {one, *offset};
    const auto begun = begin(path);
    return {begun, begun->take().value_or(0)};
  }

private:
  std::shared_ptr<segment_file> begin(const std::string& path) {
    return segments_.emplace_back(std::make_shared<segment_file>(*files_, path, full_bytes_));
  }

  file_system* files_;
  std::uint64_t full_bytes_;
  std::mutex mutex_;
  std::vector<std::shared_ptr<segment_file>> segments_;
};

/// A subtask's stream: in memory until it is whole, or too long.
class snapshot_segments::stream final : public state_output {
public:
  stream(std::shared_ptr<pool> into, std::string path)
      : pool_(std::move(into)), path_(std::move(path)) {}
  ~stream() override {
    if (is_taken_)
      lies_.segment->give_back(false);
  }

  status append(byte_view data) override {
    held_.append(data);
    position_ += data.size();
    return held_.size() < held_bytes_max ? status() : spill();
  }
  std::uint64_t position() const override { return position_; }
  const std::string& path() const override { return path_; }
  status finish() override {
    if (is_taken_) {
      HEADRACE_CHECK(spill());
      is_taken_ = false;
      lies_.segment->give_back(true);
    } else {
      HEADRACE_TRY(lies_, pool_->append(held_, path_));
    }
    held_ = {};
    is_finished_ = true;
    return pool_->has_own_files() ? settle() : status();
  }
  status settle() {
    return is_finished_ ? lies_.segment->settle(lies_.offset + position_) : status();
  }
  std::optional<stream_place> place() const {
    if (lies_.segment == nullptr)
      return std::nullopt;
    return stream_place{path_, lies_.segment->path(), lies_.offset};
  }

private:
  status spill() {
    if (!is_taken_) {
      lies_ = pool_->take(path_);
      is_taken_ = true;
    }
    auto written = lies_.segment->extend(held_);
    held_.clear();
    return written;
  }

  std::shared_ptr<pool> pool_;
  std::string path_;
  byte_string held_;
  std::uint64_t position_ = 0;
  pool::placed lies_;
  bool is_taken_ = false;
  bool is_finished_ = false;
};

class snapshot_segments::target final : public subtask_target {
public:
  target(file_system& files, std::shared_ptr<pool> into, std::string directory,
         std::string shared_directory, std::string name)
      : files_(&files), pool_(std::move(into)), directory_(std::move(directory)),
        shared_directory_(std::move(shared_directory)), name_(std::move(name)) {}

  result<state_output*> output() override {
    if (!stream_)
      stream_ = std::make_unique<stream>(pool_, directory_ + "/" + name_);
    return stream_.get();
  }
  result<std::unique_ptr<state_output>>
  create_shared(const std::string& name, const std::string& /*local_source*/) override {
    HEADRACE_CHECK(files_->create_directories(shared_directory_));
    return file_state_output::create(*files_, shared_directory_ + "/" + name_ + "-" + name);
  }
  bool shares(const std::string& path) const override {
    // A savepoint has its own in its directory, for itself alone.
    return shared_directory_ != directory_ && path.starts_with(shared_directory_ + "/");
  }
  status finish() override { return stream_ ? stream_->finish() : status(); }
  std::optional<stream_place> place() const override {
    return stream_ ? stream_->place() : std::nullopt;
  }
  status settle() override { return stream_ ? stream_->settle() : status(); }

private:
  file_system* files_;
  std::shared_ptr<pool> pool_;
  std::string directory_;
  std::string shared_directory_;
  std::string name_;
  std::unique_ptr<stream> stream_;
};

snapshot_segments::snapshot_segments(file_system& files, std::uint64_t full_bytes)
    : files_(&files), full_bytes_(full_bytes) {}

std::shared_ptr<snapshot_segments::pool> snapshot_segments::pool_of(const pool_key& key) {
  const std::lock_guard lock(mutex_);
  auto& found = pools_[key];
  if (found == nullptr) {
    found = std::make_shared<pool>(*files_, full_bytes_);
    opened_.push_back(key);
  }
  const auto out = found;
  if (opened_.size() > checkpoints_max) {
    pools_.erase(opened_.front());
    opened_.pop_front();
  }
  return out;
}

std::unique_ptr<subtask_target>
snapshot_segments::open(const std::string& directory, const subtask_file& name, bool is_savepoint) {
  return std::make_unique<target>(*files_, pool_of({directory, name.generation}), directory,
                                  is_savepoint ? directory : shared_beside(directory),
                                  name_of(name));
}

} // namespace headrace::state
