#include "libtask/operator/aggregate/group_aggregate_operator.hpp"
#include "libtask/operator/aggregate/keyed_aggregate_operator.hpp"
#include "libtask/operator/async/async_wait_operator.hpp"
#include "libtask/operator/calc_operator.hpp"
#include "libtask/operator/co_process_operator.hpp"
#include "libtask/operator/correlate/correlate_operator.hpp"
#include "libtask/operator/join/join_operator.hpp"
#include "libtask/operator/join/lookup_join_operator.hpp"
#include "libtask/operator/join/timed_join_operator.hpp"
#include "libtask/operator/keyed_process_operator.hpp"
#include "libtask/operator/match/match_operator.hpp"
#include "libtask/operator/over/over_operator.hpp"
#include "libtask/operator/rank/rank_operator.hpp"
#include "libtask/operator/row_operators.hpp"
#include "libtask/operator/salt_operator.hpp"
#include "libtask/operator/sink_operator.hpp"
#include "libtask/operator/source_operator.hpp"
#include "libtask/operator/stream_operator.hpp"
#include "libtask/operator/watermarks_operator.hpp"
#include "libtask/operator/window/session_group_operator.hpp"
#include "libtask/operator/window/window_aggregate_operator.hpp"
#include "libtask/operator/window/window_group_operator.hpp"
#include "libtask/operator/window/window_table_operator.hpp"

namespace headrace::task {

result<std::unique_ptr<stream_operator>>
operator_factories::make(const graph::operator_node& node, const operator_context& context) const {
  const auto found = by_kind_.find(node.spec.index());
  if (found == by_kind_.end())
    return error(errc::unknown_operator, "no factory for this kind of operator: " + node.name);
  return found->second(node, context);
}

operator_factories make_operator_factories() {
  operator_factories all;
  all.add<graph::source_spec>(make_source_operator);
  all.add<graph::row_function_spec>(make_row_function_operator);
  all.add<graph::filter_spec>(make_filter_operator);
  all.add<graph::project_spec>(make_project_operator);
  all.add<graph::watermarks_spec>(make_watermarks_operator);
  all.add<graph::keyed_process_spec>(make_keyed_process_operator);
  all.add<graph::keyed_aggregate_spec>(make_keyed_aggregate_operator);
  all.add<graph::window_aggregate_spec>(make_window_aggregate_operator);
  all.add<graph::sink_spec>(make_sink_operator);
  all.add<graph::calc_spec>(make_calc_operator);
  all.add<graph::group_aggregate_spec>(make_group_aggregate_operator);
  all.add<graph::join_spec>(make_join_operator);
  all.add<graph::timed_join_spec>(make_timed_join_operator);
  all.add<graph::lookup_join_spec>(make_lookup_join_operator);
  all.add<graph::rank_spec>(make_rank_operator);
  all.add<graph::window_table_spec>(make_window_table_operator);
  all.add<graph::window_group_spec>(make_window_group_operator);
  all.add<graph::session_group_spec>(make_session_group_operator);
  all.add<graph::over_spec>(make_over_operator);
  all.add<graph::correlate_spec>(make_correlate_operator);
  all.add<graph::match_spec>(make_match_operator);
  all.add<graph::salt_spec>(make_salt_operator);
  all.add<graph::co_process_spec>(make_co_process_operator);
  all.add<graph::async_wait_spec>(make_async_wait_operator);
  return all;
}

} // namespace headrace::task
