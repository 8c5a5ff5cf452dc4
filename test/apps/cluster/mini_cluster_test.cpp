#include "apps/cluster/mini_cluster.hpp"

#include "test/support/testing_file_system.hpp"
#include "apps/cluster/memory_settings.hpp"
#include "libactors/registry/actor_registry.hpp"
#include "libactors/rpc/node.hpp"
#include "schema/registration.capnp.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace headrace::cluster {
namespace {

class no_code final : public graph::job_code_loader {
public:
  result<std::shared_ptr<const graph::job_code>>
  load(const std::string&, const std::vector<std::string>&, const std::string&) override {
    return error(errc::internal, "no job is loaded here");
  }
};

/// What the task executors say to have, once all have registered.
std::vector<std::uint64_t> memory_of(const configuration& settings, int task_executors) {
  testing::testing_file_system files;
  no_code code;
  const auto node = actors::make_deterministic_node(1, {});
  mini_cluster_options options;
  options.settings = settings;
  options.slots = 1;
  options.task_executors = task_executors;
  options.directory = "/cluster";
  mini_cluster cluster(*node, files, code, options);
  REQUIRE(cluster.start());
  std::vector<std::uint64_t> out;
  for (int i = 0; i < 1'000 && out.size() < static_cast<std::size_t>(task_executors); ++i) {
    node->advance(std::chrono::milliseconds(1));
    const auto told = node->ask_and_wait<schema::TaskExecutorList>(
        cluster.resource_manager(), message_builder<schema::ListTaskExecutors>().finish(),
        std::chrono::milliseconds(1'000));
    REQUIRE(told);
    out.clear();
    const auto view = told->view();
    for (const auto each : view->getExecutors())
      out.push_back(each.getMemoryBytes());
  }
  CHECK(node->shut_down());
  return out;
}

TEST_SUITE_BEGIN("apps/cluster/mini_cluster");

TEST_CASE("a component that fails is a fatal error of its process") {
  for (const std::string kind :
       {"dispatcher", "resource_manager", "blob_server", "task_executor"}) {
    CAPTURE(kind);
    testing::testing_file_system files;
    no_code code;
    error fatal;
    actors::node_options options;
    options.on_fatal = [&](const error& cause) { fatal = cause; };
    const auto node = actors::make_deterministic_node(1, options);
    mini_cluster_options of_cluster;
    of_cluster.directory = "/cluster";
    mini_cluster cluster(*node, files, code, of_cluster);
    REQUIRE(cluster.start());
    node->advance(std::chrono::milliseconds(100));
    const auto living = node->actors().snapshot(node->environment().time.now_us());
    const auto one = std::find_if(living.begin(), living.end(),
                                  [&](const auto& each) { return each.kind == kind; });
    REQUIRE(one != living.end());

    REQUIRE(node->kill({node->environment().node, one->name, 0}));
    node->advance(std::chrono::milliseconds(100));

    CHECK(fatal.message.find(one->name) != std::string::npos);
    CHECK(node->shut_down());
  }
}

TEST_CASE("task executors have a limit of memory, set or not") {
  const auto half = default_managed_memory_bytes(machine_memory_bytes(), 2);
  CHECK(memory_of({}, 2) == std::vector<std::uint64_t>{half, half});

  configuration settings;
  REQUIRE(settings.set("taskmanager.memory.managed.size", "64 mb"));
  CHECK(memory_of(settings, 1) == std::vector<std::uint64_t>{std::uint64_t{64} << 20U});
}

TEST_SUITE_END();

} // namespace
} // namespace headrace::cluster
