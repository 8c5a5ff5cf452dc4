#pragma once

#include "test/libscheduler/sample_graph.hpp"
#include "test/libscheduler/testing_source.hpp"
#include "test/libscheduler/testing_task_executor.hpp"
#include "libscheduler/artifact/blob_server_endpoint.hpp"
#include "libscheduler/client/job_client.hpp"
#include "libscheduler/dispatcher/dispatcher_endpoint.hpp"
#include "libscheduler/resource/resource_manager_endpoint.hpp"
#include "libactors/base/file_system.hpp"
#include "libactors/rpc/node.hpp"

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <unistd.h>
#include <vector>

namespace headrace::testing {

/// A whole master with imagined task executors, on one thread in virtual time.
class testing_cluster {
public:
  struct executor {
    task_executor_id id;
    actors::address where;
    testing_task_executor* actor = nullptr; ///< until it is killed
  };

  explicit testing_cluster(std::uint64_t seed = 1)
      : directory_(std::filesystem::temp_directory_path() /
                   ("headrace-sched-" + std::to_string(seed) + "-" + std::to_string(::getpid()))),
        files(make_local_file_system()), node(actors::make_deterministic_node(seed, {})) {
    std::filesystem::remove_all(directory_);
    tasks.state_directory = directory_ / "state";
    add_testing_source(connectors);
    resource_manager = spawn(std::make_unique<scheduler::resource_manager_endpoint>(
                                 scheduler::resource_manager_settings{}, nullptr),
                             "resource_manager");
    blob_server = spawn(std::make_unique<scheduler::blob_server_endpoint>(
                            scheduler::blob_server_settings{directory_ / "blobs"}, *files),
                        "blob_server");
    services->connectors = &connectors;
    services->files = files.get();
    services->checkpoint_directory = directory_ / "checkpoints";
    services->recorded_checkpoints =
        std::make_shared<const scheduler::checkpoint_records>(*files, directory_ / "jobs");
    services->resource_manager = resource_manager;
    services->blob_server = blob_server;
    start_dispatcher();
    client = std::make_unique<scheduler::job_client>(*node, dispatcher, blob_server);
  }
  ~testing_cluster() {
    client.reset();
    node->shut_down();
    node.reset();
    std::filesystem::remove_all(directory_);
  }

  void start_dispatcher() {
    start_dispatcher(scheduler::make_file_job_store(*files, directory_ / "jobs"));
  }
  void start_dispatcher(std::shared_ptr<scheduler::job_store> store) {
    dispatcher = spawn(std::make_unique<scheduler::dispatcher_endpoint>(
                           scheduler::dispatcher_settings{}, std::move(store), services),
                       "dispatcher");
  }
  executor& add_executor(int slots) {
    executor added;
    added.id = {9, executors.size() + 1};
    auto made = std::make_unique<testing_task_executor>(added.id, slots, resource_manager, tasks);
    added.actor = made.get();
    added.where = spawn(std::move(made), "taskexecutor-" + std::to_string(executors.size()));
    executors.push_back(added);
    return executors.back();
  }
  void kill(executor& which) {
    which.actor = nullptr;
    node->kill(which.where);
  }
  bool run_until(const std::function<bool()>& done) { return node->run_until(done, 1'000'000); }
  bool run_until_running(std::size_t count) {
    return run_until([&] { return tasks.running.size() == count; });
  }
  std::string state_of(const job_id& job) {
    const auto known = client->status(job);
    return known ? std::string(scheduler::name_of(known->state)) : to_string(known.error());
  }
  bool wait_for(const job_id& job, const std::string& state) {
    for (int i = 0; i < 300; ++i) {
      if (state_of(job) == state)
        return true;
      node->advance(std::chrono::milliseconds(100));
    }
    return false;
  }
  /// Ends all tasks of a job well.
  void finish(const job_id& job) {
    std::vector<execution_attempt_id> attempts;
    for (const auto& [attempt, task] : tasks.running) {
      if (task.job == job)
        attempts.push_back(attempt);
    }
    for (const auto& attempt : attempts)
      tasks.running.at(attempt).where->end(attempt, schema::TaskState::FINISHED);
  }
  std::filesystem::path directory() const { return directory_; }

private:
  actors::address spawn(std::unique_ptr<actors::endpoint> actor, const std::string& name) {
    return node->spawn(std::move(actor),
                       {name, name, actors::placement::control, actors::supervision::notify, true});
  }
  std::filesystem::path directory_;

public:
  imagined_tasks tasks;
  bool storage_is_full = false; ///< for a storage that a test makes
  std::unique_ptr<file_system> files;
  graph::connector_registry connectors;
  std::shared_ptr<scheduler::job_services> services = std::make_shared<scheduler::job_services>();
  std::unique_ptr<actors::deterministic_node> node;
  actors::address resource_manager;
  actors::address blob_server;
  actors::address dispatcher;
  std::vector<executor> executors;
  std::unique_ptr<scheduler::job_client> client;
};

/// A source of splits that flows into a sink over a shuffle.
inline sample_graph source_to_sink(std::int32_t parallelism, int splits, std::uint64_t id = 7) {
  sample_graph sample;
  sample.job().id = {7, id};
  const auto row = graph::logical_type::row({{"line", graph::logical_type::string(), ""}});
  const auto source = sample.add("source", parallelism);
  graph::source_spec reads;
  reads.connector.name = "testing";
  reads.connector.options["splits"] = std::to_string(splits);
  sample.at(source).operators[0].spec = reads;
  sample.at(source).operators[0].output_type = row;
  const auto sink = sample.add("sink", parallelism);
  graph::sink_spec writes;
  writes.connector.name = "testing";
  sample.at(sink).operators[0].spec = writes;
  sample.at(sink).operators[0].input_types = {row};
  sample.at(sink).operators[0].output_type = row;
  sample.at(source).id.high = id; // imagined tasks are told apart by their attempts alone
  sample.at(sink).id.high = id;
  sample.connect(source, sink, graph::partitioner_kind::rebalance);
  return sample;
}

} // namespace headrace::testing
