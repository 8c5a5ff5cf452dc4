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

/// A boolean (the only unsigned type) is 0 or 1.
template <class T>
bool is_possible(T value) {
  return !std::is_same_v<T, std::uint8_t> || value <= T{1};
}

bool decode_string(key_cursor& in, column_builder& to) {
  std::uint64_t size = 0;
  byte_view value;
  if (!in.get_varint(size) || !in.get_raw(size, value))
    return false;
  to.append_string(value);
  return true;
}

// ---- one value after the other: nested types ---------------------------------------------------

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
    is_good = in.get(value) && is_possible(value);
    if (is_good)
      to.append(value);
  });
  if (is_fixed)
    return is_good;
  switch (physical) {
  case physical_type::string:
    return decode_string(in, to);
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

bool decode_nested(std::span<const byte_view> keys, std::span<column_builder* const> to) {
  for (const auto key : keys) {
    key_cursor in{key.data(), key.data() + key.size()};
    if (!decode_fields(in, to.size(), [&](std::size_t i) -> column_builder& { return *to[i]; }) ||
        in.at != in.end)
      return false;
  }
  return true;
}

// ---- column after column: fixed widths and strings ---------------------------------------------

/// What is left of each key, and its bitmap.
class key_cursors {
public:
  /// @returns false where one has no whole bitmap
  bool start(std::span<const byte_view> keys, std::size_t bitmap_bytes) {
    keys_ = keys;
    at_.resize(keys.size());
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (keys[i].size() < bitmap_bytes)
        return false;
      at_[i] = keys[i].data() + bitmap_bytes;
      for (std::size_t byte = 0; byte < bitmap_bytes; ++byte)
        nulls_ |= static_cast<unsigned char>(keys[i][byte]);
    }
    return true;
  }
  /// Appends the next value of each key. @returns false where one is none of its type
  bool decode(std::size_t column, column_builder& to) {
    return nulls_ == 0 ? decode_column<false>(column, to) : decode_column<true>(column, to);
  }
  bool are_at_end() const {
    for (std::size_t i = 0; i < keys_.size(); ++i)
      if (at_[i] != end_of(i))
        return false;
    return true;
  }

private:
  const char* end_of(std::size_t i) const { return keys_[i].data() + keys_[i].size(); }
  bool is_null(std::size_t i, std::size_t column) const {
    return ((static_cast<unsigned char>(keys_[i][column / 8]) >> (column % 8)) & 1U) != 0U;
  }

  template <bool HasNulls, class Decode>
  bool each_value(std::size_t column, column_builder& to, Decode decode_one) {
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      if constexpr (HasNulls) {
        if (is_null(i, column)) {
          to.append_null();
          continue;
        }
      }
      key_cursor in{at_[i], end_of(i)};
      if (!decode_one(in)) [[unlikely]]
        return false;
      at_[i] = in.at;
    }
    return true;
  }

  template <bool HasNulls>
  bool decode_column(std::size_t column, column_builder& to) {
    const auto physical = to.type().physical();
    if (physical == physical_type::string)
      return each_value<HasNulls>(column, to,
                                  [&](key_cursor& in) { return decode_string(in, to); });
    bool is_good = false;
    visit_fixed_width(physical, [&]<class T>(std::type_identity<T>) {
      is_good = each_value<HasNulls>(column, to, [&](key_cursor& in) {
        T value{};
        if (!in.get(value) || !is_possible(value))
          return false;
        to.append(value);
        return true;
      });
    });
    return is_good;
  }

  std::span<const byte_view> keys_;
  std::vector<const char*> at_;
  unsigned nulls_ = 0; ///< of all bitmaps together
};

bool is_flat(const column_builder& column) {
  const auto physical = column.type().physical();
  return physical == physical_type::string ||
         visit_fixed_width(physical, []<class T>(std::type_identity<T>) {});
}

bool decode_flat(std::span<const byte_view> keys, std::span<column_builder* const> to) {
  key_cursors cursors;
  if (!cursors.start(keys, (to.size() + 7) / 8))
    return false;
  for (std::size_t i = 0; i < to.size(); ++i)
    if (!cursors.decode(i, *to[i]))
      return false;
  return cursors.are_at_end();
}

} // namespace

status decode_keys(std::span<const byte_view> keys, std::span<column_builder* const> to) {
  HEADRACE_ASSERT(!to.empty(), "a key without columns");
  const auto rows = to[0]->size();
  for (auto* each : to)
    each->reserve(rows + keys.size());
  const bool are_flat =
      std::all_of(to.begin(), to.end(), [](const column_builder* each) { return is_flat(*each); });
  if (are_flat ? decode_flat(keys, to) : decode_nested(keys, to))
    return {};
  for (auto* each : to)
    each->truncate(rows);
  return error(errc::malformed_message, "malformed key: not of the key's types");
}

} // namespace headrace::graph
