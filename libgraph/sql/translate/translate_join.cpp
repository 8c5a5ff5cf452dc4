#include "libgraph/sql/optimize/changelog.hpp"
#include "libgraph/sql/optimize/upsert_key.hpp"
#include "libgraph/sql/plan/time_distance.hpp"
#include "libgraph/sql/translate/translator.hpp"
#include "libactors/base/assert.hpp"

#include <algorithm>

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
  graph::timed_join_spec out;
  out.join = std::move(spec);
  out.is_by_window = node.time->is_by_window;
  out.left_time = static_cast<std::int32_t>(node.time->left);
  out.right_time = static_cast<std::int32_t>(node.time->right);
  out.least_ms = node.time->least_ms;
  out.most_ms = node.time->most_ms;
  return out;
}

constexpr std::string_view bucket_name = "$bucket";

} // namespace

/// Changes of one row must meet: they go by what names it, else by the whole row.
std::int32_t job_translator::add_buckets(std::int32_t input, logical_type& type,
                                         const join_spread& spread, std::size_t side,
                                         const plan_node& plan) {
  graph::salt_spec spec;
  spec.buckets = static_cast<std::int32_t>(spread.buckets);
  spec.is_in_each = side == spread.small_side;
  if (!spec.is_in_each) {
    auto columns = find_updating(plan) == nullptr ? std::nullopt : find_upsert_key(plan);
    if (!columns || columns->empty())
      columns = first_numbers(type.child_count());
    spec.columns = numbers(*columns);
  }
  auto fields = type.fields();
  // Rows of state lie by it: its name tells how, and so whether a restored state fits.
  fields.push_back({std::string(bucket_name) + (spec.is_in_each ? ", each of " : ", one of ") +
                        std::to_string(spec.buckets),
                    logical_type::integer().not_null(),
                    {}});
  type = logical_type::row(std::move(fields)).not_null();
  return add(spec.is_in_each ? "to each bucket" : "to a bucket", std::move(spec), {input}, type);
}

maybe_index job_translator::make(const join_node& node, const plan_node& plan) {
  HEADRACE_ASSERT(node.keys.has_value(), "keys of joins are formed by the optimizer");
  if (find_untimed(plan) == &plan && find_updating(plan) == nullptr)
    return fail(diagnostic_kind::unsupported,
                "the times of this join have a distance, and no keys by which it is bounded",
                plan.at);
  const maybe_index below[] = {visit(plan.inputs[0]), visit(plan.inputs[1])};
  graph::join_spec spec;
  spec.kind = kind_of(node.kind);
  spec.time_zone = settings_.time_zone;
  spec.mini_batch = mini_batch_of(plan);
  for (const auto& each : *node.keys) {
    spec.left.key_columns.push_back(static_cast<std::int32_t>(each.left));
    spec.right.key_columns.push_back(static_cast<std::int32_t>(each.right));
    spec.null_safe.push_back(each.is_null_safe ? 1 : 0);
  }
  // One constant key brings all rows together; a bucket spreads those of one key.
  const bool has_further_key = node.keys->empty() || node.spread;
  const auto left = plan.inputs[0].columns.size();
  bool is_sound = below[0] && below[1];
  if (node.condition) {
    auto over = *node.condition;
    if (has_further_key) // behind the left columns
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
    side.state_ttl_ms = ttl_of(plan, i);
    auto type = plan.inputs[i].row_type();
    auto input = *below[i];
    if (node.time && node.time->is_by_window)
      input =
          tell_windows(input, type, i == 0 ? node.time->left : node.time->right, plan.inputs[i]);
    if (has_further_key) {
      side.key_columns.push_back(static_cast<std::int32_t>(type.child_count()));
      input = node.spread ? add_buckets(input, type, *node.spread, i, plan.inputs[i])
                          : add_constant(input, type);
    }
    const bool is_global = has_further_key && !node.spread;
    inputs.push_back(
        partition(input, type, is_global ? std::vector<std::int32_t>() : side.key_columns));
    if (has_further_key && i == 0) {
      spec.null_safe.push_back(1);
      all.insert(all.begin() + static_cast<std::ptrdiff_t>(left), type.fields().back());
    } else if (has_further_key && !is_left_alone) {
      all.push_back(type.fields().back());
    }
  }
  if (!has_further_key)
    return add(name_of(node), timed(std::move(spec), node), std::move(inputs), plan.row_type());
  // A missing row has none of it either.
  for (auto& each : all)
    if (each.name == "$all" || each.name.starts_with(bucket_name))
      each.type = each.type.nullable();
  const auto made = add(name_of(node), timed(std::move(spec), node), std::move(inputs),
                        logical_type::row(std::move(all)).not_null());
  if (!node.spread)
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
    return fail_table(node.table.table, node.table.options, made.error().message, plan.at);
  if (!check_options(node.table.table, node.table.options, plan.at))
    return std::nullopt;
  if ((*made)->bounds() != graph::boundedness::bounded)
    return fail(diagnostic_kind::unsupported,
                "FOR SYSTEM_TIME AS OF reads a table once, so that it must end: " +
                    node.table.table.object,
                plan.at);
  if (!is_sound)
    return std::nullopt;
  return add("lookup join", std::move(spec), {*below}, plan.row_type());
}

