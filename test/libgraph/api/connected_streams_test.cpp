#include "libgraph/api/connected_streams.hpp"

#include "test/libgraph/api/testing_values.hpp"
#include "libgraph/stream_graph/job_graph_builder.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace headrace;
using namespace headrace::testing;

namespace {

const std::vector<word_count> counts{{"a", 1}, {"b", 2}};
const std::vector<std::string> texts{"one", "three"};

/// Runs a function of two inputs to the end of a batch, in pieces of two rows.
std::vector<graph::record_batch> run(graph::co_function& function, std::int32_t input,
                                     const graph::record_batch& in, graph::row_type_ptr out) {
  graph::batch_builder main(std::move(out));
  graph::function_output output(main, {}, 2, 1U << 20U);
  std::vector<graph::record_batch> pieces;
  for (std::size_t from = 0; from < in.size(); pieces.push_back(main.finish()))
    from = function.process(input, in, from, output);
  return pieces;
}

template <class Out>
std::unique_ptr<graph::co_function> function_of(const api::stream<Out>& out) {
  return function_at<graph::co_function>(out.environment(),
                                         spec_of<graph::co_process_spec>(out).function);
}

/// Adds to the second's rows how many there were of the first's.
struct counting_maps {
  std::int64_t seen = 0;
  std::string map1(const word_count& in) {
    ++seen;
    return in.word;
  }
  std::string map2(const std::string& in) { return in + std::to_string(seen); }
};

struct repeating {
  std::int64_t times = 1;
  void flat_map1(const word_count& in, api::collector<std::string>&) { times = in.count; }
  void flat_map2(const std::string& in, api::collector<std::string>& out) {
    for (std::int64_t i = 0; i < times; ++i)
      out.emit(in);
  }
};

const api::output_tag<std::int64_t> lengths{"lengths"};

struct merging final : api::co_process_function<word_count, std::string, std::string> {
  void process1(const word_count& in, context_type&, api::collector<std::string>& out) override {
    out.emit(in.word);
  }
  void process2(const std::string& in, context_type& context,
                api::collector<std::string>& out) override {
    context.output(lengths, static_cast<std::int64_t>(in.size()));
    out.emit(in + "@" + std::to_string(context.timestamp()));
  }
};

struct keyed_merging final
    : api::keyed_co_process_function<std::string, word_count, std::string, std::string> {
  void process1(const word_count&, context_type&, api::collector<std::string>&) override {}
  void process2(const std::string&, context_type&, api::collector<std::string>&) override {}
};

std::string whole(const std::string& text) { return text; }

} // namespace

TEST_SUITE_BEGIN("graph/api/connected_streams");

TEST_CASE("two functions map the rows of their streams into one") {
  api::environment env;
  const auto first = env.from_collection(counts);
  const auto second = env.from_collection(texts);

  const auto out = first.connect(second).map(
      [](const word_count& in) { return in.count; },
      [](std::string_view in) { return static_cast<std::int64_t>(in.size()); });

  const auto& node = env.program().at(out.index());
  CHECK(node.name == "co_map");
  CHECK(node.inputs == std::vector<std::int32_t>{first.index(), second.index()});
  auto function = function_of(out);
  const auto type = row_type_of<std::int64_t>();
  const auto left = run(*function, 0, batch_of(counts, {5, 6}), type);
  CHECK(values_of<std::int64_t>(left) == std::vector<std::int64_t>{1, 2});
  CHECK(left[0].timestamps()[1] == 6);
  CHECK(values_of<std::int64_t>(run(*function, 1, batch_of(texts), type)) ==
        std::vector<std::int64_t>{3, 5});
}

TEST_CASE("the two maps of an object share what it keeps") {
  api::environment env;
  const auto out =
      env.from_collection(counts).connect(env.from_collection(texts)).map(counting_maps());

  auto function = function_of(out);
  const auto type = row_type_of<std::string>();
  CHECK(values_of<std::string>(run(*function, 1, batch_of<std::string>({"x"}), type)) ==
        std::vector<std::string>{"x0"});
  CHECK(values_of<std::string>(run(*function, 0, batch_of(counts), type)) ==
        std::vector<std::string>{"a", "b"});
  CHECK(values_of<std::string>(run(*function, 1, batch_of<std::string>({"x"}), type)) ==
        std::vector<std::string>{"x2"});
}

