#include "libgraph/data/decode_rows.hpp"

#include "libgraph/data/batch_builder.hpp"
#include "libgraph/data/key_codec.hpp"

#include <vector>

namespace headrace::graph {

status decode_rows(std::span<const byte_view> rows, std::size_t width, batch_builder& to) {
  std::vector<column_builder*> columns;
  columns.reserve(width);
  for (std::size_t i = 0; i < width; ++i)
    columns.push_back(&to.column(i));
  return decode_keys(rows, columns);
}

} // namespace headrace::graph
