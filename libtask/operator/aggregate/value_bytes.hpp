#pragma once

#include "libgraph/data/batch_builder.hpp"
#include "libgraph/data/column.hpp"
#include "libgraph/data/fixed_width.hpp"
#include "libactors/base/bytes.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>

/// How single values, and how often they came, lie in states of the current key.
namespace headrace::task::value_bytes {

template <class T>
T read_fixed(byte_view from) {
  T out{};
  std::memcpy(&out, from.data(), std::min(sizeof(out), from.size()));
  return out;
}

/// A value as bytes: of a text its own, else as it lies.
inline void write(const graph::column& from, std::size_t row, byte_string& out) {
  out.clear();
  if (from.type().physical() == graph::physical_type::string) {
    out.append(from.string_at(row));
    return;
  }
  graph::visit_fixed_width(from.type().physical(), [&]<class T>(std::type_identity<T>) {
    const auto value = graph::canonical_key(from.values<T>()[row]);
    out.append(reinterpret_cast<const char*>(&value), sizeof(value));
  });
}

inline void append(byte_view from, graph::column_builder& to) {
  if (to.type().physical() == graph::physical_type::string) {
    to.append_string(from);
    return;
  }
  graph::visit_fixed_width(to.type().physical(),
                           [&]<class T>(std::type_identity<T>) { to.append(read_fixed<T>(from)); });
}

inline std::int64_t count_of(std::optional<byte_view> from) {
  return from ? read_fixed<std::int64_t>(*from) : 0;
}
inline byte_view bytes_of(const std::int64_t& count) {
  return {reinterpret_cast<const char*>(&count), sizeof(count)};
}

} // namespace headrace::task::value_bytes
