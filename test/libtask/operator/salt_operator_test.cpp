#include "libtask/operator/salt_operator.hpp"

#include "test/support/changelog.hpp"
#include "test/support/operator_harness.hpp"
#include "libgraph/data/batch_builder.hpp"

#include <doctest/doctest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

namespace headrace::task {
namespace {

using graph::logical_type;
using graph::row_kind;

graph::row_type_ptr text_type() {
  static const auto type = std::make_shared<const logical_type>(
      logical_type::row({{"k", logical_type::bigint(), {}}, {"s", logical_type::string(), {}}}));
  return type;
}

graph::operator_node node_of(graph::salt_spec spec) {
  graph::operator_node node;
  node.id = {1, 2};
  node.name = "salt";
  node.spec = std::move(spec);
  node.input_types = {*text_type()};
  auto fields = text_type()->fields();
  fields.push_back({"bucket", logical_type::integer().not_null(), {}});
  node.output_type = logical_type::row(std::move(fields));
  return node;
}

graph::record_batch rows_of(std::int64_t count, row_kind kind) {
  graph::batch_builder out(text_type());
  for (std::int64_t i = 0; i < count; ++i) {
    out.column(0).append(i);
    out.column(1).append_string("s" + std::to_string(i % 7));
    out.end_row(kind);
  }
  return out.finish();
}

} // namespace

TEST_SUITE_BEGIN("task/operator/salt_operator");

TEST_CASE("equal rows have one bucket, and all buckets have rows") {
  testing::operator_harness harness(node_of({{0, 1}, 4, false}), make_salt_operator);

  REQUIRE(harness.push(rows_of(200, row_kind::insert)));
  const auto first = testing::changes_of(harness.take());
  // Others are left out, and the kind makes no difference.
  auto picked = graph::buffer::allocate(2 * sizeof(std::uint32_t));
  picked->mutable_as<std::uint32_t>()[0] = 5;
  picked->mutable_as<std::uint32_t>()[1] = 190;
  REQUIRE(harness.push(rows_of(200, row_kind::delete_).with_selection(std::move(picked), 2)));
  const auto again = testing::changes_of(harness.take());

  std::map<char, int> by_bucket;
  for (const auto& each : first)
    ++by_bucket[each[each.size() - 2]];
  CHECK(by_bucket.size() == 4);
  for (const auto& [bucket, count] : by_bucket) {
    CAPTURE(bucket);
    CHECK(count > 20);
  }
  CHECK(again == std::vector<std::string>{"-D" + first[5].substr(2), "-D" + first[190].substr(2)});
}

TEST_CASE("each row is in each bucket, a piece a bucket") {
  testing::operator_harness harness(node_of({{}, 3, true}), make_salt_operator);

  REQUIRE(harness.push(rows_of(2, row_kind::update_after)));

  CHECK(testing::changes_of(harness.take()) ==
        std::vector<std::string>{"+U[0, s0, 0]", "+U[1, s1, 0]", "+U[0, s0, 1]", "+U[1, s1, 1]",
                                 "+U[0, s0, 2]", "+U[1, s1, 2]"});
  CHECK(harness.take_drains() == 3);
}

TEST_CASE("what is no way to spread rows is refused by the graph's check") {
  const auto checked = [](graph::salt_spec spec) {
    graph::job_vertex vertex;
    vertex.id = {3, 4};
    vertex.name = "v";
    vertex.operators = {node_of(std::move(spec))};
    vertex.inputs = {{{5, 6}, 0}};
    return graph::validate(vertex);
  };
  CHECK(checked({{0}, 4, false}).has_value());
  CHECK(checked({{}, 4, true}).has_value());
  CHECK(checked({{}, 4, false}).error().code == errc::invalid_graph);
  CHECK(checked({{0}, 4, true}).error().code == errc::invalid_graph);
  CHECK(checked({{9}, 4, false}).error().code == errc::invalid_graph);
  CHECK(checked({{0}, 0, false}).error().message ==
        "operator \"salt\": buckets are 1 to 65536, found 0");
}

TEST_SUITE_END();

} // namespace headrace::task
