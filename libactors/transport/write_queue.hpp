#pragma once

#include "libactors/transport/frame.hpp"

#include <array>
#include <cstddef>
#include <deque>
#include <span>
#include <sys/uio.h>

namespace headrace::actors {

/// Frames on their way into a socket, as pieces for `writev`. Pure; one thread.
class write_queue {
public:
  void push(outgoing_frame frame);
  /// Fills `out` with the next pieces, at most `bytes_max` bytes. @returns how many pieces
  std::size_t gather(std::span<iovec> out, std::size_t bytes_max) const;
  /// So many of the gathered bytes are gone; what is written whole is dropped.
  void on_written(std::size_t bytes);
  bool is_empty() const { return frames_.empty(); }
  /// Takes all of `from`, which is empty afterwards. A frame of it that has been begun must find
  /// this queue empty.
  void append(write_queue& from);

private:
  struct entry {
    std::array<char, frame_prefix::size_bytes> prefix;
    outgoing_frame frame;
    std::size_t size = 0;
  };
  std::deque<entry> frames_;
  std::size_t written_ = 0; ///< of the first
};

} // namespace headrace::actors
