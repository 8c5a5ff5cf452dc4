#include "libgraph/expression/expression.hpp"

#include "libgraph/data/batch_builder.hpp"
#include "libgraph/data/batch_codec.hpp"
#include "libgraph/data/row_format.hpp"

#include <algorithm>

namespace headrace::graph {
namespace {

row_type_ptr type_of_one(const logical_type& type) {
  return std::make_shared<const logical_type>(logical_type::row({{"value", type, {}}}));
}

error invalid(const std::string& what) {
  return {errc::invalid_graph, "malformed expression: " + what};
}

void print(const expression& from, std::uint32_t at, std::string& out) {
  const auto& node = from.nodes[at];
  if (const auto* column = std::get_if<input_column>(&node.form)) {
    out += "$" + std::to_string(column->index);
    return;
  }
  if (const auto* constant = std::get_if<constant_value>(&node.form)) {
    const bool is_text = node.type.physical() == physical_type::string &&
                         !constant->value->is_null(0) && node.type.root() < type_root::binary;
    out += is_text ? "'" : "";
    format_value(*constant->value, 0, out);
    out += is_text ? "'" : "";
    return;
  }
  const auto& call = std::get<function_call>(node.form);
  out += call.function + "(";
  for (std::size_t i = 0; i < call.arguments.size(); ++i) {
    out += i > 0 ? ", " : "";
    print(from, call.arguments[i], out);
  }
  out += ")";
  if (call.function == "CAST" || call.function == "TRY_CAST")
    out += ":" + node.type.to_sql();
}

} // namespace

bool operator==(const constant_value& left, const constant_value& right) {
  return left.value->type() == right.value->type() &&
         encode_value(left.value) == encode_value(right.value);
}

expression make_column(std::uint32_t index, logical_type type) {
  return {{{input_column{index}, std::move(type)}}};
}

expression make_constant(column_ptr value) {
  auto type = value->type();
  return {{{constant_value{std::move(value)}, std::move(type)}}};
}

expression make_call(std::string function, logical_type type, std::vector<expression> arguments) {
  expression out;
  function_call call;
  call.function = std::move(function);
  for (auto& each : arguments) {
    const auto offset = static_cast<std::uint32_t>(out.nodes.size());
    for (auto& node : each.nodes) {
      if (auto* inner = std::get_if<function_call>(&node.form))
        for (auto& place : inner->arguments)
          place += offset;
      out.nodes.push_back(std::move(node));
    }
    call.arguments.push_back(static_cast<std::uint32_t>(out.nodes.size() - 1));
  }
  out.nodes.push_back({std::move(call), std::move(type)});
  return out;
}

column_ptr null_value(const logical_type& type) {
  column_builder builder(type.nullable());
  builder.append_null();
  return builder.finish();
}

column_ptr text_value(const logical_type& type, std::string_view text) {
  column_builder builder(type);
  builder.append_string(text);
  return builder.finish();
}

status check_expression(const expression& checked, const logical_type& input) {
  const auto& nodes = checked.nodes;
  if (nodes.empty())
    return invalid("without nodes");
  if (nodes.size() > expression_limits::nodes)
    return invalid(std::to_string(nodes.size()) + " nodes, at most " +
                   std::to_string(expression_limits::nodes));
  std::vector<std::uint32_t> heights(nodes.size(), 1);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const auto& node = nodes[i];
    if (const auto* column = std::get_if<input_column>(&node.form)) {
      if (column->index >= input.child_count())
        return invalid("no column " + std::to_string(column->index) + " of " + input.to_sql());
      if (!(input.child(column->index) == node.type))
        return error(errc::type_mismatch,
                     "malformed expression: column " + std::to_string(column->index) + " is " +
                         input.child(column->index).to_sql() + ", read as " + node.type.to_sql());
    } else if (const auto* constant = std::get_if<constant_value>(&node.form)) {
      if (constant->value == nullptr || constant->value->size() != 1 ||
          !(constant->value->type() == node.type))
        return invalid("a constant that is not one value of " + node.type.to_sql());
    } else {
      const auto& call = std::get<function_call>(node.form);
      for (const auto place : call.arguments) {
        if (place >= i)
          return invalid("a node stands before its argument");
        heights[i] = std::max(heights[i], heights[place] + 1);
      }
      if (heights[i] > expression_limits::height)
        return invalid("higher than " + std::to_string(expression_limits::height) + " nodes");
    }
  }
  return {};
}

std::string to_string(const expression& from) {
  std::string out;
  if (!from.is_empty())
    print(from, static_cast<std::uint32_t>(from.nodes.size() - 1), out);
  return out;
}

byte_string encode_value(const column_ptr& value) {
  return encode_batch(record_batch(type_of_one(value->type()), 1, {value}));
}

result<column_ptr> decode_value(const logical_type& type, byte_view bytes) {
  HEADRACE_TRY(auto batch, decode_batch(type_of_one(type), bytes));
  if (batch.row_count() != 1)
    return error(errc::malformed_message,
                 "malformed constant: " + std::to_string(batch.row_count()) + " rows");
  return batch.column_at(0);
}

} // namespace headrace::graph