TEST_CASE("flat maps of both kinds give any number of rows") {
  api::environment env;
  const auto connected = env.from_collection(counts).connect(env.from_collection(texts));
  const auto type = row_type_of<std::string>();

  auto pair = function_of(connected.flat_map(
      [](const word_count& in, api::collector<std::string>& out) {
        for (std::int64_t i = 0; i < in.count; ++i)
          out.emit(in.word);
      },
      [](std::string_view, api::collector<std::string>&) {}));
  CHECK(values_of<std::string>(run(*pair, 0, batch_of(counts), type)) ==
        std::vector<std::string>{"a", "b", "b"});
  CHECK(values_of<std::string>(run(*pair, 1, batch_of(texts), type)).empty());

  auto object = function_of(connected.flat_map(repeating()));
  run(*object, 0, batch_of(counts), type);
  CHECK(values_of<std::string>(run(*object, 1, batch_of(texts), type)) ==
        std::vector<std::string>{"one", "one", "three", "three"});
}

TEST_CASE("a process function of two streams has times and side outputs") {
  api::environment env;
  const auto out =
      env.from_collection(counts).connect(env.from_collection(texts)).process(merging());
  const auto side = out.side_output(lengths);
  auto function = function_of(out);
  graph::batch_builder main(row_type_of<std::string>());
  std::vector<graph::batch_builder> sides;
  sides.emplace_back(row_type_of<std::int64_t>());
  graph::function_output output(main, sides, 10, 1U << 20U);

  function->process(0, batch_of(counts), 0, output);
  function->process(1, batch_of(texts, {7, 8}), 0, output);

  CHECK(values_of<std::string>(main.finish()) ==
        std::vector<std::string>{"a", "b", "one@7", "three@8"});
  CHECK(values_of<std::int64_t>(sides[0].finish()) == std::vector<std::int64_t>{3, 5});
  CHECK(side.row_type() == api::row_info<std::int64_t>::type());
}

TEST_CASE("keyed streams are connected by the keys of both") {
  api::environment env;
  const auto first = env.from_collection(counts).key_by(&word_count::word);
  const auto second = env.from_collection(texts).key_by(&whole);

  const auto out = first.connect(second).process(keyed_merging());

  const auto spec = spec_of<graph::co_process_spec>(out);
  CHECK(spec.key_columns == std::vector<std::int32_t>{0});
  CHECK(spec.second_key_columns == std::vector<std::int32_t>{1}); // behind the row
  CHECK_FALSE(spec.is_broadcast);
  out.print();
  const auto job = graph::build_job_graph(env.program(), 2);
  REQUIRE(job.has_value());
  // Two collections of one reader each, and behind the second what computes its key.
  REQUIRE(job->vertices.size() == 4);
  CHECK(job->vertices[0].outputs.at(0).partitioner.kind == graph::partitioner_kind::hash);
  CHECK(job->vertices[2].operators.front().name == "key");
  CHECK(job->vertices[2].outputs.at(0).partitioner.kind == graph::partitioner_kind::hash);
  CHECK(job->vertices[3].operators.front().name == "keyed_co_process");
  CHECK(job->vertices[3].operators.size() == 2); // it heads a chain
}

TEST_CASE("streams that are connected first are keyed together") {
  api::environment env;
  const auto out = env.from_collection(counts)
                       .connect(env.from_collection(texts))
                       .key_by(&word_count::word, &whole)
                       .process(keyed_merging());

  CHECK(spec_of<graph::co_process_spec>(out).key_columns == std::vector<std::int32_t>{0});
}

TEST_CASE("streams of two environments are not connected") {
  api::environment env;
  api::environment other;
  const auto connected = env.from_collection(counts).connect(other.from_collection(texts));

  CHECK_THROWS_WITH_AS(connected.process(merging()),
                       doctest::Contains("streams of two environments are connected"),
                       graph::failure);
}

TEST_SUITE_END();
