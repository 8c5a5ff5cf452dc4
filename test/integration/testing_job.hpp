#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace headrace::testing {

/// Time-ordered files of events, one for each source subtask.
struct windowed_input {
  std::vector<std::string> files; ///< contents: lines "time_ms,key,value"
  struct event {
    std::int64_t time_ms;
    std::int64_t key;
    std::int64_t value;
  };
  std::vector<event> events;
  std::int64_t last_window_ms = 0; ///< start of the last one-second window
};

/// `rows` events a file over about 150 seconds, some keys and values, the same each time.
windowed_input make_windowed_input(int files, int rows);

/// Lines "kind,key,second_ms,number", sorted: kind 0 the sum of a window's values, kind 1 the
/// number of rows that a timer found.
std::multiset<std::string> expected_rows(const windowed_input& input);

/// The lines of the input.
std::multiset<std::string> input_rows(const windowed_input& input);

/// What a master hook of the job was told.
struct hook_log {
  std::map<std::int64_t, std::string> given; ///< what it answered, by checkpoint
  std::vector<std::pair<std::int64_t, std::string>> restored;
  int resets = 0;
  int closes = 0;
};

/// Whether the rows of the windowed job go through an async function.
enum class asking : std::uint8_t { none, unordered, ordered };

struct run_options {
  std::uint64_t seed = 1;
  int disturbances = 0;
  bool restarts_job_manager = false; ///< as one kind of disturbance
  bool suspends_job_manager = false; ///< its restarts are in order: jobs are suspended first
  bool at_least_once = false;
  bool collect = false;           ///< rows go to the client instead of to files
  std::string state_backend = {}; ///< empty: the usual one
  bool full_disk = false;         ///< each disturbance is a disk that is full for a while
  bool clock_jumps = false; ///< each disturbance is a wall clock that is set by up to two days
  int parallelism = 4;
  /// Stops the job with a savepoint in the middle, and runs it on from that with so many subtasks;
  /// 0: does not.
  int restored_parallelism = 0;
  bool from_checkpoint = false; ///< with a checkpoint that holds rows in flight, instead
  bool unaligned = false;
  std::int64_t aligned_timeout_ms = 0; ///< of unaligned checkpoints
  std::int64_t row_us = 0;             ///< that a counted row takes: its input fills
  /// Instead of the windowed job, one that gives on the rows of many splits, which are dealt out
  /// all the while to readers that start again one by one.
  bool deals_splits = false;
  /// Instead of the windowed job, what these statements of SQL write below /output.
  std::string sql = {};
  bool connects = false; ///< instead of the windowed job, that of test/support/connected_job.hpp
  asking asks = asking::none;
  std::map<std::string, std::string> files = {}; ///< by path, beside those of the input
  bool is_native = false;                        ///< of the savepoint, else canonical
  bool drains = false;                           ///< and lets event time end before the savepoint
  int task_executors = 3;                        ///< of two slots each
  /// Each disturbance kills a task executor, which comes back under its id.
  bool kills_task_executors = false;
  bool damages_copies = false;         ///< and finds its local copies of state changed
  std::shared_ptr<hook_log> hook = {}; ///< null: the job has none
  bool loses_hook = false;             ///< it has none where it runs on
};

/// Of a run that was to be canceled `from_checkpoint`.
inline constexpr const char* ended_early = "the job ended before it was canceled";

struct run_outcome {
  std::string failure; ///< empty: the job finished
  std::multiset<std::string> rows;
  int job_manager_restarts = 0;
  std::uint32_t restarts = 0;   ///< of the job
  int jumps = 0;                ///< of the wall clock
  int restored_checkpoints = 0; ///< restarts that began from a completed checkpoint
  int windows_before_end = 0;   ///< committed, or given to the client, before the end of input
  std::uint64_t late_rows = 0;
  std::size_t rows_at_stop = 0; ///< that were final when the job was stopped
  int unfinal_at_stop = 0;      ///< files of the sink that were not final then
  std::uint64_t steps = 0;
  std::uint64_t in_flight_bytes = 0;          ///< the most that a checkpoint has stored
  std::uint64_t restored_in_flight_bytes = 0; ///< the most that a restart began with
  std::uint64_t restored_bytes = 0;           ///< that all tasks of a restart read: the most seen
  std::uint64_t restored_local_bytes = 0;     ///< of these, from local copies
  bool has_refused_copies = false;
  std::size_t checkpoint_files = 0; ///< in a checkpoint's directory: the most seen
  int copies_left = 0; ///< files of local copies of state, some time after the job's end
};

/// Runs the windowed job on a deterministic cluster of task executors, in memory; kills and
/// throws `disturbances` times, each after a further completed checkpoint.
run_outcome run_windowed_job(const windowed_input& input, const run_options& options);

} // namespace headrace::testing
