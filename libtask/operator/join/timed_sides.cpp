#include "libtask/operator/join/timed_sides.hpp"

#include "libtask/operator/join/join_sides.hpp"
#include "libtask/operator/join/timed_join_operator.hpp"

#include <numeric>
#include <utility>

namespace headrace::task {
namespace {

const graph::timed_join_spec& spec_of(const graph::operator_node& node) {
  return std::get<graph::timed_join_spec>(node.spec);
}

/// By windows the left rows' matches are known when they leave.
join_rows::setup setup_of(const graph::operator_node& node, std::size_t side) {
  const auto& spec = spec_of(node);
  return {side == 0 ? "left-rows" : "right-rows",
          std::make_shared<const graph::logical_type>(node.input_types[side]),
          is_outer(spec.join.kind, side) && (side == 1 || !spec.is_by_window),
          false,
          0,
          true};
}

graph::record_batch no_rows(const graph::logical_type& type) {
  return graph::batch_builder(std::make_shared<const graph::logical_type>(type)).finish();
}

} // namespace

timed_sides::timed_sides(const graph::operator_node& node, const operator_context& context,
                         join_pairs pairs_of_both)
    : spec(spec_of(node)), schema(join_key_schema(spec.join, node)),
      keys(schema, static_cast<std::int32_t>(context.max_parallelism)), time(context.time),
      metrics(context.metrics), rows{join_rows(setup_of(node, 0)), join_rows(setup_of(node, 1))},
      pairs(std::move(pairs_of_both)), unmatched{
                                           unmatched_rows(rows[0], 0, no_rows(node.input_types[1])),
                                           unmatched_rows(rows[1], 1,
                                                          no_rows(node.input_types[0]))} {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    all_columns_[i].resize(node.input_types[i].child_count());
    std::iota(all_columns_[i].begin(), all_columns_[i].end(), 0);
  }
}

status timed_sides::open(const operator_states& states) {
  for (auto& each : rows)
    HEADRACE_CHECK(each.open(*states.keyed));
  return {};
}

void timed_sides::begin(std::size_t input, const graph::record_batch& batch) {
  side = input;
  in = batch;
  keys.assign(batch, key_columns(side));
  find_matchable(batch, key_columns(side), spec.join.null_safe, lookups, places);
}

std::optional<std::int64_t> timed_sides::time_of(std::size_t index) const {
  const auto& times = in.at(static_cast<std::size_t>(side == 0 ? spec.left_time : spec.right_time));
  const auto row = in.row_at(index);
  if (times.is_null(row))
    return std::nullopt;
  return times.values<std::int64_t>()[row];
}

status timed_sides::store(std::vector<join_rows::change>& changes,
                          const std::vector<std::size_t>& indices) {
  if (changes.empty())
    return {};
  graph::encode_keys(in, all_columns_[side], encoded_);
  for (std::size_t i = 0; i < changes.size(); ++i)
    changes[i].encoded = encoded_[indices[i]];
  return rows[side].apply(keys, changes, time.wall_ms());
}

result<std::unique_ptr<stream_operator>> make_timed_join_operator(const graph::operator_node& node,
                                                                  const operator_context& context) {
  const auto& spec = spec_of(node);
  HEADRACE_TRY(auto pairs,
               join_pairs::make(spec.join, node.input_types, node.output_type, context));
  if (spec.is_by_version)
    return make_version_join(node, context, std::move(pairs));
  return spec.is_by_window ? make_window_join(node, context, std::move(pairs))
                           : make_interval_join(node, context, std::move(pairs));
}

} // namespace headrace::task
