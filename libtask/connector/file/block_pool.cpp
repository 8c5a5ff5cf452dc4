#include "libtask/connector/file/block_pool.hpp"

namespace headrace::task {

std::shared_ptr<graph::buffer> block_pool::take(std::size_t least_bytes) {
  for (const auto& each : blocks_)
    // Nobody but the pool could hand it on, so it stays alone. To count one holder more comes
    // behind the last one's letting go, and with it behind all that he read.
    if (each->size_bytes() >= least_bytes && each.use_count() == 1)
      return each;
  // A little more, as the next block begins with a rest of another size.
  auto made = graph::buffer::allocate(least_bytes + least_bytes / 8);
  if (blocks_.size() < blocks_max) {
    blocks_.push_back(made);
  } else {
    blocks_[oldest_] = made;
    oldest_ = (oldest_ + 1) % blocks_max;
  }
  return made;
}

} // namespace headrace::task
