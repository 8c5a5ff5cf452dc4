#include "libtask/operator/calc_operator.hpp"

#include "test/support/batches.hpp"
#include "test/support/chain_harness.hpp"
#include "libgraph/expression/expression.hpp"

#include <doctest/doctest.h>

using namespace headrace;
using namespace headrace::testing;

namespace {

const auto big = graph::logical_type::bigint();

/// Rows with n <> 5, as 12 / (n - 5).
graph::job_vertex calculating() {
  const auto n = graph::make_column(0, number_type()->child(0));
  const auto five = graph::make_constant(graph::fixed_value<std::int64_t>(big, 5));
  const auto twelve = graph::make_constant(graph::fixed_value<std::int64_t>(big, 12));
  const auto output = graph::logical_type::row({{"n", big, {}}});
  return vertex_of(
      graph::calc_spec{
          graph::make_call("<>", graph::logical_type::boolean(), {n, five}),
          {graph::make_call("/", big, {twelve, graph::make_call("-", big, {n, five})})}},
      *number_type(), output);
}

} // namespace

TEST_SUITE("task/operator/calc_operator") {
TEST_CASE("rows are filtered and computed, in order") {
  chain_harness calc(calculating());
  calc.open();

  calc.push(numbers({6, 5, 7, 8}));
  calc.push(numbers({5}));
  calc.push(numbers({2}));

  std::vector<std::int64_t> seen;
  for (const auto& batch : calc.take_batches())
    for (const auto each : numbers_of(batch))
      seen.push_back(each);
  CHECK(seen == std::vector<std::int64_t>{12, 6, 4, -4});
}

TEST_CASE("kinds of rows stay") {
  chain_harness calc(calculating());
  calc.open();
  auto batch = numbers({6, 5, 7});
  auto kinds = graph::buffer::allocate(3);
  kinds->mutable_as<graph::row_kind>()[0] = graph::row_kind::update_before;
  kinds->mutable_as<graph::row_kind>()[1] = graph::row_kind::delete_;
  kinds->mutable_as<graph::row_kind>()[2] = graph::row_kind::update_after;

  calc.push(batch.with_kinds(kinds));

  const auto out = calc.take_batches();
  REQUIRE(out.size() == 1);
  CHECK(out[0].kinds()[out[0].row_at(0)] == graph::row_kind::update_before);
  CHECK(out[0].kinds()[out[0].row_at(1)] == graph::row_kind::update_after);
}

TEST_CASE("a graph with an expression that does not fit is refused") {
  const auto validate_after = [](auto change) {
    auto vertex = calculating();
    vertex.id = {3, 4};
    vertex.operators[0].id = {1, 2};
    vertex.inputs = {{{5, 6}, 0}};
    change(vertex.operators[0], std::get<graph::calc_spec>(vertex.operators[0].spec));
    return graph::validate(vertex);
  };
  CHECK(validate_after([](auto&, auto&) {}));
  CHECK(validate_after([](auto&, auto& spec) { spec.outputs.clear(); }).error().code ==
        errc::type_mismatch);
  CHECK(validate_after([](auto&, auto& spec) { spec.outputs[0] = graph::make_column(7, big); })
            .error()
            .code == errc::invalid_graph);
  CHECK(validate_after(
            [](auto&, auto& spec) { spec.outputs[0] = graph::make_call("UNHEARD OF", big, {}); })
            .error()
            .code == errc::invalid_graph);
  CHECK(validate_after([](auto&, auto& spec) {
          spec.condition = graph::make_column(0, number_type()->child(0));
        })
            .error()
            .code == errc::type_mismatch);
}
} // TEST_SUITE("task/operator/calc_operator")
