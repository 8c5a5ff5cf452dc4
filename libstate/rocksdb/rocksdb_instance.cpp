#include "libstate/rocksdb/rocksdb_instance.hpp"

#include "libstate/rocksdb/rocksdb_status.hpp"
#include "libstate/rocksdb/scratch_env.hpp"
#include "libstate/rocksdb/table_files.hpp"

#include <rocksdb/convenience.h>
#include <rocksdb/env.h>

#include <algorithm>
#include <utility>

namespace headrace::state {

namespace {

constexpr std::size_t manifest_bytes_max = std::size_t{1} << 20U; ///< each snapshot copies it

/// What goes wrong comes back with the calls.
class silent_logger final : public rocksdb::Logger {
public:
  silent_logger() : Logger(rocksdb::InfoLogLevel::FATAL_LEVEL) {}
  using rocksdb::Logger::Logv;
  void Logv(const char*, va_list) override {}
};

/// Tells the memory of flushes.
class flush_listener final : public rocksdb::EventListener {
public:
  explicit flush_listener(std::shared_ptr<rocksdb_memory> memory) : memory_(std::move(memory)) {}
  const char* Name() const override { return "headrace.flush_listener"; }
  void OnFlushCompleted(rocksdb::DB*, const rocksdb::FlushJobInfo& done) override {
    memory_->on_flushed(done.table_properties.raw_key_size + done.table_properties.raw_value_size);
  }

private:
  std::shared_ptr<rocksdb_memory> memory_;
};

rocksdb::DBOptions database_options(const std::shared_ptr<rocksdb_memory>& memory,
                                    std::shared_ptr<snapshot_cuts> cuts) {
  rocksdb::DBOptions out;
  out.env = &scratch_env();
  out.create_if_missing = true;
  out.write_buffer_manager = memory->write_buffers();
  out.listeners.push_back(std::move(cuts));
  out.listeners.push_back(std::make_shared<flush_listener>(memory));
  // See snapshot_cuts: all column families in one flush, and one flush at a time.
  out.atomic_flush = true;
  out.max_background_jobs = 2;
  out.allow_concurrent_memtable_write = false; // one thread writes
  out.enable_write_thread_adaptive_yield = false;
  out.max_manifest_file_size = manifest_bytes_max;
  out.stats_dump_period_sec = 0;
  out.stats_persist_period_sec = 0;
  out.info_log = std::make_shared<silent_logger>();
  out.avoid_flush_during_shutdown = true;
  out.skip_stats_update_on_db_open = true;
  out.skip_checking_sst_file_sizes_on_db_open = true;
  return out;
}

} // namespace

rocksdb_instance::rocksdb_instance(std::shared_ptr<rocksdb_memory> memory, std::string directory)
    : memory_(std::move(memory)), directory_(std::move(directory)) {
  write_options_.disableWAL = true;
}

result<std::shared_ptr<rocksdb_instance>>
rocksdb_instance::open(std::shared_ptr<rocksdb_memory> memory, std::string directory,
                       const std::vector<family>& families) {
  std::shared_ptr<rocksdb_instance> made(
      new rocksdb_instance(std::move(memory), std::move(directory)));
  HEADRACE_CHECK(made->open_all(families));
  made->memory_->add(*made);
  return made;
}

status rocksdb_instance::open_all(const std::vector<family>& families) {
  std::vector<rocksdb::ColumnFamilyDescriptor> wanted;
  wanted.emplace_back(rocksdb::kDefaultColumnFamilyName, rocksdb::ColumnFamilyOptions());
  wanted.back().options.arena_block_size = 4096;
  for (const auto& one : families)
    wanted.emplace_back(one.name, make_family_options(*memory_, one.kind, one.expires));
  HEADRACE_CHECK(make_local_directories(directory_));
  rocksdb::DB* opened = nullptr;
  HEADRACE_CHECK(to_status(
      rocksdb::DB::Open(database_options(memory_, cuts_), directory_, wanted, &handles_, &opened),
      "open " + directory_));
  db_.reset(opened);
  cuts_->set_persisted(db_->GetLatestSequenceNumber());
  return {};
}

rocksdb_instance::~rocksdb_instance() {
  if (db_ != nullptr) {
    memory_->remove(*this);
    rocksdb::CancelAllBackgroundWork(db_.get(), /*wait=*/true);
    for (auto* handle : handles_)
      db_->DestroyColumnFamilyHandle(handle).PermitUncheckedError();
    db_.reset();
  }
  remove_local_directory(directory_);
}

rocksdb::ColumnFamilyHandle* rocksdb_instance::find(const std::string& name) const {
  const auto found = std::find_if(handles_.begin(), handles_.end(),
                                  [&](auto* one) { return one->GetName() == name; });
  return found == handles_.end() ? nullptr : *found;
}

result<rocksdb::ColumnFamilyHandle*> rocksdb_instance::make(const family& wanted) {
  rocksdb::ColumnFamilyHandle* made = nullptr;
  HEADRACE_CHECK(
      to_status(db_->CreateColumnFamily(make_family_options(*memory_, wanted.kind, wanted.expires),
                                        wanted.name, &made),
                "make a column family"));
  const std::lock_guard lock(handles_mutex_);
  handles_.push_back(made);
  return made;
}

status rocksdb_instance::drop(const std::string& name) {
  auto* const handle = find(name);
  HEADRACE_CHECK(to_status(db_->DropColumnFamily(handle), "drop a column family"));
  {
    const std::lock_guard lock(handles_mutex_);
    std::erase(handles_, handle);
  }
  HEADRACE_CHECK(to_status(db_->DestroyColumnFamilyHandle(handle), "let go of a column family"));
  return flush(); // a cut waits for what was written last, which may have gone with it
}

status rocksdb_instance::write(rocksdb::WriteBatch& batch) {
  if (batch.Count() == 0)
    return {};
  return written(db_->Write(write_options_, &batch));
}

status rocksdb_instance::put(rocksdb::ColumnFamilyHandle* in, byte_view name, byte_view value) {
  return written(db_->Put(write_options_, in, to_slice(name), to_slice(value)));
}

status rocksdb_instance::merge(rocksdb::ColumnFamilyHandle* in, byte_view name, byte_view value) {
  return written(db_->Merge(write_options_, in, to_slice(name), to_slice(value)));
}

status rocksdb_instance::remove(rocksdb::ColumnFamilyHandle* in, byte_view name) {
  return written(db_->Delete(write_options_, in, to_slice(name)));
}

status rocksdb_instance::written(const rocksdb::Status& outcome) {
  HEADRACE_CHECK(to_status(outcome, "write"));
  memory_->relieve();
  return {};
}

status rocksdb_instance::flush() {
  HEADRACE_CHECK(to_status(db_->Flush(rocksdb::FlushOptions(), handles_), "flush"));
  cuts_->set_persisted(db_->GetLatestSequenceNumber());
  return {};
}

void rocksdb_instance::begin_flush() {
  rocksdb::FlushOptions options;
  options.wait = false;
  options.allow_write_stall = true;
  const std::lock_guard lock(handles_mutex_);
  // A failure comes back with the next write.
  db_->Flush(options, handles_).PermitUncheckedError();
}

bool rocksdb_instance::is_flushing() const {
  std::uint64_t flushes = 0;
  return db_->GetIntProperty(rocksdb::DB::Properties::kNumRunningFlushes, &flushes) && flushes > 0;
}

std::uint64_t rocksdb_instance::write_buffer_bytes() const {
  std::uint64_t bytes = 0;
  return db_->GetAggregatedIntProperty(rocksdb::DB::Properties::kCurSizeAllMemTables, &bytes)
             ? bytes
             : 0;
}

std::optional<std::uint64_t> rocksdb_instance::property(const char* name, bool is_sum) const {
  std::uint64_t value = 0;
  if (is_sum)
    return db_->GetAggregatedIntProperty(name, &value) ? std::optional(value) : std::nullopt;
  // The last one is a state's, which has the block cache.
  const std::lock_guard lock(handles_mutex_);
  return db_->GetIntProperty(handles_.back(), name, &value) ? std::optional(value) : std::nullopt;
}

std::uint64_t rocksdb_instance::size_bytes() const {
  std::uint64_t files = 0;
  if (!db_->GetAggregatedIntProperty(rocksdb::DB::Properties::kLiveSstFilesSize, &files))
    files = 0;
  return files + write_buffer_bytes();
}

} // namespace headrace::state