bool job_translator::check_version_key(const version_join_node& node, const plan_node& plan) {
  const auto& right = plan.inputs[1];
  const auto key = node.primary_key ? node.primary_key : find_upsert_key(right);
  if (!key) {
    fail(diagnostic_kind::invalid,
         "Temporal Table Join requires primary key in versioned table, but no primary key can be "
         "found: declare PRIMARY KEY … NOT ENFORCED, or read a view that keeps the last row of "
         "each key by ROW_NUMBER, and join by all columns of the key",
         plan.at);
    return false;
  }
  for (const auto column : *key)
    if (std::none_of(node.keys.begin(), node.keys.end(),
                     [&](const join_key& each) { return each.right == column; })) {
      fail(diagnostic_kind::invalid,
           "Temporal table's primary key must be included in the equivalence condition of "
           "temporal join: ON … = " +
               right.columns[column].name,
           plan.at);
      return false;
    }
  return true;
}

maybe_index job_translator::make(const version_join_node& node, const plan_node& plan) {
  if (!check_version_key(node, plan))
    return std::nullopt;
  if (const auto* untimed = find_untimed(plan.inputs[0]))
    return fail(diagnostic_kind::unsupported,
                "a join of rows that are updated has no row time any more", untimed->at);
  // Which version is meant says the new one alone.
  const maybe_index below[] = {visit(plan.inputs[0]), visit(plan.inputs[1], false)};
  graph::timed_join_spec spec;
  spec.is_by_version = true;
  spec.left_time = static_cast<std::int32_t>(node.left_time);
  spec.right_time = static_cast<std::int32_t>(node.right_time);
  auto& join = spec.join;
  join.kind = kind_of(node.kind);
  join.time_zone = settings_.time_zone;
  for (const auto& each : node.keys) {
    join.left.key_columns.push_back(static_cast<std::int32_t>(each.left));
    join.right.key_columns.push_back(static_cast<std::int32_t>(each.right));
    join.null_safe.push_back(1); // as Flink has it: versions are found by their key, NULL too
  }
  bool is_sound = below[0] && below[1];
  if (node.condition) {
    auto condition = expression_of(*node.condition);
    is_sound &= condition.has_value();
    if (condition)
      join.condition = std::move(*condition);
  }
  if (!is_sound)
    return std::nullopt;
  std::vector<std::int32_t> inputs;
  for (std::size_t i = 0; i < 2; ++i) {
    auto& side = i == 0 ? join.left : join.right;
    side.retracts = find_updating(plan.inputs[i]) != nullptr;
    inputs.push_back(partition(*below[i], plan.inputs[i].row_type(), side.key_columns));
  }
  return add("temporal join", std::move(spec), std::move(inputs), plan.row_type());
}

} // namespace headrace::sql
