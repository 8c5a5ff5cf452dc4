#pragma once

#include "libactors/base/result.hpp"

#include <rocksdb/db.h>
#include <rocksdb/listener.h>

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace headrace::state {

/// The files that hold a database as of a cut.
struct live_files {
  struct table_file {
    std::string name; ///< within the directory, "000012.sst"
    std::uint64_t size_bytes = 0;
  };
  std::vector<table_file> tables;
  std::string manifest_name;
  std::uint64_t manifest_bytes = 0; ///< of it, the first so many
};

/// What one snapshot has sealed, and, once that is flushed, its files; these are not deleted while
/// it lives. Made on the mailbox, filled by a flush thread, awaited by the snapshot's job.
class snapshot_cut {
public:
  explicit snapshot_cut(std::uint64_t sequence) : sequence_(sequence) {}
  ~snapshot_cut();
  snapshot_cut(const snapshot_cut&) = delete;
  snapshot_cut& operator=(const snapshot_cut&) = delete;

  std::uint64_t sequence() const { return sequence_; }
  /// Waits until the files are known. @errors storage_failed, storage_full,
  ///         checkpoint_expired when canceled
  result<live_files> await();
  /// Ends an `await` that waits, or will.
  void cancel();

  // For snapshot_cuts.

  /// Collects the files: all that is flushed is as old as the cut.
  void fill(rocksdb::DB& from);
  void fail(error cause);

private:
  result<live_files> collect(rocksdb::DB& from);

  std::uint64_t sequence_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<result<live_files>> files_;
  rocksdb::DB* held_ = nullptr; ///< whose file deletions are held back; outlives the cut
};

/// Cuts of one database that wait for their flush.
///
/// A cut notes the last sequence number and seals all memtables; their flush is one atomic job of
/// the one flush that a database runs at a time. When that has completed, and before the next may
/// begin, this listener takes the list of files: it holds what was written up to the cut and
/// nothing younger.
///
///     writes      …… S | S+1 ……………… ……
///     memtables   sealed | next (| sealed by its size)
///     flush thread  [flush ≤ S] listener: files of the cut  [flush > S]
class snapshot_cuts final : public rocksdb::EventListener {
public:
  const char* Name() const override { return "headrace.snapshot_cuts"; }

  /// Seals what was written. Waits for no flush. On the mailbox.
  std::shared_ptr<snapshot_cut> cut(rocksdb::DB& of,
                                    const std::vector<rocksdb::ColumnFamilyHandle*>& families);
  /// All of the database is in files: after it was opened, or flushed by one who waited.
  void set_persisted(std::uint64_t sequence);

  void OnFlushCompleted(rocksdb::DB* of, const rocksdb::FlushJobInfo& done) override;
  void OnBackgroundError(rocksdb::BackgroundErrorReason reason, rocksdb::Status* cause) override;

private:
  std::mutex mutex_;
  std::uint64_t persisted_ = 0; ///< all up to this sequence number is in files
  std::optional<error> failure_;
  std::vector<std::weak_ptr<snapshot_cut>> waiting_;
};

} // namespace headrace::state
