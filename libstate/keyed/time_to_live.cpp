#include "libstate/keyed/time_to_live.hpp"

namespace headrace::state {

void copy_unexpired(byte_view elements, std::int64_t ttl_ms, std::int64_t now_ms,
                    byte_string& out) {
  out.clear();
  for_each_element(elements, true, [&](std::int64_t stamp, byte_view whole, byte_view) {
    if (!is_expired(stamp, ttl_ms, now_ms))
      out.append(whole);
  });
}

} // namespace headrace::state
