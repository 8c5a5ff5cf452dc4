#pragma once

#include "libstate/heap/page_pool.hpp"
#include "libstate/heap/row_layout.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace headrace::state {

/// Memory for the variable bytes of one directory: pieces of few sizes cut from pages, and larger
/// ones by themselves. What a snapshot may read is neither changed nor reused before it ends; bytes
/// behind the size that the snapshot knows may be written. Dropped in time of the pages.
class blob_store {
public:
  explicit blob_store(page_pool& pool) : pool_(&pool) {}
  /// Retires all memory.
  ~blob_store();
  blob_store(const blob_store&) = delete;
  blob_store& operator=(const blob_store&) = delete;

  /// Makes `into` hold a copy of the bytes; what it held is left to the caller.
  void assign(blob& into, byte_view bytes);
  /// Replaces what `held` holds, in place where no snapshot can see it. `bytes` must not lie in it.
  void replace(blob& held, byte_view bytes);
  /// Appends; the room behind the bytes grows with them. `more` must not lie in `held`.
  void append(blob& held, byte_view more);
  /// Gives the memory back.
  void release(const blob& held);

private:
  static constexpr std::size_t class_count = 27;
  static constexpr std::size_t piece_max = 2048;
  struct freed {
    std::byte* memory;
    std::uint32_t size_class;
    std::int64_t born;
  };
  struct page_ref {
    std::byte* memory;
    page_class size;
    std::int64_t born;
  };
  struct large_ref {
    std::byte* memory;
    std::size_t size_bytes;
    std::int64_t born;
  };

  static std::size_t room_of(std::size_t size_bytes);
  std::byte* allocate(std::size_t size_bytes);
  std::byte* cut(std::uint32_t size_class);
  void free_piece(std::byte* memory, std::uint32_t size_class);
  void sweep();

  page_pool* pool_;
  std::vector<page_ref> pages_;
  std::vector<large_ref> larges_;
  std::byte* at_ = nullptr;
  std::byte* end_ = nullptr;
  std::array<std::byte*, class_count> free_{};
  std::vector<freed> held_back_;
  std::uint64_t swept_ = 0;
};

} // namespace headrace::state
