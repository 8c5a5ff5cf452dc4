#pragma once

#include "libtask/operator/keyed_rows.hpp"
#include "libtask/operator/row_operators.hpp"
#include "libtask/operator/stream_operator.hpp"

#include <memory>
#include <optional>
#include <vector>

namespace headrace::task {

/// Runs a keyed process function of the job: rows with state and timers of their key. Timers that
/// are due fire in bounded pieces, in order of time. See stream_operator.
class keyed_process_operator final : public stream_operator {
public:
  keyed_process_operator(const graph::operator_node& node, const operator_context& context,
                         std::unique_ptr<graph::keyed_process_function> function);

  std::optional<state::key_schema> key_schema() const override { return rows_.schema(); }
  status open(const operator_states& states) override;
  status add(std::int32_t input, const graph::record_batch& rows) override;
  status advance(graph::watermark mark) override;
  result<drain_result> drain(operator_output& out, const drain_budget& budget) override;
  std::optional<std::int64_t> next_processing_time_ms() override;
  status on_processing_time(std::int64_t now_ms) override;
  graph::raw_state_writer* raw_state() override { return function_->raw_state(); }
  void close() override { function_->close(); }

private:
  operator_context context_;
  std::vector<std::int32_t> key_columns_;
  keyed_rows rows_;
  std::unique_ptr<graph::keyed_process_function> function_;
  function_outputs outputs_;
  graph::record_batch taken_;
  std::size_t at_ = 0;
};

result<std::unique_ptr<stream_operator>> make_keyed_process_operator(const graph::operator_node&,
                                                                     const operator_context&);

} // namespace headrace::task
