#include "libtask/operator/stored_value.hpp"

#include "libgraph/data/batch_builder.hpp"
#include "libgraph/data/key_codec.hpp"
#include "libgraph/data/stream_element.hpp"
#include "libgraph/types/value_text.hpp"

#include <algorithm>
#include <memory>

namespace headrace::task {

void add_member(stored_value::object& to, std::string name, stored_value value) {
  const auto is_taken = [&](const std::string& wanted) {
    return std::any_of(to.begin(), to.end(),
                       [&](const stored_member& each) { return each.name == wanted; });
  };
  auto free = name;
  for (int number = 2; is_taken(free); ++number)
    free = name + " " + std::to_string(number);
  to.push_back({std::move(free), std::move(value)});
}

stored_value time_value(std::int64_t time_ms) {
  if (time_ms == graph::watermark::none)
    return {};
  std::string out;
  graph::append_timestamp(time_ms, 3, 'T', out);
  return {std::move(out)};
}

const state::state_description* stored_operator::find(std::string_view name) const {
  const auto found = std::find_if(states_.begin(), states_.end(),
                                  [&](const auto& each) { return each.name == name; });
  return found == states_.end() ? nullptr : &*found;
}

std::vector<std::string> stored_operator::query() const {
  std::vector<std::string> out;
  const auto* stored = find("query");
  if (stored != nullptr && state::is_bytes_of_parts(stored->value_type))
    for (const auto& each : parts_in(stored->value_type))
      out.push_back(each.name);
  return out;
}

const std::vector<graph::logical_type::field>& parts_in(const graph::logical_type& type) {
  return type.fields().front().type.fields();
}

error not_as_written(std::string_view state) {
  return {errc::corrupt_snapshot, "value is not as its operator writes it: " + std::string(state)};
}

stored_rows::stored_rows(std::span<const graph::logical_type::field> columns) {
  std::vector<graph::logical_type::field> fields(columns.begin(), columns.end());
  for (auto& each : fields)
    each.type = each.type.nullable();
  type_ = std::make_shared<const graph::logical_type>(
      graph::logical_type::row(std::move(fields)).not_null());
}

result<std::vector<stored_value>> stored_rows::read(std::span<const byte_view> rows) const {
  graph::batch_builder built(type_);
  std::vector<graph::column_builder*> to;
  for (std::size_t i = 0; i < type_->fields().size(); ++i)
    to.push_back(&built.column(i));
  HEADRACE_CHECK(graph::decode_keys(rows, to));
  built.end_rows(rows.size());
  const auto batch = built.finish();
  std::vector<stored_value> out;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    stored_value::object columns;
    for (std::size_t i = 0; i < type_->fields().size(); ++i)
      add_member(columns, type_->fields()[i].name, {stored_value::cell{batch.columns()[i], row}});
    out.push_back({std::move(columns)});
  }
  return out;
}

} // namespace headrace::task
