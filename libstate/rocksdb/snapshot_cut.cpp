#include "libstate/rocksdb/snapshot_cut.hpp"

#include "libstate/rocksdb/rocksdb_status.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

namespace headrace::state {

namespace {

constexpr std::string_view table_suffix = ".sst";
constexpr std::string_view manifest_prefix = "MANIFEST-";

} // namespace

snapshot_cut::~snapshot_cut() {
  // What obsolete files this fails to delete goes with the database's directory.
  if (held_ != nullptr)
    held_->EnableFileDeletions(/*force=*/false).PermitUncheckedError();
}

result<live_files> snapshot_cut::await() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return files_.has_value(); });
  return *files_;
}

void snapshot_cut::cancel() { fail({errc::checkpoint_expired, "snapshot was canceled"}); }

void snapshot_cut::fail(error cause) {
  const std::lock_guard lock(mutex_);
  if (!files_)
    files_.emplace(std::move(cause));
  changed_.notify_all();
}

void snapshot_cut::fill(rocksdb::DB& from) {
  const std::lock_guard lock(mutex_);
  if (files_)
    return;
  files_ = collect(from);
  changed_.notify_all();
}

result<live_files> snapshot_cut::collect(rocksdb::DB& from) {
  HEADRACE_CHECK(to_status(from.DisableFileDeletions(), "hold back deletions"));
  held_ = &from;
  std::vector<rocksdb::LiveFileMetaData> tables;
  from.GetLiveFilesMetaData(&tables);
  for (const auto& table : tables) {
    if (table.largest_seqno > sequence_)
      return error(errc::internal, "file of a snapshot is younger than it: " + table.name);
  }
  // Not by GetLiveFilesStorageInfo, though it knows the sizes: it waits for purges of others, and
  // 7.8.3 forgets to wake it where an iterator that ends finds nothing to purge.
  std::vector<std::string> names; // "/000012.sst"
  live_files out;
  HEADRACE_CHECK(to_status(from.GetLiveFiles(names, &out.manifest_bytes, /*flush_memtable=*/false),
                           "list the files of a snapshot"));
  for (const auto& each : names) {
    const auto name = each.substr(1);
    if (name.ends_with(table_suffix)) {
      std::uint64_t size_bytes = 0;
      HEADRACE_CHECK(to_status(from.GetEnv()->GetFileSize(from.GetName() + each, &size_bytes),
                               "measure " + name));
      out.tables.push_back({name, size_bytes});
    } else if (name.starts_with(manifest_prefix)) {
      out.manifest_name = name;
    }
  }
  return out;
}

std::shared_ptr<snapshot_cut>
snapshot_cuts::cut(rocksdb::DB& of, const std::vector<rocksdb::ColumnFamilyHandle*>& families) {
  auto made = std::make_shared<snapshot_cut>(of.GetLatestSequenceNumber());
  std::unique_lock lock(mutex_);
  if (failure_) {
    made->fail(*failure_);
    return made;
  }
  if (persisted_ >= made->sequence()) {
    lock.unlock(); // nothing was written since: nothing is to be flushed
    made->fill(of);
    return made;
  }
  waiting_.push_back(made);
  lock.unlock();
  rocksdb::FlushOptions options;
  options.wait = false;
  options.allow_write_stall = true;
  if (auto sealed = to_status(of.Flush(options, families), "seal its memtables"); !sealed)
    made->fail(std::move(sealed).error());
  return made;
}

void snapshot_cuts::set_persisted(std::uint64_t sequence) {
  const std::lock_guard lock(mutex_);
  persisted_ = std::max(persisted_, sequence);
}

void snapshot_cuts::OnFlushCompleted(rocksdb::DB* of, const rocksdb::FlushJobInfo& done) {
  std::vector<std::shared_ptr<snapshot_cut>> flushed;
  {
    const std::lock_guard lock(mutex_);
    persisted_ = std::max<std::uint64_t>(persisted_, done.largest_seqno);
    std::erase_if(waiting_, [&](const auto& one) {
      auto held = one.lock();
      if (held == nullptr)
        return true;
      if (held->sequence() > persisted_)
        return false;
      flushed.push_back(std::move(held));
      return true;
    });
  }
  for (const auto& one : flushed)
    one->fill(*of);
}

void snapshot_cuts::OnBackgroundError(rocksdb::BackgroundErrorReason, rocksdb::Status* cause) {
  std::vector<std::weak_ptr<snapshot_cut>> failed;
  auto why = to_status(*cause, "write its files");
  if (why)
    return;
  {
    const std::lock_guard lock(mutex_);
    failure_ = why.error();
    failed = std::exchange(waiting_, {});
  }
  for (const auto& one : failed) {
    if (const auto held = one.lock())
      held->fail(why.error());
  }
}

} // namespace headrace::state
