#pragma once

#include "libactors/base/bytes.hpp"

#include <cstddef>
#include <cstdint>

namespace headrace::task {

/// The sessions of one key as the bytes that a state keeps of them: in the order of time, apart
/// from each other, each with some bytes of the operator's own. Changed in place.
///
///     session: start, ms (8 bytes) | end, ms (8) | payload
///
/// A session [start, end) ends a gap behind its last row; sessions that meet are one.
class session_list {
public:
  /// @param bytes  what a state kept, changed by the calls below; outlives this
  session_list(byte_string& bytes, std::size_t payload_bytes)
      : bytes_(bytes), stride_(bounds_bytes + payload_bytes) {}

  std::size_t size() const { return bytes_.size() / stride_; }
  /// Of one session.
  std::size_t stride_bytes() const { return stride_; }
  std::int64_t start_ms(std::size_t index) const { return word(index, 0); }
  std::int64_t end_ms(std::size_t index) const { return word(index, sizeof(std::int64_t)); }
  std::byte* payload(std::size_t index) {
    return reinterpret_cast<std::byte*>(bytes_.data() + index * stride_ + bounds_bytes);
  }

  /// The sessions [first, first + count) that meet [start, end).
  struct range {
    std::size_t first = 0;
    std::size_t count = 0;
  };
  range meeting(std::int64_t start_ms, std::int64_t end_ms) const;
  /// Makes a session with zeros for payload.
  void insert(std::size_t index, std::int64_t start_ms, std::int64_t end_ms);
  void set_bounds(std::size_t index, std::int64_t start_ms, std::int64_t end_ms);
  void erase(std::size_t from, std::size_t count);

private:
  static constexpr std::size_t bounds_bytes = 2 * sizeof(std::int64_t);
  std::int64_t word(std::size_t index, std::size_t offset) const;

  byte_string& bytes_;
  std::size_t stride_;
};

} // namespace headrace::task
