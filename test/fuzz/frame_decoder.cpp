#include "libactors/transport/frame_decoder.hpp"

#include "libactors/base/assert.hpp"
#include "libactors/transport/envelope_codec.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

/// Feeds bytes to the decoder in pieces whose sizes come from the first bytes. No input may crash
/// it, or make it reserve much more than it was given; what comes out is read as a message.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace headrace;
  using namespace headrace::actors;
  if (size < 2) {
    return 0;
  }
  const bool is_known = (data[0] & 1U) != 0;
  const std::size_t step = data[1] + std::size_t{1};
  byte_view left(reinterpret_cast<const char*>(data) + 2, size - 2);
  frame_decoder decoder(is_known ? frame_limits() : unauthenticated_limits());
  std::size_t fed = 0;
  while (true) {
    auto next = decoder.next();
    if (!next) {
      return 0;
    }
    HEADRACE_ASSERT(decoder.reserved_bytes() <=
                        2 * fed + limits::frame_body_ahead_bytes_max + (std::size_t{128} << 10U),
                    "no memory on a stranger's word");
    if (*next) {
      const auto& frame = **next;
      HEADRACE_ASSERT(frame.header.size() + frame.body.size() <= size, "no more than was given");
      static_cast<void>(decode_numbers(frame.header));
      static_cast<void>(decode_envelope(frame, {1, 2}, {3, 4}));
      static_cast<void>(decode_watch(frame));
      static_cast<void>(decode_ended(frame));
      static_cast<void>(decode_heartbeat(frame));
      static_cast<void>(decode_goodbye(frame));
      continue;
    }
    if (left.empty()) {
      return 0;
    }
    const auto taken = decoder.feed(left.substr(0, step));
    HEADRACE_ASSERT(taken > 0, "a decoder without a frame takes bytes");
    left.remove_prefix(taken);
    fed += taken;
  }
}
