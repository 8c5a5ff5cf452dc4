#pragma once

#include "libtask/operator/operator_context.hpp"
#include "libstate/backend/keyed_backend.hpp"
#include "libstate/operator_state/operator_state_backend.hpp"
#include "libgraph/data/stream_element.hpp"
#include "libgraph/job_graph/job_graph.hpp"
#include "libactors/base/result.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>

namespace headrace::task {

/// Where an operator puts what it emits: the next operators of its chain, or the subtask's results.
class operator_output {
public:
  virtual ~operator_output() = default;
  virtual void emit(graph::record_batch rows) = 0;
  virtual void emit_side(std::int32_t side, graph::record_batch rows) = 0;
  /// For sources and operators that do not forward watermarks; others' are forwarded for them.
  virtual void emit(graph::watermark mark) = 0;
  virtual void emit(graph::watermark_status state) = 0;
};

/// How much one `drain` may emit.
struct drain_budget {
  std::size_t rows_max = 4096;
  std::size_t bytes_max = std::size_t{1} << 20U;
};
enum class drain_result : std::uint8_t {
  done,    ///< everything that was taken has been emitted
  more,    ///< call again
  waiting, ///< behind the end of input: call again when it has output due
};

enum class source_readiness : std::uint8_t {
  ready,    ///< `drain` emits something
  waiting,  ///< nothing now; it wakes the task when there is
  finished, ///< no row comes any more
};

/// The state of one operator in one subtask, restored before `open`.
struct operator_states {
  state::keyed_backend* keyed = nullptr; ///< for an operator with a key schema
  state::operator_state_backend* plain = nullptr;
  const graph::restored_raw_state* raw = nullptr; ///< until `open` returns; null: none
};

/// One operator of a chain, as the runtime sees it. Resumable: it takes one thing, then gives what
/// follows from it in bounded pieces, so that the task returns to its mailbox between them.
///
/// Life cycle, all on the subtask's mailbox:
///
///     constructor               no I/O
///     key_schema                what its keyed state is made for; state is then restored
///     open                      states are there; opens functions
///     { add | advance | end_input | on_processing_time | on_event    takes one thing, when drained
///       drain …                 until done
///       prepare_barrier, drain …, snapshot                           at each checkpoint
///       notify_completed | notify_aborted }                          any time between two drains
///     close                     after the last row, or when the task is canceled or failed
///
/// Failures are returned; what user code throws passes through, and is caught by the chain, which
/// names operator and subtask.
class stream_operator {
public:
  virtual ~stream_operator() = default;

  /// Types of the key columns; nothing for an operator without keyed state.
  virtual std::optional<state::key_schema> key_schema() const { return std::nullopt; }
  virtual status open(const operator_states& /*states*/) { return {}; }

  /// Takes rows (never none) of an input. Only called when drained and not blocked.
  virtual status add(std::int32_t input, const graph::record_batch& rows) = 0;
  /// Event time has come so far on all inputs. What fires is emitted by `drain`, then the watermark
  /// is forwarded by the chain.
  virtual status advance(graph::watermark /*mark*/) { return {}; }
  /// Whether the chain forwards watermarks and idleness behind the rows that they fired.
  virtual bool forwards_watermarks() const { return true; }
  /// Whether event time begins here: rows go by the watermarks that it emits, not by the input's.
  virtual bool begins_event_time() const { return false; }
  virtual status change_status(graph::watermark_status /*state*/) { return {}; }
  /// An input gives nothing any more.
  virtual status end_input(std::int32_t /*input*/) { return {}; }
  /// Emits at most about `budget` of what is due.
  virtual result<drain_result> drain(operator_output& /*out*/, const drain_budget& /*budget*/) {
    return drain_result::done;
  }

  /// Cannot take rows now (an outer queue is full). It wakes the task when it can again.
  virtual bool is_blocked() const { return false; }
  /// Whether a barrier, too, waits until it can take rows. One that does not is followed by no row.
  virtual bool blocks_barriers() const { return is_blocked(); }
  /// Has something to emit that does not follow from what it was given: `drain` is called. It wakes
  /// the task when that changes.
  virtual bool has_output_due() const { return false; }
  /// How many rows it can take at once so that a barrier behind them need not wait long.
  virtual std::size_t rows_wanted() const { return std::numeric_limits<std::size_t>::max(); }
  /// When `on_processing_time` is wanted next, wall-clock milliseconds.
  virtual std::optional<std::int64_t> next_processing_time_ms() { return std::nullopt; }
  virtual status on_processing_time(std::int64_t /*now_ms*/) { return {}; }
  /// An event of the operator's coordinator. Needs no drained operator.
  virtual status on_event(byte_view /*event*/) { return {}; }

  /// A barrier follows: what must be before it is emitted by the `drain`s that follow.
  virtual status prepare_barrier(checkpoint_id /*checkpoint*/) { return {}; }
  /// Puts what is not in keyed state into operator state, then calls `done`: at once, or in a later
  /// turn (the task goes on meanwhile; the operator state must stand still until then as of now).
  virtual void snapshot(checkpoint_id /*checkpoint*/, std::function<void(status)> done) {
    done({});
  }
  /// Who writes into a checkpoint what is neither, as of `snapshot`; null: nobody.
  virtual graph::raw_state_writer* raw_state() { return nullptr; }
  virtual status notify_completed(checkpoint_id /*checkpoint*/) { return {}; }
  virtual status notify_aborted(checkpoint_id /*checkpoint*/) { return {}; }

  /// Work that must end before the task may finish (a sink's last commit). It wakes the task.
  virtual bool has_unfinished_work() const { return false; }
  virtual void close() {}

  // --- sources only: heads of chains without input
  virtual source_readiness readiness() const { return source_readiness::waiting; }
  /// How many rows the task can take at once; about so many are read at once from now on.
  virtual void set_rows_max(std::size_t /*rows*/) {}
  /// The task can (not) pass on rows now: the idle clock of a source runs only while it can.
  virtual void set_output_available(bool /*available*/) {}
};

/// Makes operators from their specs. Filled once, then only read: any thread.
class operator_factories {
public:
  using factory = std::function<result<std::unique_ptr<stream_operator>>(
      const graph::operator_node& node, const operator_context& context)>;

  /// Registers the factory of one alternative of `graph::operator_spec`.
  template <class Spec>
  void add(factory make) {
    by_kind_[graph::operator_spec(Spec{}).index()] = std::move(make);
  }
  /// @errors unknown_operator, and what the factory gives
  result<std::unique_ptr<stream_operator>> make(const graph::operator_node& node,
                                                const operator_context& context) const;

private:
  std::map<std::size_t, factory> by_kind_;
};

/// All operators of this library.
operator_factories make_operator_factories();

} // namespace headrace::task
