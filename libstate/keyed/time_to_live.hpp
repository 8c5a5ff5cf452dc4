#pragma once

#include "libactors/base/bytes.hpp"

#include <cstddef>
#include <cstdint>

namespace headrace::state {

/// Rows of states that expire carry when they were written last: 8 bytes in front of the value.
inline constexpr std::size_t stamp_bytes = 8;

/// Whether what was written at `stamp_ms` has expired.
inline bool is_expired(std::int64_t stamp_ms, std::int64_t ttl_ms, std::int64_t now_ms) {
  return ttl_ms > 0 && now_ms - stamp_ms >= ttl_ms;
}

/// Goes over the elements of a stored list, each (stamp when it expires, varint length, bytes):
/// `visit(stamp, whole, element)`. Ends early where the bytes are cut off.
template <class Visit>
void for_each_element(byte_view elements, bool has_stamps, Visit visit) {
  byte_reader in(elements);
  while (!in.at_end()) {
    const auto from = elements.size() - in.remaining();
    std::int64_t stamp = 0;
    if (has_stamps) {
      auto read = in.get<std::int64_t>();
      if (!read)
        return;
      stamp = *read;
    }
    const auto element = in.get_bytes();
    if (!element)
      return;
    visit(stamp, elements.substr(from, elements.size() - in.remaining() - from), *element);
  }
}

/// Copies the elements of a list that have not expired. `elements` has stamps.
void copy_unexpired(byte_view elements, std::int64_t ttl_ms, std::int64_t now_ms, byte_string& out);

} // namespace headrace::state
