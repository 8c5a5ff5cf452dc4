#include "libactors/message/message.hpp"

#include "libactors/base/assert.hpp"

#include <cstddef>
#include <cstdint>

/// Feeds bytes to what checks messages from outside. No input may crash it, hang it, or make it
/// reserve much more than it was given.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const headrace::byte_view raw(reinterpret_cast<const char*>(data), size);
  if (auto taken = headrace::validate_message(1, raw)) {
    HEADRACE_ASSERT(taken->size_bytes() == size, "a checked message has all of its bytes");
  }
  return 0;
}
