#include "libgraph/connector/abilities.hpp"
#include "libgraph/sql/optimize/changelog.hpp"
#include "libgraph/sql/optimize/unsteady.hpp"
#include "libgraph/sql/optimize/upsert_key.hpp"
#include "libgraph/sql/translate/translator.hpp"

#include <algorithm>
#include <limits>

namespace headrace::sql {
namespace {

/// Whether the type says how long its texts or bytes are.
bool has_length(const logical_type& type) {
  using graph::type_root;
  const auto root = type.root();
  const bool is_variable = root == type_root::varchar || root == type_root::varbinary;
  return root == type_root::character || root == type_root::binary ||
         (is_variable && type.precision() < std::numeric_limits<std::int32_t>::max());
}

} // namespace

maybe_index job_translator::make(const sink_node& /*node*/, const plan_node& plan) {
  return not_yet("a sink inside a query", plan.at);
}

bool job_translator::add_sink(const plan_node& plan) {
  const auto& sink = std::get<sink_node>(plan.node);
  if (!sink.table)
    return add_shown(plan);
  const auto name = sink.options.find("connector");
  const bool is_stream = settings_.streams != nullptr && name != sink.options.end() &&
                         name->second == stream_tables::connector;
  return is_stream ? add_stream_result(sink, plan) : add_table_sink(sink, plan);
}

bool job_translator::check_inserts_only(const sink_node& sink, const plan_node& plan,
                                        const std::string& instead) {
  const auto* updating = find_updating(plan.inputs[0]);
  if (updating == nullptr)
    return true;
  fail(diagnostic_kind::invalid,
       "table " + sink.table->object + " takes inserts only, and rows of the query are updated; " +
           instead,
       updating->at);
  return false;
}

/// The rows go on as those of an operator.
bool job_translator::add_stream_result(const sink_node& sink, const plan_node& plan) {
  const auto label = sink.options.find("stream");
  const auto found = label == sink.options.end() ? settings_.streams->sinks.end()
                                                 : settings_.streams->sinks.find(label->second);
  if (found == settings_.streams->sinks.end()) {
    fail(diagnostic_kind::invalid, "table " + sink.table->object + " is no stream to write",
         plan.at);
    return false;
  }
  if (!found->second && !check_inserts_only(sink, plan, "take its changes: to_changelog_stream"))
    return false;
  const auto below = visit(plan.inputs[0]);
  if (below)
    settings_.streams->results[label->second] = *below;
  return below.has_value();
}

bool job_translator::add_table_sink(const sink_node& sink, const plan_node& plan) {
  graph::sink_spec spec;
  spec.connector = connector_of(sink.options);
  const auto type = plan.row_type();
  const auto made =
      connectors_.create_sink(spec.connector.name, spec.connector.options, shared(type));
  if (!made)
    fail_table(*sink.table, sink.options, made.error().message, plan.at);
  const bool is_whole = made && check_options(*sink.table, sink.options, plan.at);
  const auto below = visit(plan.inputs[0], !made || (*made)->takes_update_before());
  if (!is_whole || !below)
    return false;
  const auto* able = dynamic_cast<const graph::changelog_sink*>(made->get());
  if ((able == nullptr || !able->takes_changes()) &&
      !check_inserts_only(
          sink, plan,
          "write to 'changelog-json', 'print' or another that takes updates, or, of "
          "tables that end, take the last rows alone: SET "
          "'execution.runtime-mode' = 'batch'"))
    return false;
  if (!has_end_ && sink.options.contains("sink.overwrite")) {
    fail(diagnostic_kind::unsupported, "INSERT OVERWRITE needs input that ends", plan.at);
    return false;
  }
  const auto rows = deal_out(add_constraints(*below, plan), sink, plan);
  if (!rows)
    return false;
  const auto index = add_of(*sink.table, std::move(spec), {*rows}, type);
  if (const auto asked = asked_parallelism(sink.options, "sink.parallelism"); asked > 0)
    out_.program.at(index).parallelism = asked;
  return true;
}

maybe_index job_translator::deal_out(std::int32_t input, const sink_node& sink,
                                     const plan_node& plan) {
  const auto asked = asked_parallelism(sink.options, "sink.parallelism");
  if (asked <= 1 || find_updating(plan.inputs[0]) == nullptr)
    return input;
  if (sink.primary_key.empty())
    return fail_table(*sink.table, sink.options,
                      "option 'sink.parallelism' above 1 needs a PRIMARY KEY, as rows of the query "
                      "are updated and those of a key must stay in their order",
                      plan.at);
  return partition(input, plan.row_type(), numbers(sink.primary_key));
}

std::int32_t job_translator::add_constraints(std::int32_t input, const plan_node& sink) {
  const auto name_of = [](const plan_column& column) {
    return graph::make_constant(graph::text_value(logical_type::string().not_null(), column.name));
  };
  const auto boolean = logical_type::boolean().not_null();
  const auto rule = settings_.lengths == length_enforcer::error ? "$LENGTH" : "$TRIM_PAD";
  graph::calc_spec spec;
  spec.time_zone = settings_.time_zone;
  std::vector<graph::expression> present;
  bool asks = false;
  for (std::size_t i = 0; i < sink.columns.size(); ++i) {
    const auto& given = sink.inputs[0].columns[i].type;
    const auto& wanted = sink.columns[i].type;
    const auto as_given = given.is_nullable() ? wanted.nullable() : wanted.not_null();
    auto value = graph::make_column(static_cast<std::uint32_t>(i), given);
    if (given.is_nullable() && !wanted.is_nullable()) {
      asks = true;
      if (settings_.drops_null)
        present.push_back(graph::make_call("IS NOT NULL", boolean, {value}));
      value = graph::make_call("$NOT NULL", given.not_null(), {value, name_of(sink.columns[i])});
    }
    if (settings_.lengths != length_enforcer::ignore && has_length(wanted)) {
      asks = true;
      value = graph::make_call(rule, wanted.is_nullable() ? as_given : wanted,
                               {std::move(value), name_of(sink.columns[i])});
    }
    spec.outputs.push_back(std::move(value));
  }
  if (!asks)
    return input;
  if (present.size() == 1)
    spec.condition = std::move(present[0]);
  else if (!present.empty())
    spec.condition = graph::make_call("AND", boolean, std::move(present));
  std::vector<logical_type::field> fields;
  for (std::size_t i = 0; i < sink.columns.size(); ++i)
    fields.push_back({sink.columns[i].name, spec.outputs[i].type(), {}});
  return add("constraint enforcer", std::move(spec), {input},
             logical_type::row(std::move(fields)).not_null());
}

bool job_translator::ends(const plan_node& plan) const {
  if (const auto* scan = std::get_if<scan_node>(&plan.node)) {
    const auto spec = connector_of(scan->options);
    const auto made = connectors_.create_source(spec.name, spec.options, shared(scan->record));
    return !made || (*made)->bounds() == graph::boundedness::bounded;
  }
  return std::all_of(plan.inputs.begin(), plan.inputs.end(),
                     [this](const plan_node& each) { return ends(each); });
}

bool job_translator::add_shown(const plan_node& plan) {
  shown_rows shown;
  const auto* rows = &plan.inputs[0];
  shown.columns = first_numbers(rows->columns.size());
  for (const auto& each : plan.columns)
    shown.names.push_back(each.name);
  // Rows of input without end are shown as they come: what is to be done of them the job does.
  const bool is_done_by_job = !ends(*rows);
  if (const auto* calc = std::get_if<calc_node>(&rows->node);
      calc != nullptr && !calc->condition && !is_done_by_job &&
      std::holds_alternative<sort_node>(rows->inputs[0].node)) {
    const bool is_choice =
        std::all_of(calc->items.begin(), calc->items.end(), [](const bound_expression& each) {
          return std::holds_alternative<bound_column>(each.node);
        });
    if (is_choice) {
      shown.columns.clear();
      for (const auto& each : calc->items)
        shown.columns.push_back(std::get<bound_column>(each.node).index);
      rows = &rows->inputs[0];
    }
  }
  if (const auto* sort = std::get_if<sort_node>(&rows->node); sort != nullptr && !is_done_by_job) {
    shown.order = sort->keys;
    shown.limit = sort->limit;
    shown.offset = sort->offset;
    rows = &rows->inputs[0];
  }
  const auto below = visit(*rows);
  if (!below)
    return false;
  if (is_unsteady(*rows))
    shown.key = find_upsert_key(*rows);
  graph::sink_spec spec;
  spec.connector.name = "collect";
  add("select", std::move(spec), {*below}, rows->row_type());
  out_.shown = std::move(shown);
  return true;
}

} // namespace headrace::sql
