#pragma once

#include "libgraph/connector/format.hpp"

#include <string>
#include <string_view>

namespace headrace::task {

/// Whether strings of `input` may be shared with `owner` instead of copied: it lies inside.
inline bool lies_in(byte_view input, const graph::buffer_ptr& owner) {
  if (owner == nullptr)
    return false;
  const auto* first = owner->as<char>();
  return input.data() >= first && input.data() + input.size() <= first + owner->size_bytes();
}

/// Length of the byte order mark that some tools put at the start of a file: 3 or 0.
inline std::size_t byte_order_mark_bytes(byte_view input, const graph::decode_origin& origin) {
  return origin.offset == 0 && input.starts_with("\xef\xbb\xbf") ? 3 : 0;
}

/// Where a record is malformed: `record` bytes and `lines` line breaks into the decoded input,
/// `column` bytes into the line, from 1.
struct record_place {
  std::size_t record_offset = 0;
  std::uint64_t lines = 0;
  std::size_t column = 1;
};

/// Makes the error of a malformed record: "malformed record: FILE:LINE:COLUMN: REASON".
error malformed_record(const graph::decode_origin& origin, const record_place& place,
                       const std::string& reason);

/// Notes a record that is skipped, for who wants to know: the bytes from `begin` to `end` of the
/// decoded input.
void note_malformed(const graph::decode_origin& origin, byte_view input, std::size_t begin,
                    std::size_t end, const std::string& reason);

/// Tells which field of `produced` is none of `record`. @errors type_mismatch
/// @param within_rows  a field that is a row may have some of its fields only
status check_produced(const graph::logical_type& record, const graph::logical_type& produced,
                      bool within_rows = false);

/// Puts what was found into an error: in quotes, cut to a few dozen characters, one line.
std::string excerpt(std::string_view found);

} // namespace headrace::task
