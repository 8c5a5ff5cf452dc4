#include "libgraph/api/row_adaptors.hpp"

#include "test/libgraph/api/testing_values.hpp"

#include <doctest/doctest.h>

#include <numeric>

using namespace headrace;
using namespace headrace::testing;

TEST_SUITE_BEGIN("graph/api/row_adaptors");

namespace {

/// A stream of T in an environment of its own.
template <class T>
struct testing_stream {
  api::environment env;
  api::stream<T> stream = env.from_collection(std::vector<T>{});

  std::unique_ptr<graph::row_function> row_function(const api::stream_base& of) {
    return function_at<graph::row_function>(env, spec_of<graph::row_function_spec>(of).function);
  }
};

std::vector<std::int64_t> iota(std::int64_t count) {
  std::vector<std::int64_t> out(static_cast<std::size_t>(count));
  std::iota(out.begin(), out.end(), 0);
  return out;
}

} // namespace

TEST_CASE("map gives a row for each, with its event time") {
  testing_stream<word_count> t;
  auto function = t.row_function(
      t.stream.map([](const word_count& in) { return std::pair(in.count * 2, in.word); }));

  const auto run = run_rows(*function, batch_of<word_count>({{"a", 1}, {"b", 2}}, {10, 20}),
                            row_type_of<std::pair<std::int64_t, std::string>>());

  using out = std::pair<std::int64_t, std::string>;
  CHECK(values_of<out>(run.pieces) == std::vector<out>{{2, "a"}, {4, "b"}});
  REQUIRE(run.pieces[0].timestamps() != nullptr);
  CHECK(run.pieces[0].timestamps()[1] == 20);
}

TEST_CASE("map sees selected rows only, in pieces of the size that is asked for") {
  testing_stream<std::int64_t> t;
  auto function = t.row_function(t.stream.map([](std::int64_t n) { return n + 1; }));
  std::vector<std::uint32_t> odd;
  for (std::uint32_t i = 1; i < 1000; i += 2)
    odd.push_back(i);

  const auto run =
      run_rows(*function, selected(batch_of(iota(1000)), odd), row_type_of<std::int64_t>(), 7);

  CHECK(run.pieces.size() == 72);
  CHECK(run.pieces[0].size() == 7);
  const auto values = values_of<std::int64_t>(run.pieces);
  REQUIRE(values.size() == 500);
  CHECK(values[0] == 2);
  CHECK(values[499] == 1000);
}

TEST_CASE("flat_map gives any number of rows") {
  testing_stream<std::string> t;
  auto function =
      t.row_function(t.stream.flat_map([](std::string_view in, api::collector<word_count>& out) {
        for (const char c : in)
          out.emit({std::string(1, c), 1});
      }));

  const auto run =
      run_rows(*function, batch_of<std::string>({"ab", "", "c"}), row_type_of<word_count>());

  CHECK(values_of<word_count>(run.pieces) == std::vector<word_count>{{"a", 1}, {"b", 1}, {"c", 1}});
}

TEST_CASE("a coroutine that yields ten million rows for one stays within a piece") {
  testing_stream<std::int64_t> t;
  constexpr std::int64_t count = 10'000'000;
  auto function =
      t.row_function(t.stream.flat_map([](std::int64_t from) -> api::generator<std::int64_t> {
        for (std::int64_t i = 0; i < count; ++i)
          co_yield from + i;
      }));
  const auto in = batch_of<std::int64_t>({100});
  graph::batch_builder main(row_type_of<std::int64_t>());
  graph::function_output output(main, {}, 4096, 1U << 20U);

  std::int64_t rows = 0;
  std::int64_t sum = 0;
  std::size_t largest = 0;
  for (std::size_t from = 0; from < in.size();) {
    from = function->process(in, from, output);
    const auto piece = main.finish();
    largest = std::max(largest, piece.size());
    rows += static_cast<std::int64_t>(piece.size());
    for (std::size_t i = 0; i < piece.size(); ++i)
      sum += piece.at(0).values<std::int64_t>()[i] - 100;
  }

  CHECK(rows == count);
  CHECK(sum == count * (count - 1) / 2);
  CHECK(largest == 4096);
}

TEST_CASE("a coroutine goes on where it was, row after row") {
  testing_stream<std::string> t;
  auto function =
      t.row_function(t.stream.flat_map([](const std::string& in) -> api::generator<std::string> {
        for (std::size_t i = 0; i < in.size(); ++i)
          co_yield in.substr(i);
      }));

  const auto run = run_rows(*function, batch_of<std::string>({"abc", "", "de"}, {1, 2, 3}),
                            row_type_of<std::string>(), 2);

  CHECK(values_of<std::string>(run.pieces) ==
        std::vector<std::string>{"abc", "bc", "c", "de", "e"});
  CHECK(run.pieces.back().timestamps()[run.pieces.back().size() - 1] == 3);
}

TEST_CASE("what a coroutine throws comes out, and closing destroys a suspended one") {
  testing_stream<std::int64_t> t;
  auto throwing =
      t.row_function(t.stream.flat_map([](std::int64_t n) -> api::generator<std::int64_t> {
        co_yield n;
        throw std::runtime_error("no more");
      }));
  auto endless =
      t.row_function(t.stream.flat_map([](std::int64_t n) -> api::generator<std::int64_t> {
        const std::vector<std::int64_t> kept(1000, n);
        for (;;)
          co_yield kept[0];
      }));
  graph::batch_builder main(row_type_of<std::int64_t>());
  graph::function_output output(main, {}, 10, 1U << 20U);
  const auto in = batch_of<std::int64_t>({1});

  CHECK_THROWS_WITH(throwing->process(in, 0, output), "no more");
  main.finish();
  CHECK(endless->process(in, 0, output) == 0);
  endless->close();
}

