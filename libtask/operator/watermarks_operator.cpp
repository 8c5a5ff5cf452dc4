#include "libtask/operator/watermarks_operator.hpp"

#include <utility>

namespace headrace::task {

namespace {
const std::string whole_stream = "stream"; // one split stands for all rows
}

watermarks_operator::watermarks_operator(const graph::watermark_spec& spec,
                                         const operator_context& context,
                                         std::unique_ptr<graph::timestamp_assigner> assigner,
                                         generator_factory generators)
    : context_(context), stamper_(spec, std::move(assigner), context.memory),
      watermarks_(spec, std::move(generators)) {}

status watermarks_operator::open(const operator_states& /*states*/) {
  watermarks_.add(whole_stream, context_.time.now_us());
  return {};
}

status watermarks_operator::add(std::int32_t /*input*/, const graph::record_batch& rows) {
  HEADRACE_TRY(taken_, stamper_.stamp(rows));
  return {};
}

status watermarks_operator::advance(graph::watermark mark) {
  ended_ = ended_ || mark.time_ms == graph::watermark::end;
  return {};
}

status watermarks_operator::change_status(graph::watermark_status state) {
  // While the input is idle for its own reasons, this stream's clock need not find out.
  watermarks_.set_running(!state.idle, context_.time.now_us());
  return {};
}

result<drain_result> watermarks_operator::drain(operator_output& out,
                                                const drain_budget& /*budget*/) {
  const auto now_us = context_.time.now_us();
  const auto settle = [&] {
    const auto change = watermarks_.settle(now_us);
    if (change.status && !change.status->idle)
      out.emit(*change.status);
    if (change.advanced)
      out.emit(*change.advanced);
    if (change.status && change.status->idle)
      out.emit(*change.status);
  };
  if (!taken_.is_empty()) {
    watermarks_.pass(
        whole_stream, taken_, now_us, [&](graph::record_batch rows) { out.emit(std::move(rows)); },
        settle);
    taken_ = {};
  }
  settle();
  if (ended_ && !std::exchange(end_given_, true))
    out.emit(graph::watermark{graph::watermark::end});
  return drain_result::done;
}

std::optional<std::int64_t> watermarks_operator::next_processing_time_ms() {
  if (ended_)
    return std::nullopt;
  const auto in_us = watermarks_.due_in_us(context_.time.now_us());
  if (!in_us)
    return std::nullopt;
  return context_.time.wall_ms() + (*in_us + 999) / 1000;
}

status watermarks_operator::on_processing_time(std::int64_t /*now_ms*/) { return {}; }

result<std::unique_ptr<stream_operator>> make_watermarks_operator(const graph::operator_node& node,
                                                                  const operator_context& context) {
  const auto& spec = std::get<graph::watermarks_spec>(node.spec).watermarks;
  std::unique_ptr<graph::timestamp_assigner> assigner;
  if (!spec.assigner.is_none()) {
    HEADRACE_TRY(assigner, make_function<graph::timestamp_assigner>(context, spec.assigner));
  }
  HEADRACE_TRY(auto generators, make_generator_factory(spec, context));
  return std::unique_ptr<stream_operator>(std::make_unique<watermarks_operator>(
      spec, context, std::move(assigner), std::move(generators)));
}

} // namespace headrace::task
