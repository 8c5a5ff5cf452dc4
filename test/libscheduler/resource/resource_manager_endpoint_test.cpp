#include "libscheduler/resource/resource_manager_endpoint.hpp"

#include "libactors/message/ids_codec.hpp"
#include "libactors/rpc/address_codec.hpp"
#include "libactors/rpc/node.hpp"

#include <doctest/doctest.h>

#include <optional>

namespace headrace::scheduler {
namespace {

using std::chrono::milliseconds;

constexpr task_executor_id shared_id{1, 1};

/// What an instance of a task executor does and hears. Outlives it.
struct instance_notes {
  bool is_halted = false; ///< answers nothing
  int accepted = 0;
  std::optional<std::string> refused;
  std::optional<std::string> replaced; ///< the resource manager's words
  std::vector<job_id> over;            ///< jobs of which it heard that they are
};

class testing_instance final : public actors::endpoint {
public:
  testing_instance(actors::address manager, instance_notes& notes)
      : manager_(std::move(manager)), notes_(notes) {
    on_tell<schema::Heartbeat>([this](const auto& beat, const auto&) {
      if (!notes_.is_halted && !beat.view()->getIsReply())
        beat_now();
    });
    on_tell<schema::Disconnect>([this](const auto& farewell, const auto&) {
      if (read_id<task_executor_id>(farewell.view()->getFrom()) == shared_id)
        notes_.replaced = farewell.view()->getCause().cStr();
      else if (!farewell.view()->getJobGoesOn())
        notes_.over.push_back(read_id<job_id>(farewell.view()->getJob()));
    });
    // The test's orders.
    on_ask<schema::LeaveCluster, schema::Acknowledge>([this](const auto&, auto back) {
      message_builder<schema::Disconnect> farewell;
      write(farewell->initFrom(), shared_id);
      tell(manager_, farewell.finish());
      back.send(message_builder<schema::Acknowledge>().finish());
    });
    on_ask<schema::RegisterTaskExecutor, schema::Acknowledge>([this](const auto&, auto back) {
      register_now();
      back.send(message_builder<schema::Acknowledge>().finish());
    });
    on_ask<schema::SlotReport, schema::Acknowledge>([this](const auto&, auto back) {
      beat_now();
      back.send(message_builder<schema::Acknowledge>().finish());
    });
  }

private:
  void on_start() override { register_now(); }
  void register_now() {
    message_builder<schema::RegisterTaskExecutor> request;
    write(request->initId(), shared_id);
    actors::write(request->initAddress(), self());
    request->initSlots().initSlots(1);
    ask<schema::RegistrationReply>(manager_, request.finish(), milliseconds(1'000),
                                   [this](const auto& answer) {
                                     if (!answer)
                                       return;
                                     if (answer->view()->isAccepted())
                                       ++notes_.accepted;
                                     else
                                       notes_.refused = answer->view()->getRefused().cStr();
                                   });
  }
  void beat_now() {
    message_builder<schema::Heartbeat> beat;
    write(beat->initFrom(), shared_id);
    beat->setIsReply(true);
    beat->initSlots().initSlots(1);
    tell(manager_, beat.finish());
  }

  actors::address manager_;
  instance_notes& notes_;
};

/// A job master that registers, and leaves when it is told to.
class testing_job final : public actors::endpoint {
public:
  testing_job(actors::address manager, const job_id& id, bool goes_on) {
    on_ask<schema::LeaveCluster, schema::Acknowledge>(
        [this, manager, id, goes_on](const auto&, auto back) {
          message_builder<schema::Disconnect> farewell;
          write(farewell->initFrom(), id);
          write(farewell->initJob(), id);
          farewell->setJobGoesOn(goes_on);
          tell(manager, farewell.finish());
          back.send(message_builder<schema::Acknowledge>().finish());
        });
    on_ask<schema::RegisterJobMaster, schema::Acknowledge>(
        [this, manager, id](const auto&, auto back) {
          message_builder<schema::RegisterJobMaster> request;
          write(request->initJob(), id);
          actors::write(request->initAddress(), self());
          ask<schema::RegistrationReply>(manager, request.finish(), milliseconds(1'000),
                                         [](const auto& answer) { CHECK(answer); });
          back.send(message_builder<schema::Acknowledge>().finish());
        });
    on_tell<schema::Heartbeat>([](const auto&, const auto&) {});
  }
};

struct fixture {
  fixture() {
    manager = node->spawn(
        std::make_unique<resource_manager_endpoint>(resource_manager_settings{}, nullptr),
        {.name = "resource_manager", .kind = "resource_manager"});
  }
  actors::address start(const std::string& name, instance_notes& notes) {
    const auto started = node->spawn(std::make_unique<testing_instance>(manager, notes),
                                     {.name = name, .kind = "task_executor"});
    node->run(100'000);
    return started;
  }
  /// Where the one task executor is that is registered.
  actors::address registered() {
    const auto list = node->ask_and_wait<schema::TaskExecutorList>(
        manager, message_builder<schema::ListTaskExecutors>().finish(), milliseconds(100));
    REQUIRE(list);
    const auto executors = list->view()->getExecutors();
    return executors.size() == 1 ? actors::read_address(executors[0].getAddress())
                                 : actors::address();
  }
  template <class Order>
  void order(const actors::address& instance) {
    REQUIRE(node->ask_and_wait<schema::Acknowledge>(instance, message_builder<Order>().finish(),
                                                    milliseconds(100)));
    node->run(100'000);
  }
  void register_again(const actors::address& instance) {
    order<schema::RegisterTaskExecutor>(instance);
  }
  void beat(const actors::address& instance) { order<schema::SlotReport>(instance); }
  void leave(const actors::address& instance) { order<schema::LeaveCluster>(instance); }

  instance_notes old_notes;
  instance_notes new_notes;
  std::unique_ptr<actors::deterministic_node> node = actors::make_deterministic_node(1, {});
  actors::address manager;
};

} // namespace

TEST_SUITE("scheduler/resource/resource_manager_endpoint") {

TEST_CASE("of two task executors under one id the newer counts, and the older is told for good") {
  fixture f;
  const auto older = f.start("older", f.old_notes);
  const auto newer = f.start("newer", f.new_notes);

  CHECK(f.registered() == newer);
  REQUIRE(f.old_notes.replaced);
  CHECK(f.old_notes.replaced->find("taskmanager.resource-id") != std::string::npos);
  CHECK_FALSE(f.new_notes.replaced);

  f.old_notes.replaced.reset();
  f.beat(older);
  CHECK(f.old_notes.replaced);
  f.register_again(older);
  REQUIRE(f.old_notes.refused);
  CHECK(f.old_notes.refused->find("taskmanager.resource-id") != std::string::npos);
  f.node->advance(milliseconds(120'000));
  CHECK(f.registered() == newer);
  CHECK_FALSE(f.new_notes.replaced);
  CHECK_FALSE(f.new_notes.refused);
}

TEST_CASE("the goodbye and the end of a replaced task executor do not touch the newer one") {
  fixture f;
  const auto older = f.start("older", f.old_notes);
  const auto newer = f.start("newer", f.new_notes);

  f.leave(older);
  CHECK(f.registered() == newer);
  f.node->kill(older);
  f.node->run(100'000);

  CHECK(f.registered() == newer);
}

TEST_CASE("one that was halted until it counted as lost does not drive its replacement out") {
  fixture f;
  const auto older = f.start("older", f.old_notes);
  f.old_notes.is_halted = true;
  f.node->advance(milliseconds(120'000));
  REQUIRE(f.registered().is_none());
  const auto newer = f.start("newer", f.new_notes);
  f.old_notes.is_halted = false;
  f.register_again(older);

  CHECK(f.old_notes.refused);
  CHECK(f.registered() == newer);
  CHECK_FALSE(f.new_notes.replaced);
}

TEST_CASE("one that was lost, and not replaced, registers again, as does one that was killed") {
  fixture f;
  const auto first = f.start("first", f.old_notes);
  f.old_notes.is_halted = true;
  f.node->advance(milliseconds(120'000));
  REQUIRE(f.registered().is_none());
  f.old_notes.is_halted = false;
  f.register_again(first);
  CHECK(f.registered() == first);
  f.register_again(first); // it lost its connection only
  CHECK(f.old_notes.accepted == 3);
  CHECK_FALSE(f.old_notes.replaced);
  CHECK_FALSE(f.old_notes.refused);

  f.node->kill(first);
  const auto again = f.start("first", f.new_notes);
  CHECK(f.registered() == again);
  CHECK_FALSE(f.new_notes.replaced);
}

TEST_CASE("an older one takes over when the newer one has left") {
  fixture f;
  const auto older = f.start("older", f.old_notes);
  f.leave(older);
  const auto newer = f.start("newer", f.new_notes);
  f.leave(newer);
  f.register_again(older);
  CHECK(f.registered() == older);

  f.register_again(newer);
  CHECK(f.registered() == newer);
  CHECK(f.old_notes.replaced);
}

TEST_CASE("all task executors hear that a job is over, not only those that its master knows") {
  fixture f;
  f.start("executor", f.new_notes);
  const auto job = [&](const std::string& name, const job_id& id, bool goes_on) {
    const auto started = f.node->spawn(std::make_unique<testing_job>(f.manager, id, goes_on),
                                       {.name = name, .kind = "job_master"});
    f.order<schema::RegisterJobMaster>(started);
    return started;
  };
  const auto suspended = job("suspended", {2, 1}, true);
  const auto former = job("former", {2, 2}, false);
  const auto over = job("over", {2, 2}, false); // another master of the same job

  f.leave(suspended);
  f.leave(former);
  CHECK(f.new_notes.over.empty());
  f.leave(over);
  CHECK(f.new_notes.over == std::vector<job_id>{{2, 2}});
}

} // TEST_SUITE("scheduler/resource/resource_manager_endpoint")

} // namespace headrace::scheduler
