#pragma once

#include "libactors/base/bytes.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>

namespace headrace::graph {

/// Counts the memory of one slot. Charged when a buffer is made, released when its last holder lets
/// go. Any thread. See `memory_arbiter` of libtask for what happens at the limit.
class memory_budget {
public:
  virtual ~memory_budget() = default;
  virtual void charge(std::size_t size_bytes) = 0;
  virtual void release(std::size_t size_bytes) = 0;
};

/// Memory that columns share, aligned to 64 bytes, with at least 64 readable bytes behind its end
/// (so that wide loads need no tail loop). Immutable once others hold it; counted.
class buffer {
public:
  /// Makes an uninitialized buffer that the caller fills before sharing it.
  static std::shared_ptr<buffer> allocate(std::size_t size_bytes,
                                          std::shared_ptr<memory_budget> budget = nullptr);
  /// Keeps `owner` alive, and reads its bytes in place. Alignment and the readable bytes behind the
  /// end are as good as the caller's.
  static std::shared_ptr<buffer> wrap(byte_view bytes, std::shared_ptr<const void> owner);
  ~buffer();
  buffer(const buffer&) = delete;
  buffer& operator=(const buffer&) = delete;

  const std::byte* data() const { return data_; }
  std::byte* mutable_data() { return data_; }
  std::size_t size_bytes() const { return size_bytes_; }
  template <class T>
  const T* as() const {
    return reinterpret_cast<const T*>(data_);
  }
  template <class T>
  T* mutable_as() {
    return reinterpret_cast<T*>(data_);
  }

private:
  template <class T>
  struct block_allocator;

  buffer() = default;
  std::byte* data_ = nullptr;
  std::size_t size_bytes_ = 0;
  std::shared_ptr<memory_budget> budget_;
  std::shared_ptr<const void> owner_;
};
using buffer_ptr = std::shared_ptr<const buffer>;

} // namespace headrace::graph
