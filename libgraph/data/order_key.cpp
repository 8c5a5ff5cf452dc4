#include "libgraph/data/order_key.hpp"

#include "libgraph/data/fixed_width.hpp"
#include "libgraph/data/order_key_reader.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>
#include <type_traits>

namespace headrace::graph {
namespace {

__extension__ using uint128 = unsigned __int128;

template <std::size_t Bytes>
struct unsigned_of;
template <>
struct unsigned_of<1> {
  using type = std::uint8_t;
};
template <>
struct unsigned_of<2> {
  using type = std::uint16_t;
};
template <>
struct unsigned_of<4> {
  using type = std::uint32_t;
};
template <>
struct unsigned_of<8> {
  using type = std::uint64_t;
};
template <>
struct unsigned_of<16> {
  using type = uint128;
};

/// The value's bits as an unsigned number of the same order.
template <class T>
auto ordered_bits(T value) {
  using bits_type = typename unsigned_of<sizeof(T)>::type;
  constexpr auto top = static_cast<bits_type>(bits_type{1} << (sizeof(T) * 8U - 1U));
  const T canonical = canonical_key(value);
  bits_type bits{};
  std::memcpy(&bits, &canonical, sizeof(T));
  if constexpr (std::is_floating_point_v<T>)
    return static_cast<bits_type>((bits & top) != 0 ? ~bits : bits | top);
  else if constexpr (std::is_same_v<T, std::uint8_t>)
    return bits; // a boolean
  else
    return static_cast<bits_type>(bits ^ top);
}

/// The value that has these bits.
template <class T>
T value_of(typename unsigned_of<sizeof(T)>::type bits) {
  using bits_type = decltype(bits);
  constexpr auto top = static_cast<bits_type>(bits_type{1} << (sizeof(T) * 8U - 1U));
  if constexpr (std::is_floating_point_v<T>)
    bits = static_cast<bits_type>((bits & top) != 0 ? bits ^ top : ~bits);
  else if constexpr (!std::is_same_v<T, std::uint8_t>)
    bits = static_cast<bits_type>(bits ^ top);
  T out{};
  std::memcpy(&out, &bits, sizeof(T));
  return out;
}

/// A number whose bytes in memory are in the order of its size, and back.
template <class Bits>
Bits to_big_endian(Bits bits) {
  static_assert(std::endian::native == std::endian::little);
  if constexpr (sizeof(Bits) == 1) {
    return bits;
  } else if constexpr (sizeof(Bits) == 2) {
    return __builtin_bswap16(bits);
  } else if constexpr (sizeof(Bits) == 4) {
    return __builtin_bswap32(bits);
  } else if constexpr (sizeof(Bits) == 8) {
    return __builtin_bswap64(bits);
  } else {
    return static_cast<uint128>(__builtin_bswap64(static_cast<std::uint64_t>(bits))) << 64U |
           __builtin_bswap64(static_cast<std::uint64_t>(bits >> 64U));
  }
}

char* put_text(std::string_view text, char* to) {
  for (const char each : text) {
    *to++ = each;
    if (each == 0)
      *to++ = static_cast<char>(0xFF);
  }
  *to++ = 0;
  *to++ = 0;
  return to;
}

std::size_t text_bytes(std::string_view text) {
  return text.size() + static_cast<std::size_t>(std::count(text.begin(), text.end(), '\0')) + 2;
}

void turn(char* from, const char* end) {
  for (; from != end; ++from)
    *from = static_cast<char>(~static_cast<unsigned char>(*from));
}

void add_sizes(const record_batch& rows, const column& values, std::size_t* sizes) {
  const auto width = static_cast<std::size_t>(values.type().width_bytes());
  const bool is_text = values.type().physical() == physical_type::string;
  if (!is_text && !values.has_nulls()) {
    for (std::size_t i = 0; i < rows.size(); ++i)
      sizes[i] += 1 + width;
    return;
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto row = rows.row_at(i);
    if (values.is_null(row))
      sizes[i] += 1;
    else
      sizes[i] += 1 + (is_text ? text_bytes(values.string_at(row)) : width);
  }
}

/// Writes the mark of each row and, behind it, what `put_value` writes.
template <bool HasNulls, class PutValue>
void put_rows(const record_batch& rows, const column& values, char null_mark, char* bytes,
              std::size_t* ends, PutValue put_value) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto row = rows.row_at(i);
    char* to = bytes + ends[i];
    if (HasNulls && values.is_null(row)) {
      *to++ = null_mark;
    } else {
      *to++ = 1;
      to = put_value(row, to);
    }
    ends[i] = static_cast<std::size_t>(to - bytes);
  }
}

