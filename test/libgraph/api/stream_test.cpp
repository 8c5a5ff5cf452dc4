#include "libgraph/api/stream.hpp"

#include "test/libgraph/api/testing_values.hpp"
#include "libgraph/stream_graph/job_graph_builder.hpp"

#include <doctest/doctest.h>

using namespace headrace;
using namespace headrace::testing;
using namespace std::chrono_literals;

TEST_SUITE_BEGIN("graph/api/stream");

namespace {

std::vector<std::string> vertex_names(api::environment& env, std::int32_t parallelism = 2) {
  std::vector<std::string> names;
  const auto job = graph::build_job_graph(env.program(), parallelism);
  if (!job)
    return {to_string(job.error())};
  for (const auto& vertex : job->vertices)
    names.push_back(vertex.name);
  return names;
}
using names = std::vector<std::string>;

} // namespace

TEST_CASE("word count becomes two tasks") {
  api::environment env;
  env.from_source(api::file_source::lines("in"))
      .flat_map([](std::string_view line, api::collector<word_count>& out) {
        out.emit({std::string(line), 1});
      })
      .name("split")
      .key_by(&word_count::word)
      .window(api::end_of_stream())
      .sum(&word_count::count)
      .name("count")
      .sink_to(api::file_sink::csv("out"));

  CHECK(vertex_names(env) == names{"source: file -> split", "count -> file"});
}

TEST_CASE("types follow the functions") {
  api::environment env;
  const auto lines = env.from_source(api::file_source::lines("in"));
  const auto sizes = lines.map([](std::string_view line) { return line.size() > 1; });
  const auto repeated = lines.flat_map([](std::string line) -> api::generator<word_count> {
    co_yield {line, 1};
  });
  const auto pairs = lines.flat_map<word_count>([](const auto& line, auto& out) {
    out.emit({line, 1});
  });
  const auto by_both = repeated.key_by(&word_count::word, &word_count::count);

  CHECK(std::is_same_v<decltype(sizes), const api::stream<bool>>);
  CHECK(std::is_same_v<decltype(repeated), const api::stream<word_count>>);
  CHECK(std::is_same_v<decltype(pairs), const api::stream<word_count>>);
  CHECK(std::is_same_v<decltype(by_both)::key_type, std::tuple<std::string, std::int64_t>>);
}

TEST_CASE("settings reach the job graph") {
  api::environment env({"--input", "x", "--fast", "--n=-3", "rest"});
  env.set_job_name("named")
      .set_parallelism(3)
      .set_max_parallelism(64)
      .enable_checkpointing(5s, graph::barrier_alignment::at_least_once)
      .enable_unaligned_checkpoints(30ms)
      .set_restart_strategy(api::restart::fixed_delay(4, 2s))
      .set_buffer_timeout(3ms)
      .set_state_backend("rocksdb");
  env.checkpoints().retained = 7;
  env.from_collection<std::int64_t>({1, 2})
      .map([](std::int64_t n) { return n; })
      .uid("my-map")
      .name("m")
      .set_parallelism(2)
      .set_max_parallelism(16)
      .slot_sharing_group("g")
      .print()
      .uid("my-print");

  const auto job = graph::build_job_graph(env.program(), 9).value();

  CHECK(job.name == "named");
  CHECK(job.checkpoints.interval_ms == 5000);
  CHECK(job.checkpoints.at_least_once);
  CHECK(job.checkpoints.retained == 7);
  CHECK(job.checkpoints.unaligned);
  CHECK(job.checkpoints.aligned_timeout_ms == 30);
  CHECK(job.restart.kind == graph::restart_kind::fixed_delay);
  CHECK(job.restart.attempts == 4);
  CHECK(job.buffer_timeout_ms == 3);
  CHECK(job.state_backend == "rocksdb");
  REQUIRE(job.vertices.size() == 3);
  CHECK(job.vertices[0].parallelism == 1);
  CHECK(job.vertices[1].parallelism == 2);
  CHECK(job.vertices[1].max_parallelism == 16);
  CHECK(job.vertices[1].slot_sharing_group == "g");
  CHECK(job.vertices[2].parallelism == 3);
  CHECK(job.vertices[2].operators[0].uid == "my-print");
  CHECK(env.arguments().get("input") == "x");
  CHECK(env.arguments().get_bool("fast", false));
  CHECK(env.arguments().get_int("n", 0) == -3);
  CHECK(env.arguments().positional() == names{"rest"});
}

