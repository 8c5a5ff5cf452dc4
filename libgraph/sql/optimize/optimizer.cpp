#include "libgraph/sql/optimize/optimizer.hpp"

#include "libgraph/sql/optimize/final_rows.hpp"

namespace headrace::sql {

/// Operators of windows and ranks, from below: what they are over decides what they are.
plan_node form_operators(plan_node plan, bool is_batch) {
  for (std::size_t i = 0; i < plan.inputs.size(); ++i)
    plan.inputs[i] = form_operators(std::move(plan.inputs[i]), is_batch && !has_versions(plan, i));
  plan = form_rank(merge_calcs(std::move(plan)));
  plan = form_window_aggregate(form_cascaded_windows(std::move(plan)));
  if (is_batch)
    make_final(plan);
  return plan;
}

plan_node optimize(plan_node plan, bool is_batch) {
  plan = merge_calcs(expand_sets(std::move(plan)));
  plan = push_filters(std::move(plan));
  plan = merge_calcs(std::move(plan));
  plan = expand_window_items(form_operators(std::move(plan), is_batch));
  plan = merge_calcs(form_join_keys(std::move(plan)));
  plan = prune_columns(push_fields(std::move(plan)));
  return form_timed_joins(narrow_rows(merge_calcs(std::move(plan))), is_batch);
}

} // namespace headrace::sql