void put_column(const record_batch& rows, const column& values, const order_column& how,
                char* bytes, std::size_t* ends) {
  const auto put_all = [&](auto put_value) {
    const char null_mark = how.nulls_first ? 0 : 2;
    if (values.has_nulls())
      put_rows<true>(rows, values, null_mark, bytes, ends, put_value);
    else
      put_rows<false>(rows, values, null_mark, bytes, ends, put_value);
  };
  visit_fixed_width(values.type().physical(), [&]<class T>(std::type_identity<T>) {
    using bits_type = typename unsigned_of<sizeof(T)>::type;
    const auto turned = how.is_descending ? static_cast<bits_type>(~bits_type{0}) : bits_type{0};
    put_all([numbers = values.values<T>(), turned](std::size_t row, char* to) {
      const auto bits = to_big_endian(static_cast<bits_type>(ordered_bits(numbers[row]) ^ turned));
      std::memcpy(to, &bits, sizeof(bits));
      return to + sizeof(bits);
    });
  });
  if (values.type().physical() == physical_type::string)
    put_all([&](std::size_t row, char* to) {
      char* end = put_text(values.string_at(row), to);
      if (how.is_descending)
        turn(to, end);
      return end;
    });
}

error malformed() { return {errc::malformed_message, "bytes are no key of an order"}; }

/// Takes a text with its end.
status get_text(byte_view& key, bool is_descending, column_builder& to) {
  const char flip = is_descending ? '\xFF' : '\0';
  std::string text;
  for (std::size_t at = 0; at + 1 < key.size(); ++at) {
    const auto each = static_cast<char>(key[at] ^ flip);
    if (each != 0) {
      text += each;
      continue;
    }
    const auto mark = static_cast<unsigned char>(key[++at] ^ flip);
    if (mark == 0xFF) {
      text += '\0';
      continue;
    }
    if (mark != 0)
      return malformed();
    key.remove_prefix(at + 1);
    to.append_string(text);
    return {};
  }
  return malformed();
}

status get_value(byte_view& key, bool is_descending, column_builder& to) {
  if (to.type().physical() == physical_type::string)
    return get_text(key, is_descending, to);
  bool is_good = false;
  visit_fixed_width(to.type().physical(), [&]<class T>(std::type_identity<T>) {
    typename unsigned_of<sizeof(T)>::type bits{};
    if (key.size() < sizeof(bits))
      return;
    std::memcpy(&bits, key.data(), sizeof(bits));
    key.remove_prefix(sizeof(bits));
    bits = to_big_endian(bits);
    to.append(value_of<T>(is_descending ? static_cast<decltype(bits)>(~bits) : bits));
    is_good = true;
  });
  return is_good ? status() : malformed();
}

} // namespace

status decode_order_key(byte_view key, std::span<const order_column> order,
                        std::span<column_builder* const> to) {
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (key.empty())
      return malformed();
    const char mark = key.front();
    key.remove_prefix(1);
    if (mark == 1)
      HEADRACE_CHECK(get_value(key, order[i].is_descending, *to[i]));
    else if (mark == (order[i].nulls_first ? 0 : 2))
      to[i]->append_null();
    else
      return malformed();
  }
  return key.empty() ? status() : malformed();
}

void encode_order_keys(const record_batch& rows, std::span<const order_column> order,
                       encoded_keys& out) {
  out.offsets.assign(rows.size() + 1, 0);
  auto* sizes = out.offsets.data() + 1;
  for (const auto& each : order)
    add_sizes(rows, rows.at(static_cast<std::size_t>(each.column)), sizes);
  for (std::size_t i = 0; i < rows.size(); ++i)
    sizes[i] += out.offsets[i];
  out.bytes.resize(out.offsets.back());
  std::vector<std::size_t> ends(out.offsets.begin(), out.offsets.end() - 1);
  for (const auto& each : order)
    put_column(rows, rows.at(static_cast<std::size_t>(each.column)), each, out.bytes.data(),
               ends.data());
}

} // namespace headrace::graph
