#include "libgraph/job_graph/codec_parts.hpp"

#include "libgraph/expression/expression_codec.hpp"
#include "libgraph/job_graph/job_graph_codec.hpp"

#include <utility>

namespace headrace::graph {

std::string encoded(const logical_type& type) {
  std::string bytes;
  byte_writer writer(bytes);
  type.encode(writer);
  return bytes;
}

void put_types(const std::vector<logical_type>& types, capnp::List<capnp::Data>::Builder out) {
  for (unsigned i = 0; i < out.size(); ++i)
    out.set(i, data(encoded(types[i])));
}

void put_columns(const std::vector<std::int32_t>& columns, capnp::List<std::int32_t>::Builder out) {
  for (unsigned i = 0; i < out.size(); ++i)
    out.set(i, columns[i]);
}

void put(const std::vector<order_column>& order, capnp::List<schema::OrderColumn>::Builder out) {
  for (unsigned i = 0; i < out.size(); ++i) {
    out[i].setColumn(order[i].column);
    out[i].setIsDescending(order[i].is_descending);
    out[i].setNullsFirst(order[i].nulls_first);
  }
}

void put(const std::vector<expression>& from, capnp::List<schema::Expression>::Builder out) {
  for (unsigned i = 0; i < out.size(); ++i)
    encode(from[i], out[i]);
}

status check_count(std::size_t count, std::size_t most, const char* what) {
  if (count > most)
    return error(errc::malformed_message, "job graph too large: " + std::to_string(count) + " " +
                                              what + ", at most " + std::to_string(most));
  return {};
}

result<logical_type> type_of(capnp::Data::Reader in) {
  byte_reader reader(bytes_of(in));
  HEADRACE_TRY(auto type, logical_type::decode(reader));
  if (!reader.at_end())
    return error(errc::malformed_message,
                 "bytes behind an encoded type: " + std::to_string(reader.remaining()));
  return type;
}

result<std::vector<logical_type>> types_of(capnp::List<capnp::Data>::Reader in) {
  HEADRACE_CHECK(check_count(in.size(), job_graph_limits::columns, "types"));
  std::vector<logical_type> types;
  for (const auto encoded_type : in) {
    HEADRACE_TRY(auto type, type_of(encoded_type));
    types.push_back(std::move(type));
  }
  return types;
}

result<std::vector<std::int32_t>> columns_of(capnp::List<std::int32_t>::Reader in) {
  HEADRACE_CHECK(check_count(in.size(), job_graph_limits::columns, "columns"));
  std::vector<std::int32_t> columns;
  columns.reserve(in.size());
  for (const auto column : in)
    columns.push_back(column);
  return columns;
}

result<std::vector<order_column>> order_of(capnp::List<schema::OrderColumn>::Reader in) {
  HEADRACE_CHECK(check_count(in.size(), job_graph_limits::columns, "columns of an order"));
  std::vector<order_column> out;
  for (const auto each : in)
    out.push_back({each.getColumn(), each.getIsDescending(), each.getNullsFirst()});
  return out;
}

result<std::vector<expression>> expressions_of(capnp::List<schema::Expression>::Reader in,
                                               const char* what) {
  HEADRACE_CHECK(check_count(in.size(), job_graph_limits::columns, what));
  std::vector<expression> out;
  for (const auto each : in) {
    HEADRACE_TRY(auto read, decode_expression(each));
    out.push_back(std::move(read));
  }
  return out;
}

} // namespace headrace::graph
