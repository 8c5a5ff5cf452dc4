#include "libgraph/sql/bind/bound_expression.hpp"

#include "libgraph/sql/parse/lexer.hpp"

namespace headrace::sql {

std::string to_string(const bound_expression& from) {
  std::string out;
  if (const auto* constant = std::get_if<bound_constant>(&from.node)) {
    out = !constant->text                  ? "NULL"
          : is_character(from.type.root()) ? quote(*constant->text, '\'')
                                           : *constant->text;
    return out;
  }
  if (const auto* column = std::get_if<bound_column>(&from.node))
    return "$" + std::to_string(column->index);
  if (const auto* field = std::get_if<bound_field>(&from.node))
    return to_string(*field->row) + "." + std::to_string(field->index);
  const auto& call = std::get<bound_call>(from.node);
  out = call.function + (call.is_distinct ? "(DISTINCT " : "(");
  for (std::size_t i = 0; i < call.arguments.size(); ++i)
    out += (i > 0 ? ", " : "") + to_string(call.arguments[i]);
  out += ")";
  if (call.function == "CAST" || call.function == "TRY_CAST")
    out += ":" + from.type.to_sql();
  return out;
}

} // namespace headrace::sql
