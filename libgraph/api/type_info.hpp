#pragma once

#include "libgraph/api/binary.hpp"
#include "libgraph/api/describe.hpp"
#include "libgraph/api/value_types.hpp"
#include "libgraph/data/batch_builder.hpp"
#include "libgraph/types/logical_type.hpp"
#include "libactors/base/bytes.hpp"

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

namespace headrace::api {

/// How values of a C++ type lie in columns and in states. Specialized for the types that streams
/// and states may hold:
///
///     type()            the logical type; NOT NULL, but for std::optional
///     is_plain          the bytes of the object are its value: no pointers inside
///     append(out, v)    to a column
///     reader            bound to a column once a batch; reader(row) gives the value
///     encode, decode    to and from the bytes of a state value
template <class T>
struct type_info {
  static constexpr bool is_missing = true;
};

/// A type that streams and states may hold.
template <class T>
concept streamable = requires {
  type_info<T>::is_plain;
};

template <class T>
struct required_type_info {
  static_assert(!std::is_unsigned_v<T> || std::is_same_v<T, bool>,
                "streams and states have no unsigned numbers: use std::int64_t or another signed "
                "one");
  static_assert(streamable<T> || std::is_unsigned_v<T>,
                "this type cannot be a value of a stream or state: describe the struct with "
                "HEADRACE_STRUCT, in the struct's own namespace");
  using type = type_info<T>;
};
/// type_info<T>, or an error of the compiler in words.
template <class T>
using info_of = typename required_type_info<T>::type;

/// A value of one fixed-width physical type.
template <class T, class Physical>
struct plain_type_info {
  static constexpr bool is_plain = true;

