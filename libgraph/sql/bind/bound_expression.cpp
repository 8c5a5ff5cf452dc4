#include "libgraph/sql/bind/bound_expression.hpp"

#include "libgraph/sql/parse/lexer.hpp"

namespace headrace::sql {
namespace {

template <class Expression, class See>
void visit_all(Expression& in, const See& see) {
  if (auto* column = std::get_if<bound_column>(&in.node)) {
    see(*column);
  } else if (auto* field = std::get_if<bound_field>(&in.node)) {
    visit_all(*field->row, see);
  } else if (auto* call = std::get_if<bound_call>(&in.node)) {
    for_each_child(*call, [&](auto& each) { visit_all(each, see); });
  }
}

} // namespace

void visit_columns(bound_expression& in, const std::function<void(bound_column&)>& see) {
  visit_all(in, see);
}
void visit_columns(const bound_expression& in,
                   const std::function<void(const bound_column&)>& see) {
  visit_all(in, see);
}

void replace_columns(
    bound_expression& in,
    const std::function<std::optional<bound_expression>(const bound_column&)>& find) {
  if (const auto* column = std::get_if<bound_column>(&in.node)) {
    if (auto made = find(*column))
      in = std::move(*made);
  } else if (auto* field = std::get_if<bound_field>(&in.node)) {
    replace_columns(*field->row, find);
  } else if (auto* call = std::get_if<bound_call>(&in.node)) {
    for_each_child(*call, [&](bound_expression& each) { replace_columns(each, find); });
  }
}

std::string to_string(const bound_expression& from) { return to_string(from, {}); }

std::string to_string(const bound_expression& from, std::span<const std::string> names) {
  std::string out;
  if (const auto* constant = std::get_if<bound_constant>(&from.node)) {
    out = !constant->text                  ? "NULL"
          : is_character(from.type.root()) ? quote(*constant->text, '\'')
                                           : *constant->text;
    return out;
  }
  if (const auto* column = std::get_if<bound_column>(&from.node))
    return column->index < names.size() ? names[column->index]
                                        : "$" + std::to_string(column->index);
  if (const auto* field = std::get_if<bound_field>(&from.node))
    return to_string(*field->row, names) + "." +
           (names.empty() ? std::to_string(field->index)
                          : field->row->type.fields()[field->index].name);
  const auto& call = std::get<bound_call>(from.node);
  out = call.function + (call.is_distinct ? "(DISTINCT " : "(");
  for (std::size_t i = 0; i < call.arguments.size(); ++i)
    out += (i > 0 ? ", " : "") + to_string(call.arguments[i], names);
  out += ")";
  if (call.filter)
    out += " FILTER " + to_string(**call.filter, names);
  if (call.over)
    out += " OVER";
  if (call.function == "CAST" || call.function == "TRY_CAST")
    out += ":" + from.type.to_sql();
  return out;
}

} // namespace headrace::sql