TEST_CASE("every way to a subtask can be chosen") {
  api::environment env;
  const auto source = env.from_source(
      api::generator_source<std::int64_t>([](std::uint64_t i) { return std::int64_t(i); }, 10));
  for (const auto& each :
       {source.rebalance(), source.rescale(), source.shuffle(), source.broadcast(), source.global(),
        source.forward(), source.union_with(source)})
    each.print();

  const auto graph = graph::make_stream_graph(env.program(), 2).value();

  using kind = graph::partitioner_kind;
  std::vector<kind> kinds;
  for (const auto& edge : graph.edges)
    kinds.push_back(edge.partitioner.kind);
  CHECK(kinds == std::vector<kind>{kind::rebalance, kind::rescale, kind::shuffle, kind::broadcast,
                                   kind::global, kind::forward, kind::forward, kind::forward});
}

TEST_CASE("chaining can be cut and forbidden") {
  api::environment env;
  env.from_source(api::file_source::lines("in"))
      .map([](std::string s) { return s; })
      .start_new_chain()
      .map([](std::string s) { return s; })
      .disable_chaining()
      .print();

  CHECK(vertex_names(env) == names{"source: file", "map", "map", "print"});
}

TEST_CASE("a setting on what is no operator is refused in words") {
  api::environment env;
  const auto source = env.from_collection<std::int64_t>({1});

  CHECK_THROWS_AS(source.rebalance().uid("x"), graph::failure);
  CHECK_THROWS_AS(source.set_parallelism(0), graph::failure);
  CHECK_THROWS_AS(source.side_output(api::output_tag<bool>("none")), graph::failure);
  CHECK_THROWS_AS(env.set_parallelism(-1), graph::failure);
}

TEST_CASE("a sum of what is no number is refused when the graph is built") {
  api::environment env;
  env.from_collection<std::pair<std::string, std::int64_t>>({{"a", 1}})
      .key_by([](const std::pair<std::string, std::int64_t>& row) { return row.second; })
      .sum<0>()
      .print();

  const auto built = graph::build_job_graph(env.program(), 1);

  REQUIRE_FALSE(built);
  CHECK(built.error().code == errc::type_mismatch);
  CHECK(built.error().message.find("only numbers can be summed") != std::string::npos);
}

TEST_CASE("a missing argument is told with the nearest that was given") {
  const api::parameters given({"--inptu", "x"});

  try {
    given.get("input");
    FAIL("got what was not given");
  } catch (const graph::failure& thrown) {
    CHECK(thrown.cause() == error(errc::bad_usage, "missing argument --input, is it --inptu"));
  }
  CHECK_THROWS_AS(given.get_int("inptu", 0), graph::failure);
}

TEST_CASE("an argument without a value is true, and nothing else") {
  const api::parameters given({"--output", "--fast"});

  CHECK(given.get_bool("output", false));
  CHECK(given.find("fast") == "true");
  CHECK_THROWS_AS(given.get("output"), graph::failure);
  CHECK_THROWS_AS(given.get("output", "x"), graph::failure);
  CHECK_THROWS_AS(given.get_int("output", 1), graph::failure);
  CHECK_THROWS_AS(given.get_real("output", 1), graph::failure);
  CHECK_THROWS_AS(api::parameters({"--n", "1", "--n=2"}), graph::failure);
}

TEST_CASE("an argument that no one asks for is named, with the nearest that someone asks for") {
  const api::parameters given({"--rate", "1", "--cuont", "2"});
  const auto copy = given;
  static_cast<void>(copy.get_int("rate", 0));

  CHECK(given.unwanted() == "the job has no argument --cuont, it has --rate");
  static_cast<void>(given.get_int("count", 0));
  CHECK(given.unwanted() == "the job has no argument --cuont, is it --count");
  CHECK(given.all().size() == 4);
  CHECK(given.unwanted().empty());
  CHECK(api::parameters({"x"}).unwanted() == "the job takes no argument without a name: x");
}

TEST_CASE("a source or sink of the job's own is a function") {
  api::environment env;
  api::source_of<word_count> own{"own", {}, [] { return std::unique_ptr<graph::source>(); }, 0};
  api::sink_of<word_count> end{"end", {}, [] { return std::unique_ptr<graph::sink>(); }};
  const auto source = env.from_source(own, "the source");
  const auto sink = source.sink_to(end);

  CHECK(spec_of<graph::source_spec>(source).connector.provider.index == 0);
  CHECK(spec_of<graph::sink_spec>(sink).connector.provider.index == 1);
  CHECK(graph::build_job_graph(env.program(), 1));
}

TEST_SUITE_END();
