#include "libtask/operator/calc_operator.hpp"

#include "libgraph/expression/program.hpp"

#include <utility>

namespace headrace::task {
namespace {

class calc_operator final : public stream_operator {
public:
  calc_operator(const graph::operator_node& node, const operator_context& context,
                graph::expression_program program)
      : time_(context.time), program_(std::move(program)),
        type_(std::make_shared<const graph::logical_type>(node.output_type)) {}

  status add(std::int32_t /*input*/, const graph::record_batch& rows) override {
    HEADRACE_TRY(computed_, program_.run(rows, type_, {time_.wall_ms(), watermark_ms_}));
    return {};
  }

  status advance(graph::watermark mark) override {
    watermark_ms_ = mark.time_ms;
    return {};
  }

  result<drain_result> drain(operator_output& out, const drain_budget& /*budget*/) override {
    if (!computed_.is_empty())
      out.emit(std::exchange(computed_, {}));
    return drain_result::done;
  }

private:
  const headrace::clock& time_;
  graph::expression_program program_;
  graph::row_type_ptr type_;
  graph::record_batch computed_;
  std::int64_t watermark_ms_ = graph::watermark::none;
};

} // namespace

result<std::unique_ptr<stream_operator>> make_calc_operator(const graph::operator_node& node,
                                                            const operator_context& context) {
  const auto& spec = std::get<graph::calc_spec>(node.spec);
  HEADRACE_TRY(auto program, graph::expression_program::compile(
                                 node.input_types.front(), spec.condition, spec.outputs,
                                 {spec.time_zone, context.memory, random_seed(context)}));
  return std::unique_ptr<stream_operator>(
      std::make_unique<calc_operator>(node, context, std::move(program)));
}

} // namespace headrace::task
