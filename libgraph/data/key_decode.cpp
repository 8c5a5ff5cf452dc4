#include "libgraph/data/fixed_width.hpp"
#include "libgraph/data/key_codec.hpp"
#include "libactors/base/assert.hpp"

#include <algorithm>

namespace headrace::graph {

namespace {

/// What is left of one key. Reads say false where the bytes are none of `encode_keys`.
struct key_cursor {
  const char* at;
  const char* end;

  std::size_t remaining() const { return static_cast<std::size_t>(end - at); }

  template <class T>
  bool get(T& value) {
    if (remaining() < sizeof(T))
      return false;
    std::memcpy(&value, at, sizeof(T));
    at += sizeof(T);
    return true;
  }
  bool get_varint(std::uint64_t& value) {
    value = 0;
    for (unsigned shift = 0; shift < 64U && at != end; shift += 7U) {
      const auto byte = static_cast<unsigned char>(*at++);
      value |= static_cast<std::uint64_t>(byte & 0x7fU) << shift;
      if (byte < 0x80U)
        return true;
    }
    return false;
  }
  bool get_raw(std::uint64_t size, byte_view& raw) {
    if (size > remaining())
      return false;
    raw = {at, static_cast<std::size_t>(size)};
    at += size;
    return true;
  }
};

bool decode_value(key_cursor& in, column_builder& to);

template <class ChildAt>
bool decode_fields(key_cursor& in, std::size_t count, ChildAt child_at) {
  byte_view nulls;
  if (!in.get_raw((count + 7) / 8, nulls))
    return false;
  for (std::size_t i = 0; i < count; ++i) {
    if (((static_cast<unsigned char>(nulls[i / 8]) >> (i % 8)) & 1U) != 0U)
      child_at(i).append_null();
    else if (!decode_value(in, child_at(i)))
      return false;
  }
  return true;
}

bool decode_elements(key_cursor& in, column_builder& to) {
  std::uint64_t count = 0;
  const auto children = to.type().storage_child_count();
  if (!in.get_varint(count) || count > in.remaining() / children) // each has a marker
    return false;
  to.begin_list();
  for (std::uint64_t i = 0; i < count; ++i) {
    for (std::size_t child = 0; child < children; ++child) {
      std::uint8_t marker = 0;
      if (!in.get(marker) || marker > 1)
        return false;
      if (marker == 0)
        to.child(child).append_null();
      else if (!decode_value(in, to.child(child)))
        return false;
    }
  }
  to.end_list();
  return true;
}

bool decode_value(key_cursor& in, column_builder& to) {
  const auto physical = to.type().physical();
  bool is_good = false;
  const bool is_fixed = visit_fixed_width(physical, [&]<class T>(std::type_identity<T>) {
    T value{};
    is_good = in.get(value) && !(physical == physical_type::boolean && value > T{1});
    if (is_good)
      to.append(value);
  });
  if (is_fixed)
    return is_good;
  switch (physical) {
  case physical_type::string: {
    std::uint64_t size = 0;
    byte_view value;
    if (!in.get_varint(size) || !in.get_raw(size, value))
      return false;
    to.append_string(value);
    return true;
  }
  case physical_type::list:
  case physical_type::map:
    return decode_elements(in, to);
  case physical_type::row:
    if (!decode_fields(in, to.type().storage_child_count(),
                       [&](std::size_t i) -> column_builder& { return to.child(i); }))
      return false;
    to.end_row();
    return true;
  default:
    return false; // a value of type NULL
  }
}

bool decode_all(std::span<const byte_view> keys, std::span<column_builder* const> to) {
  for (const auto key : keys) {
    key_cursor in{key.data(), key.data() + key.size()};
    if (!decode_fields(in, to.size(), [&](std::size_t i) -> column_builder& { return *to[i]; }) ||
        in.at != in.end)
      return false;
  }
  return true;
}

/// Takes single integers without NULLs as long as they come. @returns how many
template <class T>
std::size_t decode_integers(std::span<const byte_view> keys, column_builder& to) {
  std::size_t done = 0;
  for (; done < keys.size(); ++done) {
    const auto key = keys[done];
    if (key.size() != 1 + sizeof(T) || key[0] != 0)
      break;
    T value;
    std::memcpy(&value, key.data() + 1, sizeof(T));
    to.append(value);
  }
  return done;
}

/// Takes single strings of less than 128 bytes without NULLs as long as they come.
std::size_t decode_strings(std::span<const byte_view> keys, column_builder& to) {
  std::size_t done = 0;
  for (; done < keys.size(); ++done) {
    const auto key = keys[done];
    if (key.size() < 2 || key[0] != 0 || key.size() - 2 >= 0x80U ||
        static_cast<unsigned char>(key[1]) != key.size() - 2)
      break;
    to.append_string(key.substr(2));
  }
  return done;
}

std::size_t decode_single(std::span<const byte_view> keys, column_builder& to) {
  switch (to.type().physical()) {
  case physical_type::int32:
    return decode_integers<std::int32_t>(keys, to);
  case physical_type::int64:
    return decode_integers<std::int64_t>(keys, to);
  case physical_type::string:
    return decode_strings(keys, to);
  default:
    return 0;
  }
}

} // namespace

status decode_keys(std::span<const byte_view> keys, std::span<column_builder* const> to) {
  HEADRACE_ASSERT(!to.empty(), "a key without columns");
  const auto rows = to[0]->size();
  for (auto* each : to)
    each->reserve(rows + keys.size());
  const auto done = to.size() == 1 ? decode_single(keys, *to[0]) : 0;
  if (decode_all(keys.subspan(done), to))
    return {};
  for (auto* each : to)
    each->truncate(rows);
  return error(errc::malformed_message, "malformed key: not of the key's types");
}

} // namespace headrace::graph
