#pragma once

#include "libstate/handle/state_handle.hpp"
#include "libstate/snapshot/snapshot_format.hpp"
#include "libactors/base/file_system.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace headrace::state {

/// Takes the rows that a snapshot_reader finds.
class snapshot_visitor {
public:
  virtual ~snapshot_visitor() = default;
  virtual status on_row(const snapshot_row& row) = 0;
};

/// Reads a snapshot in the canonical form, key group by key group. Every byte is verified before it
/// is used. One thread.
class snapshot_reader {
public:
  /// Reads header and footer. `files` lives longer.
  /// @errors storage_failed, unsupported_snapshot_version,
  ///         corrupt_snapshot  names the path and what is wrong where
  static result<std::unique_ptr<snapshot_reader>> open(file_system& files,
                                                       const state_segment& segment);

  /// The same of a file that is open. `segment` says where, and names it in errors.
  static result<std::unique_ptr<snapshot_reader>> open(std::unique_ptr<readable_file> file,
                                                       const state_segment& segment);

  const snapshot_header& header() const { return header_; }
  /// Visits all rows of one key group (none, outside the snapshot's range). Groups that follow one
  /// another share a block's reading. Ends at the visitor's first error.
  /// @errors corrupt_snapshot  names path and block; storage_failed
  status read_group(std::int32_t group, snapshot_visitor& visitor);

private:
  struct block {
    std::uint64_t offset;
    std::uint64_t end;
    std::uint64_t raw_bytes;
    std::uint64_t checksum; ///< 0: the footer's version has none
  };
  struct place {
    std::uint64_t block;
    std::uint64_t offset;
  };

  snapshot_reader() = default;
  error corrupt(std::string what) const;
  status read_exactly(std::uint64_t offset, std::size_t size, byte_string& out);
  status load_header();
  status load_footer();
  status decode_footer(byte_view footer, std::uint64_t footer_offset);
  status load_block(std::uint64_t number);
  status read_chunks(std::uint64_t number, byte_view raw, snapshot_visitor& visitor);
  status read_rows(byte_reader& rows, std::uint64_t count, snapshot_row& row,
                   snapshot_visitor& visitor);

  std::unique_ptr<readable_file> file_;
  state_segment segment_;
  std::uint32_t version_ = 0;
  std::uint64_t header_checksum_ = 0;
  snapshot_header header_;
  std::vector<bool> keys_are_fixed_; ///< by state
  std::vector<block> blocks_;
  std::vector<place> groups_;
  std::uint64_t loaded_ = ~std::uint64_t{0};
  byte_string stored_;
  byte_string raw_;
};

} // namespace headrace::state
