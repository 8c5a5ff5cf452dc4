#include "libgraph/job_graph/query_parts.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <string>
#include <vector>

using namespace headrace;
using namespace headrace::graph;

namespace {

const logical_type rows = logical_type::row({{"a", logical_type::string(), {}},
                                             {"b", logical_type::string(), {}},
                                             {"v", logical_type::bigint(), {}},
                                             {"t", logical_type::timestamp(3), {}}});

operator_node node_of(operator_spec spec) {
  operator_node out;
  out.input_types.assign(input_count(spec), rows);
  out.spec = std::move(spec);
  return out;
}

std::vector<std::string> words_of(operator_spec spec) {
  std::vector<std::string> out;
  for (const auto& part : query_parts(node_of(std::move(spec))))
    out.push_back(part.name);
  return out;
}

/// A spec, and what may and what may not be changed under its state.
struct changes {
  operator_spec sound;
  std::vector<std::function<void(operator_spec&)>> means_else;
  std::vector<std::function<void(operator_spec&)>> means_the_same;
};

template <class Spec>
std::function<void(operator_spec&)> change(void (*apply)(Spec&)) {
  return [apply](operator_spec& spec) { apply(std::get<Spec>(spec)); };
}

expression is_late() {
  return make_call("IS NULL", logical_type::boolean(),
                   {make_column(3, logical_type::timestamp(3))});
}

std::vector<changes> all() {
  group_aggregate_spec group;
  group.key_columns = {0, 1};
  group.calls = {{"SUM", {2}}, {"COUNT", {}}};
  window_aggregate_spec windows;
  windows.key_columns = {0};
  windows.window.size_ms = 60'000;
  windows.aggregates.calls = {{aggregate_kind::min, 2}, {aggregate_kind::max, 2}};
  rank_spec rank;
  rank.key_columns = {0};
  rank.order = {{2, true, false}};
  rank.last = 3;
  over_spec over;
  over.key_columns = {0};
  over.time_column = 3;
  over.preceding = 3;
  over.is_rows = true;
  over.calls = {{"SUM", {2}}};
  session_group_spec session;
  session.key_columns = {0};
  session.window.kind = window_kind::session;
  session.window.size_ms = 10'000;
  session.calls = {{"SUM", {2}}};
  join_spec join;
  join.left.key_columns = {0, 1};
  join.right.key_columns = {0, 1};
  join.kind = join_kind::semi;
  timed_join_spec timed;
  timed.join = join;
  timed.left_time = timed.right_time = 3;
  timed.most_ms = 5'000;
  match_spec match;
  match.key_columns = {0};
  match.time_column = 3;
  match.variables = {{"A", 1, 1, false, {}}, {"B", 1, -1, false, {}}};
  return {
      {group,
       {change<group_aggregate_spec>([](auto& s) {
          s.key_columns = {1, 0};
        }),
        change<group_aggregate_spec>([](auto& s) { std::swap(s.calls[0], s.calls[1]); }),
        change<group_aggregate_spec>([](auto& s) { s.calls[0].function = "MAX"; }),
        change<group_aggregate_spec>([](auto& s) { s.calls[0].is_distinct = true; }),
        change<group_aggregate_spec>([](auto& s) { s.calls[0].filter = 0; })},
       {change<group_aggregate_spec>([](auto& s) { s.state_ttl_ms = 1'000; }),
        change<group_aggregate_spec>([](auto& s) { s.mini_batch.rows_max = 10; }),
        change<group_aggregate_spec>([](auto& s) { s.emits_update_before = false; })}},
      {windows,
       {change<window_aggregate_spec>([](auto& s) { s.key_columns = {1}; }),
        change<window_aggregate_spec>([](auto& s) { s.window.size_ms = 30'000; }),
        change<window_aggregate_spec>([](auto& s) { s.window.offset_ms = 7'000; }),
        change<window_aggregate_spec>([](auto& s) { s.window.kind = window_kind::cumulating; }),
        change<window_aggregate_spec>([](auto& s) { s.window.slide_ms = 30'000; }),
        change<window_aggregate_spec>(
            [](auto& s) { std::swap(s.aggregates.calls[0], s.aggregates.calls[1]); })},
       {change<window_aggregate_spec>([](auto& s) { s.window.allowed_lateness_ms = 5; }),
        change<window_aggregate_spec>([](auto& s) { s.late_side = 0; })}},
      {rank,
       {change<rank_spec>([](auto& s) { s.key_columns = {1}; }),
        change<rank_spec>([](auto& s) { s.order[0].is_descending = false; }),
        change<rank_spec>([](auto& s) { s.order[0].nulls_first = true; }),
        change<rank_spec>([](auto& s) { s.last = 1; })},
       {change<rank_spec>([](auto& s) { s.state_ttl_ms = 1'000; }),
        change<rank_spec>([](auto& s) { s.outputs_rank = true; })}},
      {over,
       {change<over_spec>([](auto& s) { s.key_columns = {1}; }),
        change<over_spec>([](auto& s) { s.preceding = -1; }),
        change<over_spec>([](auto& s) { s.is_rows = false; }),
        change<over_spec>([](auto& s) { s.calls[0].function = "MIN"; })},
       {change<over_spec>([](auto& s) { s.state_ttl_ms = 1'000; })}},
      {session,
       {change<session_group_spec>([](auto& s) { s.window.size_ms = 20'000; }),
        change<session_group_spec>([](auto& s) { s.calls[0].function = "MIN"; })},
       {}},
      {join,
       {change<join_spec>([](auto& s) { s.kind = join_kind::anti; }),
        change<join_spec>([](auto& s) {
          s.left.key_columns = s.right.key_columns = {1, 0};
        }),
        change<join_spec>([](auto& s) {
          s.right.key_columns = {1, 0};
        }),
        change<join_spec>([](auto& s) { s.condition = is_late(); })},
       {change<join_spec>([](auto& s) { s.mini_batch.rows_max = 10; }),
        change<join_spec>([](auto& s) { s.time_zone = "Asia/Tokyo"; })}},
      {timed,
       {change<timed_join_spec>([](auto& s) { s.most_ms = 30'000; }),
        change<timed_join_spec>([](auto& s) { s.least_ms = -5'000; }),
        change<timed_join_spec>([](auto& s) { s.is_by_window = true; }),
        change<timed_join_spec>([](auto& s) { s.join.kind = join_kind::anti; })},
       {}},
      {match,
       {change<match_spec>([](auto& s) { s.key_columns = {1}; }),
        change<match_spec>([](auto& s) { s.variables[1].condition = is_late(); }),
        change<match_spec>([](auto& s) { std::swap(s.variables[0], s.variables[1]); }),
        change<match_spec>([](auto& s) { s.variables[1].is_greedy = true; }),
        change<match_spec>([](auto& s) { s.variables[1].repeat_max = 4; }),
        change<match_spec>([](auto& s) { s.within_ms = 1'000; }),
        change<match_spec>([](auto& s) { s.skip = match_skip::past_last_row; })},
       {change<match_spec>(
           [](auto& s) { s.measures = {make_column(2, logical_type::bigint())}; })}},
  };
}

} // namespace

TEST_SUITE("graph/job_graph/query_parts") {

TEST_CASE("what changes the meaning of state changes the parts, what does not does not") {
  for (const auto& each : all()) {
    CAPTURE(each.sound.index());
    const auto before = words_of(each.sound);
    CHECK(!before.empty());
    for (std::size_t i = 0; i < each.means_else.size(); ++i) {
      CAPTURE(i);
      auto changed = each.sound;
      each.means_else[i](changed);
      CHECK(words_of(changed) != before);
    }
    for (std::size_t i = 0; i < each.means_the_same.size(); ++i) {
      CAPTURE(i);
      auto changed = each.sound;
      each.means_the_same[i](changed);
      CHECK(words_of(changed) == before);
    }
  }
}

TEST_CASE("parts are told in words") {
  const auto specs = all();
  CHECK(words_of(specs[0].sound) == std::vector<std::string>{"by a, b", "SUM(v), COUNT(*)"});
  CHECK(words_of(specs[1].sound) ==
        std::vector<std::string>{"by a", "TUMBLE of 60000 ms", "MIN(v), MAX(v)"});
  CHECK(words_of(specs[2].sound) ==
        std::vector<std::string>{"by a", "ordered by v DESC", "ranks 1 to 3"});
}

TEST_CASE("operators of the API, and those without state of keys, have none") {
  CHECK(words_of(keyed_process_spec{{0}, {0}}).empty());
  CHECK(words_of(calc_spec()).empty());
  group_aggregate_spec local;
  local.key_columns = {0};
  local.phase = aggregate_phase::local;
  CHECK(words_of(local).empty());
  window_aggregate_spec own;
  own.key_columns = {0};
  own.aggregates.function = {0};
  CHECK(words_of(own).empty());
}

} // TEST_SUITE("graph/job_graph/query_parts")
