#pragma once

#include "libstate/handle/state_handle.hpp"
#include "libstate/storage/state_stream.hpp"
#include "libgraph/data/stream_element.hpp"
#include "libactors/base/file_system.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace headrace::state {

/// What an element of a stream is when it waits: rows and watermarks are kept by a checkpoint that
/// overtakes them. All else comes again from its producer when the job is restored: the end of an
/// input; idleness, which is found out anew; and barriers are of other checkpoints.
bool is_kept_in_flight(const graph::stream_element& element);

/// One channel of an edge between two vertices, at one of its ends.
struct channel_place {
  result_id result;          ///< the edge
  bool at_producer = false;  ///< it waited to be sent; else to be taken in
  std::int32_t producer = 0; ///< its subtask
  std::int32_t consumer = 0; ///< where it waited at the producer: the subpartition
  friend bool operator==(const channel_place&, const channel_place&) = default;
};

/// What an unaligned checkpoint found in flight at one end of a channel: rows and watermarks, in
/// order. A value; batches are shared.
struct channel_content {
  channel_place place;
  graph::row_type_ptr type; ///< of its rows
  std::vector<graph::stream_element> elements;
};

/// Writes the in-flight data of one subtask. May block.
///
///     blocks     (as of canonical snapshots: compressed, with checksums) of each channel:
///     elements,
///                u8 kind; a watermark's time, or a batch with its size before it
///     footer     edges (result, row type); channels (edge, place, offset and size of its blocks,
///                and since version 2 their checksum, as of the elements of heap_native)
///     trailer    u64 footer offset, u32 footer bytes, u32 version, u64 checksum of the footer and
///                of these, magic "HRCHANND"
///
/// Offsets count from the beginning of the segment, whose checksum is the trailer's. @errors
/// storage_failed, storage_full
result<state_segment> write_channel_state(snapshot_target& target,
                                          const std::vector<channel_content>& channels);

/// Reads what `write_channel_state` wrote, channel by channel. One thread; may block.
class channel_state_reader {
public:
  /// Reads the footer. `files` lives longer. @errors corrupt_snapshot,
  /// unsupported_snapshot_version, storage_failed
  static result<channel_state_reader> open(file_system& files, const state_segment& from);

  std::size_t size() const { return entries_.size(); }
  const channel_place& place(std::size_t index) const { return entries_[index].place; }
  const graph::row_type_ptr& type(std::size_t index) const { return entries_[index].type; }
  /// @errors corrupt_snapshot, storage_failed
  result<std::vector<graph::stream_element>> read(std::size_t index);

private:
  struct entry {
    channel_place place;
    graph::row_type_ptr type;
    std::uint64_t offset = 0;
    std::uint64_t size_bytes = 0;
    std::optional<std::uint64_t> checksum;
  };
  channel_state_reader(std::unique_ptr<readable_file> file, const state_segment& from)
      : file_(std::move(file)), segment_(from) {}
  status read_footer();
  status decode_footer(byte_view footer, bool has_checksums);
  status read_at(std::uint64_t offset, std::uint64_t size, byte_string& into);
  error corrupt(const std::string& what) const;

  std::unique_ptr<readable_file> file_;
  state_segment segment_;
  std::vector<entry> entries_;
};

} // namespace headrace::state
