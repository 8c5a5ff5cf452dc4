#include "libgraph/connector/abilities.hpp"
#include "libgraph/sql/optimize/changelog.hpp"
#include "libgraph/sql/optimize/unsteady.hpp"
#include "libgraph/sql/optimize/upsert_key.hpp"
#include "libgraph/sql/translate/translator.hpp"

#include <algorithm>

namespace headrace::sql {

maybe_index job_translator::make(const sink_node& /*node*/, const plan_node& plan) {
  return not_yet("a sink inside a query", plan.at);
}

bool job_translator::add_sink(const plan_node& plan) {
  const auto& sink = std::get<sink_node>(plan.node);
  return sink.table ? add_table_sink(sink, plan) : add_shown(plan);
}

bool job_translator::add_table_sink(const sink_node& sink, const plan_node& plan) {
  graph::sink_spec spec;
  spec.connector = connector_of(sink.options);
  const auto type = plan.row_type();
  const auto made =
      connectors_.create_sink(spec.connector.name, spec.connector.options, shared(type));
  if (!made)
    fail(diagnostic_kind::invalid, "table " + sink.table->object + ": " + made.error().message,
         plan.at);
  const auto below = visit(plan.inputs[0], !made || (*made)->takes_update_before());
  if (!made || !below)
    return false;
  const auto* updating = find_updating(plan.inputs[0]);
  const auto* able = dynamic_cast<const graph::changelog_sink*>(made->get());
  if (updating != nullptr && (able == nullptr || !able->takes_changes())) {
    fail(diagnostic_kind::invalid,
         "table " + sink.table->object +
             " takes inserts only, and rows of the query are updated; write to 'changelog-json', "
             "'print' or another that takes updates",
         updating->at);
    return false;
  }
  if (!has_end_ && sink.options.contains("sink.overwrite")) {
    fail(diagnostic_kind::unsupported, "INSERT OVERWRITE needs input that ends", plan.at);
    return false;
  }
  add(sink.table->object, std::move(spec), {*below}, type);
  return true;
}

bool job_translator::add_shown(const plan_node& plan) {
  shown_rows shown;
  const auto* rows = &plan.inputs[0];
  shown.columns = first_numbers(rows->columns.size());
  for (const auto& each : plan.columns)
    shown.names.push_back(each.name);
  if (const auto* calc = std::get_if<calc_node>(&rows->node);
      calc != nullptr && !calc->condition &&
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
  if (const auto* sort = std::get_if<sort_node>(&rows->node)) {
    shown.order = sort->keys;
    shown.limit = sort->limit;
    shown.offset = sort->offset;
    rows = &rows->inputs[0];
  }
  const auto below = visit(*rows);
  if (!below)
    return false;
  graph::sink_spec spec;
  spec.connector.name = "collect";
  add("select", std::move(spec), {*below}, rows->row_type());
  out_.shown = std::move(shown);
  return true;
}

} // namespace headrace::sql
  if (is_unsteady(*rows))
    shown.key = find_upsert_key(*rows);
