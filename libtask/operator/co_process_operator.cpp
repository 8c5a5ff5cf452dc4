#include "libtask/operator/co_process_operator.hpp"

#include "libtask/operator/keyed_rows.hpp"
#include "libtask/operator/row_operators.hpp"

#include <memory>
#include <utility>
#include <vector>

namespace headrace::task {
namespace {

/// Without keys.
class co_function_operator final : public stream_operator {
public:
  co_function_operator(const graph::operator_node& node, const operator_context& context,
                       std::unique_ptr<graph::co_function> function)
      : context_(context), function_(std::move(function)), outputs_(node, context.memory) {}

  status open(const operator_states& states) override {
    function_->open(context_.for_function(nullptr, states.raw, states.plain));
    return {};
  }
  status add(std::int32_t input, const graph::record_batch& rows) override {
    input_ = input;
    taken_ = rows;
    at_ = 0;
    return {};
  }
  result<drain_result> drain(operator_output& out, const drain_budget& budget) override {
    if (at_ < taken_.size()) {
      auto into = outputs_.bounded(budget);
      at_ = function_->process(input_, taken_, at_, into);
      outputs_.flush(out);
    }
    if (at_ < taken_.size())
      return drain_result::more;
    taken_ = {};
    at_ = 0;
    return drain_result::done;
  }
  graph::raw_state_writer* raw_state() override { return function_->raw_state(); }
  void close() override { function_->close(); }

private:
  operator_context context_;
  std::unique_ptr<graph::co_function> function_;
  function_outputs outputs_;
  std::int32_t input_ = 0;
  graph::record_batch taken_;
  std::size_t at_ = 0;
};

class keyed_co_function_operator final : public stream_operator {
public:
  keyed_co_function_operator(const graph::operator_node& node, const operator_context& context,
                             std::unique_ptr<graph::keyed_co_function> function)
      : context_(context), spec_(std::get<graph::co_process_spec>(node.spec)),
        rows_(state::key_schema(node.input_types.at(0), spec_.key_columns), context),
        function_(std::move(function)), outputs_(node, context.memory) {}

  std::optional<state::key_schema> key_schema() const override { return rows_.schema(); }

  status open(const operator_states& states) override {
    HEADRACE_CHECK(rows_.open(*states.keyed));
    function_->open(context_.for_function(states.keyed, states.raw, states.plain));
    return {};
  }
  status add(std::int32_t input, const graph::record_batch& rows) override {
    input_ = input;
    taken_ = rows;
    at_ = 0;
    if (input == 1 && spec_.is_broadcast)
      rows_.take_unkeyed();
    else
      rows_.take(rows, input == 0 ? spec_.key_columns : spec_.second_key_columns);
    return {};
  }
  status advance(graph::watermark mark) override {
    rows_.advance(mark);
    return {};
  }
  std::optional<std::int64_t> next_processing_time_ms() override {
    return rows_.next_processing_time_ms();
  }
  status on_processing_time(std::int64_t now_ms) override {
    rows_.on_processing_time(now_ms);
    return {};
  }
  result<drain_result> drain(operator_output& out, const drain_budget& budget) override {
    auto into = outputs_.bounded(budget);
    bool done = true;
    if (at_ < taken_.size()) {
      at_ = function_->process(input_, taken_, at_, rows_, into);
      done = at_ >= taken_.size();
      if (done) {
        taken_ = {};
        rows_.drop();
        at_ = 0;
      }
    }
    if (done) {
      HEADRACE_TRY(done, rows_.fire(*function_, into));
    }
    outputs_.flush(out);
    return done ? drain_result::done : drain_result::more;
  }
  graph::raw_state_writer* raw_state() override { return function_->raw_state(); }
  void close() override { function_->close(); }

private:
  operator_context context_;
  graph::co_process_spec spec_;
  keyed_rows rows_;
  std::unique_ptr<graph::keyed_co_function> function_;
  function_outputs outputs_;
  std::int32_t input_ = 0;
  graph::record_batch taken_;
  std::size_t at_ = 0;
};

} // namespace

result<std::unique_ptr<stream_operator>> make_co_process_operator(const graph::operator_node& node,
                                                                  const operator_context& context) {
  const auto& spec = std::get<graph::co_process_spec>(node.spec);
  if (node.input_types.size() != 2)
    return error(errc::invalid_graph, "function of two inputs without these: " + node.name);
  if (spec.key_columns.empty()) {
    HEADRACE_TRY(auto function, make_function<graph::co_function>(context, spec.function));
    return std::unique_ptr<stream_operator>(
        std::make_unique<co_function_operator>(node, context, std::move(function)));
  }
  HEADRACE_TRY(auto function, make_function<graph::keyed_co_function>(context, spec.function));
  return std::unique_ptr<stream_operator>(
      std::make_unique<keyed_co_function_operator>(node, context, std::move(function)));
}

} // namespace headrace::task
