#include "libstate/rocksdb/row_key.hpp"

#include "libstate/key/key_hash.hpp"

#include <bit>
#include <cstring>

namespace headrace::state::row_key {

namespace {

constexpr unsigned char zero_space = 0x80;

std::uint64_t big_endian(std::uint64_t value) {
  if constexpr (std::endian::native == std::endian::little)
    return __builtin_bswap64(value);
  return value;
}

void append_big_endian(byte_string& out, std::uint64_t value, std::size_t bytes) {
  const auto turned = big_endian(value);
  out.append(reinterpret_cast<const char*>(&turned) + sizeof(turned) - bytes, bytes);
}

std::uint64_t load_big_endian(byte_view from) {
  std::uint64_t out = 0;
  for (const auto byte : from)
    out = out << 8U | static_cast<unsigned char>(byte);
  return out;
}

std::size_t significant_bytes(std::uint64_t value) {
  return (static_cast<std::size_t>(std::bit_width(value)) + 7) / 8;
}

error malformed() { return {errc::corrupt_snapshot, "row of a state has a malformed key"}; }

} // namespace

void append_group(byte_string& out, std::uint16_t group) {
  out.push_back(static_cast<char>(group >> 8U));
  out.push_back(static_cast<char>(group));
}

void append_space(byte_string& out, state_namespace space) {
  const auto bits = static_cast<std::uint64_t>(space);
  const auto size = significant_bytes(space < 0 ? ~bits : bits);
  const auto head = space < 0 ? zero_space - 1 - size : zero_space + size;
  out.push_back(static_cast<char>(head));
  append_big_endian(out, bits, size);
}

void append_key(byte_string& out, const key_ref& key, key_shape shape) {
  if (shape == key_shape::bytes)
    out.append(key.bytes);
  else if (!key.is_null)
    append_big_endian(out, key.fixed, sizeof(key.fixed));
}

void append_map_key(byte_string& out, const key_ref& key, key_shape shape) {
  if (shape == key_shape::bytes) {
    byte_writer(out).put_bytes(key.bytes);
    return;
  }
  out.push_back(key.is_null ? '\0' : '\1');
  append_key(out, key, shape);
}

byte_string end_of_prefix(byte_view prefix) {
  byte_string out(prefix);
  while (!out.empty() && static_cast<unsigned char>(out.back()) == 0xff)
    out.pop_back();
  if (!out.empty())
    out.back() = static_cast<char>(static_cast<unsigned char>(out.back()) + 1);
  return out;
}

byte_string start_of_group(std::int32_t group) {
  byte_string out;
  append_group(out, static_cast<std::uint16_t>(group));
  return out;
}

key_ref parts::key(key_shape shape) const {
  if (shape == key_shape::bytes)
    return {hash_of_bytes(bytes), 0, bytes, false};
  if (key_is_null)
    return {hash_of_null, 0, {}, true};
  return {hash_of_fixed(fixed), fixed, {}, false};
}

byte_view parts::stored(key_shape shape) const {
  if (shape == key_shape::bytes)
    return bytes;
  if (key_is_null)
    return {};
  return {reinterpret_cast<const char*>(&fixed), sizeof(fixed)};
}

result<parts> split(byte_view key, key_shape shape, bool is_map) {
  parts out;
  if (key.size() < group_bytes + 1)
    return malformed();
  out.group = group_of(key);
  key.remove_prefix(group_bytes);
  if (is_map && shape == key_shape::bytes) {
    byte_reader in(key);
    const auto owner = in.get_bytes();
    if (!owner)
      return malformed();
    out.bytes = *owner;
    out.entry_key = key.substr(key.size() - in.remaining());
    return out;
  }
  const auto head = static_cast<unsigned char>(key[0]);
  key.remove_prefix(1);
  if (is_map) {
    if (head > 1 || (head == 1 && key.size() < sizeof(out.fixed)))
      return malformed();
    out.key_is_null = head == 0;
    if (!out.key_is_null) {
      out.fixed = load_big_endian(key.substr(0, sizeof(out.fixed)));
      key.remove_prefix(sizeof(out.fixed));
    }
    out.entry_key = key;
    return out;
  }
  const bool is_negative = head < zero_space;
  const auto size =
      static_cast<std::size_t>(is_negative ? zero_space - 1 - head : head - zero_space);
  if (size > sizeof(std::uint64_t) || key.size() < size)
    return malformed();
  auto bits = load_big_endian(key.substr(0, size));
  if (is_negative && size < sizeof(bits))
    bits |= ~std::uint64_t{0} << (8 * size);
  out.space = static_cast<state_namespace>(bits);
  key.remove_prefix(size);
  if (shape == key_shape::bytes) {
    out.bytes = key;
    return out;
  }
  out.key_is_null = key.empty();
  if (!out.key_is_null && key.size() != sizeof(out.fixed))
    return malformed();
  out.fixed = load_big_endian(key);
  return out;
}

} // namespace headrace::state::row_key
