#include "libtask/connector/inserts_only.hpp"

#include "libgraph/data/row_format.hpp"

#include <string>

namespace headrace::task {

status check_inserts_only(const graph::record_batch& rows, std::string_view sink) {
  if (rows.kinds() == nullptr)
    return {};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto kind = rows.kinds()[rows.row_at(i)];
    if (kind != graph::row_kind::insert) {
      std::string found;
      graph::format_kind(kind, found);
      return error(errc::output_unusable,
                   std::string(sink) + " takes inserts only, found " + found +
                       "; write results that do not change, or to a sink that takes updates");
    }
  }
  return {};
}

} // namespace headrace::task
