#pragma once

#include "libgraph/data/buffer.hpp"

#include <cstddef>
#include <memory>
#include <vector>

namespace headrace::task {

/// Blocks that files are read into, again and again: a block that nobody holds any more is given
/// anew, where new memory would have to be cleared page by page. Not thread-safe; those who hold
/// blocks may let go on any thread.
class block_pool {
public:
  /// As many as are read ahead of slow consumers; of more than that the oldest are forgotten, and
  /// live as long as they are held.
  static constexpr std::size_t blocks_max = 4;

  /// @returns a block of at least so many bytes, of any content, that nobody else holds
  std::shared_ptr<graph::buffer> take(std::size_t least_bytes);
  /// Lets go of all: they live as long as others hold them.
  void clear() { blocks_.clear(); }

private:
  std::vector<std::shared_ptr<graph::buffer>> blocks_;
  std::size_t oldest_ = 0;
};

} // namespace headrace::task
