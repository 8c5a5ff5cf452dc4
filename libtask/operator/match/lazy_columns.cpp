#include "libtask/operator/match/lazy_columns.hpp"

#include <string>
#include <utility>

namespace headrace::task {

result<lazy_columns> lazy_columns::compile(const graph::logical_type& input,
                                           const std::vector<graph::expression>& outputs,
                                           const graph::program_settings& settings) {
  HEADRACE_TRY(auto program, graph::expression_program::compile(input, {}, outputs, settings));
  std::vector<graph::logical_type::field> fields;
  for (const auto& each : outputs)
    fields.push_back({"c" + std::to_string(fields.size()), each.type(), {}});
  auto type = std::make_shared<const graph::logical_type>(
      graph::logical_type::row(std::move(fields)).not_null());
  return lazy_columns(std::move(program), std::move(type));
}

void lazy_columns::run(const graph::record_batch& in, const graph::program_time& time) {
  failures_.clear();
  if (auto made = program_.run(in, type_, time)) {
    columns_ = std::move(*made);
    return;
  }
  std::vector<graph::column_builder> built;
  for (const auto& each : type_->fields())
    built.emplace_back(each.type);
  run_some(in, 0, in.size(), time, built);
  std::vector<graph::column_ptr> columns;
  for (auto& each : built)
    columns.push_back(each.finish());
  columns_ = graph::record_batch(type_, in.size(), std::move(columns));
}

/// Halves what fails until it is one row.
void lazy_columns::run_some(const graph::record_batch& in, std::size_t from, std::size_t count,
                            const graph::program_time& time,
                            std::vector<graph::column_builder>& out) {
  if (count == 0)
    return;
  auto made = program_.run(in.slice(from, count), type_, time);
  if (made) {
    for (std::size_t i = 0; i < out.size(); ++i)
      for (std::size_t row = 0; row < count; ++row)
        out[i].append_from(made->at(i), made->row_at(row));
    return;
  }
  if (count > 1) {
    run_some(in, from, count / 2, time, out);
    run_some(in, from + count / 2, count - count / 2, time, out);
    return;
  }
  failures_.emplace(static_cast<std::uint32_t>(from), std::move(made).error());
  for (auto& each : out)
    each.append_null();
}

} // namespace headrace::task
