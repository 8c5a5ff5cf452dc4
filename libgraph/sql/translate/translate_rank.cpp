#include "libgraph/sql/optimize/changelog.hpp"
#include "libgraph/sql/translate/translator.hpp"

namespace headrace::sql {

std::optional<std::vector<graph::order_column>>
job_translator::order_of(const std::vector<sort_key>& keys, const plan_node& input,
                         source_span at) {
  std::vector<graph::order_column> out;
  for (const auto& each : keys) {
    const auto& type = input.columns[each.column].type;
    if (type.width_bytes() <= 0)
      return fail(diagnostic_kind::type_mismatch,
                  "ORDER BY takes numbers, texts and times, found " + type.nullable().to_sql(), at);
    out.push_back({static_cast<std::int32_t>(each.column), each.is_descending, each.nulls_first});
  }
  return out;
}

maybe_index job_translator::make(const rank_node& node, const plan_node& plan) {
  return add_rank(node, plan);
}

maybe_index job_translator::add_rank(const rank_node& node, const plan_node& plan) {
  const auto& input = plan.inputs[0];
  auto below = visit(input);
  auto order = order_of(node.order, input, plan.at);
  graph::rank_spec spec;
  spec.input_retracts = find_updating(input) != nullptr;
  const bool keeps_rows = !node.order.empty() || spec.input_retracts;
  if (keeps_rows && !node.window_end && node.last > graph::rank_spec::kept_ranks_max)
    return fail(diagnostic_kind::invalid,
                "rows up to rank " + std::to_string(graph::rank_spec::kept_ranks_max) +
                    " are kept in order, not " + std::to_string(node.last),
                plan.at);
  if (!below || !order)
    return std::nullopt;
  spec.key_columns = numbers(node.partition);
  spec.order = std::move(*order);
  spec.first = node.first;
  spec.last = node.last;
  spec.prefers_latest = node.prefers_latest;
  spec.outputs_rank = node.outputs_rank;
  spec.emits_update_before = needs_before_;
  spec.state_ttl_ms = ttl_of(plan);
  spec.mini_batch = mini_batch_of(plan);
  if (node.window_end) {
    spec.window_end_column = static_cast<std::int32_t>(*node.window_end);
    if (node.is_zoned)
      spec.time_zone = settings_.time_zone;
  }
  const auto width = input.columns.size();
  const bool is_global = node.partition.empty();
  auto keyed_type = input.row_type();
  auto fields = plan.row_type().fields();
  if (node.window_end)
    below = tell_windows(*below, keyed_type, *node.window_end, input);
  if (is_global) {
    // One partition has a constant for a key, behind the columns.
    spec.key_columns = {static_cast<std::int32_t>(width)};
    below = add_constant(*below, keyed_type);
    fields.insert(fields.begin() + static_cast<std::ptrdiff_t>(width), keyed_type.fields().back());
  }
  for (std::size_t i = 0; i < width; ++i) // a rank gives its rows as they are
    fields[i].type = input.columns[i].type;
  const auto keyed = partition(*below, keyed_type, spec.key_columns);
  const auto made =
      add("rank", std::move(spec), {keyed}, logical_type::row(std::move(fields)).not_null());
  if (!is_global)
    return made;
  out_.program.at(made).parallelism = 1;
  auto back = first_numbers(width);
  if (node.outputs_rank)
    back.push_back(width + 1);
  return add("project", graph::project_spec{numbers(back)}, {made}, plan.row_type());
}

} // namespace headrace::sql
