#pragma once

#include "libgraph/api/type_info.hpp"
#include "libgraph/function/failure.hpp"
#include "libgraph/function/raw_state.hpp"

#include <type_traits>
#include <vector>

namespace headrace::api {

using graph::raw_state_output;
using graph::raw_state_writer;

/// Appends a value to the stream that was begun last, in the form that `read_values` reads.
template <class T>
void write_value(raw_state_output& out, const T& value) {
  byte_string encoded;
  type_info<T>::encode(encoded, value);
  byte_string framed;
  byte_writer(framed).put_bytes(encoded);
  out.write(framed);
}

/// The values of a stream that `write_value` wrote. Views inside them are into the stream.
/// @throws failure  malformed_message: it is none
template <class T>
std::vector<T> read_values(byte_view stream) {
  std::vector<T> out;
  byte_reader in(stream);
  while (!in.at_end()) {
    const auto encoded = in.get_bytes();
    if (!encoded)
      throw graph::failure(encoded.error());
    out.push_back(decoded<T>(*encoded));
  }
  return out;
}

/// A function as the writer of its raw state; null: it has none.
template <class F>
raw_state_writer* raw_state_of(F& function) {
  if constexpr (std::is_base_of_v<raw_state_writer, F>)
    return &function;
  else
    return nullptr;
}

} // namespace headrace::api
