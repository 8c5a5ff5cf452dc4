#pragma once

#include "libactors/base/result.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

namespace headrace {

/// Owns bytes that are stored or sent whole (a key, a split, a spec, a state value).
using byte_string = std::string;
using byte_view = std::string_view;

/// Appends little-endian values to a byte_string.
class byte_writer {
public:
  explicit byte_writer(byte_string& out) : out_(&out) {}

  template <class T>
    requires(std::is_arithmetic_v<T> || std::is_enum_v<T>)
  void put(T value) {
    char raw[sizeof(T)];
    std::memcpy(raw, &value, sizeof(T));
    out_->append(raw, sizeof(T));
  }
  /// Writes 7 bits a byte, low bits first (LEB128).
  void put_varint(std::uint64_t value) {
    while (value >= 0x80U) {
      out_->push_back(static_cast<char>(value | 0x80U));
      value >>= 7U;
    }
    out_->push_back(static_cast<char>(value));
  }
  void put_raw(byte_view raw) { out_->append(raw); }
  /// Writes the length as a varint, then the bytes.
  void put_bytes(byte_view raw) {
    put_varint(raw.size());
    out_->append(raw);
  }

private:
  byte_string* out_;
};

/// Reads what byte_writer wrote; every read is checked, so hostile bytes give an error.
class byte_reader {
public:
  explicit byte_reader(byte_view in) : in_(in) {}

  std::size_t remaining() const { return in_.size() - at_; }
  bool at_end() const { return remaining() == 0; }

  /// @errors malformed_message  fewer bytes left than the value takes
  template <class T>
    requires(std::is_arithmetic_v<T> || std::is_enum_v<T>)
  result<T> get() {
    if (remaining() < sizeof(T))
      return truncated();
    T value;
    std::memcpy(&value, in_.data() + at_, sizeof(T));
    at_ += sizeof(T);
    return value;
  }
  result<std::uint64_t> get_varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64U; shift += 7U) {
      if (at_end())
        return truncated();
      const auto byte = static_cast<unsigned char>(in_[at_++]);
      value |= static_cast<std::uint64_t>(byte & 0x7fU) << shift;
      if ((byte & 0x80U) == 0U)
        return value;
    }
    return error(errc::malformed_message, "varint longer than 10 bytes");
  }
  /// The view is valid as long as the bytes that the reader was made over.
  result<byte_view> get_raw(std::size_t size) {
    if (remaining() < size)
      return truncated();
    auto out = in_.substr(at_, size);
    at_ += size;
    return out;
  }
  result<byte_view> get_bytes() {
    HEADRACE_TRY(auto size, get_varint());
    if (size > remaining())
      return truncated();
    return get_raw(static_cast<std::size_t>(size));
  }

private:
  error truncated() const {
    return {errc::malformed_message, "bytes end early: at offset " + std::to_string(at_)};
  }
  byte_view in_;
  std::size_t at_ = 0;
};

} // namespace headrace
