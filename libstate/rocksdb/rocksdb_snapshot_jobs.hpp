#pragma once

#include "libstate/backend/keyed_backend.hpp"
#include "libstate/rocksdb/native_format.hpp"
#include "libstate/rocksdb/rocksdb_instance.hpp"
#include "libstate/rocksdb/table_files.hpp"

#include <atomic>
#include <memory>
#include <string>
#include <vector>

namespace headrace::state {

/// Waits for the flush of what its cut has sealed, and writes the table files that are not on the
/// storage yet. See snapshot_job.
class native_snapshot_job final : public snapshot_job {
public:
  struct plan {
    checkpoint_id checkpoint;
    native_snapshot what; ///< but for files
    std::string owner;
    headrace::file_system* files;
  };
  native_snapshot_job(plan what, std::shared_ptr<rocksdb_instance> instance,
                      std::shared_ptr<snapshot_cut> cut, std::shared_ptr<uploaded_files> uploads);

  result<keyed_state_handle> run(snapshot_target& target) override;
  void cancel() override;

private:
  plan plan_;
  std::shared_ptr<rocksdb_instance> instance_; ///< dies after the cut
  std::shared_ptr<snapshot_cut> cut_;
  std::shared_ptr<uploaded_files> uploads_;
  std::atomic<bool> is_canceled_ = false;
};

/// Reads the rows as of a RocksDB snapshot, and writes them in the canonical form.
class canonical_snapshot_job final : public snapshot_job {
public:
  struct plan {
    snapshot_header header;
    std::vector<rocksdb::ColumnFamilyHandle*> families; ///< parallel to the header's states
    key_schema key;
    std::int64_t now_ms; ///< what has expired by now is left out
  };
  canonical_snapshot_job(plan what, std::shared_ptr<rocksdb_instance> instance);
  ~canonical_snapshot_job() override;

  result<keyed_state_handle> run(snapshot_target& target) override;
  void cancel() override { is_canceled_.store(true, std::memory_order_relaxed); }

private:
  plan plan_;
  std::shared_ptr<rocksdb_instance> instance_;
  const rocksdb::Snapshot* at_;
  std::atomic<bool> is_canceled_ = false;
};

} // namespace headrace::state
