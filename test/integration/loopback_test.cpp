#include "test/integration/testing_job.hpp"
#include "test/support/testing_file_system.hpp"
#include "apps/cluster/mini_cluster.hpp"
#include "libscheduler/client/job_client.hpp"
#include "libtask/executor/rpc_data_network.hpp"
#include "libtask/executor/task_executor_endpoint.hpp"
#include "libgraph/api/headrace.hpp"
#include "libgraph/api/job_object.hpp"
#include "libactors/base/text.hpp"
#include "libactors/rpc/node.hpp"
#include "libactors/transport/rpc_system.hpp"

#include <doctest/doctest.h>

#include <array>
#include <memory>
#include <set>
#include <string>

// A keyed job over two nodes that speak through sockets, on threads.

namespace headrace::testing {

struct hit {
  std::int64_t time_ms = 0;
  std::int64_t key = 0;
  std::int64_t value = 0;
};
struct hit_sum {
  std::int64_t kind = 0;
  std::int64_t key = 0;
  std::int64_t second_ms = 0;
  std::int64_t sum = 0;
};
HEADRACE_STRUCT(hit, time_ms, key, value)
HEADRACE_STRUCT(hit_sum, kind, key, second_ms, sum)

namespace {

class sum_of_hits final : public api::aggregate_function<hit, std::int64_t, std::int64_t> {
public:
  void add(const hit& in, std::int64_t& sum) { sum += in.value; }
  void merge(std::int64_t& into, const std::int64_t& from) { into += from; }
  std::int64_t result(const std::int64_t& sum) { return sum; }
};

result<api::built_job> describe_hits() {
  api::environment env;
  env.set_job_name("hits");
  env.enable_checkpointing(std::chrono::milliseconds(200));
  env.set_restart_strategy(api::restart::fixed_delay(100, std::chrono::milliseconds(10)));
  env.from_source(api::file_source::csv<hit>("/input").option("source.split-assignment", "static"),
                  api::watermark_strategy<hit>::monotonous().with_timestamp_assigner(&hit::time_ms))
      .key_by(&hit::key)
      .window(api::tumbling_event_time(std::chrono::seconds(1)))
      .aggregate(sum_of_hits(),
                 [](api::window_context<std::int64_t>& window, const std::int64_t& sum,
                    api::collector<hit_sum>& out) {
                   out.emit({0, window.key(), window.window().start_ms, sum});
                 })
      .sink_to(api::file_sink::csv("/output"));
  return api::build_job(env, 4);
}

class hits_loader final : public graph::job_code_loader {
public:
  explicit hits_loader(std::shared_ptr<const graph::job_code> code) : code_(std::move(code)) {}
  result<std::shared_ptr<const graph::job_code>>
  load(const std::string&, const std::vector<std::string>&, const std::string&) override {
    return code_;
  }

private:
  std::shared_ptr<const graph::job_code> code_;
};

/// One process's share.
struct loopback_node {
  loopback_node() {
    actors::node_options options;
    options.scheduler_threads = 2;
    options.executor_threads = 2;
    node = actors::make_node(std::move(options));
    auto started = actors::rpc_system::start(*node, {});
    REQUIRE_MESSAGE(started, (started ? std::string() : to_string(started.error())));
    rpc = std::move(*started);
    network = std::make_unique<task::rpc_data_network>(*rpc, where());
  }
  ~loopback_node() {
    CHECK(node->shut_down());
    rpc->shut_down(std::chrono::seconds(5));
  }
  actors::host_port where() const { return {"127.0.0.1", rpc->port()}; }

  task::exchange_directory directory;
  std::unique_ptr<actors::node> node;
  std::unique_ptr<actors::rpc_system> rpc;
  std::unique_ptr<task::rpc_data_network> network;
};

TEST_SUITE_BEGIN("integration/loopback");

TEST_CASE("a keyed job over two nodes and sockets gives the rows that it must") {
  auto job = describe_hits();
  REQUIRE(job);
  hits_loader loader(job->code);
  const auto input = make_windowed_input(4, 20'000);
  testing_file_system files;
  for (std::size_t i = 0; i < input.files.size(); ++i)
    files.put("/input/events-" + std::to_string(i) + ".csv", input.files[i]);
  graph::connector_registry connectors;
  cluster::register_all_connectors(connectors, {});
  const auto factories = task::make_operator_factories();
  std::unique_ptr<cluster::mini_cluster> services;
  std::array<loopback_node, 2> nodes; // last: actors use all of the above
  cluster::mini_cluster_options of_cluster;
  of_cluster.task_executors = 0;
  of_cluster.directory = "/cluster";
  services = std::make_unique<cluster::mini_cluster>(*nodes[0].node, files, loader, of_cluster);
  REQUIRE(services->start());
  nodes[1].rpc->learn(nodes[0].node->environment().node, nodes[0].where());
  for (auto& each : nodes) {
    task::task_executor_settings settings;
    settings.id = each.node->environment().random.next_id<task_executor_id>();
    settings.slots = 2;
    settings.cache_directory = "/cluster/cache";
    settings.leader = std::make_shared<actors::fixed_leader>(services->resource_manager());
    each.node->spawn(
        std::make_unique<task::task_executor_endpoint>(
            settings, task::task_executor_environment{files, connectors, factories, each.directory,
                                                      &loader, each.network.get()}),
        {"task_executor", "task_executor", actors::placement::control, actors::supervision::notify,
         true});
  }
  scheduler::job_client client(*nodes[0].node, services->dispatcher(), services->blob_server());
  job->graph.id = nodes[0].node->environment().random.next_id<job_id>();
  REQUIRE(client.submit(job->graph));

  const auto ended = client.wait(job->graph.id, std::chrono::seconds(60));

  REQUIRE_MESSAGE(ended, (ended ? std::string() : to_string(ended.error())));
  CHECK_MESSAGE(ended->state == scheduler::job_state::finished, to_string(ended->failure));
  std::multiset<std::string> rows;
  for (const auto& path : files.paths())
    if (path.starts_with("/output/part-"))
      for (const auto line : split_text(files.at(path), '\n'))
        if (!line.empty())
          rows.emplace(line);
  auto expected = expected_rows(input);
  std::erase_if(expected, [](const auto& row) { return row[0] != '0'; });
  CHECK(rows == expected);
  CHECK(nodes[0].rpc->counters().connections_opened > 1);
}

TEST_SUITE_END();

} // namespace
} // namespace headrace::testing