  static void append(graph::column_builder& out, T value) {
    out.append<Physical>(static_cast<Physical>(value));
  }
  struct reader {
    const Physical* values;
    explicit reader(const graph::column& in) : values(in.values<Physical>()) {}
    T operator()(std::size_t row) const { return static_cast<T>(values[row]); }
  };
  static void encode(byte_string& out, T value) {
    byte_writer(out).put(static_cast<Physical>(value));
  }
  static T decode(binary_reader& in) { return static_cast<T>(in.get<Physical>()); }
};

template <>
struct type_info<bool> : plain_type_info<bool, std::uint8_t> {
  static graph::logical_type type() { return graph::logical_type::boolean().not_null(); }
};
template <>
struct type_info<std::int8_t> : plain_type_info<std::int8_t, std::int8_t> {
  static graph::logical_type type() { return graph::logical_type::tinyint().not_null(); }
};
template <>
struct type_info<std::int16_t> : plain_type_info<std::int16_t, std::int16_t> {
  static graph::logical_type type() { return graph::logical_type::smallint().not_null(); }
};
template <>
struct type_info<std::int32_t> : plain_type_info<std::int32_t, std::int32_t> {
  static graph::logical_type type() { return graph::logical_type::integer().not_null(); }
};
template <>
struct type_info<std::int64_t> : plain_type_info<std::int64_t, std::int64_t> {
  static graph::logical_type type() { return graph::logical_type::bigint().not_null(); }
};
/// `long long` where int64_t is `long`.
template <>
struct type_info<std::conditional_t<std::is_same_v<std::int64_t, long>, long long, long>>
    : plain_type_info<std::conditional_t<std::is_same_v<std::int64_t, long>, long long, long>,
                      std::int64_t> {
  static graph::logical_type type() { return graph::logical_type::bigint().not_null(); }
};
template <>
struct type_info<float> : plain_type_info<float, float> {
  static graph::logical_type type() { return graph::logical_type::float32().not_null(); }
};
template <>
struct type_info<double> : plain_type_info<double, double> {
  static graph::logical_type type() { return graph::logical_type::float64().not_null(); }
};
/// Enumerations are stored as the signed number of their size.
template <class T>
  requires std::is_enum_v<T>
struct type_info<T> : plain_type_info<T, std::make_signed_t<std::underlying_type_t<T>>> {
  static graph::logical_type type() {
    return type_info<std::make_signed_t<std::underlying_type_t<T>>>::type();
  }
};

template <>
struct type_info<timestamp_ms> {
  static constexpr bool is_plain = true;
  static graph::logical_type type() { return graph::logical_type::timestamp(3).not_null(); }
  static void append(graph::column_builder& out, timestamp_ms value) {
    out.append<std::int64_t>(value.value);
  }
  struct reader {
    const std::int64_t* values;
    explicit reader(const graph::column& in) : values(in.values<std::int64_t>()) {}
    timestamp_ms operator()(std::size_t row) const { return {values[row]}; }
  };
  static void encode(byte_string& out, timestamp_ms value) { byte_writer(out).put(value.value); }
  static timestamp_ms decode(binary_reader& in) { return {in.get<std::int64_t>()}; }
};

template <>
struct type_info<std::chrono::sys_time<std::chrono::milliseconds>> {
  using value_type = std::chrono::sys_time<std::chrono::milliseconds>;
  static constexpr bool is_plain = true;
  static graph::logical_type type() { return graph::logical_type::timestamp(3).not_null(); }
  static void append(graph::column_builder& out, value_type value) {
    out.append<std::int64_t>(value.time_since_epoch().count());
  }
  struct reader {
    const std::int64_t* values;
    explicit reader(const graph::column& in) : values(in.values<std::int64_t>()) {}
    value_type operator()(std::size_t row) const {
      return value_type(std::chrono::milliseconds(values[row]));
    }
  };
  static void encode(byte_string& out, value_type value) {
    byte_writer(out).put(static_cast<std::int64_t>(value.time_since_epoch().count()));
  }
  static value_type decode(binary_reader& in) {
    return value_type(std::chrono::milliseconds(in.get<std::int64_t>()));
  }
};

template <int Precision, int Scale>
struct type_info<decimal<Precision, Scale>> {
  using value_type = decimal<Precision, Scale>;
  static constexpr bool is_plain = true;
  static graph::logical_type type() {
    return graph::logical_type::decimal(Precision, Scale).not_null();
  }
  static void append(graph::column_builder& out, const value_type& value) {
    out.append<graph::int128>(value.unscaled);
  }
  struct reader {
    const graph::int128* values;
    explicit reader(const graph::column& in) : values(in.values<graph::int128>()) {}
    value_type operator()(std::size_t row) const { return {values[row]}; }
  };
  static void encode(byte_string& out, const value_type& value) {
    out.append(reinterpret_cast<const char*>(&value.unscaled), sizeof(value.unscaled));
  }
  static value_type decode(binary_reader& in) { return {in.get<graph::int128>()}; }
};

/// Strings: as std::string copied, as std::string_view read in place. A view that was read is valid
/// until the function returns.
template <class T>
struct string_type_info {
  static constexpr bool is_plain = false;
  static graph::logical_type type() { return graph::logical_type::string().not_null(); }
  static void append(graph::column_builder& out, std::string_view value) {
    out.append_string(value);
  }
  struct reader {
    const graph::column* in;
    explicit reader(const graph::column& from) : in(&from) {}
    T operator()(std::size_t row) const { return T(in->string_at(row)); }
  };
  static void encode(byte_string& out, std::string_view value) {
    byte_writer(out).put_bytes(value);
  }
  static T decode(binary_reader& in) { return T(in.get_bytes()); }
};
template <>
struct type_info<std::string> : string_type_info<std::string> {};
template <>
struct type_info<std::string_view> : string_type_info<std::string_view> {};

template <class T>
struct type_info<std::optional<T>> {
  static constexpr bool is_plain = info_of<T>::is_plain;
  static graph::logical_type type() { return info_of<T>::type().nullable(); }
  static void append(graph::column_builder& out, const std::optional<T>& value) {
    if (value)
      info_of<T>::append(out, *value);
    else
      out.append_null();
  }
  struct reader {
    const graph::column* in;
    typename info_of<T>::reader inner;
    explicit reader(const graph::column& from) : in(&from), inner(from) {}
    std::optional<T> operator()(std::size_t row) const {
      return in->is_null(row) ? std::nullopt : std::optional<T>(inner(row));
    }
  };
  static void encode(byte_string& out, const std::optional<T>& value) {
    byte_writer(out).put(static_cast<std::uint8_t>(value.has_value()));
    if (value)
      info_of<T>::encode(out, *value);
  }
  static std::optional<T> decode(binary_reader& in) {
    return in.get<std::uint8_t>() == 0 ? std::nullopt : std::optional<T>(info_of<T>::decode(in));
  }
};

template <class T>
struct type_info<std::vector<T>> {
  static constexpr bool is_plain = false;
  static graph::logical_type type() {
    return graph::logical_type::array(info_of<T>::type()).not_null();
  }
  static void append(graph::column_builder& out, const std::vector<T>& value) {
    out.begin_list();
    auto& elements = out.child(0);
    for (const auto& element : value)
      info_of<T>::append(elements, element);
    out.end_list();
  }
  struct reader {
    const std::int32_t* offsets;
    typename info_of<T>::reader elements;
    explicit reader(const graph::column& in)
        : offsets(in.values<std::int32_t>()), elements(in.child(0)) {}
    std::vector<T> operator()(std::size_t row) const {
      std::vector<T> out;
      out.reserve(static_cast<std::size_t>(offsets[row + 1] - offsets[row]));
      for (auto i = offsets[row]; i < offsets[row + 1]; ++i)
        out.push_back(elements(static_cast<std::size_t>(i)));
      return out;
    }
  };
  static void encode(byte_string& out, const std::vector<T>& value) {
    byte_writer(out).put_varint(value.size());
    for (const auto& element : value)
      info_of<T>::encode(out, element);
  }
  static std::vector<T> decode(binary_reader& in) {
    std::vector<T> out;
    const auto count = in.get_count();
    out.reserve(count);
    for (std::size_t i = 0; i < count; ++i)
      out.push_back(info_of<T>::decode(in));
    return out;
  }
};

template <class Map>
struct map_type_info {
  using key_info = info_of<typename Map::key_type>;
  using value_info = info_of<typename Map::mapped_type>;
  static constexpr bool is_plain = false;

