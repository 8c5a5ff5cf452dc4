#include "libgraph/expression/expression_codec.hpp"

#include <utility>

namespace headrace::graph {
namespace {

capnp::Data::Reader data(const byte_string& value) {
  return {reinterpret_cast<const kj::byte*>(value.data()), value.size()};
}

byte_view bytes_of(capnp::Data::Reader in) {
  return {reinterpret_cast<const char*>(in.begin()), in.size()};
}

byte_string encoded(const logical_type& type) {
  byte_string bytes;
  byte_writer writer(bytes);
  type.encode(writer);
  return bytes;
}

result<expression_node> node_of(schema::ExpressionNode::Reader in) {
  expression_node out;
  byte_reader type(bytes_of(in.getType()));
  HEADRACE_TRY(out.type, logical_type::decode(type));
  if (!type.at_end())
    return error(errc::malformed_message,
                 "bytes behind an encoded type: " + std::to_string(type.remaining()));
  switch (in.which()) {
  case schema::ExpressionNode::COLUMN:
    out.form = input_column{in.getColumn()};
    return out;
  case schema::ExpressionNode::CONSTANT: {
    HEADRACE_TRY(auto value, decode_value(out.type, bytes_of(in.getConstant())));
    out.form = constant_value{std::move(value)};
    return out;
  }
  case schema::ExpressionNode::CALL: {
    const auto from = in.getCall();
    if (from.getArguments().size() > expression_limits::nodes)
      return error(errc::malformed_message,
                   "expression too large: " + std::to_string(from.getArguments().size()) +
                       " arguments, at most " + std::to_string(expression_limits::nodes));
    function_call call;
    call.function.assign(from.getFunction().begin(), from.getFunction().size());
    for (const auto place : from.getArguments())
      call.arguments.push_back(place);
    out.form = std::move(call);
    return out;
  }
  }
  return error(errc::malformed_message,
               "unknown kind of node: " + std::to_string(static_cast<unsigned>(in.which())));
}

} // namespace

void encode(const expression& from, schema::Expression::Builder out) {
  auto nodes = out.initNodes(static_cast<unsigned>(from.nodes.size()));
  for (unsigned i = 0; i < nodes.size(); ++i) {
    const auto& node = from.nodes[i];
    auto to = nodes[i];
    to.setType(data(encoded(node.type)));
    if (const auto* column = std::get_if<input_column>(&node.form)) {
      to.setColumn(column->index);
    } else if (const auto* constant = std::get_if<constant_value>(&node.form)) {
      to.setConstant(data(encode_value(constant->value)));
    } else {
      const auto& call = std::get<function_call>(node.form);
      auto made = to.initCall();
      made.setFunction({call.function.data(), call.function.size()});
      auto arguments = made.initArguments(static_cast<unsigned>(call.arguments.size()));
      for (unsigned place = 0; place < arguments.size(); ++place)
        arguments.set(place, call.arguments[place]);
    }
  }
}

result<expression> decode_expression(schema::Expression::Reader in) {
  if (in.getNodes().size() > expression_limits::nodes)
    return error(errc::malformed_message,
                 "expression too large: " + std::to_string(in.getNodes().size()) +
                     " nodes, at most " + std::to_string(expression_limits::nodes));
  expression out;
  for (const auto node : in.getNodes()) {
    HEADRACE_TRY(auto read, node_of(node));
    out.nodes.push_back(std::move(read));
  }
  return out;
}

void put_expression(byte_writer& out, const expression& from) {
  out.put_varint(from.nodes.size());
  for (const auto& node : from.nodes) {
    out.put(static_cast<std::uint8_t>(node.form.index()));
    node.type.encode(out);
    if (const auto* column = std::get_if<input_column>(&node.form)) {
      out.put(column->index);
    } else if (const auto* constant = std::get_if<constant_value>(&node.form)) {
      out.put_bytes(encode_value(constant->value));
    } else {
      const auto& call = std::get<function_call>(node.form);
      out.put_bytes(call.function);
      out.put_varint(call.arguments.size());
      for (const auto place : call.arguments)
        out.put(place);
    }
  }
}

} // namespace headrace::graph
