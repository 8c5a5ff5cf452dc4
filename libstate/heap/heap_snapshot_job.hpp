#pragma once

#include "libstate/backend/keyed_backend.hpp"
#include "libstate/heap/heap_table.hpp"

#include <atomic>
#include <memory>
#include <vector>

namespace headrace::state {

/// Writes images of tables in the canonical form. Holds the pages that it reads, and lets go of
/// them with its end. See snapshot_job.
///
/// Rows lie by the order of their making, the snapshot by key group: rows are sorted by group (a
/// counting sort of references) in as many passes over the pages as keep the references few.
class heap_snapshot_job final : public snapshot_job {
public:
  struct plan {
    key_schema key;
    std::int32_t max_parallelism;
    key_group_range groups;
    std::int64_t now_ms; ///< what has expired by now is left out
    std::vector<table_image> tables;
    std::size_t references_max = 4U << 20U; ///< a pass; tests lower it
  };
  heap_snapshot_job(plan what, std::shared_ptr<page_pool> pool,
                    std::shared_ptr<snapshot_hold> hold);
  ~heap_snapshot_job() override;

  result<keyed_state_handle> run(snapshot_target& target) override;
  void cancel() override { is_canceled_.store(true, std::memory_order_relaxed); }

private:
  plan plan_;
  std::shared_ptr<page_pool> pool_; ///< keeps the pages beyond the backend's life
  std::shared_ptr<snapshot_hold> hold_;
  std::atomic<bool> is_canceled_ = false;
};

} // namespace headrace::state
