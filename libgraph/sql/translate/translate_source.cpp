#include "libgraph/data/batch_builder.hpp"
#include "libgraph/data/batch_codec.hpp"
#include "libgraph/expression/program.hpp"
#include "libgraph/sql/translate/translator.hpp"
#include "libgraph/types/value_text.hpp"

namespace headrace::sql {

maybe_index job_translator::make(const scan_node& node, const plan_node& plan) {
  return add_source(node, plan, {});
}
maybe_index job_translator::add_source(const scan_node& node, const plan_node& plan,
                                       const graph::watermark_spec& watermarks) {
  graph::source_spec spec;
  spec.connector = connector_of(node.options);
  spec.watermarks = watermarks;
  const auto type = node.record;
  const auto made =
      connectors_.create_source(spec.connector.name, spec.connector.options, shared(type));
  if (!made)
    return fail(diagnostic_kind::invalid,
                "table " + node.table.object + ": " + made.error().message, plan.at);
  if (node.fields == first_numbers(type.child_count()))
    return add(node.table.object, std::move(spec), {}, type);
  const auto source = add(node.table.object, std::move(spec), {}, type);
  return add("project", graph::project_spec{numbers(node.fields)}, {source}, plan.row_type());
}

maybe_index job_translator::make(const values_node& node, const plan_node& plan) {
  const auto type = plan.row_type();
  graph::batch_builder rows(shared(type));
  for (const auto& row : node.rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      const auto value = value_of(row[i]);
      if (!value)
        return std::nullopt;
      rows.column(i).append_from(**value, 0);
    }
    rows.end_row();
  }
  graph::source_spec spec;
  spec.connector.name = "collection";
  auto& encoded = spec.connector.options["rows"];
  graph::append_base64(graph::encode_batch(rows.finish()), encoded);
  const auto index = add("values", std::move(spec), {}, type);
  out_.program.at(index).parallelism = 1;
  return index;
}

std::optional<graph::column_ptr> job_translator::value_of(const bound_expression& from) {
  auto expression = expression_of(from);
  if (!expression)
    return std::nullopt;
  graph::program_settings how;
  how.time_zone = settings_.time_zone;
  auto value = graph::evaluate_constant(*expression, how);
  if (!value)
    return fail(diagnostic_kind::invalid, value.error().message, from.at);
  return std::move(*value);
}

maybe_index job_translator::make(const watermark_node& node, const plan_node& plan) {
  graph::watermark_spec spec;
  spec.kind = graph::watermark_kind::bounded_out_of_orderness;
  spec.bound_ms = node.delay_ms;
  spec.idle_timeout_ms = settings_.idle_timeout_ms;
  spec.time_column = static_cast<std::int32_t>(node.column);
  const auto& input = plan.inputs[0];
  if (const auto* scan = std::get_if<scan_node>(&input.node)) {
    // The reader knows which of its splits are idle. It counts by the connector's columns.
    spec.time_column = static_cast<std::int32_t>(scan->fields[node.column]);
    return add_source(*scan, input, spec);
  }
  const auto below = visit(input);
  if (!below)
    return std::nullopt;
  return add("watermarks", graph::watermarks_spec{spec}, {*below}, plan.row_type());
}

} // namespace headrace::sql
