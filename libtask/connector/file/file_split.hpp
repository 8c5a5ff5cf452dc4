#pragma once

#include "libgraph/connector/source.hpp"
#include "libactors/base/file_system.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace headrace::task {

/// A part of a file: the records that begin in [start, end). A record that begins before `end` is
/// read to its own end. A value; in snapshots.
struct file_split {
  std::string path;
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  std::uint64_t next = 0;  ///< offset of the first record not yet read
  bool is_aligned = false; ///< `next` is where a record begins (at first it is just `start`)
  std::uint64_t lines = 0; ///< line breaks between `start` and `next`

  static file_split of(std::string path, std::uint64_t start, std::uint64_t end) {
    return {std::move(path), start, end, start, start == 0, 0};
  }
  /// "PATH@START": the same for the same part of the same file.
  std::string id() const { return path + "@" + std::to_string(start); }
  byte_string encode() const;
  /// @errors corrupt_snapshot, unsupported_snapshot_version
  static result<file_split> decode(byte_view bytes);
  graph::source_split to_source_split() const { return {id(), encode()}; }

  friend bool operator==(const file_split&, const file_split&) = default;
};

/// Cuts files into splits of `split_bytes`, in order; files that are not `splittable` stay whole,
/// empty ones give none.
std::vector<file_split> cut_into_splits(std::span<const file_info> files, std::uint64_t split_bytes,
                                        bool splittable);

/// Split size when no option gives one: some splits a reader, none too small to be worth a file
/// opened, none too large to share work.
std::uint64_t derived_split_bytes(std::span<const file_info> files, std::int32_t readers);

} // namespace headrace::task
