#pragma once

#include "libstate/handle/state_handle.hpp"
#include "libactors/base/file_system.hpp"

#include <memory>
#include <string>
#include <vector>

namespace headrace::state {

/// Reads elements of operator states out of a segment, each checked by its checksum. One thread.
class element_reader {
public:
  element_reader(file_system& files, state_segment segment)
      : files_(&files), segment_(std::move(segment)) {}

  /// @errors corrupt_snapshot  names the path; storage_failed
  result<std::vector<byte_string>>
  read(const std::vector<operator_state_handle::list::element>& elements);
  error corrupt(std::string what) const;

private:
  status read_exactly(std::uint64_t begin, std::uint64_t end, byte_string& out);

  file_system* files_;
  state_segment segment_;
  std::unique_ptr<readable_file> file_;
};

} // namespace headrace::state
