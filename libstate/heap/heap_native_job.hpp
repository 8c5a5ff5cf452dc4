#pragma once

#include "libstate/backend/keyed_backend.hpp"
#include "libstate/heap/heap_chain.hpp"
#include "libstate/heap/heap_directory.hpp"
#include "libstate/heap/heap_native_format.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace headrace::state {

/// Writes what has changed since the last snapshot, or all of it, see heap_native and heap_chain.
/// Holds the pages that it reads, and lets go of them with its end. See snapshot_job.
class heap_native_job final : public snapshot_job {
public:
  /// One directory as of the snapshot.
  struct part {
    std::uint32_t state = 0; ///< index into the header's states
    std::uint8_t of_map = 0; ///< 0 heads, 1 entries
    row_layout layout;
    directory_image image;
  };
  struct plan {
    checkpoint_id checkpoint = 0;
    std::uint64_t number = 0; ///< of the chain's
    snapshot_header header;
    std::vector<part> parts;
    std::string owner;                  ///< begins the names of shared files
    std::uint64_t inline_bytes_max = 0; ///< of rows in the snapshot's own file
    file_system* files = nullptr;
  };
  heap_native_job(plan what, std::shared_ptr<heap_chain> chain, std::shared_ptr<page_pool> pool,
                  std::shared_ptr<snapshot_hold> hold);
  ~heap_native_job() override;

  result<keyed_state_handle> run(snapshot_target& target) override;
  void cancel() override { is_canceled_.store(true, std::memory_order_relaxed); }

private:
  class element_writer;
  heap_native describe() const;
  bool is_small() const;
  status write_rows(const heap_chain::order& what, element_writer& to) const;
  result<keyed_state_handle> write_inline(snapshot_target& target, byte_view rows,
                                          heap_native::element element);
  result<keyed_state_handle> write_shared(snapshot_target& target, heap_chain::order what);

  plan plan_;
  std::shared_ptr<heap_chain> chain_;
  std::shared_ptr<page_pool> pool_; ///< keeps the pages beyond the backend's life
  std::shared_ptr<snapshot_hold> hold_;
  std::atomic<bool> is_canceled_ = false;
};

} // namespace headrace::state
