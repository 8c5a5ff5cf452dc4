#pragma once

#include "test/support/seed.hpp"
#include "test/support/testing_file_system.hpp"
#include "apps/cluster/mini_cluster.hpp"
#include "libscheduler/client/job_client.hpp"
#include "libgraph/api/job_object.hpp"
#include "libactors/base/random.hpp"
#include "libactors/rpc/node.hpp"

#include <doctest/doctest.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace headrace::testing {

/// Gives the code of each job by the hash of its graph.
class hash_loader final : public graph::job_code_loader {
public:
  void add(const std::string& graph_hash, std::shared_ptr<const graph::job_code> code) {
    codes_[graph_hash] = std::move(code);
  }
  result<std::shared_ptr<const graph::job_code>> load(const std::string&,
                                                      const std::vector<std::string>&,
                                                      const std::string& graph_hash) override {
    const auto at = codes_.find(graph_hash);
    if (at == codes_.end())
      return error(errc::graph_mismatch, "no such job");
    return at->second;
  }

private:
  std::map<std::string, std::shared_ptr<const graph::job_code>> codes_;
};

/// A deterministic cluster of one task executor, for jobs of environments.
struct testing_mini_cluster {
  /// @param memory  of the task executor; empty: the usual
  explicit testing_mini_cluster(const std::string& memory = {}, std::int32_t slots = 1)
      : node(actors::make_deterministic_node(seed(), {})) {
    cluster::mini_cluster_options options;
    if (!memory.empty())
      REQUIRE(options.settings.set("taskmanager.memory.managed.size", memory));
    options.slots = slots;
    options.directory = "/cluster";
    cluster = std::make_unique<cluster::mini_cluster>(*node, files, loader, std::move(options));
    REQUIRE(cluster->start());
    client = std::make_unique<scheduler::job_client>(*node, cluster->dispatcher(),
                                                     cluster->blob_server());
  }
  ~testing_mini_cluster() { node->shut_down(); }

  job_id submit(api::environment& env) {
    auto job = api::build_job(env, 1);
    REQUIRE_MESSAGE(job.has_value(), (job ? "" : to_string(job.error())));
    job->graph.id = node->environment().random.next_id<job_id>();
    loader.add(job->graph.hash, job->code);
    const auto submitted = client->submit(job->graph);
    REQUIRE_MESSAGE(submitted.has_value(), (submitted ? "" : to_string(submitted.error())));
    return job->graph.id;
  }

  /// Runs until the job has ended.
  scheduler::job_status end_of(const job_id& job) {
    for (int round = 0; round < 1'000'000; ++round) {
      for (int i = 0; i < 200; ++i)
        if (!node->run_once() && !node->advance_to_next_timer())
          break;
      auto status = client->status(job);
      REQUIRE(status);
      if (scheduler::is_terminal(status->state))
        return *std::move(status);
    }
    FAIL("the job did not end within its steps");
    return {};
  }

  testing_file_system files;
  hash_loader loader;
  std::unique_ptr<actors::deterministic_node> node;
  std::unique_ptr<cluster::mini_cluster> cluster;
  std::unique_ptr<scheduler::job_client> client;
};

} // namespace headrace::testing
