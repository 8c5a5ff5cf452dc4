#include "libstate/heap/blob_store.hpp"

#include "libactors/base/assert.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace headrace::state {

namespace {

/// At most a quarter more than is wanted, from 32 on.
constexpr std::array<std::uint32_t, 27> piece_bytes = {
    16,  24,  32,  40,  48,  56,  64,  80,  96,   112,  128,  160,  192, 224,
    256, 320, 384, 448, 512, 640, 768, 896, 1024, 1280, 1536, 1792, 2048};

/// The first class that has so many words.
constexpr auto class_of_words = [] {
  std::array<std::uint8_t, piece_bytes.back() / 8 + 1> out{};
  for (std::size_t words = 0; words < out.size(); ++words)
    while (piece_bytes[out[words]] < words * 8)
      ++out[words];
  return out;
}();

std::uint32_t class_of(std::size_t size_bytes) { return class_of_words[(size_bytes + 7) / 8]; }

} // namespace

blob_store::~blob_store() {
  for (const auto& page : pages_)
    pool_->retire(page.memory, page.size, page.born);
  for (const auto& large : larges_)
    pool_->retire_large(large.memory, large.size_bytes, large.born);
}

/// Bytes that memory for `size_bytes` has: known from the size alone, so nothing stores it.
std::size_t blob_store::room_of(std::size_t size_bytes) {
  return size_bytes <= piece_max ? piece_bytes[class_of(size_bytes)] : std::bit_ceil(size_bytes);
}

std::byte* blob_store::allocate(std::size_t size_bytes) {
  if (size_bytes <= piece_max) {
    if (swept_ != pool_->ended_snapshots() && !held_back_.empty())
      sweep();
    return cut(class_of(size_bytes));
  }
  const auto room = room_of(size_bytes);
  // The place in larges_ stands in front of the memory's own header, see page_pool.
  auto* memory = pool_->allocate_large(room);
  const std::uint64_t index = larges_.size();
  std::memcpy(memory - sizeof(index), &index, sizeof(index));
  larges_.push_back({memory, room, pool_->epoch()});
  return memory;
}

std::byte* blob_store::cut(std::uint32_t size_class) {
  if (auto* piece = free_[size_class]; piece != nullptr) {
    std::memcpy(&free_[size_class], piece, sizeof(std::byte*));
    return piece;
  }
  const auto wanted = piece_bytes[size_class];
  if (static_cast<std::size_t>(end_ - at_) < wanted) {
    // What is left of the old page serves smaller pieces.
    while (end_ - at_ >= 16) {
      auto fitting = class_count - 1;
      while (piece_bytes[fitting] > static_cast<std::size_t>(end_ - at_))
        --fitting;
      free_piece(at_, static_cast<std::uint32_t>(fitting));
      at_ += piece_bytes[fitting];
    }
    const auto size = !pages_.empty() || wanted > 512 ? page_class::full
                      : wanted > 128                  ? page_class::medium
                                                      : page_class::small;
    at_ = pool_->allocate(size);
    end_ = at_ + page_pool::size_of(size);
    pages_.push_back({at_, size, pool_->epoch()});
  }
  auto* piece = at_;
  at_ += wanted;
  return piece;
}

void blob_store::free_piece(std::byte* memory, std::uint32_t size_class) {
  std::memcpy(memory, &free_[size_class], sizeof(std::byte*));
  free_[size_class] = memory;
}

void blob_store::assign(blob& into, byte_view bytes) {
  HEADRACE_ASSERT(bytes.size() < 0x80000000U, "a value is below 2 GiB");
  into = blob();
  into.size = static_cast<std::uint32_t>(bytes.size());
  if (into.is_inline()) {
    if (!bytes.empty())
      std::memcpy(into.inline_bytes(), bytes.data(), bytes.size());
    return;
  }
  into.memory = allocate(bytes.size());
  into.born = static_cast<std::uint32_t>(pool_->epoch());
  std::memcpy(into.memory, bytes.data(), bytes.size());
}

void blob_store::replace(blob& held, byte_view bytes) {
  if (!held.is_inline() && bytes.size() > blob::inline_max &&
      room_of(bytes.size()) == room_of(held.size) && !pool_->is_read(held.born)) {
    std::memcpy(held.memory, bytes.data(), bytes.size());
    held.size = static_cast<std::uint32_t>(bytes.size());
    return;
  }
  const auto old = held;
  assign(held, bytes);
  release(old);
}

void blob_store::append(blob& held, byte_view more) {
  if (more.empty())
    return;
  const auto size = std::size_t{held.size} + more.size();
  HEADRACE_ASSERT(size < 0x80000000U, "a value is below 2 GiB");
  if (!held.is_inline() && room_of(size) == room_of(held.size)) {
    std::memcpy(held.memory + held.size, more.data(), more.size());
    held.size = static_cast<std::uint32_t>(size);
    return;
  }
  const auto old = held;
  held.size = static_cast<std::uint32_t>(size);
  if (held.is_inline()) {
    std::memcpy(held.inline_bytes() + old.size, more.data(), more.size());
    return;
  }
  held.memory = allocate(size);
  held.born = static_cast<std::uint32_t>(pool_->epoch());
  std::memcpy(held.memory, old.view().data(), old.size);
  std::memcpy(held.memory + old.size, more.data(), more.size());
  release(old);
}

void blob_store::release(const blob& held) {
  if (held.is_inline())
    return;
  const std::int64_t born = held.born;
  if (held.size <= piece_max) {
    const auto size_class = class_of(held.size);
    if (pool_->is_read(born))
      held_back_.push_back({held.memory, size_class, born});
    else
      free_piece(held.memory, size_class);
    return;
  }
  std::uint64_t index = 0;
  std::memcpy(&index, held.memory - sizeof(index), sizeof(index));
  const auto gone = larges_[index];
  std::memcpy(larges_.back().memory - sizeof(index), &index, sizeof(index));
  larges_[index] = larges_.back();
  larges_.pop_back();
  pool_->retire_large(gone.memory, gone.size_bytes, gone.born);
}

void blob_store::sweep() {
  swept_ = pool_->ended_snapshots();
  const auto floor = pool_->floor();
  std::size_t kept = 0;
  for (const auto& one : held_back_) {
    // An older snapshot than the newest may still run: then it waits a little longer than needed.
    if (floor != page_pool::no_snapshot && one.born <= floor)
      held_back_[kept++] = one;
    else
      free_piece(one.memory, one.size_class);
  }
  held_back_.resize(kept);
}

} // namespace headrace::state