  static graph::logical_type type() {
    return graph::logical_type::map(key_info::type(), value_info::type()).not_null();
  }
  static void append(graph::column_builder& out, const Map& value) {
    out.begin_list();
    auto& keys = out.child(0);
    auto& values = out.child(1);
    for (const auto& [key, mapped] : value) {
      key_info::append(keys, key);
      value_info::append(values, mapped);
    }
    out.end_list();
  }
  struct reader {
    const std::int32_t* offsets;
    typename key_info::reader keys;
    typename value_info::reader values;
    explicit reader(const graph::column& in)
        : offsets(in.values<std::int32_t>()), keys(in.child(0)), values(in.child(1)) {}
    Map operator()(std::size_t row) const {
      Map out;
      for (auto i = offsets[row]; i < offsets[row + 1]; ++i)
        out.insert_or_assign(keys(static_cast<std::size_t>(i)),
                             values(static_cast<std::size_t>(i)));
      return out;
    }
  };
  static void encode(byte_string& out, const Map& value) {
    byte_writer(out).put_varint(value.size());
    for (const auto& [key, mapped] : value) {
      key_info::encode(out, key);
      value_info::encode(out, mapped);
    }
  }
  static Map decode(binary_reader& in) {
    Map out;
    const auto count = in.get_count();
    for (std::size_t i = 0; i < count; ++i) {
      auto key = key_info::decode(in);
      out.insert_or_assign(std::move(key), value_info::decode(in));
    }
    return out;
  }
};
template <class K, class V>
struct type_info<std::map<K, V>> : map_type_info<std::map<K, V>> {};
template <class K, class V>
struct type_info<std::unordered_map<K, V>> : map_type_info<std::unordered_map<K, V>> {};

// ---- values of several fields ---------------------------------------------------------------

/// How a type falls into fields: described structs, pairs and tuples.
template <class T>
struct fields_of {
  static constexpr bool exists = false;
};

template <described T>
struct fields_of<T> {
  static constexpr bool exists = true;
  static constexpr std::size_t size = description_of<T>.size;

