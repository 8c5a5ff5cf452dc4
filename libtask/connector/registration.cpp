#include "libtask/connector/registration.hpp"

#include "libtask/connector/file/file_source.hpp"
#include "libtask/format/csv_format.hpp"
#include "libtask/format/json_format.hpp"
#include "libtask/format/lines_format.hpp"

namespace headrace::task {

void register_connectors(graph::connector_registry& registry) {
  registry.add_format("csv", make_csv_format);
  registry.add_format("json", make_json_format);
  registry.add_format("lines", make_lines_format);
  registry.add_format("raw", make_lines_format);
  for (const auto* name : {"file", "filesystem"})
    registry.add_source(name, make_file_source);
}

} // namespace headrace::task
