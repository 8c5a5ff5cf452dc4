#include "libgraph/data/key_codec.hpp"
#include "libgraph/expression/kernel/map.hpp"

#include <memory>
#include <numeric>
#include <vector>

namespace headrace::graph {
namespace {

/// Several values as bytes, which are equal where all of these are; NULL where one of them is. Not
/// to be called in SQL: COUNT(DISTINCT a, b) is over it.
result<kernel> make_row_key(const kernel_request& request) {
  if (request.arguments.empty() || request.type.physical() != physical_type::string)
    return unfit(request);
  std::vector<logical_type::field> fields;
  for (const auto& each : request.arguments)
    fields.push_back({"k" + std::to_string(fields.size()), each, {}});
  const auto type =
      std::make_shared<const logical_type>(logical_type::row(std::move(fields)).not_null());
  return kernel([type](kernel_frame& frame) {
    std::vector<column_ptr> columns;
    std::vector<int> indices(frame.arguments.size());
    std::iota(indices.begin(), indices.end(), 0);
    for (std::size_t i = 0; i < frame.arguments.size(); ++i)
      columns.push_back(operand_as_column(frame, i));
    record_batch rows(type, frame.rows.total, std::move(columns));
    if (!frame.rows.is_dense()) {
      auto chosen = frame.buffers.allocate((frame.rows.count + 1) * sizeof(std::uint32_t));
      std::copy_n(frame.rows.rows, frame.rows.count, chosen->mutable_as<std::uint32_t>());
      rows = rows.with_selection(std::move(chosen), frame.rows.count);
    }
    encoded_keys keys;
    encode_keys(rows, indices, keys);
    text_writer out(frame);
    validity_writer validity(frame, joined_validity(frame));
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const auto row = frame.rows.at(i);
      if (validity.is_null(row))
        out.put_empty(row);
      else
        out.put(row, keys[i]);
    }
    return out.finish(frame.type, frame.rows.total, validity.finish());
  });
}

constexpr kernel_entry entries[] = {{"$KEY", ".", make_row_key}};

} // namespace

std::span<const kernel_entry> row_key_kernels() { return entries; }

} // namespace headrace::graph