  template <class Visit>
  static constexpr void for_each(T& value, Visit&& visit) {
    description_of<T>.for_each([&](auto index, auto member) { visit(index, value.*(member())); });
  }
  template <class Visit>
  static constexpr void for_each(const T& value, Visit&& visit) {
    description_of<T>.for_each([&](auto index, auto member) { visit(index, value.*(member())); });
  }
  static std::string name(std::size_t index) { return description_of<T>.names[index]; }

  template <class Description>
  struct members;
  template <auto... Members>
  struct members<description<Members...>> {
    using types = std::tuple<std::remove_cv_t<member_type_of<Members>>...>;
  };
  using types = typename members<std::remove_const_t<decltype(description_of<T>)>>::types;
};

template <class T>
struct tuple_fields {
  static constexpr bool exists = true;
  static constexpr std::size_t size = std::tuple_size_v<T>;

  template <class Value, class Visit>
  static constexpr void for_each(Value& value, Visit&& visit) {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (visit(std::integral_constant<std::size_t, I>(), std::get<I>(value)), ...);
    }
    (std::make_index_sequence<size>());
  }
  static std::string name(std::size_t index) { return "f" + std::to_string(index); }
};
template <class A, class B>
struct fields_of<std::pair<A, B>> : tuple_fields<std::pair<A, B>> {
  using types = std::tuple<A, B>;
};
template <class... T>
  requires(sizeof...(T) > 0)
struct fields_of<std::tuple<T...>> : tuple_fields<std::tuple<T...>> {
  using types = std::tuple<T...>;
};

template <class T>
concept has_fields = fields_of<T>::exists;

template <class Types>
struct field_infos;
template <class... T>
struct field_infos<std::tuple<T...>> {
  using readers = std::tuple<typename info_of<T>::reader...>;
  static constexpr bool are_plain = (info_of<T>::is_plain && ...);

  template <class Name>
  static graph::logical_type row_type(Name&& name) {
    std::size_t i = 0;
    std::vector<graph::logical_type::field> fields;
    fields.reserve(sizeof...(T));
    (fields.push_back({name(i++), info_of<T>::type(), {}}), ...);
    return graph::logical_type::row(std::move(fields)).not_null();
  }
  /// `column(i)` gives the i-th field's column.
  template <class Column>
  static readers bind(Column&& column) {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return readers(typename info_of<T>::reader(column(I))...);
    }
    (std::index_sequence_for<T...>());
  }
};

template <has_fields T>
struct type_info<T> {
  using fields = fields_of<T>;
  using infos = field_infos<typename fields::types>;
  static constexpr bool is_plain = infos::are_plain && std::is_trivially_copyable_v<T>;

  static graph::logical_type type() { return infos::row_type(fields::name); }
  static void append(graph::column_builder& out, const T& value) {
    fields::for_each(value, [&]<class Field>(auto index, const Field& field) {
      type_info<Field>::append(out.child(index()), field);
    });
    out.end_row();
  }
  struct reader {
    typename infos::readers readers;
    explicit reader(const graph::column& in)
        : readers(infos::bind([&](std::size_t i) -> const graph::column& { return in.child(i); })) {
    }
    T operator()(std::size_t row) const {
      T out{};
      fields::for_each(out, [&](auto index, auto& field) {
        field = std::get<decltype(index)::value>(readers)(row);
      });
      return out;
    }
  };
  static void encode(byte_string& out, const T& value) {
    fields::for_each(value, [&]<class Field>(auto, const Field& field) {
      type_info<Field>::encode(out, field);
    });
  }
  static T decode(binary_reader& in) {
    T out{};
    fields::for_each(
        out, [&]<class Field>(auto, Field& field) { field = type_info<Field>::decode(in); });
    return out;
  }
};

template <class T>
byte_string encoded(const T& value) {
  byte_string out;
  info_of<T>::encode(out, value);
  return out;
}
template <class T>
T decoded(byte_view bytes) {
  binary_reader in(bytes);
  return info_of<T>::decode(in);
}

} // namespace headrace::api
