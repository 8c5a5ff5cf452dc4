#pragma once

#include "libtask/operator/stream_operator.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

namespace headrace::task {

/// The builders that functions of one operator append to, and how they are emptied. Lives on the
/// subtask's mailbox.
class function_outputs {
public:
  function_outputs(const graph::operator_node& node, std::shared_ptr<graph::memory_budget> memory);
  /// An output that is full at the budget. Valid as long as this object.
  graph::function_output bounded(const drain_budget& budget);
  graph::batch_builder& main() { return main_; }
  graph::batch_builder& side(std::size_t index) { return sides_[index]; }
  /// Emits what was appended.
  void flush(operator_output& out);

private:
  graph::batch_builder main_;
  std::vector<graph::batch_builder> sides_;
};

/// map, flat_map, and whatever else the job's code turns rows into. See stream_operator.
class row_function_operator final : public stream_operator {
public:
  row_function_operator(const graph::operator_node& node, const operator_context& context,
                        std::unique_ptr<graph::row_function> function);
  status open(const operator_states& states) override;
  status add(std::int32_t input, const graph::record_batch& rows) override;
  result<drain_result> drain(operator_output& out, const drain_budget& budget) override;
  graph::raw_state_writer* raw_state() override { return function_->raw_state(); }
  void close() override { function_->close(); }

private:
  operator_context context_;
  std::unique_ptr<graph::row_function> function_;
  function_outputs outputs_;
  graph::record_batch taken_;
  std::size_t at_ = 0;
};

/// Keeps the rows that a function of the job chooses. See stream_operator.
class filter_operator final : public stream_operator {
public:
  filter_operator(const operator_context& context,
                  std::unique_ptr<graph::filter_function> function);
  status open(const operator_states& states) override;
  status add(std::int32_t input, const graph::record_batch& rows) override;
  result<drain_result> drain(operator_output& out, const drain_budget& budget) override;
  void close() override { function_->close(); }

private:
  operator_context context_;
  std::unique_ptr<graph::filter_function> function_;
  graph::record_batch kept_;
};

/// Keeps some columns, sharing them. See stream_operator.
class project_operator final : public stream_operator {
public:
  project_operator(graph::row_type_ptr type, std::vector<int> columns);
  status add(std::int32_t input, const graph::record_batch& rows) override;
  result<drain_result> drain(operator_output& out, const drain_budget& budget) override;

private:
  graph::row_type_ptr type_;
  std::vector<int> columns_;
  graph::record_batch projected_;
};

result<std::unique_ptr<stream_operator>> make_row_function_operator(const graph::operator_node&,
                                                                    const operator_context&);
result<std::unique_ptr<stream_operator>> make_filter_operator(const graph::operator_node&,
                                                              const operator_context&);
result<std::unique_ptr<stream_operator>> make_project_operator(const graph::operator_node&,
                                                               const operator_context&);

} // namespace headrace::task
