#include "libgraph/connector/abilities.hpp"
#include "libgraph/data/batch_builder.hpp"
#include "libgraph/data/batch_codec.hpp"
#include "libgraph/expression/program.hpp"
#include "libgraph/spec/make_source.hpp"
#include "libgraph/sql/translate/translator.hpp"
#include "libgraph/types/value_text.hpp"
#include "libactors/base/assert.hpp"

namespace headrace::sql {
namespace {

/// The columns of the scan under the names that the connector has for them.
logical_type produced_of(const scan_node& node, const plan_node& plan) {
  std::vector<logical_type::field> fields;
  for (std::size_t i = 0; i < node.fields.size(); ++i) {
    auto field = node.record.fields()[node.fields[i]];
    field.type = plan.columns[i].type;
    fields.push_back(std::move(field));
  }
  return logical_type::row(std::move(fields)).not_null();
}

/// A row with those fields alone that `wanted` has.
graph::expression narrowed(graph::expression whole, const logical_type& wanted) {
  const auto type = whole.type();
  if (type == wanted)
    return whole;
  std::vector<graph::expression> fields;
  for (const auto& field : wanted.fields()) {
    const auto index = type.field_index(field.name);
    const auto& found = type.child(static_cast<std::size_t>(index));
    const auto place = graph::make_constant(
        graph::fixed_value<std::int32_t>(logical_type::integer().not_null(), index));
    auto value =
        graph::make_call("FIELD", type.is_nullable() ? found.nullable() : found, {whole, place});
    fields.push_back(narrowed(std::move(value), field.type));
  }
  auto row = graph::make_call("ROW", wanted.not_null(), std::move(fields));
  if (!wanted.is_nullable())
    return row;
  auto is_null = graph::make_call("IS NULL", logical_type::boolean().not_null(), {whole});
  auto nothing = graph::make_constant(graph::null_value(wanted));
  return graph::make_call("CASE", wanted, {std::move(is_null), std::move(nothing), std::move(row)});
}

} // namespace

bool job_translator::is_stream(const scan_node& node) const {
  const auto name = node.options.find("connector");
  return settings_.streams != nullptr && name != node.options.end() &&
         name->second == stream_tables::connector;
}

maybe_index job_translator::make(const scan_node& node, const plan_node& plan) {
  return is_stream(node) ? add_stream(node, plan) : add_source(node, plan, {});
}

maybe_index job_translator::add_stream(const scan_node& node, const plan_node& plan) {
  const auto label = node.options.find("stream");
  const auto found = label == node.options.end() ? settings_.streams->sources.end()
                                                 : settings_.streams->sources.find(label->second);
  if (found == settings_.streams->sources.end())
    return fail(diagnostic_kind::invalid, "table " + node.table.object + " is no stream to read",
                plan.at);
  has_end_ = false; // it is not known
  if (settings_.is_batch && !check_batch(node, false, plan.at))
    return std::nullopt;
  if (produced_of(node, plan) == node.record)
    return found->second;
  return choose_fields(found->second, node, plan);
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
    return fail_table(node.table, node.options, made.error().message, plan.at);
  if (!check_options(node.table, node.options, plan.at))
    return std::nullopt;
  const bool has_end = (*made)->bounds() == graph::boundedness::bounded;
  has_end_ &= has_end;
  if (settings_.is_batch && !check_batch(node, has_end, plan.at))
    return std::nullopt;
  const auto produced = produced_of(node, plan);
  const auto read = [&](const logical_type& rows) {
    const auto index = add_of(node.table, std::move(spec), {}, rows);
    set_scan_parallelism(index, node);
    return index;
  };
  if (produced == type)
    return read(type);
  auto* able = dynamic_cast<graph::projectable_source*>(made->get());
  if (able != nullptr && able->project(shared(produced))) {
    graph::set_record(spec.connector, type);
    return read(produced);
  }
  // It gives all; the rest is left out behind it.
  if (spec.watermarks.time_column >= 0)
    spec.watermarks.time_column = static_cast<std::int32_t>(
        node.fields[static_cast<std::size_t>(spec.watermarks.time_column)]);
  return choose_fields(read(type), node, plan);
}

/// The subtasks that the table asks for; who reads them has as many as ever.
void job_translator::set_scan_parallelism(std::int32_t source, const scan_node& node) {
  if (const auto asked = asked_parallelism(node.options, "scan.parallelism"); asked > 0) {
    out_.program.at(source).parallelism = asked;
    own_parallelism_.insert(source);
  }
}

/// As Flink says it.
bool job_translator::check_batch(const scan_node& node, bool has_end, source_span at) {
  const auto in_stream = ": SET 'execution.runtime-mode' = 'streaming'";
  const auto format = node.options.find("format");
  if (!has_end)
    fail(diagnostic_kind::invalid,
         "Querying an unbounded table '" + node.table.object +
             "' in batch mode is not allowed. The table source is unbounded" + in_stream,
         at);
  else if (format != node.options.end() && graph::is_changelog_format(format->second))
    fail(diagnostic_kind::invalid,
         "Querying a table in batch mode is currently only possible for INSERT-only table sources. "
         "But the source for table '" +
             node.table.object + "' produces other changelog messages than just INSERT" + in_stream,
         at);
  else
    return true;
  return false;
}

std::int32_t job_translator::choose_fields(std::int32_t input, const scan_node& node,
                                           const plan_node& plan) {
  const auto& type = node.record;
  const auto produced = produced_of(node, plan);
  bool is_choice = true;
  for (std::size_t i = 0; i < node.fields.size(); ++i)
    is_choice &= produced.child(i) == type.child(node.fields[i]);
  if (is_choice)
    return add("project", graph::project_spec{numbers(node.fields)}, {input}, produced);
  graph::calc_spec choice;
  choice.time_zone = settings_.time_zone;
  for (std::size_t i = 0; i < node.fields.size(); ++i) {
    auto whole =
        graph::make_column(static_cast<std::uint32_t>(node.fields[i]), type.child(node.fields[i]));
    choice.outputs.push_back(narrowed(std::move(whole), produced.child(i)));
  }
  return add("project", std::move(choice), {input}, produced);
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
  // In batch mode the one watermark is the end, so that no row is late.
  spec.kind = settings_.is_batch ? graph::watermark_kind::none
                                 : graph::watermark_kind::bounded_out_of_orderness;
  // A table's watermark is what its expression gives, and rows up to it are late, as in Flink.
  spec.bound_ms = node.delay_ms - 1;
  spec.on_event = node.on_event;
  spec.idle_timeout_ms = node.idle_timeout_ms.value_or(settings_.idle_timeout_ms);
  spec.time_column = static_cast<std::int32_t>(node.column);
  const auto& input = plan.inputs[0];
  const auto* below_calcs = &input;
  while (std::holds_alternative<calc_node>(below_calcs->node))
    below_calcs = &below_calcs->inputs[0];
  if (const auto* scan = std::get_if<scan_node>(&below_calcs->node);
      scan != nullptr && is_stream(*scan)) {
    const auto watermarks = scan->options.find("watermarks");
    if (watermarks != scan->options.end() && watermarks->second == stream_tables::given)
      return visit(input); // they come with the rows
  } else if (scan != nullptr && below_calcs == &input) {
    // The reader knows which of its splits are idle.
    return add_source(*scan, input, spec);
  }
  const auto below = visit(input);
  if (!below)
    return std::nullopt;
  return add("watermarks", graph::watermarks_spec{spec}, {*below}, plan.row_type());
}

/// Side output 0 of the source, which others read as well.
maybe_index job_translator::make(const dead_letter_node& /*node*/, const plan_node& plan) {
  const auto* read = &plan.inputs[0];
  const auto reads_scan = [](const plan_node& of) {
    return std::holds_alternative<scan_node>(of.node) ||
           (std::holds_alternative<watermark_node>(of.node) &&
            std::holds_alternative<scan_node>(of.inputs[0].node));
  };
  while (!reads_scan(*read))
    read = &read->inputs[0];
  const auto source = visit(*read);
  if (!source)
    return std::nullopt;
  const auto type = *graph::dead_letter_type();
  auto* call = std::get_if<graph::operator_call>(&out_.program.at(*source).call);
  HEADRACE_ASSERT(call != nullptr && std::holds_alternative<graph::source_spec>(call->spec),
                  "all columns of a source with malformed records are read");
  if (call->side_types.empty())
    call->side_types.push_back(type);
  graph::transformation side;
  side.name = "dead letters";
  side.call = graph::side_output_call{0};
  side.inputs = {*source};
  side.output_type = type;
  return out_.program.add(std::move(side));
}

} // namespace headrace::sql
