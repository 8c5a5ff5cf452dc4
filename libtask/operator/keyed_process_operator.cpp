#include "libtask/operator/keyed_process_operator.hpp"

#include <utility>

namespace headrace::task {

keyed_process_operator::keyed_process_operator(
    const graph::operator_node& node, const operator_context& context,
    std::unique_ptr<graph::keyed_process_function> function)
    : context_(context), key_columns_(std::get<graph::keyed_process_spec>(node.spec).key_columns),
      rows_(state::key_schema(node.input_types.at(0), key_columns_), context),
      function_(std::move(function)), outputs_(node, context.memory) {}

status keyed_process_operator::open(const operator_states& states) {
  HEADRACE_CHECK(rows_.open(*states.keyed));
  function_->open(context_.for_function(states.keyed, states.raw, states.plain));
  return {};
}

status keyed_process_operator::add(std::int32_t /*input*/, const graph::record_batch& rows) {
  taken_ = rows;
  at_ = 0;
  rows_.take(rows, key_columns_);
  return {};
}

status keyed_process_operator::advance(graph::watermark mark) {
  rows_.advance(mark);
  return {};
}

std::optional<std::int64_t> keyed_process_operator::next_processing_time_ms() {
  return rows_.next_processing_time_ms();
}

status keyed_process_operator::on_processing_time(std::int64_t now_ms) {
  rows_.on_processing_time(now_ms);
  return {};
}

result<drain_result> keyed_process_operator::drain(operator_output& out,
                                                   const drain_budget& budget) {
  auto into = outputs_.bounded(budget);
  bool done = true;
  if (at_ < taken_.size()) {
    at_ = function_->process(taken_, at_, rows_, into);
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

result<std::unique_ptr<stream_operator>>
make_keyed_process_operator(const graph::operator_node& node, const operator_context& context) {
  const auto& spec = std::get<graph::keyed_process_spec>(node.spec);
  if (node.input_types.empty() || spec.key_columns.empty())
    return error(errc::invalid_graph, "keyed function without key: " + node.name);
  HEADRACE_TRY(auto function, make_function<graph::keyed_process_function>(context, spec.function));
  return std::unique_ptr<stream_operator>(
      std::make_unique<keyed_process_operator>(node, context, std::move(function)));
}

} // namespace headrace::task
