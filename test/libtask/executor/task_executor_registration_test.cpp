#include "test/support/testing_file_system.hpp"
#include "libtask/executor/task_executor_endpoint.hpp"
#include "libactors/message/ids_codec.hpp"
#include "libactors/rpc/address_codec.hpp"
#include "libactors/rpc/node.hpp"
#include "schema/error.capnp.h"

#include <doctest/doctest.h>

using namespace headrace;
using namespace headrace::task;
using namespace headrace::testing;
using std::chrono::milliseconds;

namespace {

/// What a resource manager heard.
struct manager_notes {
  int registrations = 0;
  std::vector<std::string> farewells;
  std::vector<std::int32_t> available; ///< slots
  std::vector<std::int32_t> offered;   ///< slots
  std::string dismissal;               ///< said to who registers: another one has its id
};

class testing_manager final : public actors::endpoint {
public:
  explicit testing_manager(std::shared_ptr<manager_notes> notes) {
    on_ask<schema::RegisterTaskExecutor, schema::RegistrationReply>(
        [this, notes](const auto& request, auto back) {
          ++notes->registrations;
          message_builder<schema::RegistrationReply> reply;
          reply->initAccepted();
          back.send(reply.finish());
          if (notes->dismissal.empty())
            return;
          message_builder<schema::Disconnect> news;
          news->setFrom(request.view()->getId());
          news->setCause(notes->dismissal);
          tell(actors::read_address(request.view()->getAddress()), news.finish());
        });
    on_tell<schema::Disconnect>([notes](const auto& farewell, const auto&) {
      notes->farewells.emplace_back(farewell.view()->getCause().cStr());
    });
    on_tell<schema::SlotAvailable>([notes](const auto& news, const auto&) {
      notes->available.push_back(news.view()->getSlot().getIndex());
    });
    on_tell<schema::Heartbeat>([](const auto&, const auto&) {});
  }
};

/// A job master that takes what it is offered, and then says no more.
class testing_master final : public actors::endpoint {
public:
  explicit testing_master(std::shared_ptr<manager_notes> notes) {
    on_ask<schema::RegisterAtJobMaster, schema::RegistrationReply>([](const auto&, auto back) {
      message_builder<schema::RegistrationReply> reply;
      reply->initAccepted();
      back.send(reply.finish());
    });
    on_ask<schema::OfferSlots, schema::OfferSlotsReply>([notes](const auto& offered, auto back) {
      const auto view = offered.view();
      const auto slots = view->getSlots();
      message_builder<schema::OfferSlotsReply> reply;
      auto accepted = reply->initAccepted(slots.size());
      for (unsigned i = 0; i < slots.size(); ++i) {
        accepted.setWithCaveats(i, slots[i].getAllocation());
        notes->offered.push_back(slots[i].getIndex());
      }
      back.send(reply.finish());
    });
    on_tell<schema::Disconnect>([notes](const auto& farewell, const auto&) {
      notes->farewells.emplace_back(farewell.view()->getCause().cStr());
    });
  }
};

/// Says what the test sets.
class testing_leader final : public actors::leader_retrieval {
public:
  result<actors::address> next = error(errc::peer_lost, "nobody leads now");
  int asked = 0;
  result<actors::address> find() override {
    ++asked;
    return next;
  }
};

struct fixture {
  fixture() : node(actors::make_deterministic_node(1, options())) {
    task_executor_settings settings;
    settings.id = {7, 7};
    settings.slots = 2;
    settings.leader = leader;
    settings.on_registered = [this] { ++times_registered; };
    settings.registration_timeout = milliseconds(60'000);
    executor = node->spawn(
        std::make_unique<task_executor_endpoint>(
            settings, task_executor_environment{files, connectors, factories, directory, nullptr}),
        {.name = "taskexecutor", .kind = "task_executor"});
  }
  actors::node_options options() {
    actors::node_options out;
    out.on_fatal = [this](const error& cause) { fatal = cause; };
    return out;
  }
  actors::address start_manager(const std::string& name) {
    return node->spawn(std::make_unique<testing_manager>(notes),
                       {.name = name, .kind = "resource_manager"});
  }

  std::shared_ptr<manager_notes> notes = std::make_shared<manager_notes>();
  std::shared_ptr<testing_leader> leader = std::make_shared<testing_leader>();
  testing_file_system files;
  graph::connector_registry connectors;
  operator_factories factories = make_operator_factories();
  exchange_directory directory;
  int times_registered = 0;
  std::optional<error> fatal;
  actors::address executor;
  std::unique_ptr<actors::deterministic_node> node; // last: its actors use all of the above
};

} // namespace

TEST_SUITE("task/executor/task_executor_registration") {
TEST_CASE("a task executor waits for a resource manager, and finds the next one when it is lost") {
  fixture f;
  f.node->advance(milliseconds(5'000));
  CHECK(f.leader->asked > 5); // it does not give up soon
  CHECK(f.times_registered == 0);

  const auto first = f.start_manager("first");
  f.leader->next = first;
  f.node->advance(milliseconds(1'100));
  CHECK(f.times_registered == 1);

  f.leader->next = error(errc::peer_lost, "nobody leads now");
  f.node->kill(first);
  f.node->advance(milliseconds(2'000));
  f.leader->next = f.start_manager("second");
  f.node->advance(milliseconds(1'100));

  CHECK(f.times_registered == 2);
  CHECK(f.notes->registrations == 2);
  CHECK_FALSE(f.fatal);
}

TEST_CASE("without a resource manager for too long, or refused by one, the process must end") {
  fixture late;
  late.node->advance(milliseconds(59'000));
  CHECK_FALSE(late.fatal);
  late.node->advance(milliseconds(3'000));
  REQUIRE(late.fatal);
  CHECK(late.fatal->has(errc::peer_lost));

  fixture refused;
  refused.leader->next = error(errc::registration_refused, "another version");
  refused.node->advance(milliseconds(100));
  REQUIRE(refused.fatal);
  CHECK(refused.fatal->code == errc::registration_refused);
  CHECK(refused.leader->asked == 1);
}

TEST_CASE("a task executor that another one has replaced must end, and says why") {
  fixture f;
  f.leader->next = f.start_manager("manager");
  f.notes->dismissal = "another has its taskmanager.resource-id";
  f.node->advance(milliseconds(100));

  REQUIRE(f.fatal);
  CHECK(f.fatal->code == errc::registration_refused);
  CHECK(to_string(*f.fatal).find(f.notes->dismissal) != std::string::npos);
}

TEST_CASE("a task executor that is told to leave says farewell once, and does not come back") {
  fixture f;
  f.leader->next = f.start_manager("manager");
  f.node->advance(milliseconds(100));
  REQUIRE(f.times_registered == 1);
  message_builder<schema::LeaveCluster> order;
  order->setCause("process stops");

  REQUIRE(
      f.node->ask_and_wait<schema::Acknowledge>(f.executor, order.finish(), milliseconds(1'000)));
  f.node->advance(milliseconds(5'000));

  CHECK(f.notes->farewells == std::vector<std::string>{"process stops"});
  message_builder<schema::AllocateSlot> allocate;
  write(allocate->initAllocation(), allocation_id{1, 1});
  write(allocate->initJob(), job_id{2, 2});
  CHECK(
      f.node->ask_and_wait<schema::Acknowledge>(f.executor, allocate.finish(), milliseconds(1'000))
          .error()
          .code == errc::shut_down);
  f.node->shut_down();
  CHECK(f.notes->farewells.size() == 1);
  CHECK(f.notes->registrations == 1);
}

TEST_CASE("a job master that was silent for too long is told that its slots are gone") {
  fixture f;
  f.leader->next = f.start_manager("manager");
  f.node->advance(milliseconds(100));
  auto heard = std::make_shared<manager_notes>();
  const auto master = f.node->spawn(std::make_unique<testing_master>(heard),
                                    {.name = "master", .kind = "job_master"});
  message_builder<schema::AllocateSlot> allocate;
  write(allocate->initAllocation(), allocation_id{1, 1});
  write(allocate->initJob(), job_id{2, 2});
  actors::write(allocate->initJobMaster(), master);
  REQUIRE(f.node->ask_and_wait<schema::Acknowledge>(f.executor, allocate.finish(),
                                                    milliseconds(1'000)));

  f.node->advance(milliseconds(9'000));
  CHECK(heard->farewells.empty());
  f.node->advance(milliseconds(3'000));

  CHECK(heard->farewells ==
        std::vector<std::string>{"task executor has lost the job master: heartbeat timed out"});
}

TEST_CASE("slots that a job had under another job master are free again") {
  fixture f;
  f.leader->next = f.start_manager("manager");
  f.node->advance(milliseconds(100));
  const auto before = std::make_shared<manager_notes>();
  const auto after = std::make_shared<manager_notes>();
  const auto allocate = [&](std::int32_t index, const auto& heard, const char* name) {
    const auto master = f.node->spawn(std::make_unique<testing_master>(heard),
                                      {.name = name, .kind = "job_master"});
    message_builder<schema::AllocateSlot> order;
    order->setIndex(index);
    write(order->initAllocation(), allocation_id{1, 1 + static_cast<std::uint64_t>(index)});
    write(order->initJob(), job_id{2, 2});
    actors::write(order->initJobMaster(), master);
    REQUIRE(
        f.node->ask_and_wait<schema::Acknowledge>(f.executor, order.finish(), milliseconds(1'000)));
    f.node->advance(milliseconds(100));
  };

  allocate(0, before, "before");
  CHECK(before->offered == std::vector{0});
  CHECK(f.notes->available.empty());
  allocate(1, after, "after");

  CHECK(f.notes->available == std::vector{0});
  CHECK(before->farewells == std::vector<std::string>{"task executor has lost the job master: "
                                                      "another job master leads the job"});
  CHECK(before->offered.size() == 1);
  CHECK(after->offered == std::vector{1});
}
} // TEST_SUITE("task/executor/task_executor_registration")
