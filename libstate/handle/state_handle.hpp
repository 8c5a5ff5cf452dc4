#pragma once

#include "libstate/key/key_group_range.hpp"
#include "libactors/base/bytes.hpp"
#include "libactors/base/ids.hpp"
#include "libactors/base/result.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace headrace::state {

/// A piece of a finished file: where one operator's state of one subtask lies.
struct state_segment {
  std::string path;
  std::uint64_t offset = 0;
  std::uint64_t size_bytes = 0;
  /// Of what says of all else in it what that is (each form has such a part): files of several
  /// snapshots have the same name, and are told apart by it. 0: what lies there is checked
  /// otherwise, or was stored before segments had one.
  std::uint64_t checksum = 0;
  friend bool operator==(const state_segment&, const state_segment&) = default;
};

/// Checks that what was found in its place is what the segment was made of; called before anything
/// of it is used. @errors corrupt_snapshot  names the file
status check_found(const state_segment& segment, std::uint64_t checksum);

/// A file that several checkpoints may share; it goes when the last of them goes.
struct shared_file {
  std::string name; ///< within the backend, e.g. "000012.sst"
  state_segment segment;
  friend bool operator==(const shared_file&, const shared_file&) = default;
};

/// The keyed state of one operator in one subtask.
struct keyed_state_handle {
  key_group_range groups;
  std::string format = "canonical"; ///< "canonical": any backend reads it; else a backend's own
  state_segment segment;
  std::vector<shared_file> shared; ///< of incremental formats
  friend bool operator==(const keyed_state_handle&, const keyed_state_handle&) = default;
};

/// The operator state of one operator in one subtask. Element i of a list lies in
/// [offsets[i], offsets[i + 1]) of the segment; so redistribution moves elements without reading.
struct operator_state_handle {
  enum class mode : std::uint8_t {
    split = 1,     ///< elements are dealt out over the subtasks
    union_ = 2,    ///< each subtask gets all elements of all subtasks
    broadcast = 3, ///< the same in each subtask; each gets one copy
  };
  struct list {
    std::string name;
    mode how = mode::split;
    /// Of the elements to take: [begin, end) within the segment, each with the checksum of its
    /// bytes.
    struct element {
      std::uint64_t begin = 0;
      std::uint64_t end = 0;
      std::uint64_t checksum = 0;
      friend bool operator==(const element&, const element&) = default;
    };
    std::vector<element> elements;
    friend bool operator==(const list&, const list&) = default;
  };
  state_segment segment;
  std::vector<list> lists;
  friend bool operator==(const operator_state_handle&, const operator_state_handle&) = default;
};

/// In-flight data that one subtask has stored with an unaligned checkpoint.
struct in_flight_handle {
  state_segment segment;
  /// After a change of parallelism, where several subtasks restore from it and each takes what is
  /// its own: the one that stored it. -1: the subtask that restores it, as it was.
  std::int32_t rescaled_from = -1;
  friend bool operator==(const in_flight_handle&, const in_flight_handle&) = default;
};

/// All that one subtask acknowledges for one operator of its chain. After `redistribute`, all that
/// it restores from: then several handles of a kind are usual.
struct operator_subtask_state {
  std::vector<keyed_state_handle> keyed;
  std::vector<operator_state_handle> managed;
  std::vector<keyed_state_handle> raw_keyed;
  std::vector<operator_state_handle> raw_operator;
  std::vector<in_flight_handle> channels; ///< of an unaligned checkpoint
  /// Event time that the operator had reached, milliseconds: windows and timers up to it have
  /// fired, rows up to it come too late. Nothing: none yet, or not known (older builds).
  std::optional<std::int64_t> watermark_ms = {};

  /// Whether something is stored in files.
  bool has_state() const;
  bool is_empty() const { return !has_state() && !watermark_ms; }
  std::uint64_t size_bytes() const;
  friend bool operator==(const operator_subtask_state&, const operator_subtask_state&) = default;
};

/// What a subtask sends with its acknowledgement: state by operator of its chain.
struct task_state_snapshot {
  std::map<operator_id, operator_subtask_state> operators;
  std::uint64_t size_bytes() const;
  std::uint64_t in_flight_bytes() const; ///< of it
  friend bool operator==(const task_state_snapshot&, const task_state_snapshot&) = default;
};

/// What was written as `from` has come to lie in another file, `offset` bytes behind its begin.
void move_segments(task_state_snapshot& snapshot, const std::string& from, const std::string& to,
                   std::uint64_t offset);

/// Writes and reads the stored form (used in the manifest and in messages alike).
/// @errors malformed_message
void encode(const task_state_snapshot& snapshot, byte_writer& out);
result<task_state_snapshot> decode_task_state_snapshot(byte_reader& in);

} // namespace headrace::state
