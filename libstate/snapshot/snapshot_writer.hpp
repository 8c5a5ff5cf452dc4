#pragma once

#include "libstate/snapshot/snapshot_format.hpp"
#include "libstate/storage/state_stream.hpp"

#include <cstdint>
#include <vector>

namespace headrace::state {

/// Writes one snapshot in the canonical form. Key groups ascend; rows of one state and namespace
/// come together (each change begins a chunk). One thread.
class snapshot_writer {
public:
  /// Writes behind what `out` (which lives longer) holds already.
  snapshot_writer(state_output& out, snapshot_header header);

  /// The rows that follow are of this key group. Groups that are never begun are empty.
  /// @errors storage_failed, storage_full
  status begin_group(std::int32_t group);
  /// @errors storage_failed, storage_full
  status add(const snapshot_row& row);
  /// Writes what is left. @returns where the snapshot lies
  result<state_segment> finish();

private:
  struct block {
    std::uint64_t offset;
    std::uint32_t raw_bytes;
    std::uint64_t checksum;
  };
  struct place {
    std::uint64_t block;
    std::uint64_t offset;
  };

  status write_header();
  status end_chunk();
  status end_block();
  /// @returns the segment's checksum
  result<std::uint64_t> write_footer();

  state_output* out_;
  snapshot_header header_;
  bool has_header_ = false;
  std::uint64_t header_checksum_ = 0;
  std::vector<bool> keys_are_fixed_; ///< by state
  std::uint64_t start_;
  std::vector<block> blocks_;
  std::vector<place> groups_; ///< first byte by group of the range; filled up to `next_group_`
  std::int32_t next_group_;
  byte_string raw_;
  byte_string chunk_;
  std::uint64_t chunk_rows_ = 0;
  snapshot_row chunk_of_; ///< state, namespace and NULL of the chunk
  byte_string stored_;
};

} // namespace headrace::state
