#pragma once

#include "libactors/base/bytes.hpp"
#include "libactors/base/limits.hpp"
#include "libactors/base/shared_bytes.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace headrace::actors {

/// What a frame is. Numbers are for ever.
enum class frame_kind : std::uint16_t {
  hello = 1,
  proof = 2,
  welcome = 3,
  refusal = 4,
  heartbeat = 16, ///< the sender lives, and says what it has received
  goodbye = 17,
  envelope = 32,
  watch = 33,
  ended = 34,
  data_first = 256, ///< from here on the data plane gives the numbers
};

/// A frame to be sent. Its body may be in many pieces, which are not copied before they are
/// written.
struct outgoing_frame {
  frame_kind kind = frame_kind::data_first;
  byte_string header;
  std::vector<shared_bytes> body;

  std::size_t body_bytes() const;
  /// With the prefix.
  std::size_t size_bytes() const;
};

/// Bytes at an address that is a multiple of 64, so that columns and Cap'n Proto words are read in
/// place. Moving it hands it over; `share` makes it immutable.
class aligned_bytes {
public:
  static constexpr std::size_t alignment = 64;

  aligned_bytes() = default;
  /// Not initialized. @errors none: throws std::bad_alloc
  explicit aligned_bytes(std::size_t size);
  /// Takes over `memory`, which begins at a multiple of 64.
  aligned_bytes(std::shared_ptr<char[]> memory, std::size_t size)
      : data_(std::move(memory)), size_(size) {}

  char* data() { return data_.get(); }
  byte_view view() const { return {data_.get(), size_}; }
  std::size_t size() const { return size_; }
  shared_bytes share() const { return {view(), data_}; }
  const std::shared_ptr<char[]>& owner() const { return data_; }

private:
  std::shared_ptr<char[]> data_;
  std::size_t size_ = 0;
};

struct incoming_frame {
  frame_kind kind = frame_kind::data_first;
  byte_string header;
  aligned_bytes body;
};

/// What stands before each frame: magic, kind, and the sizes, little-endian.
///
///     0      4      6        8              12            16
///     | HRF1 | kind | unused | header bytes | body bytes  | header … | body …
struct frame_prefix {
  static constexpr std::size_t size_bytes = 16;
  static constexpr std::uint32_t magic = 0x31465248;

  frame_kind kind = frame_kind::data_first;
  std::uint32_t header_bytes = 0;
  std::uint32_t body_bytes = 0;

  void encode(char* out) const;
  /// @errors malformed_message  no frame starts here
  static result<frame_prefix> decode(byte_view in);
  /// As soon as four bytes are there. @errors malformed_message  no frame starts here
  static status check_magic(byte_view in);
  /// Whether a record of TLS begins here, by its first two bytes.
  static bool begins_tls(byte_view in);
};
frame_prefix prefix_of(const outgoing_frame& frame);

struct frame_limits {
  std::size_t header_bytes_max = limits::frame_header_bytes_max;
  std::size_t body_bytes_max = limits::frame_body_bytes_max;
  /// Of both together.
  std::size_t frame_bytes_max = limits::frame_header_bytes_max + limits::frame_body_bytes_max;
};
/// What one may send who has not proved who it is.
constexpr frame_limits unauthenticated_limits() {
  return {.header_bytes_max = limits::frame_unauthenticated_bytes_max,
          .body_bytes_max = limits::frame_unauthenticated_bytes_max,
          .frame_bytes_max = limits::frame_unauthenticated_bytes_max};
}

} // namespace headrace::actors
