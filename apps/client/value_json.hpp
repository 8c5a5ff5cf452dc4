#pragma once

#include "libgraph/data/record_batch.hpp"
#include "libgraph/types/logical_type.hpp"
#include "libactors/base/bytes.hpp"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <string>

namespace headrace::client {

// Values of states as JSON, for people. Timestamps are milliseconds, decimals and 128-bit numbers
// texts; bytes that are no value of their type are shown in hex.

/// A value as the API encodes it.
nlohmann::ordered_json value_json(byte_view encoded, const graph::logical_type& type);
/// The elements of a list state.
nlohmann::ordered_json elements_json(byte_view encoded, const graph::logical_type& type,
                                     bool has_stamps);
/// The times of timers.
nlohmann::ordered_json times_json(byte_view encoded);
/// A row of a batch, as an object.
nlohmann::ordered_json row_json(const graph::record_batch& rows, std::size_t row);
/// "0x…"
std::string hex_of(byte_view bytes);

} // namespace headrace::client
