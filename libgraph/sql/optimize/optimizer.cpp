#include "libgraph/sql/optimize/optimizer.hpp"

namespace headrace::sql {

/// Operators of windows and ranks, from below: what they are over decides what they are.
plan_node form_operators(plan_node plan) {
  for (auto& each : plan.inputs)
    each = form_operators(std::move(each));
  plan = form_rank(merge_calcs(std::move(plan)));
  return form_window_aggregate(form_cascaded_windows(std::move(plan)));
}

plan_node optimize(plan_node plan) {
  plan = merge_calcs(expand_sets(std::move(plan)));
  plan = push_filters(std::move(plan));
  plan = merge_calcs(std::move(plan));
  plan = expand_window_items(form_operators(std::move(plan)));
  plan = merge_calcs(form_join_keys(std::move(plan)));
  plan = prune_columns(push_fields(std::move(plan)));
  return form_timed_joins(narrow_rows(merge_calcs(std::move(plan))));
}

} // namespace headrace::sql
