#include "libgraph/data/string_blocks.hpp"

#include "libactors/base/assert.hpp"

#include <limits>

namespace headrace::graph {

void string_blocks::start_block(std::size_t least_bytes) {
  HEADRACE_ASSERT(least_bytes <= std::numeric_limits<std::uint32_t>::max(),
                  "a string is longer than 4 GiB");
  auto block = buffer::allocate(std::max(least_bytes, next_block_bytes_), budget_);
  next_block_bytes_ = std::min(std::max(next_block_bytes_, first_block_bytes) * 2, block_bytes_max);
  begin_ = block->mutable_as<char>();
  at_ = begin_;
  end_ = begin_ + block->size_bytes();
  block_index_ = add(std::move(block));
}

std::vector<buffer_ptr> string_blocks::finish() {
  // An eighth more, so that the next batch of the same kind needs one block.
  next_block_bytes_ = std::clamp(used_bytes_ + used_bytes_ / 8, first_block_bytes, block_bytes_max);
  begin_ = at_ = end_ = nullptr;
  used_bytes_ = 0;
  return std::exchange(data_, {});
}

} // namespace headrace::graph
