#pragma once

#include "apps/cluster/job_manager_process.hpp"
#include "apps/cluster/mini_cluster.hpp"
#include "apps/cluster/task_manager_process.hpp"
#include "libscheduler/client/job_client.hpp"
#include "libactors/base/assert.hpp"
#include "libactors/leader/leader_retrieval.hpp"
#include "libactors/registry/actor_registry.hpp"
#include "libactors/rpc/node.hpp"

#include <cstdint>
#include <memory>
#include <optional>

namespace headrace::testing {

/// A leader that is where the test says.
class moving_leader final : public actors::leader_retrieval {
public:
  actors::address where;
  result<actors::address> find() override {
    if (where.is_none())
      return error(errc::peer_lost, "nobody leads now");
    return where;
  }
};

/// The parts of a job manager process and of task manager processes, on one deterministic node, so
/// that either can end without the other.
class testing_processes {
public:
  struct size {
    int task_executors = 1;
    std::int32_t slots = 1;
    std::string state_directory = {}; ///< of backends with local files
  };
  testing_processes(actors::deterministic_node& node, file_system& files,
                    graph::job_code_loader& code, size how_many)
      : node_(node), files_(files), code_(code), how_many_(how_many) {
    cluster::register_all_connectors(connectors_, {});
    configuration settings;
    HEADRACE_ASSERT(settings.set("taskmanager.resource-id", name), "task executors have names");
    task_manager_.emplace(
        node_, files_, code_, connectors_, leader_,
        cluster::task_manager_options{
            settings, how_many_.slots, {}, "/cluster", how_many_.state_directory, {}});
  }

  status start() {
    HEADRACE_CHECK(start_job_manager());
    for (int i = 0; i < how_many_.task_executors; ++i)
      start_task_executor();
    return {};
  }
  actors::address start_task_executor() { return task_manager_->start_task_executor(); }
  /// Starts one that was killed again, under its id.
  void restart_task_executor(const std::string& actor_name) {
    for (int i = 0; i < how_many_.task_executors; ++i) {
      const auto number = static_cast<std::size_t>(i);
      if (actor_name.ends_with(to_string(cluster::resource_id(name, number)).substr(0, 8)))
        task_manager_->start_task_executor(number);
    }
  }

  /// Ends the job manager, and starts one that knows only what the old one stored.
  /// @param in_order  suspends the jobs first; else its actors just end
  void restart_job_manager(bool in_order) {
    if (in_order)
      static_cast<void>(job_manager_->suspend(std::chrono::milliseconds(5'000)));
    leader_->where = {};
    for (const auto& each : node_.actors().snapshot(node_.environment().time.now_us()))
      if (each.kind != "task_executor" && each.kind != "subtask" && each.kind != "root_supervisor")
        node_.kill({node_.environment().node, each.name, each.instance});
    client_.reset();
    HEADRACE_ASSERT(start_job_manager(), "the job manager starts again");
  }

  scheduler::job_client& client() { return *client_; }

private:
  static constexpr const char* name = "test";

  status start_job_manager() {
    job_manager_.emplace(node_, files_, code_, connectors_,
                         cluster::job_manager_options{{}, "/cluster", true});
    HEADRACE_CHECK(job_manager_->start());
    leader_->where = job_manager_->resource_manager();
    client_.emplace(node_, job_manager_->dispatcher(), job_manager_->blob_server());
    return {};
  }

  actors::deterministic_node& node_;
  file_system& files_;
  graph::job_code_loader& code_;
  size how_many_;
  graph::connector_registry connectors_;
  std::shared_ptr<moving_leader> leader_ = std::make_shared<moving_leader>();
  std::optional<cluster::job_manager_process> job_manager_;
  std::optional<cluster::task_manager_process> task_manager_;
  std::optional<scheduler::job_client> client_;
};

} // namespace headrace::testing
