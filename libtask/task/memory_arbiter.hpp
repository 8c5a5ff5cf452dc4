#pragma once

#include "libgraph/data/buffer.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace headrace::task {

/// The memory of one slot: what its tasks hold together, against a limit. Any thread.
class slot_memory {
public:
  explicit slot_memory(std::uint64_t limit_bytes) : limit_(limit_bytes) {}
  std::uint64_t limit_bytes() const { return limit_; }
  std::uint64_t used_bytes() const { return used_.load(std::memory_order_relaxed); }
  bool is_exceeded() const { return limit_ > 0 && used_bytes() > limit_; }

private:
  friend class task_memory;
  std::uint64_t limit_; ///< 0: none
  std::atomic<std::uint64_t> used_{0};
};

/// The share of one task. A task looks at `is_exceeded` between pieces of work and fails by its own
/// name: whoever went over the limit is the first to look.
class task_memory final : public graph::memory_budget {
public:
  explicit task_memory(std::shared_ptr<slot_memory> slot) : slot_(std::move(slot)) {}
  void charge(std::size_t size_bytes) override {
    used_.fetch_add(size_bytes, std::memory_order_relaxed);
    slot_->used_.fetch_add(size_bytes, std::memory_order_relaxed);
  }
  void release(std::size_t size_bytes) override {
    used_.fetch_sub(size_bytes, std::memory_order_relaxed);
    slot_->used_.fetch_sub(size_bytes, std::memory_order_relaxed);
  }
  std::uint64_t used_bytes() const { return used_.load(std::memory_order_relaxed); }
  const slot_memory& slot() const { return *slot_; }

private:
  std::shared_ptr<slot_memory> slot_;
  std::atomic<std::uint64_t> used_{0};
};

} // namespace headrace::task
