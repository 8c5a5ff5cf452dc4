#include "libtask/operator/join/lookup_join_operator.hpp"

#include "test/support/batches.hpp"
#include "test/support/chain_harness.hpp"
#include "libtask/connector/collection_source.hpp"
#include "libtask/connector/registration.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace headrace::task {
namespace {

using graph::join_kind;
using graph::logical_type;
using testing::chain_harness;

/// Rows of `word` and `n` joined with a table of the same columns by `word`; of the table `n` is
/// kept before `word`.
graph::job_vertex vertex_of(join_kind kind, const testing::word_rows& table,
                            graph::expression condition = {}) {
  graph::lookup_join_spec spec;
  spec.kind = kind;
  spec.table.name = "collection";
  spec.table.options["rows"] = encode_collection(testing::words(table));
  spec.table_type = *testing::word_type();
  spec.fields = {1, 0};
  spec.key_columns = {0};
  spec.table_key_columns = {1};
  spec.condition = std::move(condition);
  auto fields = testing::word_type()->fields();
  for (const std::size_t i : {1U, 0U}) {
    auto field = testing::word_type()->fields()[i];
    if (kind == join_kind::left)
      field.type = field.type.nullable();
    fields.push_back(std::move(field));
  }
  auto vertex =
      testing::vertex_of(spec, *testing::word_type(), logical_type::row(fields).not_null());
  vertex.inputs = {{{5, 6}, 0}};
  return vertex;
}

/// "a 1 5": the word, and both numbers; "-" where there is no row of the table.
std::vector<std::string> joined_of(const std::vector<graph::record_batch>& batches) {
  std::vector<std::string> out;
  for (const auto& batch : batches)
    for (std::size_t i = 0; i < batch.size(); ++i) {
      const auto row = batch.row_at(i);
      out.push_back(std::string(batch.at(0).string_at(row)) + " " +
                    std::to_string(batch.at(1).values<std::int64_t>()[row]) + " " +
                    (batch.at(2).is_null(row)
                         ? "-"
                         : std::to_string(batch.at(2).values<std::int64_t>()[row])));
    }
  return out;
}

using lines = std::vector<std::string>;

} // namespace

TEST_SUITE_BEGIN("task/operator/join/lookup_join_operator");

TEST_CASE("rows wait until the table is read, and find its rows by key, times kept") {
  chain_harness harness(vertex_of(join_kind::inner, {{"a", 5}, {"b", 6}, {"a", 7}}));
  register_connectors(harness.connectors);
  harness.open();
  harness.chain->add(0, testing::timed_words({{"a", 1}, {"c", 2}, {"b", 3}}, {10, 20, 30}));
  CHECK(harness.chain->is_blocked());

  harness.services.run_steps();
  harness.drain();

  auto batches = harness.take_batches();
  REQUIRE(!batches.empty());
  CHECK(batches[0].timestamps()[0] == 10);
  CHECK(joined_of(batches) == lines{"a 1 5", "a 1 7", "b 3 6"});
}

TEST_CASE("a left join keeps rows that the table has not, or not by the condition") {
  const auto number = logical_type::bigint();
  const auto type = *testing::word_type();
  const auto condition = graph::make_call(
      "<", logical_type::boolean(),
      {graph::make_column(1, type.child(1)), graph::make_column(2, type.child(1).nullable())});
  chain_harness harness(vertex_of(join_kind::left, {{"a", 5}, {"b", 6}, {"a", 1}}, condition));
  register_connectors(harness.connectors);
  harness.open();
  harness.services.run_steps();

  harness.push(testing::words({{"a", 4}, {"b", 6}, {"c", 0}, {"a", 0}}));

  CHECK(joined_of(harness.take_batches()) == lines{"a 4 5", "b 6 -", "c 0 -", "a 0 5", "a 0 1"});
}

TEST_CASE("a key that the table has often is joined in pieces") {
  testing::word_rows table;
  for (std::int64_t i = 0; i < 100; ++i)
    table.emplace_back("a", i);
  chain_harness harness(vertex_of(join_kind::inner, table));
  register_connectors(harness.connectors);
  harness.open();
  harness.services.run_steps();

  harness.push(testing::words({{"a", 1}, {"a", 2}}));

  std::size_t rows = 0;
  for (const auto& batch : harness.take_batches()) {
    CHECK(batch.size() <= 3);
    rows += batch.size();
  }
  CHECK(rows == 200);
}

TEST_CASE("a table that cannot be read fails the task") {
  auto vertex = vertex_of(join_kind::inner, {});
  auto& table = std::get<graph::lookup_join_spec>(vertex.operators[0].spec).table;
  table.name = "filesystem";
  table.options = {{"path", "/nowhere/table.csv"}, {"format", "csv"}};
  chain_harness harness(vertex);
  register_connectors(harness.connectors);
  harness.open();

  harness.services.run_steps();

  CHECK(harness.services.failures.size() == 1);
  CHECK(harness.chain->takes_rows() == false);
}

TEST_CASE("what cannot be looked up is refused by the graph's check") {
  const auto checked = [](auto change) {
    auto vertex = vertex_of(join_kind::left, {{"a", 5}});
    change(std::get<graph::lookup_join_spec>(vertex.operators[0].spec));
    return graph::validate(vertex);
  };
  REQUIRE(checked([](auto&) {}));
  CHECK(checked([](auto& spec) { spec.table_key_columns = {0}; }).error().code ==
        errc::type_mismatch);
  CHECK(checked([](auto& spec) { spec.table_key_columns = {2}; }).error().code ==
        errc::invalid_graph);
  CHECK(checked([](auto& spec) { spec.fields = {1, 2}; }).error().code == errc::invalid_graph);
  CHECK(checked([](auto& spec) { spec.kind = join_kind::full; }).error().code ==
        errc::invalid_graph);
  CHECK(checked([](auto& spec) { spec.table.name.clear(); }).error().code == errc::invalid_graph);
}

TEST_SUITE_END();

} // namespace headrace::task
