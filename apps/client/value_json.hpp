#pragma once

#include "libtask/operator/stored_value.hpp"
#include "libgraph/data/record_batch.hpp"
#include "libgraph/types/logical_type.hpp"
#include "libactors/base/bytes.hpp"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <string>

namespace headrace::client {

// Values of states as JSON, for people. Decimals and 128-bit numbers are texts, timestamps the
// milliseconds that functions encode, but of columns texts as dates and times; bytes that are no
// value of their type are shown in hex.

/// A value as the API encodes it.
nlohmann::ordered_json value_json(byte_view encoded, const graph::logical_type& type);
/// The elements of a list state.
nlohmann::ordered_json elements_json(byte_view encoded, const graph::logical_type& type,
                                     bool has_stamps);
/// The times of timers.
nlohmann::ordered_json times_json(byte_view encoded);
/// A row of a batch, as an object.
nlohmann::ordered_json row_json(const graph::record_batch& rows, std::size_t row);
/// What the state of an operator of SQL says.
nlohmann::ordered_json stored_json(const task::stored_value& value);
/// "0x…"
std::string hex_of(byte_view bytes);

} // namespace headrace::client
