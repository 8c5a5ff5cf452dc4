#include "libgraph/spec/match_types.hpp"

#include <string>
#include <utility>

namespace headrace::graph {

logical_type match_row_type(const match_spec& spec, const logical_type& input) {
  auto fields = input.fields();
  for (const auto& each : spec.values)
    fields.push_back({"$v" + std::to_string(fields.size()), each.type, {}});
  return logical_type::row(std::move(fields)).not_null();
}

logical_type argument_row_type(const pattern_value& value) {
  std::vector<logical_type::field> fields;
  for (const auto& each : value.arguments)
    fields.push_back({"$a" + std::to_string(fields.size()), each.type(), {}});
  return logical_type::row(std::move(fields)).not_null();
}

group_aggregate_call aggregate_call_of(const pattern_value& value) {
  group_aggregate_call out;
  out.function = value.function;
  for (std::size_t i = 0; i < value.arguments.size(); ++i)
    out.arguments.push_back(static_cast<std::int32_t>(i));
  return out;
}

} // namespace headrace::graph
