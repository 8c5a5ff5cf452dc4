#pragma once

#include "libgraph/data/record_batch.hpp"
#include "libgraph/data/stream_element.hpp"
#include "libgraph/function/async_function.hpp"
#include "libgraph/function/master_hook.hpp"
#include "libgraph/function/output.hpp"
#include "libgraph/function/raw_state.hpp"
#include "libgraph/function/state.hpp"
#include "libgraph/function/user_metrics.hpp"
#include "libactors/base/log.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <variant>
#include <vector>

namespace headrace::graph {

/// What a function learns when it opens. References live until `close`.
struct function_context {
  std::string task_name;
  std::int32_t subtask = 0;
  std::int32_t parallelism = 1;
  std::int32_t attempt = 0;
  headrace::logger log;
  state_provider* keyed_state = nullptr; ///< null for functions on streams without key
  /// What the function's raw_state_writer wrote before, during `open`; null: nothing.
  const restored_raw_state* raw_state = nullptr;
  operator_state_provider* operator_state =
      nullptr; ///< null: the operator keeps none for functions
  std::string operator_name;
  user_metrics* metrics = nullptr;    ///< null: nobody asks
  blocking_steps* blocking = nullptr; ///< of async functions; else null
};

// The functions of a job as the runtime sees them: rows of a batch at once, values in columns. The
// typed API (libgraph/api) makes them from the user's lambdas and classes; one virtual call a
// batch, the loop inside. All are called on the subtask's mailbox only. What they throw becomes
// `user_function_failed` naming operator and subtask.

/// map, flat_map, and whatever turns rows into rows without keyed state.
class row_function {
public:
  virtual ~row_function() = default;
  virtual void open(const function_context&) {}
  /// Takes selected rows [from, in.size()) and appends to `out`. Returns the row to go on with:
  /// less than in.size() when `out` became full; the same row again is passed when it has more to
  /// give.
  virtual std::size_t process(const record_batch& in, std::size_t from, function_output& out) = 0;
  /// Who writes the function's raw state; null: it has none.
  virtual raw_state_writer* raw_state() { return nullptr; }
  virtual void close() {}
};

/// Keeps or drops rows without touching columns.
class filter_function {
public:
  virtual ~filter_function() = default;
  virtual void open(const function_context&) {}
  /// Writes the column rows of kept rows to `kept` (room for in.size()), ascending; returns their
  /// number.
  virtual std::size_t select(const record_batch& in, std::uint32_t* kept) = 0;
  virtual void close() {}
};

/// What keyed functions may ask while they run.
class keyed_context {
public:
  virtual ~keyed_context() = default;
  /// Makes the key of selected row `row` current: states and timers mean it from now on.
  virtual void set_row(std::size_t row) = 0;
  /// The key group of the current key.
  virtual std::int32_t current_key_group() const = 0;
  virtual std::int64_t current_watermark() const = 0;
  virtual std::int64_t current_processing_time() const = 0;
  virtual void register_event_timer(std::int64_t time_ms) = 0;
  virtual void register_processing_timer(std::int64_t time_ms) = 0;
  virtual void delete_event_timer(std::int64_t time_ms) = 0;
  virtual void delete_processing_timer(std::int64_t time_ms) = 0;
  /// Makes each key current that has something in this state, one after the other, and calls
  /// `visit(context, keys, row)`: `keys` holds keys as on_timer has them, row after row from 0 on.
  /// Keys of which all has expired may come, too. Then no key is current.
  virtual void for_each_key(const state_access& state,
                            void (*visit)(void* context, const record_batch& keys, std::size_t row),
                            void* context) = 0;
};

enum class time_domain : std::uint8_t { event = 0, processing = 1 };

/// Is called at the times that it has registered.
class timer_function {
public:
  virtual ~timer_function() = default;
  /// The key of the timer is current. `keys` holds the key as a batch of the key columns, at `row`.
  virtual void on_timer(std::int64_t time_ms, time_domain domain, const record_batch& keys,
                        std::size_t row, keyed_context& keyed, function_output& out) = 0;
};

/// Keyed process function with state and timers.
class keyed_process_function : public timer_function {
public:
  virtual void open(const function_context& context) = 0;
  /// As row_function::process; calls `keyed.set_row` before each row.
  virtual std::size_t process(const record_batch& in, std::size_t from, keyed_context& keyed,
                              function_output& out) = 0;
  /// Who writes the function's raw state; null: it has none.
  virtual raw_state_writer* raw_state() { return nullptr; }
  virtual void close() {}
};

/// Turns the rows of two inputs into rows: functions of connected streams.
class co_function {
public:
  virtual ~co_function() = default;
  virtual void open(const function_context&) {}
  /// As row_function::process, of rows of input 0 or 1.
  virtual std::size_t process(std::int32_t input, const record_batch& in, std::size_t from,
                              function_output& out) = 0;
  /// Who writes the function's raw state; null: it has none.
  virtual raw_state_writer* raw_state() { return nullptr; }
  virtual void close() {}
};

/// The same with state and timers of keys, which both inputs have; or, where the second one is
/// broadcast, the first.
class keyed_co_function : public timer_function {
public:
  virtual void open(const function_context& context) = 0;
  /// As keyed_process_function::process, of rows of input 0 or 1. Rows that are broadcast have no
  /// key: no key is current then, and `set_row` is not called.
  virtual std::size_t process(std::int32_t input, const record_batch& in, std::size_t from,
                              keyed_context& keyed, function_output& out) = 0;
  /// Who writes the function's raw state; null: it has none.
  virtual raw_state_writer* raw_state() { return nullptr; }
  virtual void close() {}
};

/// Folds rows of one key into an accumulator. Accumulators are either `fixed_bytes()` wide, plain
/// memory (trivially copyable), or variable: encoded bytes.
class aggregate_function {
public:
  virtual ~aggregate_function() = default;
  virtual void open(const function_context&) {}
  /// Describes the accumulator for snapshots.
  virtual logical_type accumulator_type() const = 0;
  /// Width of a fixed accumulator (at most 256, aligned to 8), 0 for a variable one.
  virtual std::size_t fixed_bytes() const = 0;

