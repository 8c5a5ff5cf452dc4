#pragma once

#include "libactors/base/bytes.hpp"

#include <cstdint>
#include <vector>

namespace headrace::graph {

/// Takes the streams of bytes that a function writes into a checkpoint in a format of its own
/// (Flink's raw state): one a key group, and any number of others, partitions. They are held in
/// memory until the checkpoint's storage has them. On the subtask's mailbox.
class raw_state_output {
public:
  virtual ~raw_state_output() = default;
  /// Begins the stream of a key group of this subtask, once each and in any order. Wherever the key
  /// group is restored its stream is. See `keyed_context::current_key_group`.
  /// @throws failure  invalid_graph: the function has no keys; user_function_failed: the key group
  ///         is another subtask's, or was begun before
  virtual void begin_key_group(std::int32_t group) = 0;
  /// Begins a stream that goes to one subtask, any, when the job is restored.
  virtual void begin_partition() = 0;
  /// Appends to the stream that was begun last. @throws failure  user_function_failed: none was
  virtual void write(byte_view bytes) = 0;
};

/// Implemented beside its own interface by a function that keeps such state.
class raw_state_writer {
public:
  virtual ~raw_state_writer() = default;
  /// Writes what the function holds as of now, all of it: a checkpoint's barrier is here.
  virtual void write_raw_state(raw_state_output& out) = 0;
};

/// What a function has written into the checkpoint that it begins with.
struct restored_raw_state {
  struct key_group {
    std::int32_t group = 0;
    byte_string bytes;
  };
  std::vector<key_group> key_groups; ///< of this subtask, those that were begun, ascending
  std::vector<byte_string> partitions;
  bool is_empty() const { return key_groups.empty() && partitions.empty(); }
};

} // namespace headrace::graph
