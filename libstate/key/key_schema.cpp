#include "libstate/key/key_schema.hpp"

#include "libactors/base/assert.hpp"

#include <memory>

namespace headrace::state {

namespace {

key_shape shape_of(const graph::logical_type& row) {
  if (row.fields().size() != 1)
    return key_shape::bytes;
  switch (row.fields()[0].type.physical()) {
  case graph::physical_type::boolean:
  case graph::physical_type::int8:
  case graph::physical_type::int16:
  case graph::physical_type::int32:
  case graph::physical_type::int64:
  case graph::physical_type::float32:
  case graph::physical_type::float64:
    return key_shape::fixed;
  default:
    return key_shape::bytes;
  }
}

graph::row_type_ptr project(const graph::logical_type& row_type,
                            std::span<const std::int32_t> key_columns) {
  std::vector<graph::logical_type::field> fields;
  fields.reserve(key_columns.size());
  for (const auto column : key_columns)
    fields.push_back(row_type.fields()[static_cast<std::size_t>(column)]);
  return std::make_shared<const graph::logical_type>(
      graph::logical_type::row(std::move(fields)).not_null());
}

} // namespace

key_schema::key_schema(graph::row_type_ptr type) : type_(std::move(type)) {
  HEADRACE_ASSERT(type_ != nullptr && !type_->fields().empty(), "a key has columns");
  shape_ = shape_of(*type_);
  group_columns_ = type_->fields().size();
}

key_schema key_schema::with_entry(const graph::logical_type& entry) const {
  auto fields = type_->fields();
  fields.push_back({"$entry", entry, {}});
  key_schema out(std::make_shared<const graph::logical_type>(
      graph::logical_type::row(std::move(fields)).not_null()));
  out.group_columns_ = group_columns_;
  return out;
}

key_schema::key_schema(const graph::logical_type& row_type,
                       std::span<const std::int32_t> key_columns)
    : key_schema(project(row_type, key_columns)) {}

} // namespace headrace::state
