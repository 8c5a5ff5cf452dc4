#pragma once

#include "libgraph/data/order_key.hpp"
#include "libgraph/expression/expression.hpp"
#include "libgraph/types/logical_type.hpp"
#include "libactors/base/ids.hpp"
#include "libactors/base/result.hpp"
#include "schema/graph.capnp.h"

#include <cstdint>
#include <string>
#include <vector>

// What the codecs of a job graph's parts share.
namespace headrace::graph {

// ---- writing

inline capnp::Text::Reader text(const std::string& value) { return {value.data(), value.size()}; }
inline capnp::Data::Reader data(const std::string& value) {
  return {reinterpret_cast<const kj::byte*>(value.data()), value.size()};
}
template <class Tag>
void put_id(const id128<Tag>& id, schema::Id128::Builder out) {
  out.setHigh(id.high);
  out.setLow(id.low);
}
std::string encoded(const logical_type& type);
template <class T>
unsigned count_of(const std::vector<T>& list) {
  return static_cast<unsigned>(list.size());
}
void put_types(const std::vector<logical_type>& types, capnp::List<capnp::Data>::Builder out);
void put_columns(const std::vector<std::int32_t>& columns, capnp::List<std::int32_t>::Builder out);
void put(const std::vector<order_column>& order, capnp::List<schema::OrderColumn>::Builder out);
void put(const std::vector<expression>& from, capnp::List<schema::Expression>::Builder out);

// ---- reading; @errors malformed_message

inline std::string string_of(capnp::Text::Reader in) { return {in.begin(), in.size()}; }
inline byte_view bytes_of(capnp::Data::Reader in) {
  return {reinterpret_cast<const char*>(in.begin()), in.size()};
}
template <class Id>
Id id_of(schema::Id128::Reader in) {
  return Id{in.getHigh(), in.getLow()};
}
status check_count(std::size_t count, std::size_t most, const char* what);
/// Reads an enumeration whose numbers run from 0 to `last`.
template <class Enum>
result<Enum> enum_of(std::uint8_t number, Enum last, const char* what) {
  if (number > static_cast<std::uint8_t>(last))
    return error(errc::malformed_message,
                 std::string("unknown ") + what + ": " + std::to_string(number));
  return static_cast<Enum>(number);
}
result<logical_type> type_of(capnp::Data::Reader in);
result<std::vector<logical_type>> types_of(capnp::List<capnp::Data>::Reader in);
result<std::vector<std::int32_t>> columns_of(capnp::List<std::int32_t>::Reader in);
result<std::vector<order_column>> order_of(capnp::List<schema::OrderColumn>::Reader in);
result<std::vector<expression>> expressions_of(capnp::List<schema::Expression>::Reader in,
                                               const char* what);

} // namespace headrace::graph
