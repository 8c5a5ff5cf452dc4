#include "libtask/connector/registration.hpp"

#include "libtask/connector/collection_source.hpp"
#include "libtask/connector/file/file_sink.hpp"
#include "libtask/connector/file/file_source.hpp"
#include "libtask/connector/generator/datagen_source.hpp"
#include "libtask/connector/nexmark/nexmark_settings.hpp"
#include "libtask/connector/nexmark/nexmark_source.hpp"
#include "libtask/format/changelog_json_format.hpp"
#include "libtask/format/csv_format.hpp"
#include "libtask/format/csv_options.hpp"
#include "libtask/format/json_format.hpp"
#include "libtask/format/json_options.hpp"
#include "libtask/format/lines_format.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <span>
#include <utility>

namespace headrace::task {
namespace {

/// Whole pieces, so that lines of several subtasks do not mix.
print_target to_stream(std::FILE* stream, const char* name) {
  return [stream, name](std::string_view lines) -> status {
    errno = 0;
    if (std::fwrite(lines.data(), 1, lines.size(), stream) == lines.size() &&
        std::fflush(stream) == 0)
      return {};
    const std::string why = std::strerror(errno);
    return error(errc::output_unusable, "sink 'print' cannot write to " + std::string(name) + ": " +
                                            why + "; a job that prints wants it open, and taking " +
                                            "all rows");
  };
}

std::vector<option_declaration> listed(std::span<const option_declaration> declared) {
  return {declared.begin(), declared.end()};
}

graph::connector_registry::source_factory datagen_factory(double rows_per_second) {
  return [rows_per_second](const graph::connector_registry&, const graph::option_map& options,
                           graph::row_type_ptr type) {
    return make_datagen_source(options, std::move(type), rows_per_second);
  };
}

} // namespace

void register_connectors(graph::connector_registry& registry, sink_targets targets) {
  registry.add_format("changelog-json", make_changelog_json_format);
  registry.add_format("csv", make_csv_format);
  registry.add_format("json", make_json_format);
  registry.add_format("lines", make_lines_format);
  registry.add_format("raw", make_lines_format);

  for (const auto* name : {"file", "filesystem"}) {
    registry.add_source(name, make_file_source);
    registry.add_sink(name, make_file_sink);
  }
  registry.add_source("collection", [](const graph::connector_registry& all,
                                       const graph::option_map& options, graph::row_type_ptr type) {
    return make_collection_source(all, options, std::move(type));
  });
  registry.add_source("generator", datagen_factory(0));
  registry.add_source("datagen", datagen_factory(10'000));
  registry.add_source("nexmark", make_nexmark_source);

  if (!targets.print)
    targets.print = to_stream(stdout, "standard output");
  if (!targets.print_error)
    targets.print_error = to_stream(stderr, "standard error");
  registry.add_sink("print",
                    make_print_factory(std::move(targets.print), std::move(targets.print_error)));
  registry.add_sink("blackhole", make_blackhole_sink);
}

std::vector<graph::connector_description> describe_connectors() {
  const std::vector<option_declaration> none;
  const auto file = file_source_options();
  const auto json = listed(json_options::declared());
  return {
      {"blackhole", {}, none, {}},
      {"changelog-json", {}, {}, json},
      {"collection", none, {}, {}},
      {"csv", {}, {}, listed(csv_options::declared())},
      {"datagen", datagen_options(), {}, {}},
      {"file", file, file_sink_options(), {}},
      {"filesystem", file, file_sink_options(), {}},
      {"generator", datagen_options(), {}, {}},
      {"json", {}, {}, json},
      {"lines", {}, {}, none},
      {"nexmark", listed(nexmark_settings::declared()), {}, {}},
      {"print", {}, print_sink_options(), {}},
      {"raw", {}, {}, none},
  };
}

} // namespace headrace::task
