#include "libstate/checkpoint/checkpoint_files.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace headrace::state {

namespace {

class file_list {
public:
  void add(const operator_subtask_state& state) {
    for (const auto* handles : {&state.keyed, &state.raw_keyed}) {
      for (const auto& handle : *handles) {
        add(handle.segment);
        for (const auto& file : handle.shared)
          add(file.segment);
      }
    }
    for (const auto* handles : {&state.managed, &state.raw_operator}) {
      for (const auto& handle : *handles)
        add(handle.segment);
    }
    for (const auto& handle : state.channels)
      add(handle.segment);
  }
  std::map<std::string, std::uint64_t> take() { return std::move(bytes_); }

private:
  void add(const state_segment& segment) {
    if (segment.path.empty()) // nothing was stored
      return;
    auto& bytes = bytes_[segment.path];
    bytes = std::max(bytes, segment.offset + segment.size_bytes);
  }
  std::map<std::string, std::uint64_t> bytes_;
};

} // namespace

std::map<std::string, std::uint64_t> files_of(const completed_checkpoint& checkpoint) {
  file_list out;
  for (const auto& [id, one] : checkpoint.operators) {
    for (const auto& [subtask, state] : one.subtasks)
      out.add(state);
  }
  return out.take();
}

status check_files(file_system& files, const completed_checkpoint& checkpoint) {
  std::optional<std::string> first;
  std::size_t missing = 0;
  const auto all = files_of(checkpoint);
  for (const auto& [path, bytes] : all) {
    const auto found = files.stat(path);
    if (!found && !found.error().has(errc::file_not_found))
      continue; // it cannot be looked at now: who reads it sees
    if (found && found->size_bytes >= bytes)
      continue;
    ++missing;
    if (!first)
      first = found ? "too short, " + std::to_string(found->size_bytes) + " bytes of " +
                          std::to_string(bytes) + ": " + path
                    : "not there: " + path;
  }
  if (!first)
    return {};
  return error(
      errc::corrupt_snapshot,
      std::to_string(missing) + " of the " + std::to_string(all.size()) + " files of " +
          checkpoint.directory + " are missing or too short, the first " + *first +
          "; bring them back, or restore from another checkpoint or savepoint. A checkpoint "
          "lies where it was written, with the files that it shares with others; only "
          "savepoints can be moved");
}

} // namespace headrace::state
