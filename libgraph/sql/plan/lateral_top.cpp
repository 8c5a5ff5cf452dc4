#include "libgraph/sql/plan/lateral_top.hpp"

#include "libgraph/sql/plan/sub_query_parts.hpp"
#include "libgraph/types/value_text.hpp"

#include <algorithm>
#include <cstdint>

namespace headrace::sql {
namespace {

query without_order(const query& from) {
  auto out = from;
  out.order_by.clear();
  out.limit.reset();
  out.offset.reset();
  return out;
}

/// ORDER BY may name an item, or number it.
expression order_value(const expression& from, const std::vector<select_item>& items) {
  if (const auto* number = std::get_if<literal>(&from.node);
      number != nullptr && number->kind == literal_kind::integer) {
    const auto place = graph::parse_integer<std::int64_t>(number->text).value_or(0);
    if (place >= 1 && static_cast<std::size_t>(place) <= items.size())
      return items[static_cast<std::size_t>(place) - 1].value;
  }
  if (const auto* column = std::get_if<column_reference>(&from.node);
      column != nullptr && column->path.parts.size() == 1)
    for (const auto& each : items)
      if (each.alias && each.alias->text == column->path.parts[0].text)
        return each.value;
  return from;
}

} // namespace

bool is_top(const query& from) {
  const auto all = without_order(from);
  return from.limit.has_value() && is_plain(all) && !is_aggregate_row(all) &&
         !std::get<select>(all.body).is_distinct;
}

query with_order_behind(const query& from) {
  auto out = without_order(from);
  auto& items = std::get<select>(out.body).items;
  const auto named = items;
  for (const auto& each : from.order_by)
    items.push_back({order_value(each.value, named), std::nullopt});
  return out;
}

std::optional<std::vector<bound_expression>>
find_tied(const std::vector<bound_expression>& correlations) {
  std::vector<bound_expression> out;
  for (const auto& each : correlations) {
    const auto* equal = std::get_if<bound_call>(&each.node);
    if (equal == nullptr || equal->function != "=")
      return std::nullopt;
    const auto& sides = equal->arguments;
    const std::size_t own = names_outer(sides[0]) ? 1 : 0;
    if (names_outer(sides[own]) || !names_own(sides[own]) || names_own(sides[1 - own]))
      return std::nullopt;
    out.push_back(sides[own]);
  }
  return out;
}

} // namespace headrace::sql
