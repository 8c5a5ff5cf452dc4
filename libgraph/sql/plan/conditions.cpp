#include "libgraph/sql/plan/conditions.hpp"

#include <algorithm>
#include <utility>

namespace headrace::sql {

conditions conjuncts(bound_expression of) {
  auto* call = std::get_if<bound_call>(&of.node);
  if (call != nullptr && call->function == "AND") {
    conditions out;
    for (auto& each : call->arguments)
      for (auto& part : conjuncts(std::move(each)))
        out.push_back(std::move(part));
    return out;
  }
  conditions out;
  out.push_back(std::move(of));
  return out;
}

std::optional<bound_expression> all_of(conditions parts) {
  if (parts.empty())
    return std::nullopt;
  if (parts.size() == 1)
    return std::move(parts[0]);
  const bool is_nullable = std::any_of(parts.begin(), parts.end(),
                                       [](const auto& each) { return each.type.is_nullable(); });
  const auto at = parts[0].at;
  bound_call out;
  out.function = "AND";
  out.arguments = std::move(parts);
  return bound_expression{
      std::move(out), is_nullable ? logical_type::boolean() : logical_type::boolean().not_null(),
      at};
}

bool is_within(const bound_expression& in, std::size_t begin, std::size_t end) {
  bool out = true;
  visit_columns(
      in, [&](const bound_column& column) { out &= column.index >= begin && column.index < end; });
  return out;
}

void retype_columns(bound_expression& in, std::span<const plan_column> columns) {
  if (const auto* column = std::get_if<bound_column>(&in.node)) {
    in.type = columns[column->index].type;
  } else if (auto* field = std::get_if<bound_field>(&in.node)) {
    retype_columns(*field->row, columns);
  } else if (auto* call = std::get_if<bound_call>(&in.node)) {
    for (auto& each : call->arguments)
      retype_columns(each, columns);
  }
}

} // namespace headrace::sql
