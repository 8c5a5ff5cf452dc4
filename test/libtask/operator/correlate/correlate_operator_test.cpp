#include "libtask/operator/correlate/correlate_operator.hpp"

#include "test/support/changelog.hpp"
#include "test/support/operator_harness.hpp"
#include "test/support/random_batch.hpp"
#include "test/support/seed.hpp"
#include "libgraph/job_graph/correlate_check.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace headrace::task {
namespace {

using graph::correlate_spec;
using graph::join_kind;
using graph::logical_type;
using testing::operator_harness;
using lines = std::vector<std::string>;

/// UNNEST of the last column of the input; all columns leave.
graph::operator_node unnesting(const logical_type& in, join_kind kind, bool has_ordinality) {
  correlate_spec spec;
  spec.kind = kind;
  const auto last = static_cast<std::uint32_t>(in.child_count() - 1);
  spec.arguments.push_back(graph::make_column(last, in.child(last)));
  spec.has_ordinality = has_ordinality;
  spec.result_type = *graph::unnested_type(in.child(last), has_ordinality);
  auto fields = in.fields();
  for (std::size_t i = 0; i < in.child_count(); ++i)
    spec.passed.push_back(static_cast<std::int32_t>(i));
  for (std::size_t i = 0; i < spec.result_type.child_count(); ++i) {
    spec.fields.push_back(static_cast<std::int32_t>(i));
    auto field = spec.result_type.fields()[i];
    field.type = kind == join_kind::left ? field.type.nullable() : field.type;
    fields.push_back(std::move(field));
  }
  graph::operator_node node;
  node.id = {1, 2};
  node.name = "unnest";
  node.spec = std::move(spec);
  node.input_types = {in};
  node.output_type = logical_type::row(std::move(fields)).not_null();
  return node;
}

graph::row_type_ptr keyed(const logical_type& collection) {
  return std::make_shared<const logical_type>(
      logical_type::row({{"k", logical_type::bigint(), {}}, {"c", collection, {}}}).not_null());
}

/// The cells of a row that leaves, one way to write NULL for all.
std::string cells_of(const graph::record_batch& batch, std::size_t row) {
  std::string out;
  for (std::size_t i = 0; i < batch.column_count(); ++i)
    out += (i > 0 ? "|" : "") + testing::cell_text(batch.at(i), row);
  return out;
}

/// What UNNEST of arrays gives, one element after the other.
lines model_of(const graph::record_batch& in, join_kind kind, bool has_ordinality) {
  lines out;
  for (std::size_t i = 0; i < in.size(); ++i) {
    const auto row = in.row_at(i);
    const auto& lists = in.at(in.column_count() - 1);
    const auto* offsets = lists.values<std::int32_t>();
    const auto begin = lists.is_null(row) ? 0 : offsets[row];
    const auto end = lists.is_null(row) ? 0 : offsets[row + 1];
    for (auto at = begin; at < end; ++at)
      out.push_back(cells_of(in, row) + "|" +
                    testing::cell_text(lists.child(0), static_cast<std::size_t>(at)) +
                    (has_ordinality ? "|" + std::to_string(at - begin + 1) : ""));
    graph::column_builder nothing(logical_type::integer());
    nothing.append_null();
    const auto null = testing::cell_text(*nothing.finish(), 0);
    if (begin == end && kind == join_kind::left)
      out.push_back(cells_of(in, row) + "|" + null + (has_ordinality ? "|" + null : ""));
  }
  return out;
}

lines unnested(const std::vector<graph::record_batch>& batches) {
  lines out;
  for (const auto& batch : batches) {
    testing::check_valid(batch);
    for (std::size_t i = 0; i < batch.size(); ++i)
      out.push_back(cells_of(batch, batch.row_at(i)));
  }
  return out;
}

} // namespace

TEST_SUITE_BEGIN("task/operator/correlate/correlate_operator");

TEST_CASE("elements of arrays come as a naive loop gives them, in pieces of any size") {
  testing::dice random(testing::seed());
  for (int run = 0; run < testing::runs(60); ++run) {
    auto element = testing::random_type(random);
    if (element.root() == graph::type_root::row)
      element = logical_type::array(element);
    const auto type = keyed(logical_type::array(element));
    const auto kind = random.one_in(2) ? join_kind::left : join_kind::inner;
    const bool has_ordinality = random.one_in(2);
    operator_harness harness(unnesting(*type, kind, has_ordinality), make_correlate_operator);
    const auto rows_max = 1 + random.below(7);
    harness.set_budget(rows_max);

    lines texts;
    const auto batch =
        testing::random_batch(random, type, random.below(40) + 1, testing::variety::many, texts);
    if (batch.is_empty())
      continue;
    REQUIRE(harness.push(batch));

    const auto out = harness.take();
    CHECK(unnested(out) == model_of(batch, kind, has_ordinality));
    for (const auto& each : out)
      CHECK(each.size() <= rows_max);
  }
}

