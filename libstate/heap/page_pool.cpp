#include "libstate/heap/page_pool.hpp"

#include "libactors/base/assert.hpp"

#include <algorithm>
#include <cstring>
#include <new>

namespace headrace::state {

namespace {

constexpr std::size_t extent_bytes = 512U * 1024U;
constexpr std::uint32_t pages_an_extent = extent_bytes / page_pool::page_bytes - 1; // first: header
constexpr std::size_t large_header_bytes = 64;
constexpr std::size_t sweep_pages_max = 256;

std::byte* pop(std::byte*& head) {
  auto* out = head;
  std::memcpy(&head, out, sizeof(head));
  return out;
}

void push(std::byte*& head, std::byte* piece) {
  std::memcpy(piece, &head, sizeof(head));
  head = piece;
}

} // namespace

/// A run of pages, aligned to its size so that a page finds it by its address.
struct page_pool::extent {
  std::uint32_t index = 0; ///< in extents_
  std::uint32_t free_pages = pages_an_extent;
  std::uint32_t touched = 0; ///< pages handed out at least once: the rest is untouched memory
  std::byte* free = nullptr;
  extent* previous = nullptr;
  extent* next = nullptr;

  std::byte* page(std::uint32_t number) {
    return reinterpret_cast<std::byte*>(this) + (number + 1) * page_bytes;
  }
  static extent* of(std::byte* page) {
    const auto address = reinterpret_cast<std::uintptr_t>(page);
    return reinterpret_cast<extent*>(address & ~(extent_bytes - 1)); // NOLINT: aligned to its size
  }
};

page_pool::page_pool(std::shared_ptr<graph::memory_budget> budget) : budget_(std::move(budget)) {}

page_pool::~page_pool() {
  for (auto* one : extents_)
    ::operator delete(one, std::align_val_t(extent_bytes));
  for (auto& [memory, size] : larges_)
    ::operator delete(memory, std::align_val_t(64));
  if (budget_ && charged_ > 0)
    budget_->release(charged_);
}

void page_pool::charge(std::size_t size_bytes) {
  charged_ += size_bytes;
  if (budget_)
    budget_->charge(size_bytes);
}

void page_pool::discharge(std::size_t size_bytes) {
  charged_ -= size_bytes;
  if (budget_)
    budget_->release(size_bytes);
}

void page_pool::link(extent* one) {
  one->previous = nullptr;
  one->next = open_;
  if (open_ != nullptr)
    open_->previous = one;
  open_ = one;
}

void page_pool::unlink(extent* one) {
  (one->previous != nullptr ? one->previous->next : open_) = one->next;
  if (one->next != nullptr)
    one->next->previous = one->previous;
  one->previous = one->next = nullptr;
}

std::byte* page_pool::allocate_full() {
  if (open_ == nullptr) {
    auto* memory = ::operator new(extent_bytes, std::align_val_t(extent_bytes));
    auto* made = new (memory) extent;
    made->index = static_cast<std::uint32_t>(extents_.size());
    extents_.push_back(made);
    link(made);
    ++empty_extents_;
  }
  auto* from = open_;
  if (from->free_pages == pages_an_extent)
    --empty_extents_;
  auto* out = from->free != nullptr ? pop(from->free) : from->page(from->touched++);
  if (--from->free_pages == 0)
    unlink(from);
  charge(page_bytes);
  return out;
}

void page_pool::release_full(std::byte* page) {
  auto* home = extent::of(page);
  push(home->free, page);
  discharge(page_bytes);
  if (home->free_pages++ == 0)
    link(home);
  if (home->free_pages < pages_an_extent)
    return;
  if (empty_extents_ == 0) {
    ++empty_extents_;
    return;
  }
  unlink(home);
  extents_.back()->index = home->index;
  extents_[home->index] = extents_.back();
  extents_.pop_back();
  ::operator delete(home, std::align_val_t(extent_bytes));
}

std::byte* page_pool::allocate(page_class size) {
  if (size == page_class::full)
    return allocate_full();
  auto& head = size == page_class::small ? free_small_ : free_medium_;
  if (head == nullptr) {
    auto* page = allocate_full();
    for (std::size_t at = page_bytes; at > 0; at -= size_of(size))
      push(head, page + at - size_of(size));
  }
  return pop(head);
}

void page_pool::release(std::byte* page, page_class size) {
  if (size == page_class::full)
    release_full(page);
  else
    push(size == page_class::small ? free_small_ : free_medium_, page);
}

void page_pool::retire(std::byte* page, page_class size, std::int64_t born) {
  if (is_read(born))
    retired_.push_back({page, 0, size, born, epoch_});
  else
    release(page, size);
}

std::byte* page_pool::allocate_large(std::size_t size_bytes) {
  auto* memory = static_cast<std::byte*>(
      ::operator new(size_bytes + large_header_bytes, std::align_val_t(64)));
  const std::uint64_t index = larges_.size();
  std::memcpy(memory, &index, sizeof(index));
  larges_.emplace_back(memory, size_bytes);
  charge(size_bytes + large_header_bytes);
  return memory + large_header_bytes;
}

void page_pool::free_large(std::byte* memory, std::size_t size_bytes) {
  auto* start = memory - large_header_bytes;
  std::uint64_t index = 0;
  std::memcpy(&index, start, sizeof(index));
  HEADRACE_ASSERT(index < larges_.size() && larges_[index].first == start, "not a large value");
  std::memcpy(larges_.back().first, &index, sizeof(index));
  larges_[index] = larges_.back();
  larges_.pop_back();
  discharge(size_bytes + large_header_bytes);
  ::operator delete(start, std::align_val_t(64));
}

void page_pool::retire_large(std::byte* memory, std::size_t size_bytes, std::int64_t born) {
  if (is_read(born))
    retired_.push_back({memory, size_bytes, page_class::full, born, epoch_});
  else
    free_large(memory, size_bytes);
}

std::shared_ptr<snapshot_hold> page_pool::hold() {
  auto made = std::make_shared<snapshot_hold>(epoch_++);
  holds_.push_back(made);
  return made;
}

std::int64_t page_pool::floor_of_holds() {
  const auto before = holds_.size();
  std::erase_if(holds_, [](const auto& hold) { return hold->is_released(); });
  if (holds_.size() != before) {
    ++ended_;
    unswept_ = retired_.size();
  }
  sweep_some();
  return holds_.empty() ? no_snapshot : holds_.back()->epoch();
}

/// Frees what no snapshot reads any more, a bounded number of pages a call, so that the end of a
/// large snapshot stalls nobody.
void page_pool::sweep_some() {
  for (std::size_t i = 0; i < sweep_pages_max && unswept_ > 0; ++i) {
    auto& one = retired_[--unswept_];
    const bool is_held = std::any_of(holds_.begin(), holds_.end(), [&](const auto& hold) {
      return hold->epoch() >= one.born && hold->epoch() < one.died;
    });
    if (is_held)
      continue;
    const auto gone = one;
    one = retired_.back();
    retired_.pop_back();
    if (gone.size_bytes > 0)
      free_large(gone.memory, gone.size_bytes);
    else
      release(gone.memory, gone.size);
  }
}

} // namespace headrace::state
