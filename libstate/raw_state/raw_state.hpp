#pragma once

#include "libstate/handle/state_handle.hpp"
#include "libstate/storage/state_stream.hpp"
#include "libgraph/function/raw_state.hpp"
#include "libactors/base/file_system.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

namespace headrace::state {

/// The form of raw keyed state: the canonical one of keyed state, in which the key of each row is
/// its key group and the values of a key group, in order, are its stream. Whatever backend the job
/// has, so that every job and `savepoint inspect` read it.
namespace raw_state {
inline constexpr std::string_view format = "raw";
inline constexpr std::string_view keyed_name = "raw keyed state";
inline constexpr std::string_view operator_name = "raw operator state";
inline constexpr std::size_t piece_bytes = 32U * 1024U; ///< of a stream: a value is no longer
} // namespace raw_state

/// What one function of one subtask writes by itself into one checkpoint: taken on the mailbox,
/// then stored by `run` on an executor.
class raw_snapshot final : public graph::raw_state_output {
public:
  /// @param groups  of the subtask; nothing: the function has no keys
  raw_snapshot(std::optional<key_group_range> groups, std::int32_t max_parallelism)
      : groups_(groups), max_parallelism_(max_parallelism) {}

  void begin_key_group(std::int32_t group) override;
  void begin_partition() override;
  void write(byte_view bytes) override;

  bool is_empty() const { return streams_.empty() && partitions_.empty(); }
  /// Stores all, and names it in `into`. @errors storage_failed, storage_full
  status run(snapshot_target& target, operator_subtask_state& into) const;

private:
  result<keyed_state_handle> write_streams(state_output& out) const;
  result<operator_state_handle> write_partitions(state_output& out) const;

  std::optional<key_group_range> groups_;
  std::int32_t max_parallelism_;
  std::map<std::int32_t, byte_string> streams_;
  std::vector<byte_string> partitions_;
  byte_string* current_ = nullptr;
};

/// Reads the streams of these key groups, and all partitions that `redistribute` gave. May block.
/// @errors corrupt_snapshot, storage_failed, unsupported_snapshot_version
result<graph::restored_raw_state>
read_raw_state(file_system& files, const operator_subtask_state& from, key_group_range groups);

} // namespace headrace::state
