#include "libgraph/sql/optimize/optimizer.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <string>

namespace headrace::sql {
namespace {

/// The column that a field, or a field of a field, is taken from; nothing for other expressions.
const bound_column* root_of(const bound_expression& in) {
  const auto* at = &in;
  while (const auto* field = std::get_if<bound_field>(&at->node))
    at = &*field->row;
  return at == &in ? nullptr : std::get_if<bound_column>(&at->node);
}

/// Calls `see` for each field of a column, and `see_whole` for each column that is used itself.
/// What is seen may be replaced.
void visit_fields(bound_expression& in, const std::function<void(bound_expression&)>& see,
                  const std::function<void(bound_expression&)>& see_whole) {
  if (std::holds_alternative<bound_column>(in.node))
    return see_whole(in);
  if (root_of(in) != nullptr)
    return see(in);
  if (auto* field = std::get_if<bound_field>(&in.node))
    return visit_fields(*field->row, see, see_whole);
  if (auto* call = std::get_if<bound_call>(&in.node))
    for (auto& each : call->arguments)
      visit_fields(each, see, see_whole);
}

void visit_calc(calc_node& in, const std::function<void(bound_expression&)>& see,
                const std::function<void(bound_expression&)>& see_whole) {
  for (auto& each : in.items)
    visit_fields(each, see, see_whole);
  if (in.condition)
    visit_fields(*in.condition, see, see_whole);
}

/// "bid.price".
std::string name_of(const bound_expression& in, const std::vector<plan_column>& columns) {
  if (const auto* column = std::get_if<bound_column>(&in.node))
    return columns[column->index].name;
  const auto& field = std::get<bound_field>(in.node);
  return name_of(*field.row, columns) + "." + field.row->type.fields()[field.index].name;
}

/// Puts a column for each item, which is over the calc's columns, behind those of a calc.
void append_columns(plan_node& plan, std::vector<bound_expression> items,
                    const std::vector<std::string>& names) {
  auto& calc = std::get<calc_node>(plan.node);
  const auto below = calc.items;
  const std::function<void(bound_expression&)> move_down = [&](bound_expression& in) {
    if (auto* field = std::get_if<bound_field>(&in.node))
      return move_down(*field->row);
    in = below[std::get<bound_column>(in.node).index];
  };
  for (std::size_t i = 0; i < items.size(); ++i) {
    plan.columns.push_back({names[i], items[i].type, time_kind::none, std::nullopt});
    move_down(items[i]);
    calc.items.push_back(std::move(items[i]));
  }
}

/// What of a value is read.
struct demand {
  bool is_whole = false;
  std::map<std::size_t, demand> fields;
};

demand& demand_of(const bound_expression& in, std::vector<demand>& columns) {
  if (const auto* column = std::get_if<bound_column>(&in.node))
    return columns[column->index];
  const auto& field = std::get<bound_field>(in.node);
  return demand_of(*field.row, columns).fields[field.index];
}

logical_type narrowed(const logical_type& type, const demand& wanted) {
  if (wanted.is_whole || wanted.fields.empty())
    return type;
  std::vector<logical_type::field> kept;
  for (const auto& [index, inner] : wanted.fields) {
    auto field = type.fields()[index];
    field.type = narrowed(field.type, inner);
    kept.push_back(std::move(field));
  }
  auto out = logical_type::row(std::move(kept));
  return type.is_nullable() ? out : out.not_null();
}

/// Lets an expression of a column's fields count what is left of them.
const demand& settle(bound_expression& in, const std::vector<demand>& columns) {
  if (const auto* column = std::get_if<bound_column>(&in.node)) {
    const auto& wanted = columns[column->index];
    in.type = narrowed(in.type, wanted);
    return wanted;
  }
  auto& field = std::get<bound_field>(in.node);
  const auto& row = settle(*field.row, columns);
  if (row.is_whole)
    return row;
  const auto found = row.fields.find(field.index);
  field.index = static_cast<std::size_t>(std::distance(row.fields.begin(), found));
  in.type = narrowed(in.type, found->second);
  return found->second;
}

} // namespace

void narrow_scan(plan_node& scan, const std::vector<calc_node*>& users) {
  if (keeps_malformed(std::get<scan_node>(scan.node)))
    return;
  std::vector<demand> columns(scan.columns.size());
  for (auto* user : users)
    visit_calc(
        *user, [&](bound_expression& field) { demand_of(field, columns).is_whole = true; },
        [&](bound_expression& column) {
          columns[std::get<bound_column>(column.node).index].is_whole = true;
        });
  bool is_narrower = false;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const auto type = narrowed(scan.columns[i].type, columns[i]);
    is_narrower |= !(type == scan.columns[i].type);
    scan.columns[i].type = type;
  }
  if (!is_narrower)
    return;
  for (auto* user : users)
    visit_calc(
        *user, [&](bound_expression& field) { settle(field, columns); }, [](bound_expression&) {});
}

plan_node push_fields(plan_node plan) {
  for (auto& each : plan.inputs)
    each = push_fields(std::move(each));
  auto* calc = std::get_if<calc_node>(&plan.node);
  // A scan right below makes its own watermarks, by its splits: nothing comes between.
  if (calc == nullptr || !std::holds_alternative<watermark_node>(plan.inputs[0].node) ||
      !std::holds_alternative<calc_node>(plan.inputs[0].inputs[0].node))
    return plan;
  auto& marks = plan.inputs[0];
  std::vector<bool> is_whole(marks.columns.size(), false);
  visit_calc(
      *calc, [](bound_expression&) {},
      [&](bound_expression& column) {
        is_whole[std::get<bound_column>(column.node).index] = true;
      });
  std::vector<bound_expression> items;
  std::vector<std::string> names;
  visit_calc(
      *calc,
      [&](bound_expression& field) {
        if (is_whole[root_of(field)->index])
          return;
        const auto name = name_of(field, marks.columns);
        const auto text = to_string(field);
        auto known = std::find_if(items.begin(), items.end(),
                                  [&](const auto& each) { return to_string(each) == text; });
        if (known == items.end()) {
          items.push_back(field);
          names.push_back(name);
          known = items.end() - 1;
        }
        const auto place = static_cast<std::size_t>(known - items.begin());
        field.node = bound_column{marks.columns.size() + place};
      },
      [](bound_expression&) {});
  if (items.empty())
    return plan;
  append_columns(marks.inputs[0], items, names);
  const auto first = marks.columns.size();
  for (std::size_t i = 0; i < items.size(); ++i)
    marks.columns.push_back(marks.inputs[0].columns[first + i]);
  return plan;
}

plan_node narrow_rows(plan_node plan) {
  for (auto& each : plan.inputs)
    each = narrow_rows(std::move(each));
  if (auto* calc = std::get_if<calc_node>(&plan.node);
      calc != nullptr && std::holds_alternative<scan_node>(plan.inputs[0].node))
    narrow_scan(plan.inputs[0], {calc});
  return plan;
}

} // namespace headrace::sql
