#include "test/libtask/operator/window/testing_windows.hpp"

#include <algorithm>
#include <utility>
#include <variant>

namespace headrace::testing {
namespace {

chain_harness::options with_backend(const std::string& backend) {
  chain_harness::options how;
  how.backend = backend;
  return how;
}

} // namespace

graph::job_vertex vertex_of_stream(const api::stream_base& out) {
  auto& program = out.environment().program();
  const auto& node = program.at(out.index());
  const auto& call = std::get<graph::operator_call>(node.call);
  auto vertex = vertex_of(call.spec, program.at(node.inputs.at(0)).output_type, node.output_type);
  if (node.inputs.size() == 2) {
    vertex.operators[0].input_types.push_back(program.at(node.inputs[1]).output_type);
    vertex.inputs = {{{7, 1}, 0}, {{7, 2}, 1}};
  }
  vertex.operators[0].side_types = call.side_types;
  vertex.outputs.push_back({{1, 1}, 0, -1, {}, {}});
  for (std::size_t side = 0; side < call.side_types.size(); ++side)
    vertex.outputs.push_back({{1, 2 + side}, 0, static_cast<std::int32_t>(side), {}, {}});
  return vertex;
}

window_run::window_run(const api::stream<counted>& out, const std::string& backend)
    : harness_(vertex_of_stream(out), out.environment().program().functions,
               with_backend(backend)) {
  harness_.open();
}

window_run& window_run::row(const std::string& word, std::int64_t n, std::int64_t time_ms,
                            std::int32_t input) {
  harness_.push(input, timed_words({{word, n}}, {time_ms}));
  return *this;
}

window_run& window_run::row(const std::string& word, std::int64_t n) {
  harness_.push(words({{word, n}}));
  return *this;
}

window_run& window_run::watermark(std::int64_t time_ms) {
  harness_.watermark(time_ms);
  return *this;
}

window_run& window_run::clock(std::int64_t by_ms) {
  harness_.time.advance_ms(by_ms);
  harness_.chain->fire_processing_time(harness_.time.wall_ms());
  harness_.drain();
  return *this;
}

std::vector<std::string> window_run::take(std::size_t result) {
  std::vector<std::string> out;
  for (const auto& batch : harness_.take_batches(result)) {
    const auto rows = words_of(batch);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      out.push_back(rows[i].first + "=" + std::to_string(rows[i].second));
      const auto* times = batch.timestamps();
      if (times != nullptr && times[batch.row_at(i)] != api::no_timestamp)
        out.back() += "@" + std::to_string(times[batch.row_at(i)]);
    }
  }
  return out;
}

std::vector<std::string> window_run::take_sorted(std::size_t result) {
  auto out = take(result);
  std::sort(out.begin(), out.end());
  return out;
}

} // namespace headrace::testing
