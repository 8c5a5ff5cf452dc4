#include "libgraph/sql/optimize/optimizer.hpp"

namespace headrace::sql {

plan_node optimize(plan_node plan) {
  plan = merge_calcs(std::move(plan));
  plan = push_filters(std::move(plan));
  plan = merge_calcs(std::move(plan));
  plan = expand_window_items(form_cascaded_windows(form_window_aggregates(std::move(plan))));
  plan = merge_calcs(form_join_keys(std::move(plan)));
  plan = prune_columns(push_fields(std::move(plan)));
  return form_timed_joins(narrow_rows(merge_calcs(std::move(plan))));
}

} // namespace headrace::sql
