#include "apps/client/collected_rows.hpp"

#include "libgraph/data/batch_codec.hpp"
#include "libgraph/data/row_format.hpp"
#include "libgraph/data/row_view.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

namespace headrace::client {
namespace {

constexpr int rounds_max = 64;

} // namespace

status print_to_standard_output(std::string_view text) {
  errno = 0;
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0)
    return {};
  return error(errc::output_unusable,
               "cannot write to standard output: " + std::string(std::strerror(errno)));
}

collected_rows::collected_rows(const graph::job_graph& job, taker take)
    : job_(job.id), take_(std::move(take)) {
  for (const auto& vertex : job.vertices)
    for (const auto& node : vertex.operators)
      if (const auto* spec = std::get_if<graph::sink_spec>(&node.spec);
          spec != nullptr && spec->connector.name == "collect")
        sinks_.push_back({node.id,
                          std::make_shared<const graph::logical_type>(node.input_types.front()), 0,
                          false});
}

collected_rows::taker collected_rows::lines_to(printer print) {
  return [print = std::move(print)](const graph::record_batch& rows) -> status {
    std::string text;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      graph::format_row(graph::row_view(rows, i), text);
      text += '\n';
    }
    return text.empty() ? status() : print(text);
  };
}

status collected_rows::fetch(scheduler::job_client& from, sink& of) {
  HEADRACE_TRY(const auto got, from.fetch(job_, of.id, of.offset));
  of.offset = got.next_offset;
  of.done = got.is_last;
  for (const auto& bytes : got.batches) {
    HEADRACE_TRY(const auto rows, graph::decode_batch(of.type, bytes));
    HEADRACE_CHECK(take_(rows));
  }
  return {};
}

status collected_rows::take_new(scheduler::job_client& from) {
  for (auto& each : sinks_) {
    // Until there is nothing new; in bounds, so that a fast job's state is looked at, too.
    auto before = each.offset;
    for (int round = 0; round < rounds_max && !each.done; ++round) {
      HEADRACE_CHECK(fetch(from, each));
      if (std::exchange(before, each.offset) == each.offset)
        break;
    }
  }
  return sinks_.empty() ? status() : take_({});
}

status collected_rows::take_rest(scheduler::job_client& from) {
  for (auto& each : sinks_)
    while (!each.done)
      HEADRACE_CHECK(fetch(from, each));
  return {};
}

} // namespace headrace::client
