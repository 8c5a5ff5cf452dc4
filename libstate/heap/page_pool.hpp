#pragma once

#include "libgraph/data/buffer.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace headrace::state {

/// What a running snapshot keeps standing: all that existed in `epoch`. Made on the mailbox, let go
/// of on any thread.
class snapshot_hold {
public:
  explicit snapshot_hold(std::int64_t epoch) : epoch_(epoch) {}
  std::int64_t epoch() const { return epoch_; }
  void release() { released_.store(true, std::memory_order_release); }
  bool is_released() const { return released_.load(std::memory_order_acquire); }

private:
  std::int64_t epoch_;
  std::atomic<bool> released_ = false;
};

/// Sizes in which the pool gives memory: directories of few rows take small pieces.
enum class page_class : std::uint8_t { small = 0, medium = 1, full = 2 };

/// Gives pages to one heap backend, and keeps those that snapshots still read.
///
/// Time is cut into epochs: a snapshot takes epoch e and begins e + 1. A page born in epoch b and
/// retired in epoch r is read by the snapshots of [b, r); it is reused when none of them runs. So
/// writers copy a page only when it was born at or before `floor()`.
///
/// On the mailbox only; snapshot jobs share its life, so that what they read stays, and do nothing
/// else with it.
class page_pool {
public:
  static constexpr std::size_t page_bytes = 8192;
  static constexpr std::int64_t no_snapshot = -1;

  explicit page_pool(std::shared_ptr<graph::memory_budget> budget);
  ~page_pool();
  page_pool(const page_pool&) = delete;
  page_pool& operator=(const page_pool&) = delete;

  static constexpr std::size_t size_of(page_class size) {
    return size == page_class::full ? page_bytes : size == page_class::medium ? 2048U : 512U;
  }

  /// Uninitialized, aligned to 64 bytes.
  std::byte* allocate(page_class size);
  /// Takes back what no snapshot can have seen.
  void release(std::byte* page, page_class size);
  /// Takes back what snapshots may still read.
  void retire(std::byte* page, page_class size, std::int64_t born);

  /// Memory of any size, for values beyond a page.
  std::byte* allocate_large(std::size_t size_bytes);
  void retire_large(std::byte* memory, std::size_t size_bytes, std::int64_t born);

  std::int64_t epoch() const { return epoch_; }
  /// The newest epoch that a running snapshot reads; `no_snapshot` when none runs.
  std::int64_t floor() {
    if (holds_.empty() && unswept_ == 0) [[likely]]
      return no_snapshot;
    return floor_of_holds();
  }
  /// Whether a running snapshot reads what was born then and is retired now.
  bool is_read(std::int64_t born) { return born <= floor(); }
  /// Rises when a snapshot has ended: what was held back may be swept.
  std::uint64_t ended_snapshots() const { return ended_; }
  /// Begins a snapshot: returns its hold, and bumps the epoch.
  std::shared_ptr<snapshot_hold> hold();

  /// Numbers directories; those of a restored snapshot keep theirs.
  std::uint64_t next_directory_id() { return ++directory_ids_; }
  void pass_directory_id(std::uint64_t used) { directory_ids_ = std::max(directory_ids_, used); }

  /// Counts memory that others of the backend take by themselves (slots, lists of pages).
  void charge(std::size_t size_bytes);
  void discharge(std::size_t size_bytes);
  std::uint64_t size_bytes() const { return charged_; }

private:
  struct extent;
  struct retired {
    std::byte* memory;
    std::size_t size_bytes; ///< of a large value; 0: a page
    page_class size;
    std::int64_t born;
    std::int64_t died;
  };

  std::byte* allocate_full();
  void release_full(std::byte* page);
  void free_large(std::byte* memory, std::size_t size_bytes);
  void link(extent* one);
  void unlink(extent* one);
  std::int64_t floor_of_holds();
  void sweep_some();

  std::shared_ptr<graph::memory_budget> budget_;
  std::vector<extent*> extents_;
  extent* open_ = nullptr; ///< those with free pages, linked
  std::uint32_t empty_extents_ = 0;
  std::byte* free_small_ = nullptr;
  std::byte* free_medium_ = nullptr;
  std::vector<retired> retired_;
  std::size_t unswept_ = 0; ///< the first so many of retired_ wait for the sweep
  std::vector<std::shared_ptr<snapshot_hold>> holds_;
  std::vector<std::pair<std::byte*, std::size_t>> larges_; ///< index is kept in front of each
  std::int64_t epoch_ = 1;
  std::uint64_t directory_ids_ = 0;
  std::uint64_t ended_ = 0;
  std::uint64_t charged_ = 0;
};

} // namespace headrace::state
