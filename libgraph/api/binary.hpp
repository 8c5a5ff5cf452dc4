#pragma once

#include "libactors/base/bytes.hpp"

#include <cstdint>
#include <cstring>
#include <type_traits>

namespace headrace::api {

/// Reads values that `type_info<T>::encode` wrote. Throws `graph::failure` (corrupt_snapshot) when
/// the bytes end early: states come from storage.
class binary_reader {
public:
  explicit binary_reader(byte_view in) : at_(in.data()), end_(in.data() + in.size()) {}

  bool at_end() const { return at_ == end_; }
  template <class T>
  T get() {
    static_assert(std::is_trivially_copyable_v<T>);
    T value;
    std::memcpy(&value, take(sizeof(T)), sizeof(T));
    return value;
  }
  std::uint64_t get_size() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64U; shift += 7U) {
      const auto byte = static_cast<unsigned char>(*take(1));
      value |= static_cast<std::uint64_t>(byte & 0x7fU) << shift;
      if ((byte & 0x80U) == 0U)
        return value;
    }
    throw_corrupt();
  }
  /// The view is valid as long as the bytes that the reader was made over.
  byte_view get_bytes() {
    const auto size = get_size();
    return {take(size), static_cast<std::size_t>(size)};
  }
  /// Bounds a count of elements by the bytes that are left, each taking one at least.
  std::size_t get_count() {
    const auto count = get_size();
    if (count > static_cast<std::uint64_t>(end_ - at_))
      throw_corrupt();
    return static_cast<std::size_t>(count);
  }

private:
  const char* take(std::uint64_t size) {
    if (size > static_cast<std::uint64_t>(end_ - at_)) [[unlikely]]
      throw_corrupt();
    const auto* out = at_;
    at_ += size;
    return out;
  }
  [[noreturn]] static void throw_corrupt();

  const char* at_;
  const char* end_;
};

} // namespace headrace::api
