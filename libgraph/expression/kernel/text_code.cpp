#include "libgraph/expression/kernel/function_kernel.hpp"
#include "libgraph/expression/kernel/utf8.hpp"
#include "libgraph/types/value_text.hpp"
#include "libactors/base/digest.hpp"

#include <algorithm>

// Texts as codes and back: digests, base 64, hexadecimal digits, URLs.
namespace headrace::graph {
namespace {

using text = std::string_view;

constexpr text small_digits = "0123456789abcdef";
constexpr text capital_digits = "0123456789ABCDEF";

template <digest_kind Kind>
bool digest(text_result& out, text from) {
  out.text = digest_hex(Kind, from);
  return true;
}

/// By its length in bits; NULL for another.
bool digest_of_bits(text_result& out, text from, std::int32_t bits) {
  switch (bits) {
  case 224:
    return digest<digest_kind::sha224>(out, from);
  case 256:
    return digest<digest_kind::sha256>(out, from);
  case 384:
    return digest<digest_kind::sha384>(out, from);
  case 512:
    return digest<digest_kind::sha512>(out, from);
  default:
    out.frame.fail("no SHA2 of so many bits, expected 224, 256, 384 or 512", std::to_string(bits));
    return false;
  }
}

bool to_base64(text_result& out, text from) {
  append_base64(from, out.text);
  return true;
}
bool from_base64(text_result& out, text from) {
  if (decode_base64(from, out.text))
    return true;
  out.frame.fail("no base 64", from);
  return false;
}

void append_digits(std::uint64_t value, unsigned bits, std::string& out) {
  const auto before = out.size();
  do {
    out += capital_digits[value & ((1U << bits) - 1U)];
    value >>= bits;
  } while (value != 0);
  std::reverse(out.begin() + static_cast<std::ptrdiff_t>(before), out.end());
}
bool hex_of_number(text_result& out, std::int64_t value) {
  append_digits(static_cast<std::uint64_t>(value), 4, out.text);
  return true;
}
bool binary_of_number(text_result& out, std::int64_t value) {
  append_digits(static_cast<std::uint64_t>(value), 1, out.text);
  return true;
}
bool hex_of_text(text_result& out, text from) {
  for (const char each : from) {
    const auto byte = static_cast<unsigned char>(each);
    out.text += capital_digits[byte >> 4U];
    out.text += capital_digits[byte & 15U];
  }
  return true;
}

std::optional<unsigned> digit_of(char letter) {
  const auto lower = letter >= 'A' && letter <= 'F' ? static_cast<char>(letter | 0x20) : letter;
  const auto at = small_digits.find(lower);
  return at == text::npos ? std::nullopt : std::optional(static_cast<unsigned>(at));
}

/// An odd number of digits has a zero before it; NULL when one is no digit.
bool bytes_of_hex(text_result& out, text from) {
  unsigned byte = 0;
  for (std::size_t i = 0; i < from.size(); ++i) {
    const auto digit = digit_of(from[i]);
    if (!digit)
      return false;
    byte = byte << 4U | *digit;
    if ((from.size() - i) % 2 == 1) {
      out.text.push_back(static_cast<char>(byte));
      byte = 0;
    }
  }
  return true;
}

bool is_kept_in_url(char letter) {
  return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
         (letter >= '0' && letter <= '9') || text(".-*_").find(letter) != text::npos;
}
bool url_encode(text_result& out, text from) {
  for (const char each : from) {
    if (is_kept_in_url(each)) {
      out.text += each;
    } else if (each == ' ') {
      out.text += '+';
    } else {
      const auto byte = static_cast<unsigned char>(each);
      out.text += '%';
      out.text += capital_digits[byte >> 4U];
      out.text += capital_digits[byte & 15U];
    }
  }
  return true;
}
bool url_decode(text_result& out, text from) {
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (from[i] != '%') {
      out.text += from[i] == '+' ? ' ' : from[i];
      continue;
    }
    const auto high = i + 2 < from.size() ? digit_of(from[i + 1]) : std::nullopt;
    const auto low = i + 2 < from.size() ? digit_of(from[i + 2]) : std::nullopt;
    if (!high || !low)
      return false;
    out.text.push_back(static_cast<char>(*high << 4U | *low));
    i += 2;
  }
  std::string readable;
  append_as_utf8(out.text, readable);
  out.text = std::move(readable);
  return true;
}

/// An address of one to four numbers, the last one for all bytes that are left; nothing for another
/// text.
std::optional<std::int64_t> number_of_address(text from) {
  std::int64_t out = 0;
  for (int left = 4; left > 0; --left) {
    const auto end = std::min(from.find('.'), from.size());
    const auto part = parse_integer<std::int64_t>(from.substr(0, end));
    const bool is_last = end == from.size();
    const auto limit = std::int64_t{1} << (is_last ? 8 * left : 8);
    if (!part || from[0] == '-' || from[0] == '+' || *part >= limit)
      return std::nullopt;
    if (is_last)
      return out + *part;
    out += *part << (8 * (left - 1));
    from.remove_prefix(end + 1);
  }
  return std::nullopt;
}
bool address_of_number(text_result& out, std::int64_t value) {
  if (value < 0 || value > 0xFFFFFFFF)
    return false;
  for (int shift = 24; shift >= 0; shift -= 8) {
    append_integer(value >> shift & 0xFF, out.text);
    out.text += shift > 0 ? "." : "";
  }
  return true;
}

/// scheme://user@host:port/path?query#ref, each part without what parts it; nothing where it is
/// not.
struct url_parts {
  text protocol;
  text authority;
  text user;
  text host;
  text path;
  text query;
  text ref;
};

std::optional<url_parts> parse_url(text url) {
  url_parts out;
  const auto scheme = url.find(':');
  if (scheme == url.npos || scheme == 0)
    return std::nullopt;
  out.protocol = url.substr(0, scheme);
  url.remove_prefix(scheme + 1);
  if (const auto hash = url.find('#'); hash != url.npos) {
    out.ref = url.substr(hash + 1);
    url = url.substr(0, hash);
  }
  if (const auto mark = url.find('?'); mark != url.npos) {
    out.query = url.substr(mark + 1);
    url = url.substr(0, mark);
  }
  if (url.starts_with("//")) {
    url.remove_prefix(2);
    const auto slash = std::min(url.find('/'), url.size());
    out.authority = url.substr(0, slash);
    url.remove_prefix(slash);
    out.host = out.authority;
    if (const auto at = out.host.rfind('@'); at != out.host.npos) {
      out.user = out.host.substr(0, at);
      out.host.remove_prefix(at + 1);
    }
    if (!out.host.starts_with('['))
      out.host = out.host.substr(0, out.host.find(':'));
  }
  out.path = url.data() == nullptr ? text("") : url;
  return out;
}

text url_part(text url, text part) {
  const auto parts = parse_url(url);
  if (!parts)
    return {};
  if (part == "HOST")
    return parts->host;
  if (part == "PATH")
    return parts->path;
  if (part == "QUERY")
    return parts->query;
  if (part == "REF")
    return parts->ref;
  if (part == "PROTOCOL")
    return parts->protocol;
  if (part == "AUTHORITY")
    return parts->authority;
  if (part == "USERINFO")
    return parts->user;
  if (part == "FILE") {
    const auto end = parts->query.data() == nullptr ? parts->path.data() + parts->path.size()
                                                    : parts->query.data() + parts->query.size();
    return {parts->path.data(), static_cast<std::size_t>(end - parts->path.data())};
  }
  return {};
}

/// The value of a key of the query.
text url_parameter(text url, text part, text key) {
  if (part != "QUERY")
    return {};
  auto query = url_part(url, part);
  while (!query.empty()) {
    const auto end = std::min(query.find('&'), query.size());
    const auto entry = query.substr(0, end);
    query.remove_prefix(std::min(end + 1, query.size()));
    const auto sign = entry.find('=');
    if (sign != entry.npos && entry.substr(0, sign) == key)
      return entry.substr(sign + 1);
  }
  return {};
}

constexpr kernel_entry entries[] = {
    {"MD5", "s", text_of<digest<digest_kind::md5>>},
    {"SHA1", "s", text_of<digest<digest_kind::sha1>>},
    {"SHA224", "s", text_of<digest<digest_kind::sha224>>},
    {"SHA256", "s", text_of<digest<digest_kind::sha256>>},
    {"SHA384", "s", text_of<digest<digest_kind::sha384>>},
    {"SHA512", "s", text_of<digest<digest_kind::sha512>>},
    {"SHA2", "si", text_of<digest_of_bits>, true, true},
    {"TO_BASE64", "s", text_of<to_base64>},
    {"FROM_BASE64", "s", text_of<from_base64>, true, true},
    {"HEX", "h", text_of<hex_of_number, hex_of_text>},
    {"BIN", "l", text_of<binary_of_number>},
    {"INET_ATON", "s", value_of<number_of_address>},
    {"INET_NTOA", "l", text_of<address_of_number>},
    {"UNHEX", "s", text_of<bytes_of_hex>},
    {"URL_ENCODE", "s", text_of<url_encode>},
    {"URL_DECODE", "s", text_of<url_decode>},
    {"PARSE_URL", "s", view_of<url_part, url_parameter>},
};

} // namespace

std::span<const kernel_entry> text_code_kernels() { return entries; }

} // namespace headrace::graph
