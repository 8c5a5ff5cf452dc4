#include "libscheduler/rest/actor_census.hpp"

#include "test/libscheduler/testing_task_executor.hpp"
#include "libscheduler/resource/resource_manager_endpoint.hpp"
#include "libactors/registry/actor_codec.hpp"
#include "libactors/rpc/envelope.hpp"
#include "libactors/rpc/node.hpp"
#include "libactors/supervision/introspection_endpoint.hpp"

#include <doctest/doctest.h>

#include <array>
#include <map>
#include <optional>
#include <set>

using namespace headrace;
using namespace headrace::scheduler;

namespace {

using node_table = std::map<node_id, actors::node*>;

/// Carries messages between the nodes of one thread.
class direct_link final : public actors::remote_link {
public:
  explicit direct_link(const node_table& nodes) : nodes_(nodes) {}
  void send(actors::envelope what) override {
    if (const auto at = nodes_.find(what.to.node); at != nodes_.end())
      at->second->receive(std::move(what));
  }
  void watch(const actors::address& /*peer*/) override {}

private:
  const node_table& nodes_;
};

struct question final : actors::mail {
  question() : mail(1) {}
};

/// Takes a census at each mail.
class census_taker final : public actors::endpoint {
public:
  census_taker(actors::address manager, std::optional<std::vector<node_actors>>& heard)
      : manager_(std::move(manager)), heard_(heard) {}

private:
  void on_mail(actors::mail_ptr /*content*/) override {
    actor_census(*this, manager_, {environment().node}, std::chrono::milliseconds(1'000))
        .take([this](std::vector<node_actors> heard) { heard_ = std::move(heard); });
  }
  actors::address manager_;
  std::optional<std::vector<node_actors>>& heard_;
};

constexpr std::size_t here = 0;
constexpr std::size_t there = 1;

/// A resource manager on one node, a task executor on another.
struct two_nodes {
  two_nodes() {
    for (const std::size_t each : {here, there}) {
      nodes[each] = actors::make_deterministic_node(each + 1, {});
      table[nodes[each]->environment().node] = nodes[each].get();
      nodes[each]->connect(std::make_shared<direct_link>(table));
      actors::spawn_introspection(*nodes[each]);
    }
    const auto manager = spawn(
        here, std::make_unique<resource_manager_endpoint>(resource_manager_settings{}, nullptr),
        "resource_manager");
    spawn(
        there,
        std::make_unique<testing::testing_task_executor>(task_executor_id{9, 1}, 2, manager, tasks),
        "task_executor");
    taker = spawn(here, std::make_unique<census_taker>(manager, heard), "taker");
  }
  actors::address spawn(std::size_t at, std::unique_ptr<actors::endpoint> what,
                        const std::string& name) {
    return nodes[at]->spawn(std::move(what), {name, name, actors::placement::control,
                                              actors::supervision::notify, true});
  }
  void run() {
    for (int turn = 0; turn < 100; ++turn)
      for (const auto& each : nodes) {
        each->run(10'000);
        each->advance(std::chrono::milliseconds(1));
      }
  }
  /// The nodes, and the names of their actors; of a silent node none.
  std::map<node_id, std::set<std::string>> census() {
    heard.reset();
    nodes[here]->find(taker).send(std::make_unique<question>());
    for (int i = 0; i < 50 && !heard; ++i)
      run();
    REQUIRE(heard.has_value());
    std::map<node_id, std::set<std::string>> out;
    for (const auto& node : *heard) {
      auto& names = out[node.node];
      if (!node.actors)
        continue;
      const auto view = node.actors->view();
      for (const auto actor : view->getActors())
        names.insert(actors::read_actor(actor).name);
    }
    return out;
  }
  node_id id(std::size_t of) const { return nodes[of]->environment().node; }

  std::optional<std::vector<node_actors>> heard;
  testing::imagined_tasks tasks;
  node_table table;
  std::array<std::unique_ptr<actors::deterministic_node>, 2> nodes; // last: use all of the above
  actors::address taker;
};

} // namespace

TEST_SUITE("scheduler/rest/actor_census") {
TEST_CASE("the actors of all nodes are there, and those of a dead node are gone") {
  two_nodes cluster;
  cluster.run(); // the task executor registers

  const auto before = cluster.census();
  REQUIRE(before.size() == 2);
  CHECK(before.at(cluster.id(here)).contains("resource_manager"));
  CHECK(before.at(cluster.id(there)).contains("task_executor"));
  CHECK(before.at(cluster.id(there)).contains("root"));

  cluster.table.erase(cluster.id(there)); // hears and says nothing any more
  cluster.nodes[here]->report_lost(cluster.id(there), {errc::peer_lost, "its port refuses"});
  cluster.run();

  const auto after = cluster.census();
  REQUIRE(after.size() == 1);
  CHECK(after.at(cluster.id(here)).contains("resource_manager"));
  CHECK_FALSE(after.at(cluster.id(here)).contains("task_executor"));
}

TEST_CASE("a node that does not answer is listed as silent") {
  two_nodes cluster;
  cluster.run();

  cluster.table.erase(cluster.id(there)); // its loss is not noticed yet

  const auto heard = cluster.census();
  REQUIRE(heard.size() == 2);
  CHECK(heard.at(cluster.id(there)).empty());
}
} // TEST_SUITE("scheduler/rest/actor_census")
