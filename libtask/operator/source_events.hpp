#pragma once

#include "libgraph/connector/source.hpp"
#include "libactors/base/bytes.hpp"
#include "libactors/base/result.hpp"

#include <cstdint>
#include <vector>

namespace headrace::task {

// The reader's side of schema/source.capnp.

/// What a coordinator tells a reader.
struct reader_orders {
  std::vector<graph::source_split> splits;
  bool no_more_splits = false;
};

byte_string encode_reader_registration(std::uint32_t restored_splits);
byte_string encode_split_request();
/// @errors malformed_message  also for what only readers say
result<reader_orders> decode_reader_orders(byte_view event);

} // namespace headrace::task
