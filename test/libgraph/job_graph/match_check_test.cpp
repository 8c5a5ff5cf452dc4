#include "libgraph/job_graph/aggregation_check.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <string>

using namespace headrace;
using namespace headrace::graph;

namespace {

const logical_type rows =
    logical_type::row({{"k", logical_type::bigint(), {}},
                       {"t", logical_type::timestamp(3), {}},
                       {"s", logical_type::string(), {}},
                       {"parts", logical_type::array(logical_type::integer()), {}}});
const auto bigint = logical_type::bigint();

/// A B+? with the last k of A, and the sum of all k.
match_spec sound() {
  using kind = pattern_value::kind;
  match_spec out;
  out.key_columns = {0};
  out.time_column = 1;
  out.variables = {{"A", 1, 1, false, {}}, {"B", 1, -1, false, {}}};
  out.values = {{kind::last, 0, 0, 0, {}, {}, bigint},
                {kind::aggregate, -1, 0, -1, "SUM", {make_column(0, bigint)}, bigint}};
  out.measures = {make_column(4, bigint), make_column(5, bigint)};
  out.variables[1].condition =
      make_call(">", logical_type::boolean(), {make_column(0, bigint), make_column(4, bigint)});
  return out;
}

std::string refused(const std::function<void(match_spec&)>& change) {
  auto spec = sound();
  change(spec);
  const auto out = logical_type::row({{"a", bigint, {}}, {"b", bigint, {}}});
  const auto checked = check_match("here", spec, rows, out);
  if (checked)
    return "";
  CHECK(
      (checked.error().code == errc::invalid_graph || checked.error().code == errc::type_mismatch));
  return checked.error().message;
}

bool has(const std::string& text, std::string_view part) { return text.find(part) != text.npos; }

} // namespace

TEST_SUITE("graph/job_graph/match_check") {
TEST_CASE("a pattern that holds together is taken") {
  CHECK(refused([](match_spec&) {}).empty());
  CHECK(refused([](match_spec& spec) { spec.order = {{2, true, true}}; }).empty());
  CHECK(refused([](match_spec& spec) {
          spec.skip = match_skip::to_last;
          spec.skip_variable = 1;
        }).empty());
}

TEST_CASE("variables have repetitions that there are, and one takes a row") {
  CHECK(has(refused([](match_spec& spec) { spec.variables.clear(); }), "without variables"));
  CHECK(has(refused([](match_spec& spec) { spec.variables[0].repeat_max = 0; }),
            "variable A has no such repetitions: 1 to 0"));
  CHECK(has(refused([](match_spec& spec) { spec.variables[0].repeat_min = -1; }), "-1 to 1"));
  CHECK(has(refused([](match_spec& spec) {
              spec.variables[0].repeat_min = 5000;
              spec.variables[0].repeat_max = 10'000;
            }),
            "more than 10000 repetitions"));
  CHECK(has(refused([](match_spec& spec) {
              spec.variables[0].repeat_min = 0;
              spec.variables[1].repeat_min = 0;
            }),
            "without a variable that takes a row"));
  CHECK(has(refused([](match_spec& spec) { spec.variables[1].is_greedy = true; }), "is greedy: B"));
}

TEST_CASE("columns and variables are there") {
  CHECK(has(refused([](match_spec& spec) { spec.time_column = 0; }), "time is no column"));
  CHECK(has(refused([](match_spec& spec) { spec.order = {{9, false, false}}; }), "out of range"));
  CHECK(has(refused([](match_spec& spec) { spec.order = {{3, false, false}}; }), "has no order"));
  CHECK(has(refused([](match_spec& spec) { spec.values[0].variable = 2; }), "variable 2"));
  CHECK(has(refused([](match_spec& spec) { spec.values[0].offset = -1; }), "offset -1"));
  CHECK(has(refused([](match_spec& spec) { spec.values[0].column = 4; }), "out of range: 4"));
  CHECK(has(refused([](match_spec& spec) { spec.values[0].column = 2; }), "another type"));
  CHECK(has(refused([](match_spec& spec) { spec.skip_variable = 0; }), "skips to no variable"));
  CHECK(has(refused([](match_spec& spec) { spec.skip = match_skip::to_first; }),
            "skips to no variable"));
  CHECK(has(refused([](match_spec& spec) { spec.within_ms = -1; }), "negative length"));
}

TEST_CASE("aggregates, conditions and measures can be computed") {
  CHECK(has(refused([](match_spec& spec) { spec.values[1].function = "MEDIAN"; }), "MEDIAN"));
  CHECK(has(refused([](match_spec& spec) {
              spec.values[1].function = "LISTAGG";
              spec.values[1].arguments = {make_column(2, logical_type::string())};
              spec.values[1].type = logical_type::string();
            }),
            "cannot be run over the rows of a match"));
  CHECK(has(refused([](match_spec& spec) { spec.values[1].arguments = {expression()}; }),
            "without an argument"));
  CHECK(has(refused([](match_spec& spec) {
              spec.values[1].arguments = {make_column(2, logical_type::string())};
            }),
            "no SUM of STRING"));
  CHECK_FALSE(refused([](match_spec& spec) {
                spec.variables[1].condition = make_column(0, bigint);
              }).empty());
  CHECK_FALSE(refused([](match_spec& spec) { spec.measures[0] = make_column(9, bigint); }).empty());
  CHECK(has(refused([](match_spec& spec) { spec.measures[0] = make_column(0, bigint); }),
            "over a column of no row"));
  CHECK(has(refused([](match_spec& spec) { spec.measures.pop_back(); }), "1 measures for 2"));
  CHECK(has(refused([](match_spec& spec) {
              spec.values[0].what = pattern_value::kind::match_time;
              spec.values[0].type = logical_type::timestamp(3);
              spec.time_column = -1;
            }),
            "rows without a time"));
}
} // TEST_SUITE("graph/job_graph/match_check")
