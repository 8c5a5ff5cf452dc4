#include "libgraph/api/native_adaptors.hpp"

#include "libgraph/api/value_types.hpp"

#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <vector>

namespace headrace::api {
namespace {

using graph::logical_type;
using numbers = std::vector<std::optional<std::int64_t>>;

graph::column_ptr column_of(const numbers& values) {
  graph::column_builder out(logical_type::bigint());
  for (const auto& each : values)
    type_info<std::optional<std::int64_t>>::append(out, each);
  return out.finish();
}
numbers values_of(const graph::column& from) {
  numbers out;
  const type_info<std::optional<std::int64_t>>::reader read(from);
  for (std::size_t i = 0; i < from.size(); ++i)
    out.push_back(read(i));
  return out;
}

/// Calls a function of one or two numbers.
numbers outcome_of(const graph::native_function& function, const graph::column_ptr& first,
                   const graph::user_argument& second, graph::user_rows rows) {
  const auto made = function.make_scalar();
  std::vector<graph::user_argument> arguments{{first.get(), false}};
  if (second.values != nullptr)
    arguments.push_back(second);
  graph::column_builder out(function.result);
  const auto done = made->compute(arguments, rows, out);
  REQUIRE_MESSAGE(done.has_value(), (done ? "" : to_string(done.error())));
  return values_of(*out.finish());
}

struct line {
  std::string text;
  std::optional<double> weight;
};
HEADRACE_STRUCT(line, text, weight)

} // namespace

TEST_SUITE_BEGIN("graph/api/native_adaptors");

TEST_CASE("types are those of the parameters and of the result") {
  const auto made = make_scalar_function(
      [](std::string_view, bool, double, std::optional<timestamp_ms>, decimal<10, 2>,
         const std::vector<std::int32_t>&) { return std::optional<float>(); });

  CHECK(made.parameters == std::vector{logical_type::string(), logical_type::boolean(),
                                       logical_type::float64(), logical_type::timestamp(3),
                                       logical_type::decimal(10, 2),
                                       logical_type::array(logical_type::integer().not_null())});
  CHECK(made.result == logical_type::float32());
}

TEST_CASE("a function is not called for a NULL that it does not take") {
  std::vector<std::int64_t> seen;
  const auto made = make_scalar_function([&](std::int64_t a, std::optional<std::int64_t> b) {
    seen.push_back(a);
    return a + b.value_or(100);
  });
  const auto first = column_of({1, {}, 3});
  const auto second = column_of({10, 20, {}});

  CHECK(outcome_of(made, first, {second.get(), false}, {nullptr, 3}) == numbers{11, {}, 103});
  CHECK(seen == std::vector<std::int64_t>{1, 3});
}

TEST_CASE("rows are picked, and a constant is one for all") {
  const auto made = make_scalar_function([](std::int64_t a, std::int64_t b) { return a * b; });
  const auto first = column_of({1, 2, 3, 4});
  const auto ten = column_of({10});
  const std::uint32_t rows[] = {1, 3};

  CHECK(outcome_of(made, first, {ten.get(), true}, {rows, 2}) == numbers{20, 40});
}

TEST_CASE("a function over columns gets the rows that it takes, together") {
  std::vector<std::size_t> calls;
  const auto made = make_scalar_function([&](const argument_column<std::int64_t>& a,
                                             const argument_column<std::int64_t>& b,
                                             result_column<std::int64_t>& out) {
    calls.push_back(a.size());
    const auto firsts = a.values();
    for (std::size_t i = 0; i < a.size(); ++i)
      out.append(firsts[i] - b[i]);
  });
  const auto first = column_of({1, 2, {}, 4});
  const auto second = column_of({10, 20, 30, 40});
  const auto one = column_of({1});
  const std::uint32_t rows[] = {0, 3};

  CHECK(outcome_of(made, first, {second.get(), false}, {nullptr, 4}) == numbers{-9, -18, {}, -36});
  CHECK(outcome_of(made, second, {one.get(), true}, {nullptr, 4}) == numbers{9, 19, 29, 39});
  CHECK(outcome_of(made, second, {one.get(), true}, {rows, 2}) == numbers{9, 39});
  CHECK(calls == std::vector<std::size_t>{3, 4, 2});
}

TEST_CASE("a function over columns that gives too few values fails") {
  const auto made = make_scalar_function([](const argument_column<std::int64_t>&,
                                            result_column<std::int64_t>& out) { out.append(1); });
  const auto values = column_of({1, 2});
  const graph::user_argument argument{values.get(), false};
  graph::column_builder out(made.result);

  const auto done = made.make_scalar()->compute({&argument, 1}, {nullptr, 2}, out);

  REQUIRE_FALSE(done);
  CHECK(done.error().message == "a function gave 1 values for 2 rows");
}

TEST_CASE("a table function emits rows, piece by piece") {
  const auto made = make_table_function([](std::int64_t n, collector<line>& out) {
    for (std::int64_t i = 0; i < n; ++i)
      out.emit({"x" + std::to_string(i), {}});
  });
  const auto n = column_of({2, {}, 3, 1});
  const graph::user_argument argument{n.get(), false};
  std::vector<std::uint32_t> parents;
  graph::batch_builder out(std::make_shared<const logical_type>(made.result));
  const auto function = made.make_table();

  CHECK(function->make({&argument, 1}, {nullptr, 4}, 0, 2, parents, out).value() == 1);
  CHECK(function->make({&argument, 1}, {nullptr, 4}, 1, 100, parents, out).value() == 4);

  CHECK(parents == std::vector<std::uint32_t>{0, 0, 2, 2, 2, 3});
  const auto rows = out.finish();
  CHECK(rows.at(0).string_at(4) == "x2");
  CHECK(rows.at(1).is_null(4));
}

namespace {

/// The mean of numbers, of which NULLs are counted apart.
struct mean_of {
  struct group {
    std::int64_t sum = 0;
    std::int64_t count = 0;
  };
  group create() { return {0, 0}; }
  void accumulate(group& to, std::int64_t n) {
    to.sum += n;
    ++to.count;
  }
  void retract(group& from, std::int64_t n) {
    from.sum -= n;
    --from.count;
  }
  void merge(group& into, const group& other) {
    into.sum += other.sum;
    into.count += other.count;
  }
  std::optional<std::int64_t> result(const group& of) {
    return of.count == 0 ? std::nullopt : std::optional(of.sum / of.count);
  }
};

} // namespace

TEST_CASE("an aggregate counts, takes back and merges") {
  const auto made = make_aggregate_function(mean_of());
  CHECK(made.has_retract);
  CHECK(made.has_merge);
  CHECK(made.result == logical_type::bigint());
  const auto function = made.make_aggregate();
  const auto n = column_of({4, {}, 8, 30});
  const graph::user_argument argument{n.get(), false};
  const graph::user_arguments arguments{&argument, 1};
  byte_string group;
  byte_string other;
  graph::column_builder out(made.result);

  REQUIRE(function->create(group));
  REQUIRE(function->create(other));
  REQUIRE(function->tell(group, out));
  for (const std::size_t row : {0U, 1U, 2U})
    REQUIRE(function->accumulate(group, arguments, row));
  REQUIRE(function->tell(group, out));
  REQUIRE(function->retract(group, arguments, 0));
  REQUIRE(function->tell(group, out));
  REQUIRE(function->accumulate(other, arguments, 3));
  REQUIRE(function->merge(group, other));
  REQUIRE(function->tell(group, out));

  CHECK(values_of(*out.finish()) == numbers{{}, 6, 8, 19});
}

TEST_SUITE_END();

} // namespace headrace::api
