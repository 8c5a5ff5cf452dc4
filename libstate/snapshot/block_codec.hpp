#pragma once

#include "libactors/base/bytes.hpp"
#include "libactors/base/result.hpp"

#include <cstdint>

namespace headrace::state {

/// Checksum of stored bytes.
std::uint64_t checksum_of(byte_view bytes, std::uint64_t seed = 0);

/// Replaces `stored` by a whole block (header and compressed bytes) of raw bytes.
void encode_block(byte_view raw, byte_string& stored);

struct block_sizes {
  std::uint32_t stored_bytes = 0; ///< without the block's header
  std::uint32_t raw_bytes = 0;
};
/// Reads and checks the sizes in a block's header. @errors malformed_message
result<block_sizes> decode_block_header(byte_view header);
/// The checksum in the header of a whole block.
std::uint64_t stored_checksum(byte_view block);
/// Verifies a whole block and replaces `raw` by its content. @errors malformed_message
status decode_block(byte_view block, byte_string& raw);

} // namespace headrace::state
