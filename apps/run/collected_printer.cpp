#include "apps/run/collected_printer.hpp"

#include "libgraph/data/batch_codec.hpp"
#include "libgraph/data/row_format.hpp"
#include "libgraph/data/row_view.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

namespace headrace::run {

namespace {
constexpr int rounds_max = 64;

status cannot_write() {
  return error(errc::output_failed, "collected rows cannot be written to standard output: " +
                                        std::string(std::strerror(errno)));
}
} // namespace

collected_printer::collected_printer(scheduler::job_client& client, const graph::job_graph& job)
    : client_(client), job_(job.id) {
  for (const auto& vertex : job.vertices)
    for (const auto& node : vertex.operators)
      if (const auto* spec = std::get_if<graph::sink_spec>(&node.spec);
          spec != nullptr && spec->connector.name == "collect")
        sinks_.push_back({node.id,
                          std::make_shared<const graph::logical_type>(node.input_types.front()), 0,
                          false});
}

status collected_printer::print(sink& from) {
  HEADRACE_TRY(const auto got, client_.fetch(job_, from.id, from.offset));
  from.offset = got.next_offset;
  from.done = got.is_last;
  for (const auto& bytes : got.batches) {
    HEADRACE_TRY(const auto rows, graph::decode_batch(from.type, bytes));
    std::string text;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      graph::format_row(graph::row_view(rows, i), text);
      text += '\n';
    }
    if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size())
      return cannot_write();
  }
  return std::fflush(stdout) == 0 ? status() : cannot_write();
}

status collected_printer::print_new() {
  for (auto& each : sinks_) {
    // Until there is nothing new; in bounds, so that a fast job's state is looked at, too.
    auto before = each.offset;
    for (int round = 0; round < rounds_max && !each.done; ++round) {
      HEADRACE_CHECK(print(each));
      if (std::exchange(before, each.offset) == each.offset)
        break;
    }
  }
  return {};
}

status collected_printer::print_rest() {
  for (auto& each : sinks_)
    while (!each.done)
      HEADRACE_CHECK(print(each));
  return {};
}

} // namespace headrace::run
