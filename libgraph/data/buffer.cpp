#include "libgraph/data/buffer.hpp"

#include <new>

namespace headrace::graph {

namespace {

constexpr std::size_t alignment_bytes = 64;
constexpr std::size_t padding_bytes = 64;

std::byte* align_up(std::byte* at) {
  const auto address = reinterpret_cast<std::uintptr_t>(at);
  return at + (alignment_bytes - address % alignment_bytes) % alignment_bytes;
}

} // namespace

/// Puts the bytes of a buffer behind it, in the block of its shared_ptr: one allocation a buffer.
template <class T>
struct buffer::block_allocator {
  using value_type = T;
  std::size_t extra_bytes = 0;

  explicit block_allocator(std::size_t extra) : extra_bytes(extra) {}
  template <class Other>
  block_allocator(const block_allocator<Other>& other) // NOLINT: allocators convert
      : extra_bytes(other.extra_bytes) {}

  T* allocate(std::size_t count) {
    return static_cast<T*>(::operator new(count * sizeof(T) + extra_bytes));
  }
  void deallocate(T* block, std::size_t) { ::operator delete(block); }
  template <class Object>
  void construct(Object* at) {
    ::new (static_cast<void*>(at)) Object();
  }
  friend bool operator==(const block_allocator&, const block_allocator&) { return true; }
};

std::shared_ptr<buffer> buffer::allocate(std::size_t size_bytes,
                                         std::shared_ptr<memory_budget> budget) {
  auto out = std::allocate_shared<buffer>(
      block_allocator<buffer>(alignment_bytes + size_bytes + padding_bytes));
  out->data_ = align_up(reinterpret_cast<std::byte*>(out.get()) + sizeof(buffer));
  out->size_bytes_ = size_bytes;
  if (budget) {
    budget->charge(size_bytes);
    out->budget_ = std::move(budget);
  }
  return out;
}

std::shared_ptr<buffer> buffer::wrap(byte_view bytes, std::shared_ptr<const void> owner) {
  auto out = std::allocate_shared<buffer>(block_allocator<buffer>(0));
  // Never written through: what holds a buffer after it was shared has it const.
  out->data_ = reinterpret_cast<std::byte*>(const_cast<char*>(bytes.data()));
  out->size_bytes_ = bytes.size();
  out->owner_ = std::move(owner);
  return out;
}

buffer::~buffer() {
  if (budget_)
    budget_->release(size_bytes_);
}

} // namespace headrace::graph