TEST_CASE("filter keeps column rows, ascending") {
  testing_stream<std::int64_t> t;
  const auto kept = t.stream.filter([](std::int64_t n) { return n % 3 == 0; });
  auto function =
      function_at<graph::filter_function>(t.env, spec_of<graph::filter_spec>(kept).function);
  const auto in = selected(batch_of(iota(10)), {1, 3, 5, 6, 9});
  std::vector<std::uint32_t> rows(in.size());

  rows.resize(function->select(in, rows.data()));

  CHECK(rows == std::vector<std::uint32_t>{3, 6, 9});
}

TEST_CASE("a key that a function computes lies in hidden columns behind the row") {
  testing_stream<word_count> u;
  const auto by_pair =
      u.stream.key_by([](const word_count& in) { return std::pair(in.word, in.count % 2 == 0); });
  auto& program = u.env.program();
  const auto& map = program.transformations[program.transformations.size() - 2];
  auto function = function_at<graph::row_function>(
      u.env,
      std::get<graph::row_function_spec>(std::get<graph::operator_call>(map.call).spec).function);

  const auto run = run_rows(*function, selected(batch_of<word_count>({{"a", 1}, {"b", 2}}), {1}),
                            std::make_shared<const graph::logical_type>(map.output_type));

  CHECK(map.output_type.to_sql() ==
        "ROW<`word` STRING NOT NULL, `count` BIGINT NOT NULL, `key$f0` STRING NOT NULL, "
        "`key$f1` BOOLEAN NOT NULL> NOT NULL");
  REQUIRE(run.pieces[0].size() == 1);
  CHECK(run.pieces[0].at(2).string_at(0) == "b");
  CHECK(run.pieces[0].at(3).values<std::uint8_t>()[0] == 1);
  CHECK(by_pair.row_type() == map.output_type);
}

TEST_CASE("a class that is a function may be opened and closed") {
  struct counting {
    std::int64_t opened = 0;
    void open(const graph::function_context& context) { opened = context.subtask; }
    std::int64_t operator()(std::int64_t n) const { return n + opened; }
  };
  testing_stream<std::int64_t> t;
  auto function = t.row_function(t.stream.map(counting{}));
  graph::function_context context;
  context.subtask = 40;

  function->open(context);
  const auto run = run_rows(*function, batch_of<std::int64_t>({2}), row_type_of<std::int64_t>());

  CHECK(values_of<std::int64_t>(run.pieces) == std::vector<std::int64_t>{42});
}

TEST_CASE("a process function emits to side outputs that somebody reads") {
  static const api::output_tag<std::string> odd{"odd"};
  static const api::output_tag<std::string> unread{"unread"};
  struct splitting : api::process_function<std::int64_t, std::int64_t> {
    void process(const std::int64_t& in, context_type& context,
                 api::collector<std::int64_t>& out) override {
      context.output(unread, "x");
      if (in % 2 != 0)
        context.output(odd, std::to_string(in));
      else
        out.emit(in);
    }
  };
  testing_stream<std::int64_t> t;
  const auto processed = t.stream.process(splitting());
  const auto side = processed.side_output(odd);
  auto function = t.row_function(processed);

  const auto run = run_rows(*function, batch_of(iota(5)), row_type_of<std::int64_t>(), 1000,
                            {row_type_of<std::string>()});

  CHECK(side.row_type() == api::row_info<std::string>::type());
  CHECK(values_of<std::int64_t>(run.pieces) == std::vector<std::int64_t>{0, 2, 4});
  CHECK(values_of<std::string>(run.sides[0]) == std::vector<std::string>{"1", "3"});
}

TEST_CASE("timestamps and partitions are taken from rows") {
  testing_stream<word_count> t;
  const auto timed = t.stream.assign_timestamps_and_watermarks(
      api::watermark_strategy<word_count>::monotonous().with_timestamp_assigner(
          [](const word_count& in) { return in.count * 1000; }));
  const auto by_field = t.stream.assign_timestamps_and_watermarks(
      api::watermark_strategy<word_count>::bounded_out_of_orderness(std::chrono::seconds(5))
          .with_timestamp_assigner(&word_count::count)
          .with_idleness(std::chrono::seconds(1))
          .on_event());
  const auto in = selected(batch_of<word_count>({{"a", 1}, {"b", 2}, {"c", 3}}), {0, 2});

  const auto spec = spec_of<graph::watermarks_spec>(timed).watermarks;
  std::vector<std::int64_t> times(3, -1);
  function_at<graph::timestamp_assigner>(t.env, spec.assigner)->assign(in, times.data());
  t.stream.partition_custom([](const word_count& row, std::uint32_t targets) {
    return static_cast<std::uint32_t>(row.count) % targets;
  });
  std::vector<std::uint32_t> targets(2);
  function_at<graph::custom_partitioner>(
      t.env, {static_cast<std::int32_t>(t.env.program().functions.size()) - 1})
      ->partition(in, 2, targets.data());

  CHECK(times == std::vector<std::int64_t>{1000, -1, 3000});
  CHECK(spec_of<graph::watermarks_spec>(by_field).watermarks ==
        graph::watermark_spec{
            graph::watermark_kind::bounded_out_of_orderness, 5000, 1000, true, {}, 1});
  CHECK(targets == std::vector<std::uint32_t>{1, 1});
}

TEST_SUITE_END();