TEST_CASE("kinds and timestamps are those of the row that was unnested") {
  const auto type = keyed(logical_type::array(logical_type::integer()));
  graph::batch_builder rows(type);
  const auto add = [&](std::int64_t key, const std::vector<std::int32_t>& values,
                       graph::row_kind kind) {
    rows.column(0).append(key);
    rows.column(1).begin_list();
    for (const auto each : values)
      rows.column(1).child(0).append(each);
    rows.column(1).end_list();
    rows.end_row(kind, key * 1000);
  };
  add(1, {5, 6}, graph::row_kind::update_before);
  add(2, {}, graph::row_kind::insert);
  add(3, {7}, graph::row_kind::delete_);
  operator_harness harness(unnesting(*type, join_kind::inner, false), make_correlate_operator);

  REQUIRE(harness.push(rows.finish()));

  const auto out = harness.take();
  REQUIRE(out.size() == 1);
  REQUIRE(out[0].size() == 3);
  CHECK(out[0].kinds()[1] == graph::row_kind::update_before);
  CHECK(out[0].kinds()[2] == graph::row_kind::delete_);
  CHECK(out[0].timestamps()[0] == 1000);
  CHECK(out[0].timestamps()[2] == 3000);
}

TEST_CASE("rows are spread, and NULL ones are NULL in each field") {
  const auto pair = logical_type::row(
      {{"x", logical_type::integer().not_null(), {}}, {"y", logical_type::string(), {}}});
  const auto type = keyed(logical_type::array(pair));
  graph::batch_builder rows(type);
  rows.column(0).append(std::int64_t{1});
  rows.column(1).begin_list();
  auto& elements = rows.column(1).child(0);
  elements.child(0).append(std::int32_t{7});
  elements.child(1).append_string("a text that is longer than a slot");
  elements.end_row();
  elements.append_null();
  rows.column(1).end_list();
  rows.end_row();
  auto node = unnesting(*type, join_kind::inner, true);
  // The array itself does not leave.
  auto& spec = std::get<correlate_spec>(node.spec);
  spec.passed = {0};
  auto fields = node.output_type.fields();
  fields.erase(fields.begin() + 1);
  node.output_type = logical_type::row(std::move(fields)).not_null();
  operator_harness harness(node, make_correlate_operator);

  REQUIRE(harness.push(rows.finish()));

  CHECK(testing::changes_of(harness.take()) ==
        lines{"+I[1, 7, a text that is longer than a slot, 1]", "+I[1, null, null, 2]"});
}

TEST_CASE("maps give keys and values, multisets each element as often as it counts") {
  const auto map = keyed(logical_type::map(logical_type::integer(), logical_type::string()));
  graph::batch_builder rows(map);
  rows.column(0).append(std::int64_t{1});
  rows.column(1).begin_list();
  rows.column(1).child(0).append(std::int32_t{4});
  rows.column(1).child(1).append_string("four");
  rows.column(1).end_list();
  rows.end_row();
  rows.column(0).append(std::int64_t{2});
  rows.column(1).append_null();
  rows.end_row();
  operator_harness maps(unnesting(*map, join_kind::left, false), make_correlate_operator);

  REQUIRE(maps.push(rows.finish()));

  CHECK(testing::changes_of(maps.take()) ==
        lines{"+I[1, {4=four}, 4, four]", "+I[2, null, null, null]"});

  const auto multiset = keyed(logical_type::multiset(logical_type::integer()));
  graph::batch_builder sets(multiset);
  sets.column(0).append(std::int64_t{1});
  sets.column(1).begin_list();
  for (const std::int32_t value : {8, 9}) {
    sets.column(1).child(0).append(value);
    sets.column(1).child(1).append(value == 8 ? 3 : 1);
  }
  sets.column(1).end_list();
  sets.end_row();
  auto node = unnesting(*multiset, join_kind::inner, true);
  operator_harness counted(node, make_correlate_operator);
  counted.set_budget(2);

  REQUIRE(counted.push(sets.finish()));

  CHECK(counted.take_drains() == 2);
  CHECK(testing::changes_of(counted.take()) ==
        lines{"+I[1, {8=3, 9=1}, 8, 1]", "+I[1, {8=3, 9=1}, 8, 2]", "+I[1, {8=3, 9=1}, 8, 3]",
              "+I[1, {8=3, 9=1}, 9, 4]"});
}

TEST_SUITE_END();

} // namespace headrace::task
