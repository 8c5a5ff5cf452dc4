#include "libstate/rocksdb/scratch_env.hpp"

#include <rocksdb/file_system.h>

#include <cstdint>
#include <memory>
#include <utility>

namespace headrace::state {

namespace {

using rocksdb::FileOptions;
using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;

class unsynced_file final : public rocksdb::FSWritableFileOwnerWrapper {
public:
  explicit unsynced_file(std::unique_ptr<rocksdb::FSWritableFile> file)
      : FSWritableFileOwnerWrapper(std::move(file)) {}
  IOStatus Sync(const IOOptions&, IODebugContext*) override { return IOStatus::OK(); }
  IOStatus Fsync(const IOOptions&, IODebugContext*) override { return IOStatus::OK(); }
  IOStatus RangeSync(std::uint64_t, std::uint64_t, const IOOptions&, IODebugContext*) override {
    return IOStatus::OK();
  }
};

class unsynced_directory final : public rocksdb::FSDirectoryWrapper {
public:
  explicit unsynced_directory(std::unique_ptr<rocksdb::FSDirectory> directory)
      : FSDirectoryWrapper(std::move(directory)) {}
  IOStatus Fsync(const IOOptions&, IODebugContext*) override { return IOStatus::OK(); }
  IOStatus FsyncWithDirOptions(const IOOptions&, IODebugContext*,
                               const rocksdb::DirFsyncOptions&) override {
    return IOStatus::OK();
  }
};

class unsynced_files final : public rocksdb::FileSystemWrapper {
public:
  unsynced_files() : FileSystemWrapper(rocksdb::FileSystem::Default()) {}
  const char* Name() const override { return "headrace.unsynced_files"; }

  IOStatus NewWritableFile(const std::string& path, const FileOptions& options,
                           std::unique_ptr<rocksdb::FSWritableFile>* out,
                           IODebugContext* debug) override {
    std::unique_ptr<rocksdb::FSWritableFile> file;
    auto made = target()->NewWritableFile(path, options, &file, debug);
    if (made.ok())
      *out = std::make_unique<unsynced_file>(std::move(file));
    return made;
  }
  IOStatus NewDirectory(const std::string& path, const IOOptions& options,
                        std::unique_ptr<rocksdb::FSDirectory>* out,
                        IODebugContext* debug) override {
    std::unique_ptr<rocksdb::FSDirectory> directory;
    auto made = target()->NewDirectory(path, options, &directory, debug);
    if (made.ok())
      *out = std::make_unique<unsynced_directory>(std::move(directory));
    return made;
  }
};

/// RocksDB ends the process when it writes at a time before 1970, which is what a machine without a
/// clock may have. It goes by these seconds for the ages of files alone, which then have none.
class clock_since_1970 final : public rocksdb::SystemClockWrapper {
public:
  explicit clock_since_1970(const std::shared_ptr<rocksdb::SystemClock>& of)
      : SystemClockWrapper(of) {}
  const char* Name() const override { return "headrace.clock_since_1970"; }
  rocksdb::Status GetCurrentTime(std::int64_t* seconds) override {
    auto told = target_->GetCurrentTime(seconds);
    // A second before 1970 is told as a failure.
    if (!told.ok() || *seconds < 0)
      *seconds = 0;
    return rocksdb::Status::OK();
  }
};

class scratch final : public rocksdb::EnvWrapper {
public:
  explicit scratch(const std::shared_ptr<rocksdb::FileSystem>& files)
      : EnvWrapper(rocksdb::NewCompositeEnv(files)) {
    // What a wrapper has by itself goes through the calls of older releases.
    file_system_ = files;
    system_clock_ = make_clock_since_1970(rocksdb::SystemClock::Default());
  }
  rocksdb::Status GetCurrentTime(std::int64_t* seconds) override {
    return system_clock_->GetCurrentTime(seconds);
  }
};

} // namespace

std::shared_ptr<rocksdb::SystemClock>
make_clock_since_1970(const std::shared_ptr<rocksdb::SystemClock>& of) {
  return std::make_shared<clock_since_1970>(of);
}

rocksdb::Env& scratch_env() {
  // RocksDB's threads run until the process ends, so it is never destroyed.
  static auto* const env = new scratch(std::make_shared<unsynced_files>());
  return *env;
}

} // namespace headrace::state
