#include "libtask/operator/join/join_sides.hpp"

#include <limits>
#include <memory>
#include <utility>

namespace headrace::task {

state::key_schema join_key_schema(const graph::join_spec& spec, const graph::operator_node& node) {
  std::vector<graph::logical_type::field> fields;
  for (const auto column : spec.left.key_columns) {
    auto field = node.input_types[0].fields()[static_cast<std::size_t>(column)];
    field.type = field.type.nullable();
    fields.push_back(std::move(field));
  }
  return state::key_schema(std::make_shared<const graph::logical_type>(
      graph::logical_type::row(std::move(fields)).not_null()));
}

void find_matchable(const graph::record_batch& rows, const std::vector<std::int32_t>& key_columns,
                    const std::vector<std::uint8_t>& null_safe, std::vector<std::uint32_t>& lookups,
                    std::vector<std::uint32_t>& places) {
  lookups.clear();
  places.assign(rows.size(), std::numeric_limits<std::uint32_t>::max());
  std::vector<const graph::column*> strict;
  for (std::size_t k = 0; k < key_columns.size(); ++k) {
    const auto& keys = rows.at(static_cast<std::size_t>(key_columns[k]));
    if (null_safe[k] == 0 && keys.has_nulls())
      strict.push_back(&keys);
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto row = rows.row_at(i);
    bool may_match = true;
    for (const auto* each : strict)
      may_match = may_match && !each->is_null(row);
    if (!may_match)
      continue;
    places[i] = static_cast<std::uint32_t>(lookups.size());
    lookups.push_back(row);
  }
}

} // namespace headrace::task
