#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

// Texts by code points. Bytes that are no UTF-8 count as they come: nothing is read outside.
namespace headrace::graph {

inline bool is_continuation(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U;
}

inline std::size_t count_points(std::string_view text) {
  std::size_t out = 0;
  for (const char byte : text)
    out += is_continuation(byte) ? 0 : 1;
  return out;
}

/// As `in.find(wanted, from)`. A text of one byte, as most separators are, is found by that alone,
/// where `find` would compare it once more.
inline std::size_t find_text(std::string_view in, std::string_view wanted, std::size_t from = 0) {
  return wanted.size() == 1 ? in.find(wanted[0], from) : in.find(wanted, from);
}

/// Where the code point begins that has `points` before it; the text's end when there are fewer.
inline std::size_t byte_of_point(std::string_view text, std::size_t points) {
  std::size_t at = 0;
  while (at < text.size()) {
    if (!is_continuation(text[at])) {
      if (points == 0)
        return at;
      --points;
    }
    ++at;
  }
  return at;
}

/// The bytes of the code point at the front.
inline std::string_view front_point(std::string_view text) {
  std::size_t size = 1;
  while (size < text.size() && is_continuation(text[size]))
    ++size;
  return text.substr(0, size);
}
/// The bytes of the last code point.
inline std::string_view back_point(std::string_view text) {
  std::size_t begin = text.size() - 1;
  while (begin > 0 && is_continuation(text[begin]))
    --begin;
  return text.substr(begin);
}

/// How many bytes the code point at the front has; 0: it is malformed (RFC 3629).
inline std::size_t valid_point_size(std::string_view bytes) {
  const auto at = [&](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
  const auto first = at(0);
  if (first < 0x80U)
    return 1;
  const std::size_t size = first < 0xC2U ? 0 : first < 0xE0U ? 2 : first < 0xF0U ? 3 : 4;
  if (size == 0 || first > 0xF4U || bytes.size() < size)
    return 0;
  for (std::size_t i = 1; i < size; ++i)
    if (!is_continuation(bytes[i]))
      return 0;
  const bool is_too_long = (first == 0xE0U && at(1) < 0xA0U) || (first == 0xF0U && at(1) < 0x90U);
  const bool is_outside = (first == 0xEDU && at(1) > 0x9FU) || (first == 0xF4U && at(1) > 0x8FU);
  return is_too_long || is_outside ? 0 : size;
}

/// Takes the code point at the front; U+FFFD, the sign of what cannot be read, for a byte that is
/// no UTF-8.
inline char32_t take_point(std::string_view& text) {
  const auto size = valid_point_size(text);
  const auto first = static_cast<unsigned char>(text[0]);
  char32_t out = size == 0 ? 0xFFFDU : size == 1 ? first : first & (0xFFU >> (size + 1));
  for (std::size_t at = 1; at < size; ++at)
    out = out << 6U | (static_cast<unsigned char>(text[at]) & 0x3FU);
  text.remove_prefix(size == 0 ? 1 : size);
  return out;
}

inline void append_point_utf8(char32_t point, std::string& out) {
  const auto put = [&](char32_t byte) { out.push_back(static_cast<char>(byte)); };
  if (point < 0x80U) {
    put(point);
  } else if (point < 0x800U) {
    put(0xC0U | point >> 6U);
    put(0x80U | (point & 0x3FU));
  } else if (point < 0x10000U) {
    put(0xE0U | point >> 12U);
    put(0x80U | (point >> 6U & 0x3FU));
    put(0x80U | (point & 0x3FU));
  } else {
    put(0xF0U | point >> 18U);
    put(0x80U | (point >> 12U & 0x3FU));
    put(0x80U | (point >> 6U & 0x3FU));
    put(0x80U | (point & 0x3FU));
  }
}

/// Appends bytes as text: each that is no UTF-8 becomes U+FFFD, the sign of what cannot be read.
inline void append_as_utf8(std::string_view bytes, std::string& out) {
  while (!bytes.empty()) {
    const auto size = valid_point_size(bytes);
    if (size > 0)
      out += bytes.substr(0, size);
    else
      out += "\xEF\xBF\xBD";
    bytes.remove_prefix(size > 0 ? size : 1);
  }
}

} // namespace headrace::graph
