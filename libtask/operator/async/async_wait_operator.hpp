#pragma once

#include "libtask/operator/async/async_calls.hpp"
#include "libtask/operator/async/async_queue.hpp"
#include "libtask/operator/async/pending_rows.hpp"
#include "libtask/operator/row_operators.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace headrace::task {

/// Calls an async function of the job for each row, and emits what the calls give as they end: a
/// `graph::async_wait_spec`. No thread waits for a call.
///
///     add ─▶ pending ─(room)─▶ calls … ended, any thread ─▶ queue ─(order)─▶ out
///                                ▲        │ wakes the task
///                                └─ again ┘ after a delay
///
/// Takes whole batches: rows for which there is no room are pending, and none is taken until they
/// have been called for. Watermarks and idleness stay behind the rows before them. A barrier does
/// not wait: the rows whose results have not left are stored, with the watermark before each, and
/// called for again after a restore, ahead of what comes then. The end of input waits for all.
class async_wait_operator final : public stream_operator, private graph::blocking_steps {
public:
  async_wait_operator(const graph::operator_node& node, const operator_context& context,
                      std::unique_ptr<graph::async_function> function);

  status open(const operator_states& states) override;
  status add(std::int32_t input, const graph::record_batch& rows) override;
  status advance(graph::watermark mark) override;
  bool forwards_watermarks() const override { return false; }
  status change_status(graph::watermark_status state) override;
  status end_input(std::int32_t input) override;
  result<drain_result> drain(operator_output& out, const drain_budget& budget) override;
  bool is_blocked() const override { return pending_.has_rows() && !has_room(); }
  bool blocks_barriers() const override { return false; }
  bool has_output_due() const override;
  std::optional<std::int64_t> next_processing_time_ms() override;
  status on_processing_time(std::int64_t now_ms) override;
  void snapshot(checkpoint_id checkpoint, std::function<void(status)> done) override;
  void close() override;

private:
  /// A row whose results have not left, by its place.
  struct held_row {
    std::shared_ptr<const graph::record_batch> in;
    std::uint32_t row = 0;
    std::int64_t behind_ms = graph::watermark::none;
    std::uint32_t results = 0;
  };
  void run(std::function<void()> step) override;

  bool has_room() const { return queue_.size() < capacity_; }
  void begin_restored(std::int64_t reached_ms);
  void add_control(async_queue::control what);
  /// Calls for pending rows as long as there is room. @returns for how many
  std::size_t invoke(std::size_t rows_max);
  void invoke_again(async_queue::place at);
  status take_ended();
  status end(graph::ended_async_call& one);
  /// @returns false: more may leave now
  bool emit(operator_output& out, const drain_budget& budget);
  /// Takes rows that may leave, up to a control. @returns that
  std::optional<async_queue::control> take_leaving(std::size_t rows_max);

  operator_context context_;
  graph::async_wait_spec spec_;
  std::size_t capacity_;
  std::shared_ptr<graph::async_function> function_; ///< also of steps that run
  function_outputs outputs_;
  std::function<void()> wake_;
  std::shared_ptr<std::atomic<bool>> closed_ = std::make_shared<std::atomic<bool>>(false);

  std::optional<graph::restored_async_rows> restored_; ///< until it is known what they are behind
  pending_input pending_;
  async_queue queue_;
  async_calls calls_;
  std::vector<held_row> held_;
  std::int64_t received_ms_ = graph::watermark::none;
  bool has_ended_ = false;
  // Kept so that nothing is allocated a row.
  std::vector<std::uint32_t> rows_;
  std::vector<graph::async_call> begun_;
  std::vector<graph::ended_async_call> ended_;
  std::vector<graph::leaving_async_results> leaving_;
  std::size_t left_ = 0; ///< of `leaving_`
  std::optional<async_queue::control> after_leaving_;
};

/// @errors graph_mismatch  the job's code has no such function
result<std::unique_ptr<stream_operator>> make_async_wait_operator(const graph::operator_node& node,
                                                                  const operator_context& context);

} // namespace headrace::task
