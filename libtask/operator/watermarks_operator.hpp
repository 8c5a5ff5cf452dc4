#pragma once

#include "libtask/operator/event_time.hpp"
#include "libtask/operator/stream_operator.hpp"

#include <memory>

namespace headrace::task {

/// Gives rows event time and makes watermarks of it, in the middle of a stream. Watermarks that
/// come in are not forwarded, but the last one, which ends event time. See stream_operator.
class watermarks_operator final : public stream_operator {
public:
  watermarks_operator(const graph::watermark_spec& spec, const operator_context& context,
                      std::unique_ptr<graph::timestamp_assigner> assigner,
                      generator_factory generators);
  status open(const operator_states& states) override;
  status add(std::int32_t input, const graph::record_batch& rows) override;
  status advance(graph::watermark mark) override;
  status change_status(graph::watermark_status state) override;
  bool forwards_watermarks() const override { return false; }
  bool begins_event_time() const override { return true; }
  result<drain_result> drain(operator_output& out, const drain_budget& budget) override;
  std::optional<std::int64_t> next_processing_time_ms() override;
  status on_processing_time(std::int64_t now_ms) override;

private:
  operator_context context_;
  event_time_stamper stamper_;
  split_watermarks watermarks_;
  graph::record_batch taken_;
  bool ended_ = false;
  bool end_given_ = false;
};

result<std::unique_ptr<stream_operator>> make_watermarks_operator(const graph::operator_node&,
                                                                  const operator_context&);

} // namespace headrace::task
