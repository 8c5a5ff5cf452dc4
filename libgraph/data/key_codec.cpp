#include "libgraph/data/key_codec.hpp"

#include "libgraph/data/fixed_width.hpp"
#include "libgraph/data/key_value.hpp"
#include "libactors/base/assert.hpp"

#include <algorithm>

namespace headrace::graph {

namespace {

std::size_t bitmap_bytes(std::size_t columns) { return (columns + 7) / 8; }

std::size_t varint_bytes(std::size_t value) {
  std::size_t out = 1;
  for (; value >= 0x80U; value >>= 7U)
    ++out;
  return out;
}

char* put_varint(char* to, std::size_t value) {
  for (; value >= 0x80U; value >>= 7U)
    *to++ = static_cast<char>(value | 0x80U);
  *to++ = static_cast<char>(value);
  return to;
}

// ---- one value after the other: nested types ---------------------------------------------------

void encode_value(const column& keys, std::size_t row, byte_writer& out);

void encode_elements(const column& keys, std::size_t row, byte_writer& out) {
  const auto* offsets = keys.values<std::int32_t>();
  const auto begin = static_cast<std::size_t>(offsets[row]);
  const auto end = static_cast<std::size_t>(offsets[row + 1]);
  out.put_varint(end - begin);
  const auto encode_entry = [&](std::size_t at, byte_writer& to) {
    for (const auto& each : keys.content().children) {
      to.put(static_cast<std::uint8_t>(each->is_null(at) ? 0 : 1));
      if (!each->is_null(at))
        encode_value(*each, at, to);
    }
  };
  if (keys.type().physical() == physical_type::list) {
    for (auto at = begin; at < end; ++at)
      encode_entry(at, out);
    return;
  }
  std::vector<byte_string> entries(end - begin);
  for (auto at = begin; at < end; ++at) {
    byte_writer entry(entries[at - begin]);
    encode_entry(at, entry);
  }
  std::sort(entries.begin(), entries.end());
  for (const auto& each : entries)
    out.put_raw(each);
}

void encode_fields(std::span<const column* const> fields, std::size_t row, byte_writer& out) {
  for (std::size_t first = 0; first < fields.size(); first += 8) {
    std::uint8_t nulls = 0;
    for (std::size_t i = first; i < std::min(first + 8, fields.size()); ++i)
      nulls = static_cast<std::uint8_t>(nulls | (fields[i]->is_null(row) ? 1U << (i - first) : 0U));
    out.put(nulls);
  }
  for (const auto* each : fields)
    if (!each->is_null(row))
      encode_value(*each, row, out);
}

void encode_value(const column& keys, std::size_t row, byte_writer& out) {
  const auto physical = keys.type().physical();
  const bool is_fixed = visit_fixed_width(physical, [&]<class T>(std::type_identity<T>) {
    const T value = canonical_key(keys.values<T>()[row]);
    out.put_raw({reinterpret_cast<const char*>(&value), sizeof(T)});
  });
  if (is_fixed)
    return;
  if (physical == physical_type::string) {
    out.put_bytes(keys.string_at(row));
  } else if (physical == physical_type::row) {
    std::vector<const column*> fields;
    for (const auto& each : keys.content().children)
      fields.push_back(each.get());
    encode_fields(fields, row, out);
  } else {
    encode_elements(keys, row, out);
  }
}

void encode_nested(const record_batch& batch, std::span<const column* const> keys,
                   encoded_keys& out) {
  byte_writer writer(out.bytes);
  for (std::size_t i = 0; i < batch.size(); ++i) {
    encode_fields(keys, batch.row_at(i), writer);
    out.offsets[i + 1] = out.bytes.size();
  }
}

// ---- column after column: fixed widths and strings ---------------------------------------------

struct all_rows {
  std::size_t operator()(std::size_t i) const { return i; }
};
struct picked_rows {
  const std::uint32_t* rows;
  std::size_t operator()(std::size_t i) const { return rows[i]; }
};

/// Adds the bytes of the column's values to `sizes`.
template <class RowAt>
void add_sizes(const column& keys, RowAt row_at, std::size_t count, std::size_t* sizes) {
  const auto width = static_cast<std::size_t>(keys.type().width_bytes());
  const bool has_nulls = keys.has_nulls();
  if (keys.type().physical() != physical_type::string) {
    for (std::size_t i = 0; i < count; ++i)
      sizes[i] += has_nulls && keys.is_null(row_at(i)) ? 0 : width;
    return;
  }
  const auto* slots = keys.slots();
  for (std::size_t i = 0; i < count; ++i) {
    const auto row = row_at(i);
    const std::size_t size = slots[row].size;
    sizes[i] += has_nulls && keys.is_null(row) ? 0 : size + varint_bytes(size);
  }
}

/// Writes the column's values at `ends`, which move on. NULLs set bit `index` at `begins`.
template <class RowAt>
void put_values(const column& keys, std::size_t index, RowAt row_at, std::size_t count, char* bytes,
                const std::size_t* begins, std::size_t* ends) {
  const bool has_nulls = keys.has_nulls();
  const auto is_null = [&](std::size_t i, std::size_t row) {
    if (!has_nulls || !keys.is_null(row))
      return false;
    char& flags = bytes[begins[i] + index / 8];
    flags = static_cast<char>(flags | static_cast<char>(1U << (index % 8)));
    return true;
  };
  visit_fixed_width(keys.type().physical(), [&]<class T>(std::type_identity<T>) {
    const auto* values = keys.values<T>();
    for (std::size_t i = 0; i < count; ++i) {
      const auto row = row_at(i);
      if (is_null(i, row))
        continue;
      const T value = canonical_key(values[row]);
      std::memcpy(bytes + ends[i], &value, sizeof(T));
      ends[i] += sizeof(T);
    }
  });
  if (keys.type().physical() == physical_type::string) {
    for (std::size_t i = 0; i < count; ++i) {
      const auto row = row_at(i);
      if (is_null(i, row))
        continue;
      const auto value = keys.string_at(row);
      auto* to = put_varint(bytes + ends[i], value.size());
      std::memcpy(to, value.data(), value.size());
      ends[i] = static_cast<std::size_t>(to - bytes) + value.size();
    }
  }
}

/// A single column of integers without NULLs: every key has the same size.
template <class T, class RowAt>
void encode_integers(const column& keys, RowAt row_at, encoded_keys& out) {
  constexpr std::size_t key_bytes = 1 + sizeof(T);
  const auto count = out.size();
  out.bytes.resize(count * key_bytes);
  char* to = out.bytes.data();
  const auto* values = keys.values<T>();
  for (std::size_t i = 0; i < count; ++i, to += key_bytes) {
    to[0] = 0;
    std::memcpy(to + 1, &values[row_at(i)], sizeof(T));
    out.offsets[i + 1] = (i + 1) * key_bytes;
  }
}

/// A single string column without NULLs. A short string is written as its whole slot, and the next
/// key overwrites what is too much.
template <class RowAt>
void encode_strings(const column& keys, RowAt row_at, encoded_keys& out) {
  const auto count = out.size();
  const auto* slots = keys.slots();
  std::size_t total = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t size = slots[row_at(i)].size;
    total += 1 + varint_bytes(size) + size;
  }
  out.bytes.resize(total + string_slot::inline_max);
  char* to = out.bytes.data();
  for (std::size_t i = 0; i < count; ++i) {
    const auto row = row_at(i);
    const auto& slot = slots[row];
    *to++ = 0;
    to = put_varint(to, slot.size);
    if (slot.is_inline())
      std::memcpy(to, slot.inline_data(), string_slot::inline_max);
    else
      std::memcpy(to, keys.string_at(row).data(), slot.size);
    to += slot.size;
    out.offsets[i + 1] = static_cast<std::size_t>(to - out.bytes.data());
  }
  out.bytes.resize(total);
}

template <class RowAt>
void encode_flat(std::span<const column* const> keys, RowAt row_at, encoded_keys& out) {
  const auto count = out.size();
  if (keys.size() == 1 && !keys[0]->has_nulls()) {
    const auto physical = keys[0]->type().physical();
    if (physical == physical_type::int64)
      return encode_integers<std::int64_t>(*keys[0], row_at, out);
    if (physical == physical_type::int32)
      return encode_integers<std::int32_t>(*keys[0], row_at, out);
    if (physical == physical_type::string)
      return encode_strings(*keys[0], row_at, out);
  }
  auto* sizes = out.offsets.data() + 1;
  std::fill(sizes, sizes + count, bitmap_bytes(keys.size()));
  for (const auto* each : keys)
    add_sizes(*each, row_at, count, sizes);
  for (std::size_t i = 0; i < count; ++i)
    sizes[i] += out.offsets[i];
  out.bytes.resize(out.offsets.back()); // the bitmaps begin as zero
  std::vector<std::size_t> ends(out.offsets.begin(), out.offsets.end() - 1);
  for (auto& each : ends)
    each += bitmap_bytes(keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i)
    put_values(*keys[i], i, row_at, count, out.bytes.data(), out.offsets.data(), ends.data());
}

bool is_nested(physical_type physical) {
  return physical == physical_type::list || physical == physical_type::map ||
         physical == physical_type::row || physical == physical_type::none;
}

} // namespace

void append_key(const column& values, std::size_t row, byte_string& out) {
  byte_writer writer(out);
  const column* const fields[] = {&values};
  encode_fields(fields, row, writer);
}

void encode_keys(const record_batch& batch, std::span<const int> indices, encoded_keys& out) {
  std::vector<const column*> keys;
  keys.reserve(indices.size());
  bool has_nested = false;
  for (const int index : indices) {
    keys.push_back(&batch.at(static_cast<std::size_t>(index)));
    has_nested |= is_nested(keys.back()->type().physical());
  }
  out.bytes.clear();
  out.offsets.resize(batch.size() + 1);
  out.offsets[0] = 0;
  if (has_nested)
    encode_nested(batch, keys, out);
  else if (batch.has_selection())
    encode_flat(keys, picked_rows{batch.selection().data()}, out);
  else
    encode_flat(keys, all_rows(), out);
}

} // namespace headrace::graph
