#include "libactors/transport/write_queue.hpp"

#include "libactors/base/assert.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace headrace::actors {

void write_queue::push(outgoing_frame frame) {
  auto& made = frames_.emplace_back();
  prefix_of(frame).encode(made.prefix.data());
  made.size = frame.size_bytes();
  made.frame = std::move(frame);
}

void write_queue::append(write_queue& from) {
  if (frames_.empty()) {
    std::swap(*this, from);
    return;
  }
  HEADRACE_ASSERT(from.written_ == 0, "a frame that was begun must go on at once");
  std::move(from.frames_.begin(), from.frames_.end(), std::back_inserter(frames_));
  from.frames_.clear();
}

std::size_t write_queue::gather(std::span<iovec> out, std::size_t bytes_max) const {
  std::size_t used = 0;
  std::size_t skip = written_;
  const auto add = [&](byte_view piece) {
    const auto skipped = std::min(skip, piece.size());
    skip -= skipped;
    piece.remove_prefix(skipped);
    piece = piece.substr(0, bytes_max);
    if (!piece.empty() && used < out.size()) {
      bytes_max -= piece.size();
      out[used++] = {const_cast<char*>(piece.data()), piece.size()}; // writev does not write there
    }
    return bytes_max > 0 && used < out.size();
  };
  for (const auto& each : frames_) {
    if (!add({each.prefix.data(), each.prefix.size()}) || !add(each.frame.header)) {
      return used;
    }
    for (const auto& piece : each.frame.body) {
      if (!add(piece.view)) {
        return used;
      }
    }
  }
  return used;
}

void write_queue::on_written(std::size_t bytes) {
  written_ += bytes;
  while (!frames_.empty() && written_ >= frames_.front().size) {
    written_ -= frames_.front().size;
    frames_.pop_front();
  }
}

} // namespace headrace::actors
