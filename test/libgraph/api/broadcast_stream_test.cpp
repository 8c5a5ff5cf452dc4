#include "libgraph/api/broadcast_stream.hpp"

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

const api::map_state_descriptor<std::string, std::int64_t> limits{"limits"};
const api::map_state_descriptor<std::string, word_count> examples{"examples"};
const api::map_state_descriptor<std::string, std::string> limits_of_texts{"limits"};

struct limiting final : api::broadcast_process_function<std::string, word_count, std::string> {
  void process(const std::string& in, read_only_context_type& context,
               api::collector<std::string>& out) override {
    if (context.state(limits).contains(in))
      out.emit(in);
  }
  void process_broadcast(const word_count& in, context_type& context,
                         api::collector<std::string>&) override {
    context.state(limits).put(in.word, in.count);
  }
};

struct limiting_keys final
    : api::keyed_broadcast_process_function<std::string, word_count, word_count, std::string> {
  void process(const word_count&, read_only_context_type&, api::collector<std::string>&) override {}
  void process_broadcast(const word_count&, context_type&, api::collector<std::string>&) override {}
};

template <class Out>
graph::co_process_spec spec_at(const api::stream<Out>& out) {
  return spec_of<graph::co_process_spec>(out);
}

} // namespace

TEST_SUITE_BEGIN("graph/api/broadcast_stream");

TEST_CASE("a stream is connected with one that all subtasks get") {
  api::environment env;
  const auto rules = env.from_collection(counts).broadcast(limits, examples);

  const auto out = env.from_collection(texts).connect(rules).process(limiting());
  const auto by_key =
      env.from_collection(counts).key_by(&word_count::word).connect(rules).process(limiting_keys());

  CHECK(spec_at(out).is_broadcast);
  CHECK(spec_at(out).key_columns.empty());
  CHECK(spec_at(by_key).is_broadcast);
  CHECK(spec_at(by_key).key_columns == std::vector<std::int32_t>{0});
  CHECK(spec_at(by_key).second_key_columns.empty());
  out.print();
  by_key.print();
  const auto job = graph::build_job_graph(env.program(), 3);
  REQUIRE_MESSAGE(job.has_value(), to_string(job.error()));
  std::vector<graph::partitioner_kind> kinds;
  for (const auto& output : job->vertices.at(0).outputs)
    kinds.push_back(output.partitioner.kind);
  CHECK(kinds == std::vector<graph::partitioner_kind>{graph::partitioner_kind::broadcast,
                                                      graph::partitioner_kind::broadcast});
}

TEST_CASE("two broadcast states of one name are refused") {
  api::environment env;

  CHECK_THROWS_WITH_AS(env.from_collection(counts).broadcast(limits, limits_of_texts),
                       doctest::Contains("two broadcast states have one name: `limits`"),
                       graph::failure);
}

TEST_CASE("a state that the stream was not broadcast with is refused by name") {
  api::broadcast_states states;
  states.add(limits);

  CHECK_THROWS_WITH_AS(states.at(examples),
                       doctest::Contains("no such broadcast state: `examples`"), graph::failure);
  CHECK_THROWS_WITH_AS(states.at(limits_of_texts),
                       doctest::Contains("`limits` is used with other types"), graph::failure);
}

TEST_CASE("operator state is refused in words where there is none") {
  const graph::function_context opening;
  api::open_context context(opening);

  CHECK_THROWS_WITH_AS(context.operator_list<std::int64_t>("x"),
                       doctest::Contains("operator state asked for"), graph::failure);
}

TEST_SUITE_END();
