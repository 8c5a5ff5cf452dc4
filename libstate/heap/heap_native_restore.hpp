#pragma once

#include "libstate/heap/heap_directory.hpp"
#include "libstate/heap/heap_native_format.hpp"
#include "libstate/heap/row_changes.hpp"
#include "libactors/base/file_system.hpp"

#include <cstdint>
#include <map>

namespace headrace::state {

/// Applies the elements of a native snapshot, in order, to the directories that it lists. Every
/// block is verified before it is used. One thread.
class heap_native_reader {
public:
  /// A directory to fill, which is empty and has the snapshot's layout.
  struct target {
    heap_directory* directory = nullptr;
    const row_layout* layout = nullptr;
  };
  explicit heap_native_reader(std::map<std::uint64_t, target> directories)
      : directories_(std::move(directories)) {}

  /// @returns which rows of the directories it had
  /// @errors corrupt_snapshot  names path and offset; storage_failed
  result<change_set> apply(file_system& files, const state_segment& element,
                           std::uint64_t checksum);

private:
  status apply_block(byte_view raw, change_set& changed);
  status apply_page(byte_reader& in, const target& into, row_set& changed);
  status apply_rows(byte_reader& in, const target& into, row_set& changed);

  std::map<std::uint64_t, target> directories_;
};

} // namespace headrace::state
