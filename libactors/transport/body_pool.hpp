#pragma once

#include "libactors/transport/frame.hpp"

#include <cstddef>
#include <memory>

namespace headrace::actors {

/// Keeps the memory of received bodies that nobody holds any more for those that come next, so that
/// a busy connection does not have the system clear fresh pages for each frame. What was given back
/// last is given first: it is in the caches still. Any thread; what it gave may outlive it.
class body_pool {
public:
  /// The most that is kept while nobody uses it.
  static constexpr std::size_t kept_bytes_max = std::size_t{8} << 20U;
  /// Smaller and larger bodies are not kept: the allocator reuses the small, and the large are
  /// rare.
  static constexpr std::size_t body_bytes_least = std::size_t{64} << 10U;
  static constexpr std::size_t body_bytes_most = std::size_t{1} << 20U;

  body_pool();
  ~body_pool();
  body_pool(const body_pool&) = delete;
  body_pool& operator=(const body_pool&) = delete;

  /// Not initialized. @errors none: throws std::bad_alloc
  aligned_bytes take(std::size_t size);
  std::size_t kept_bytes() const;

private:
  struct shelf;
  std::shared_ptr<shelf> shelf_;
};

} // namespace headrace::actors
