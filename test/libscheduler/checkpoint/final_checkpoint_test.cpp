#include "libscheduler/checkpoint/final_checkpoint.hpp"

#include "test/libscheduler/sample_graph.hpp"
#include "libgraph/connector/abilities.hpp"

#include <doctest/doctest.h>

namespace headrace::scheduler {
namespace {

class committing_sink : public graph::sink {
public:
  result<std::unique_ptr<graph::sink_writer>>
  create_writer(graph::writer_context /*context*/,
                std::vector<byte_string> /*restored*/) const override {
    return error(errc::output_failed, "writes nothing");
  }
  result<std::unique_ptr<graph::committer>>
  create_committer(graph::writer_context /*context*/) const override {
    return error(errc::output_failed, "commits nothing");
  }
};

class forgetful_sink final : public committing_sink, public graph::commitless_sink {};

template <class Sink>
graph::connector_registry::sink_factory made() {
  return [](const graph::connector_registry&, const graph::option_map&,
            graph::row_type_ptr) -> result<std::unique_ptr<graph::sink>> {
    return std::unique_ptr<graph::sink>(std::make_unique<Sink>());
  };
}

/// A source and a sink for each connector.
struct job_of_sinks {
  explicit job_of_sinks(std::vector<std::string> names) {
    sample.add("source", 2);
    for (const auto& each : names) {
      const auto vertex = sample.add(each, 2);
      auto& head = sample.at(vertex).operators.front();
      head.input_types = {graph::logical_type::row({}).not_null()};
      graph::sink_spec spec;
      spec.connector.name = each;
      head.spec = spec;
    }
    connectors.add_sink("committing", made<committing_sink>());
    connectors.add_sink("forgetful", made<forgetful_sink>());
  }
  bool takes_one() { return takes_final_checkpoint(sample.job(), &connectors); }

  testing::sample_graph sample;
  graph::connector_registry connectors;
};

} // namespace

TEST_SUITE("scheduler/checkpoint/final_checkpoint") {

TEST_CASE("a job whose sinks commit nothing takes no checkpoint at its end") {
  CHECK_FALSE(job_of_sinks({"forgetful"}).takes_one());
  CHECK_FALSE(job_of_sinks({"forgetful", "collect"}).takes_one());
  CHECK_FALSE(job_of_sinks({}).takes_one());
}

TEST_CASE("one that commits is enough, and one that is not known may commit") {
  CHECK(job_of_sinks({"forgetful", "committing"}).takes_one());
  CHECK(job_of_sinks({"unknown"}).takes_one());
  auto of_code = job_of_sinks({"forgetful"});
  std::get<graph::sink_spec>(of_code.sample.at(1).operators.front().spec).connector.provider = {3};
  CHECK(of_code.takes_one());
  const auto unnamed = job_of_sinks({"forgetful"});
  CHECK(takes_final_checkpoint(*unnamed.sample.share(), nullptr));
}

TEST_CASE("what takes checkpoints, or has hooks that hear of them, takes the last one, too") {
  job_of_sinks periodic({"forgetful"});
  periodic.sample.job().checkpoints.interval_ms = 1000;
  CHECK(periodic.takes_one());
  job_of_sinks hooked({"forgetful"});
  hooked.sample.job().checkpoints.master_hooks.emplace_back();
  CHECK(hooked.takes_one());
}

} // TEST_SUITE("scheduler/checkpoint/final_checkpoint")

} // namespace headrace::scheduler
