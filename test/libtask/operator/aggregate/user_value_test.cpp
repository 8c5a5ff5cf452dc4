#include "libtask/operator/aggregate/user_value.hpp"

#include "test/support/changelog.hpp"
#include "test/support/operator_harness.hpp"
#include "libtask/operator/aggregate/group_aggregate_operator.hpp"
#include "libgraph/data/batch_builder.hpp"
#include "libgraph/user_function/user_function.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace headrace::task {
namespace {

using graph::logical_type;
using graph::row_kind;
using testing::operator_harness;
using lines = std::vector<std::string>;

graph::row_type_ptr input_type() {
  static const auto type = std::make_shared<const logical_type>(
      logical_type::row({{"k", logical_type::bigint(), {}}, {"x", logical_type::bigint(), {}}}));
  return type;
}

struct change {
  std::int64_t key = 0;
  std::int64_t value = 0;
  row_kind kind = row_kind::insert;
};

graph::record_batch batch_of(const std::vector<change>& rows) {
  graph::batch_builder out(input_type());
  for (const auto& row : rows) {
    out.column(0).append(row.key);
    out.column(1).append(row.value);
    out.end_row(row.kind);
  }
  return out.finish();
}

/// The values of a group, as a text, and the number of calls.
graph::operator_node listing() {
  graph::user_function function;
  function.name = "listing";
  function.form = graph::user_form::aggregate;
  function.has_retract = true;
  function.parameters = {{"x", logical_type::bigint(), {}}};
  function.result = logical_type::string();
  function.source = R"(
    function create() return {} end
    function accumulate(g, x)
      if x == 13 then error('no such value') end
      table.insert(g, x)
    end
    function retract(g, x)
      for i = 1, #g do if g[i] == x then table.remove(g, i) return end end
    end
    function result(g) return table.concat(g, '+') end)";
  graph::group_aggregate_spec spec;
  spec.key_columns = {0};
  spec.input_retracts = true;
  graph::group_aggregate_call call;
  call.function = "`listing`";
  call.arguments = {1};
  call.definition = graph::encode(function);
  spec.calls = {call};
  graph::operator_node node;
  node.id = {1, 2};
  node.name = "groups";
  node.spec = spec;
  node.input_types = {*input_type()};
  node.output_type =
      logical_type::row({{"k", logical_type::bigint(), {}}, {"l", logical_type::string(), {}}});
  return node;
}

lines sorted(lines from) {
  std::sort(from.begin(), from.end());
  return from;
}

} // namespace

TEST_SUITE_BEGIN("task/operator/aggregate/user_value");

TEST_CASE("a user's aggregate goes on from where it was stored, on either backend") {
  for (const std::string from : {"hashmap", "rocksdb"})
    for (const std::string to : {"hashmap", "rocksdb"}) {
      INFO(from << " to " << to);
      operator_harness harness(listing(), make_group_aggregate_operator, {}, from);
      REQUIRE(harness.push(batch_of({{1, 5}, {2, 7}, {1, 6}})));
      CHECK(testing::changes_of(harness.take()) ==
            lines{"+I[1, 5]", "+I[2, 7]", "-U[1, 5]", "+U[1, 5+6]"});

      harness.restart(2, to, {0}, state::snapshot_kind::canonical);

      REQUIRE(harness.push(batch_of({{1, 5, row_kind::update_before},
                                     {1, 8, row_kind::update_after},
                                     {2, 7, row_kind::delete_}})));
      CHECK(sorted(testing::changes_of(harness.take())) ==
            sorted({"-U[1, 5+6]", "+U[1, 6]", "-U[1, 6]", "+U[1, 6+8]", "-D[2, 7]"}));
      // What was emptied begins anew.
      REQUIRE(harness.push(batch_of({{2, 9}})));
      CHECK(testing::changes_of(harness.take()) == lines{"+I[2, 9]"});
    }
}

TEST_CASE("what fails in it fails the operator, with the function and the line") {
  operator_harness harness(listing(), make_group_aggregate_operator);

  CHECK_THROWS_WITH(static_cast<void>(harness.push(batch_of({{1, 13}}))),
                    doctest::Contains("listing failed: listing:4: no such value"));
}

TEST_SUITE_END();

} // namespace headrace::task