  /// Fixed: `rows[i]` (column rows) goes into `accumulators[i]`; `fresh[i]` says that it holds
  /// zeros and must be created first. Several i may name the same accumulator, fresh on the first
  /// only.
  virtual void add_fixed(const record_batch& in, std::span<const std::uint32_t> rows,
                         std::span<std::byte* const> accumulators,
                         std::span<const std::uint8_t> fresh) = 0;
  virtual void merge_fixed(std::byte* into, const std::byte* from) = 0;
  /// Appends the result of each accumulator as one row to `out`; `keys` are the key columns, row i
  /// belonging to accumulator i.
  virtual void result_fixed(const record_batch& keys,
                            std::span<const std::byte* const> accumulators, batch_builder& out) = 0;

  /// Variable: `accumulator` is empty for a fresh one; add the row and leave it encoded.
  virtual void add_variable(const record_batch& in, std::uint32_t row,
                            byte_string& accumulator) = 0;
  virtual void merge_variable(byte_string& into, byte_view from) = 0;
  virtual void result_variable(const record_batch& keys, std::size_t row, byte_view accumulator,
                               batch_builder& out) = 0;
  virtual void close() {}
};

/// Full-window or post-aggregation function: sees the window of each result row.
class window_function {
public:
  virtual ~window_function() = default;
  virtual void open(const function_context&) {}
  /// Row i of `rows` is the result of key row `first_key` + i; all are of one window.
  virtual void process(const record_batch& keys, std::size_t first_key, std::int64_t start_ms,
                       std::int64_t end_ms, const record_batch& rows, function_output& out) = 0;
  virtual void close() {}
};

/// Writes the event time of each column row.
class timestamp_assigner {
public:
  virtual ~timestamp_assigner() = default;
  /// `out` has room for in.row_count(); only selected rows are written.
  virtual void assign(const record_batch& in, std::int64_t* out_ms) = 0;
};

/// Where event time of a split stands, as a generator of the job says.
struct generated_watermark {
  std::int64_t time_ms = watermark::none; ///< rows up to it are not expected any more
  bool is_idle = false;                   ///< holds nothing back until it says otherwise
  friend bool operator==(const generated_watermark&, const generated_watermark&) = default;
};

/// Makes watermarks of rows; one for each split.
class watermark_generator {
public:
  virtual ~watermark_generator() = default;
  /// Looks at the selected rows from number `first` on, up to the one behind which `at` is another.
  /// @returns the number behind the last that was looked at, above `first`
  virtual std::size_t look(const record_batch& in, std::size_t first, generated_watermark& at) = 0;
  /// Called behind each batch, and every 200 ms while there is none.
  virtual void look_at_clock(generated_watermark& at) = 0;
};

/// Chooses targets by hand.
class custom_partitioner {
public:
  virtual ~custom_partitioner() = default;
  /// Writes a target in [0, target_count) for each selected row.
  virtual void partition(const record_batch& in, std::uint32_t target_count,
                         std::uint32_t* targets) = 0;
};

class source;
class sink;

/// One instance of one function of a job.
using any_function =
    std::variant<std::unique_ptr<row_function>, std::unique_ptr<filter_function>,
                 std::unique_ptr<keyed_process_function>, std::unique_ptr<aggregate_function>,
                 std::unique_ptr<window_function>, std::unique_ptr<timestamp_assigner>,
                 std::unique_ptr<custom_partitioner>, std::unique_ptr<source>,
                 std::unique_ptr<sink>, std::unique_ptr<master_hook>, std::unique_ptr<co_function>,
                 std::unique_ptr<keyed_co_function>, std::unique_ptr<async_function>,
                 std::unique_ptr<watermark_generator>>;
/// Makes a fresh instance for each subtask.
using function_factory = std::function<any_function()>;
/// The functions of a job by index, as `function_ref` names them.
using function_table = std::vector<function_factory>;

/// The loaded code of a job: its functions, and what keeps them loaded.
struct job_code {
  function_table functions;
  std::shared_ptr<void> loaded; ///< the shared object; never closed while this lives
};

/// Turns a job graph's artifact into code: runs the entry function again and compares graph hashes.
/// Injected by apps/cluster. May block: call on an executor.
/// @errors job_object_unloadable, job_object_incompatible, graph_mismatch
class job_code_loader {
public:
  virtual ~job_code_loader() = default;
  virtual result<std::shared_ptr<const job_code>> load(const std::string& object_path,
                                                       const std::vector<std::string>& arguments,
                                                       const std::string& graph_hash) = 0;
};

} // namespace headrace::graph
