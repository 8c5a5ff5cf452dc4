#pragma once

#include "libgraph/data/record_batch.hpp"
#include "libgraph/function/output.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace headrace::graph {

struct function_context;

/// Names a call of an async function within its operator: no two calls have the same one.
using async_call = std::uint64_t;

enum class async_outcome : std::uint8_t {
  results,
  failed,
  timed_out, ///< the function did not make anything else of that
};

/// A call that has ended.
struct ended_async_call {
  async_call call = 0;
  std::uint32_t results = 0; ///< what they are known by until they are emitted or dropped
  async_outcome outcome = async_outcome::results;
  bool wants_retry = false; ///< as the function's retry strategy says
  std::string failure{};
};

/// Results that leave, and the event time that they get.
struct leaving_async_results {
  std::uint32_t results = 0;
  bool has_timestamp = false;
  std::int64_t timestamp_ms = 0;
};

/// A row whose results have not left.
struct async_row {
  const record_batch* in = nullptr;
  std::uint32_t row = 0;      ///< of the columns
  std::int64_t behind_ms = 0; ///< the watermark that came before it
};
/// Such rows out of a checkpoint, as they came to their subtasks.
struct restored_async_rows {
  record_batch rows;
  std::vector<std::int64_t> behind_ms; ///< a row each
};

/// Runs what may block on a thread of the executor. Called on the subtask's mailbox; the task does
/// not end before the steps that run. What a step throws is lost.
class blocking_steps {
public:
  virtual ~blocking_steps() = default;
  virtual void run(std::function<void()> step) = 0;
};

/// A function of the job whose calls end later: on any thread, where they wait until the operator
/// takes them. All else happens on the subtask's mailbox.
class async_function {
public:
  virtual ~async_function() = default;
  /// @param wake  is called, on any thread, when a call ends outside of `invoke` and no other one
  ///              waits to be taken
  virtual void open(const function_context& context, std::function<void()> wake) = 0;
  /// What was stored. Called once, behind `open`.
  virtual restored_async_rows restore() = 0;
  /// Begins a call for each of the column rows `rows`, as large as `calls`, which names them.
  virtual void invoke(const record_batch& in, std::span<const std::uint32_t> rows,
                      std::span<const async_call> calls) = 0;
  /// The time for a row is over: the function may end the call.
  virtual void time_out(const record_batch& in, std::uint32_t row, async_call call) = 0;
  /// Whether calls have ended that were not taken.
  virtual bool has_ended() const = 0;
  /// Takes the calls that have ended, in order: any of those that began, even several times.
  virtual void take_ended(std::vector<ended_async_call>& out) = 0;
  /// Appends results from `from` on and drops them. Returns where to go on: less than
  /// leaving.size() when `out` became full.
  virtual std::size_t emit(std::span<const leaving_async_results> leaving, std::size_t from,
                           function_output& out) = 0;
  virtual void drop(std::uint32_t results) = 0;
  /// Puts the rows into the operator's state, in place of what was there.
  virtual void store(std::span<const async_row> rows) = 0;
  /// Calls that end from now on are dropped.
  virtual void close() = 0;
};

} // namespace headrace::graph
