#include "libgraph/sql/optimize/changelog.hpp"
#include "libgraph/sql/translate/translator.hpp"
#include "libactors/base/assert.hpp"

namespace headrace::sql {
namespace {

graph::join_kind kind_of(join_type from) {
  switch (from) {
  case join_type::inner:
    return graph::join_kind::inner;
  case join_type::left:
    return graph::join_kind::left;
  case join_type::right:
    return graph::join_kind::right;
  case join_type::full:
    return graph::join_kind::full;
  case join_type::semi:
    return graph::join_kind::semi;
  case join_type::anti:
    break;
  }
  return graph::join_kind::anti;
}

std::string name_of(const join_node& node) {
  return !node.time ? "join" : node.time->is_by_window ? "window join" : "interval join";
}

graph::operator_spec timed(graph::join_spec spec, const join_node& node) {
  if (!node.time)
    return spec;
  return graph::timed_join_spec{std::move(spec),
                                node.time->is_by_window,
                                static_cast<std::int32_t>(node.time->left),
                                static_cast<std::int32_t>(node.time->right),
                                node.time->least_ms,
                                node.time->most_ms};
}

} // namespace

maybe_index job_translator::make(const join_node& node, const plan_node& plan) {
  HEADRACE_ASSERT(node.keys.has_value(), "keys of joins are formed by the optimizer");
  const maybe_index below[] = {visit(plan.inputs[0]), visit(plan.inputs[1])};
  graph::join_spec spec;
  spec.kind = kind_of(node.kind);
  spec.time_zone = settings_.time_zone;
  for (const auto& each : *node.keys) {
    spec.left.key_columns.push_back(static_cast<std::int32_t>(each.left));
    spec.right.key_columns.push_back(static_cast<std::int32_t>(each.right));
    spec.null_safe.push_back(each.is_null_safe ? 1 : 0);
  }
  const bool is_global = node.keys->empty();
  const auto left = plan.inputs[0].columns.size();
  bool is_sound = below[0] && below[1];
  if (node.condition) {
    auto over = *node.condition;
    if (is_global) // behind the left columns stands a constant
      visit_columns(over,
                    [&](bound_column& column) { column.index += column.index >= left ? 1 : 0; });
    auto condition = expression_of(over);
    is_sound &= condition.has_value();
    if (condition)
      spec.condition = std::move(*condition);
  }
  if (!is_sound)
    return std::nullopt;
  std::vector<std::int32_t> inputs;
  auto all = plan.row_type().fields();
  const bool is_left_alone =
      spec.kind == graph::join_kind::semi || spec.kind == graph::join_kind::anti;
  std::vector<std::size_t> kept = first_numbers(all.size());
  for (std::size_t i = 0; i < 2; ++i) {
    auto& side = i == 0 ? spec.left : spec.right;
    side.retracts = find_updating(plan.inputs[i]) != nullptr;
    side.state_ttl_ms = node.time ? 0 : settings_.state_ttl_ms;
    auto type = plan.inputs[i].row_type();
    auto input = *below[i];
    if (is_global) {
      // One constant key brings all rows together.
      side.key_columns = {static_cast<std::int32_t>(type.child_count())};
      input = add_constant(input, type);
    }
    inputs.push_back(
        partition(input, type, is_global ? std::vector<std::int32_t>() : side.key_columns));
    if (is_global && i == 0) {
      spec.null_safe = {1};
      all.insert(all.begin() + static_cast<std::ptrdiff_t>(left), type.fields().back());
    } else if (is_global && !is_left_alone) {
      all.push_back(type.fields().back());
    }
  }
  if (!is_global)
    return add(name_of(node), timed(std::move(spec), node), std::move(inputs), plan.row_type());
  // A missing row has no constant either.
  for (auto& each : all)
    if (each.name == "$all")
      each.type = each.type.nullable();
  const auto made = add(name_of(node), timed(std::move(spec), node), std::move(inputs),
                        logical_type::row(std::move(all)).not_null());
  out_.program.at(made).parallelism = 1;
  for (auto& each : kept)
    each += each >= left ? 1 : 0;
  return add("project", graph::project_spec{numbers(kept)}, {made}, plan.row_type());
}

maybe_index job_translator::make(const lookup_join_node& node, const plan_node& plan) {
  const auto below = visit(plan.inputs[0]);
  graph::lookup_join_spec spec;
  spec.kind = kind_of(node.kind);
  spec.table = connector_of(node.table.options);
  spec.table_type = node.table.record;
  spec.fields = numbers(node.table.fields);
  spec.time_zone = settings_.time_zone;
  for (const auto& each : node.keys) {
    spec.key_columns.push_back(static_cast<std::int32_t>(each.left));
    spec.table_key_columns.push_back(static_cast<std::int32_t>(each.right));
  }
  bool is_sound = below.has_value();
  if (node.condition) {
    auto condition = expression_of(*node.condition);
    is_sound &= condition.has_value();
    if (condition)
      spec.condition = std::move(*condition);
  }
  const auto made =
      connectors_.create_source(spec.table.name, spec.table.options, shared(spec.table_type));
  if (!made)
    return fail(diagnostic_kind::invalid,
                "table " + node.table.table.object + ": " + made.error().message, plan.at);
  if ((*made)->bounds() != graph::boundedness::bounded)
    return fail(diagnostic_kind::unsupported,
                "FOR SYSTEM_TIME AS OF reads a table once, so that it must end: " +
                    node.table.table.object,
                plan.at);
  if (!is_sound)
    return std::nullopt;
  return add("lookup join", std::move(spec), {*below}, plan.row_type());
}

} // namespace headrace::sql
