#include "libactors/transport/handshake.hpp"

#include "libactors/base/assert.hpp"
#include "libactors/transport/frame_decoder.hpp"

#include <cstddef>
#include <cstdint>
#include <utility>

namespace {

using namespace headrace;
using namespace headrace::actors;

node_identity identity(std::uint64_t id) {
  return {.protocol_version = transport_protocol_version,
          .product_version = "0.1.0",
          .cluster_id = "fuzz",
          .node = {1, id},
          .host = "host",
          .port = 6123,
          .secret = "a secret that no input knows"};
}

} // namespace

/// Feeds the frames of a stranger to both sides of a handshake. Nothing may crash it, and nobody
/// who does not know the secret may get in.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 1) {
    return 0;
  }
  const bool dials = (data[0] & 1U) != 0;
  auto opening = dials ? handshake(identity(1), byte_string(32, 'n'), ConnectionClass::CONTROL,
                                   {.session = 7}, {})
                       : handshake(identity(1), byte_string(32, 'n'));
  opening.begin();
  byte_view left(reinterpret_cast<const char*>(data) + 1, size - 1);
  frame_decoder decoder(unauthenticated_limits());
  while (true) {
    auto next = decoder.next();
    if (!next) {
      return 0;
    }
    if (*next) {
      const auto step = opening.on_frame(**next);
      HEADRACE_ASSERT(!opening.is_open() && !opening.is_proved(), "a stranger is let in");
      HEADRACE_ASSERT(step.send.size() <= 1, "one frame is answered by one");
      if (step.refused) {
        return 0;
      }
    } else if (left.empty()) {
      return 0;
    } else {
      left.remove_prefix(decoder.feed(left));
    }
  }
}
