#include "test/support/batches.hpp"
#include "test/support/seed.hpp"
#include "test/support/testing_connectors.hpp"
#include "test/support/testing_file_system.hpp"
#include "libtask/executor/task_executor_endpoint.hpp"
#include "libstate/handle/subtask_state_codec.hpp"
#include "libgraph/job_graph/job_graph_codec.hpp"
#include "libactors/message/ids_codec.hpp"
#include "libactors/rpc/address_codec.hpp"
#include "libactors/rpc/node.hpp"
#include "schema/graph.capnp.h"
#include "schema/source.capnp.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>

using namespace headrace;
using namespace headrace::task;
using namespace headrace::testing;
using std::chrono::milliseconds;

namespace {

const job_id the_job{5, 5};
const allocation_id the_slot{6, 6};
const task_executor_id executor_id{7, 7};
const fencing_token the_token{8, 8};
const operator_id source_id{9, 1};
const result_id words_result{10, 1};

/// What the test sets, and what its master heard; touched between steps of the node only.
struct master_notes {
  std::vector<graph::job_vertex> vertices;
  std::int32_t attempt = 0;
  bool checkpointing = false;
  int splits = 1;
  bool auto_checkpoint = true; ///< answers waiting tasks with a checkpoint, and completes it
  std::map<execution_attempt_id, state::task_state_snapshot> restore;
  checkpoint_id restored = 0;

  bool slot_active = false;
  int submit_failures = 0;
  std::map<execution_attempt_id, std::vector<task_state>> states;
  std::map<execution_attempt_id, error> failures;
  std::map<checkpoint_id, std::map<execution_attempt_id, state::task_state_snapshot>> acknowledged;
  std::map<checkpoint_id, int> declined;
  int awaiting = 0;
  int next_split = 0;

  bool all_ended() const {
    std::size_t ended = 0;
    for (const auto& [id, seen] : states)
      ended += id.attempt == attempt && is_terminal(seen.back()) ? 1U : 0U;
    return ended == task_count();
  }
  std::size_t task_count() const {
    std::size_t count = 0;
    for (const auto& vertex : vertices)
      count += static_cast<std::size_t>(vertex.parallelism);
    return count;
  }
  bool is_live(const execution_attempt_id& id) const {
    const auto seen = states.find(id);
    return seen == states.end() || !is_terminal(seen->second.back());
  }
  /// Whether every task that has not ended is among those.
  bool all_live_in(const std::map<execution_attempt_id, state::task_state_snapshot>& those) const {
    for (const auto& [id, seen] : states)
      if (id.attempt == attempt && !is_terminal(seen.back()) && !those.contains(id))
        return false;
    return true;
  }
  bool all_in(task_state wanted) const {
    std::size_t there = 0;
    for (const auto& [id, seen] : states)
      there += id.attempt == attempt && seen.back() == wanted ? 1U : 0U;
    return there == task_count();
  }
};

/// Resource manager, job master and source coordinator at once, of one job in one slot.
class testing_master final : public actors::endpoint {
public:
  explicit testing_master(std::shared_ptr<master_notes> notes) : notes_(std::move(notes)) {
    on_ask<schema::RegisterTaskExecutor, schema::RegistrationReply>(
        [this](const auto& request, auto back) {
          executor_ = actors::read_address(request.view()->getAddress());
          accept(back);
          allocate();
        });
    on_ask<schema::RegisterAtJobMaster, schema::RegistrationReply>(
        [](const auto&, auto back) { accept(back); });
    on_ask<schema::OfferSlots, schema::OfferSlotsReply>([this](const auto& offer, auto back) {
      message_builder<schema::OfferSlotsReply> reply;
      auto accepted = reply->initAccepted(offer.view()->getSlots().size());
      for (unsigned i = 0; i < accepted.size(); ++i)
        write(accepted[i], read_id<allocation_id>(offer.view()->getSlots()[i].getAllocation()));
      back.send(reply.finish());
      notes_->slot_active = true;
      deploy();
    });
    on_ask<schema::RequestPartitionState, schema::PartitionState>([](const auto&, auto back) {
      message_builder<schema::PartitionState> reply;
      reply->setProducerState(task_state::RUNNING);
      back.send(reply.finish());
    });
    on_tell<schema::TaskStateChanged>([this](const auto& what, const auto&) {
      const auto view = what.view();
      const auto attempt = read_attempt(view->getAttempt());
      notes_->states[attempt].push_back(view->getState());
      if (view->getState() == task_state::FAILED)
        notes_->failures[attempt] = read_error(view->getFailure());
      if (is_terminal(view->getState()))
        trigger_final();
    });
    on_tell<schema::OperatorEvent>([this](const auto& what, const auto&) { hear(what); });
    on_tell<schema::AcknowledgeCheckpoint>([this](const auto& what, const auto&) {
      const auto view = what.view();
      auto stored = headrace::state::read_subtask_state(view->getState());
      REQUIRE(stored);
      auto& all = notes_->acknowledged[view->getCheckpoint()];
      all[read_attempt(view->getAttempt())] = std::move(*stored);
      if (notes_->auto_checkpoint && notes_->all_live_in(all))
        complete(view->getCheckpoint());
    });
    on_tell<schema::DeclineCheckpoint>([this](const auto& what, const auto&) {
      ++notes_->declined[what.view()->getCheckpoint()];
    });
    on_tell<schema::CheckpointAwaited>([this](const auto&, const auto&) {
      ++notes_->awaiting;
      trigger_final();
    });
    on_tell<schema::Heartbeat>([](const auto&, const auto&) {});
    on_tell<schema::TaskMetricsReport>([](const auto&, const auto&) {});
    on_tell<schema::SlotAvailable>([](const auto&, const auto&) {});
    on_tell<schema::Disconnect>([](const auto&, const auto&) {});
  }

  void on_start() override { beat(); }
  void on_mail(actors::mail_ptr order) override { // the test's word
    switch (order->kind()) {
    case 1:
      deploy();
      return;
    case 2:
      for_each_task([this](const auto& attempt, const auto&) {
        message_builder<schema::CancelTask> cancel;
        write(cancel->initAttempt(), attempt);
        tell(executor_, cancel.finish());
      });
      return;
    case 3:
      free_slot();
      return;
    case 4:
      say_farewell();
      return;
    default:
      trigger(order->kind());
    }
  }

private:
  template <class Back>
  static void accept(Back& back) {
    message_builder<schema::RegistrationReply> reply;
    write(reply->initAccepted().initToken(), the_token);
    back.send(reply.finish());
  }
  void beat() {
    message_builder<schema::Heartbeat> of_manager;
    message_builder<schema::Heartbeat> of_job;
    write(of_job->initFrom(), the_job);
    if (!executor_.is_none()) {
      tell(executor_, of_manager.finish());
      tell(executor_, of_job.finish());
    }
    after(milliseconds(1000), [this] { beat(); });
  }
  void free_slot() {
    message_builder<schema::FreeSlot> order;
    write(order->initAllocation(), the_slot);
    order->setCause("job is over");
    ask<schema::Acknowledge>(executor_, order.finish(), milliseconds(1000),
                             [](const auto& answer) { CHECK(answer); });
  }
  void say_farewell() {
    message_builder<schema::Disconnect> farewell;
    write(farewell->initFrom(), the_job);
    write(farewell->initJob(), the_job);
    farewell->setCause("job is over");
    tell(executor_, farewell.finish());
  }
  void allocate() {
    message_builder<schema::AllocateSlot> order;
    write(order->initAllocation(), the_slot);
    write(order->initJob(), the_job);
    actors::write(order->initJobMaster(), self());
    ask<schema::Acknowledge>(executor_, order.finish(), milliseconds(1000),
                             [](const auto& answer) { CHECK(answer); });
  }
  template <class Each>
  void for_each_task(Each each) {
    for (const auto& vertex : notes_->vertices)
      for (std::int32_t i = 0; i < vertex.parallelism; ++i)
        each(execution_attempt_id{vertex.id, i, notes_->attempt}, vertex);
  }
  void deploy() {
    for_each_task([this](const auto& attempt, const auto& vertex) { submit(attempt, vertex); });
  }
  void submit(const execution_attempt_id& attempt, const graph::job_vertex& vertex) {
    message_builder<schema::SubmitTask> request;
    auto out = request->initDeployment();
    auto job = out.initJobInformation();
    write(job.initJob(), the_job);
    job.setCheckpointDirectory("/checkpoints/job");
    job.setCheckpointing(notes_->checkpointing);
    job.setBufferTimeoutMs(10);
    actors::write(out.initJobMaster(), self());
    write(out.initJobMasterToken(), current_fencing_token());
    write(out.initAttempt(), attempt);
    write(out.initAllocation(), the_slot);
    graph::encode(vertex, out.initVertex().initAs<schema::JobVertex>());
    write_exchange(out, attempt, vertex);
    out.setRestoredCheckpoint(notes_->restored);
    if (const auto from = notes_->restore.find({attempt.vertex, attempt.subtask, 0});
        from != notes_->restore.end())
      headrace::state::write_subtask_state(out.initState(), from->second);
    ask<schema::Acknowledge>(
        executor_, request.finish(), milliseconds(1000),
        [this](const auto& answer) { notes_->submit_failures += answer ? 0 : 1; });
  }
  void write_exchange(schema::TaskDeployment::Builder out, const execution_attempt_id& attempt,
                      const graph::job_vertex& vertex) {
    const auto& producer = notes_->vertices.front();
    if (!vertex.inputs.empty()) {
      auto gate = out.initGates(1)[0];
      write(gate.initResult(), words_result);
      gate.setSubpartition(attempt.subtask);
      write(gate.initProducer(), producer.id);
      auto place = gate.initPlaces(1)[0];
      write(place.initTaskExecutor(), executor_id);
      actors::write(place.initLocation(), executor_);
      auto channels = gate.initChannels(static_cast<unsigned>(producer.parallelism));
      for (unsigned i = 0; i < channels.size(); ++i) {
        channels[i].setSubtask(static_cast<std::int32_t>(i));
        channels[i].setAttempt(attempt.attempt);
      }
    }
    if (!vertex.outputs.empty()) {
      auto partition = out.initPartitions(1)[0];
      write(partition.initPartition(), partition_id{words_result, attempt});
      partition.setSubpartitions(notes_->vertices.back().parallelism);
      partition.setConsumerMaxParallelism(notes_->vertices.back().max_parallelism);
    }
  }
  void hear(const message<schema::OperatorEvent>& what) {
    const auto view = what.view();
    const auto words = view->getEvent().asChars();
    auto raw = validate_message(type_id_of<schema::SourceEvent>(), {words.begin(), words.size()});
    REQUIRE(raw);
    const message<schema::SourceEvent> event(std::move(*raw));
    if (!event.view()->isRequestSplit())
      return;
    message_builder<schema::SourceEvent> answer;
    if (notes_->next_split < notes_->splits) {
      auto splits = answer->initAddSplits().initSplits(1);
      splits[0].setId("s" + std::to_string(notes_->next_split++));
    } else {
      answer->initNoMoreSplits();
    }
    message_builder<schema::OperatorEvent> back;
    write(back->initAttempt(), read_attempt(view->getAttempt()));
    write(back->initOperator(), read_id<operator_id>(view->getOperator()));
    const auto encoded = answer.finish();
    back->setEvent(encoded.untyped().words().asBytes());
    tell(executor_, back.finish());
  }
  void trigger(checkpoint_id checkpoint) {
    const auto& source = notes_->vertices.front();
    bool any = false;
    for (std::int32_t i = 0; i < source.parallelism; ++i)
      any = any || notes_->is_live({source.id, i, notes_->attempt});
    // As the coordinator: live sources, else those whose producers have all finished.
    const auto& told = any ? source : notes_->vertices.back();
    for (std::int32_t i = 0; i < told.parallelism; ++i) {
      const execution_attempt_id attempt{told.id, i, notes_->attempt};
      if (!notes_->is_live(attempt))
        continue;
      message_builder<schema::TriggerCheckpoint> order;
      write(order->initAttempt(), attempt);
      order->setCheckpoint(checkpoint);
      tell(executor_, order.finish());
    }
  }
  /// A checkpoint when all live tasks wait for one.
  void trigger_final() {
    if (notes_->awaiting == static_cast<int>(notes_->task_count()) && notes_->auto_checkpoint &&
        !std::exchange(final_triggered_, true))
      trigger(100);
  }
  void complete(checkpoint_id checkpoint) {
    for_each_task([&](const auto& attempt, const auto&) {
      message_builder<schema::CheckpointCompleted> news;
      write(news->initAttempt(), attempt);
      news->setCheckpoint(checkpoint);
      tell(executor_, news.finish());
    });
  }

  std::shared_ptr<master_notes> notes_;
  actors::address executor_;
  bool final_triggered_ = false;
};

class word_to_master final : public actors::mail {
public:
  explicit word_to_master(std::uint32_t kind) : mail(kind) {}
};

/// sources ── by key ──▶ sinks
std::vector<graph::job_vertex> copying(std::int32_t parallelism, int count) {
  graph::job_vertex read;
  read.id = {20, 1};
  read.name = "read";
  read.parallelism = parallelism;
  graph::operator_node source;
  source.id = source_id;
  source.name = "numbers";
  source.output_type = *number_type();
  source.spec =
      graph::source_spec{{"testing", {{"count", std::to_string(count)}, {"batch", "50"}}, {}}, {}};
  read.operators.push_back(source);
  graph::result_output output;
  output.id = words_result;
  output.partitioner.kind = graph::partitioner_kind::hash;
  output.partitioner.key_columns = {0};
  read.outputs.push_back(output);

  graph::job_vertex write_vertex;
  write_vertex.id = {20, 2};
  write_vertex.name = "write";
  write_vertex.parallelism = parallelism;
  graph::operator_node sink;
  sink.id = {9, 2};
  sink.name = "collect";
  sink.input_types = {*number_type()};
  sink.output_type = *number_type();
  sink.spec = graph::sink_spec{{"testing", {}, {}}};
  write_vertex.operators.push_back(sink);
  write_vertex.inputs.push_back({words_result, 0});
  return {read, write_vertex};
}

struct cluster_fixture {
  explicit cluster_fixture(std::uint64_t seed)
      : notes(std::make_shared<master_notes>()), log(std::make_shared<sink_log>()),
        factories(make_operator_factories()),
        node(actors::make_deterministic_node(seed, options())) {
    add_testing_source(connectors);
    add_testing_sink(connectors, log);
  }
  actors::node_options options() {
    actors::node_options out;
    out.on_fatal = [this](const error& cause) { fatal = cause; };
    out.log = logger::to([this](log_level, std::string_view line) { lines.emplace_back(line); },
                         log_level::info);
    return out;
  }
  void start() {
    actors::spawn_options where;
    where.name = "master";
    where.kind = "job_master";
    master = node->spawn(std::make_unique<testing_master>(notes), where);
    task_executor_settings settings;
    settings.id = executor_id;
    settings.leader = std::make_shared<actors::fixed_leader>(master);
    settings.cache_directory = "/cache";
    settings.state_directory = "/state";
    settings.local_state_directory = "/copies";
    where.name = "taskexecutor";
    where.kind = "task_executor";
    executor = node->spawn(
        std::make_unique<task_executor_endpoint>(
            settings, task_executor_environment{files, connectors, factories, directory, nullptr}),
        where);
  }
  bool run_until(const std::function<bool()>& done, std::uint64_t steps = 2'000'000) {
    return node->run_until(done, steps);
  }
  void say(std::uint32_t kind) { node->find(master).send(std::make_unique<word_to_master>(kind)); }
  std::vector<std::int64_t> committed() {
    auto out = log->all_committed();
    std::sort(out.begin(), out.end());
    return out;
  }

  std::shared_ptr<master_notes> notes;
  std::shared_ptr<sink_log> log;
  testing_file_system files;
  graph::connector_registry connectors;
  operator_factories factories;
  exchange_directory directory;
  std::optional<error> fatal;
  std::vector<std::string> lines; ///< of the log
  actors::address master;
  actors::address executor;
  std::unique_ptr<actors::deterministic_node> node; // last: its actors use all of the above
};

std::vector<std::int64_t> each_times(int count, int times) {
  std::vector<std::int64_t> out;
  for (int i = 0; i < count; ++i)
    out.insert(out.end(), static_cast<std::size_t>(times), i);
  return out;
}

} // namespace

TEST_SUITE_BEGIN("task/executor/task_executor");

TEST_CASE("a bounded job runs through a keyed exchange and finishes, in any order of events") {
  const auto first = headrace::testing::seed();
  for (std::uint64_t seed = first; seed < first + 20; ++seed) {
    CAPTURE(seed);
    cluster_fixture cluster(seed);
    cluster.notes->vertices = copying(2, 500);
    cluster.notes->splits = 3;
    cluster.start();

    REQUIRE(cluster.run_until([&] { return cluster.notes->all_ended(); }));

    CHECK(cluster.notes->submit_failures == 0);
    CHECK(cluster.notes->all_in(task_state::FINISHED));
    CHECK(cluster.committed() == each_times(500, 3));
    CHECK_FALSE(cluster.fatal);
    for (const auto& [attempt, seen] : cluster.notes->states)
      CHECK(seen == std::vector<task_state>{task_state::INITIALIZING, task_state::RUNNING,
                                            task_state::FINISHED});
  }
}

TEST_CASE("of a job that is over no state stays, whether its slots or its end come first") {
  for (const std::uint32_t first : {3U, 4U}) {
    CAPTURE(first);
    cluster_fixture cluster(headrace::testing::seed());
    cluster.notes->vertices = copying(1, 50);
    cluster.start();
    REQUIRE(cluster.run_until([&] { return cluster.notes->all_ended(); }));
    const auto state = "/state/" + to_string(executor_id);
    for (const auto& below : {state, std::string("/copies")}) {
      cluster.files.put(below + "/" + to_string(the_job) + "/file", "of the job");
      cluster.files.put(below + "/" + to_string(job_id{6, 6}) + "/file", "of another");
    }

    cluster.say(first);
    cluster.node->run(1000);
    cluster.say(7 - first);
    cluster.node->run(1000);

    for (const auto& below : {state, std::string("/copies")}) {
      CHECK_FALSE(cluster.files.stat(below + "/" + to_string(the_job)));
      CHECK(cluster.files.stat(below + "/" + to_string(job_id{6, 6}) + "/file"));
    }
  }
}

TEST_CASE("local copies that a former process left wait for their job, but not for ever") {
  cluster_fixture cluster(headrace::testing::seed());
  cluster.notes->vertices = copying(1, 50);
  const auto copy_of = [](const job_id& job) { return "/copies/" + to_string(job) + "/file"; };
  cluster.files.put(copy_of(the_job), "of the job that comes");
  cluster.files.put(copy_of({6, 6}), "of a job that was over before");
  cluster.files.put("/copies/lock", "of the task manager");
  cluster.start();
  REQUIRE(cluster.run_until([&] { return cluster.notes->all_ended(); }));

  cluster.node->advance(std::chrono::minutes(9)); // longer than a job waits for slots
  CHECK(cluster.files.stat(copy_of({6, 6})));
  cluster.node->advance(std::chrono::minutes(3));

  CHECK_FALSE(cluster.files.stat(copy_of({6, 6})));
  CHECK(cluster.files.stat(copy_of(the_job))); // it still has its slot
  CHECK(cluster.files.stat("/copies/lock"));
  cluster.say(3); // frees the slot, and is never heard of again
  cluster.node->advance(std::chrono::minutes(9));
  CHECK(cluster.files.stat(copy_of(the_job)));
  cluster.node->advance(std::chrono::minutes(3));
  CHECK_FALSE(cluster.files.stat(copy_of(the_job)));
}

TEST_CASE("with checkpoints a bounded job finishes with the final one, and commits once") {
  const auto first = headrace::testing::seed();
  for (std::uint64_t seed = first; seed < first + 20; ++seed) {
    CAPTURE(seed);
    cluster_fixture cluster(seed);
    cluster.notes->vertices = copying(2, 500);
    cluster.notes->splits = 2;
    cluster.notes->checkpointing = true;
    cluster.start();

    REQUIRE(cluster.run_until([&] { return cluster.notes->all_ended(); }));

    CHECK(cluster.notes->all_in(task_state::FINISHED));
    CHECK(cluster.notes->awaiting == 4);
    CHECK(cluster.notes->acknowledged[100].size() == 4);
    CHECK(cluster.committed() == each_times(500, 2));
  }
}

TEST_CASE("a restore from any checkpoint gives every row exactly once") {
  const auto first = headrace::testing::seed();
  for (std::uint64_t seed = first; seed < first + 20; ++seed) {
    CAPTURE(seed);
    cluster_fixture cluster(seed);
    cluster.notes->vertices = copying(1, 2000);
    cluster.notes->checkpointing = true;
    cluster.notes->auto_checkpoint = false;
    cluster.start();
    const auto some_rows = 50 + seed % 500;
    REQUIRE(cluster.run_until([&] { return cluster.log->all_written().size() > some_rows; }));
    cluster.say(7);
    REQUIRE(cluster.run_until([&] { return cluster.notes->acknowledged[7].size() == 2; }));
    // The job fails here: nothing of the checkpoint was committed yet.
    cluster.say(2);
    REQUIRE(cluster.run_until([&] { return cluster.notes->all_in(task_state::CANCELED); }));
    CHECK(cluster.committed().empty());

    cluster.notes->restore = cluster.notes->acknowledged[7];
    cluster.notes->restored = 7;
    cluster.notes->attempt = 1;
    cluster.notes->awaiting = 0;
    cluster.notes->auto_checkpoint = true;
    cluster.say(1);
    REQUIRE(cluster.run_until([&] { return cluster.notes->all_ended(); }));

    CHECK(cluster.notes->all_in(task_state::FINISHED));
    CHECK(cluster.committed() == each_times(2000, 1));
  }
}

TEST_CASE("a job with more channels than are connected in one turn runs to its end") {
  cluster_fixture cluster(headrace::testing::seed());
  cluster.notes->vertices = copying(40, 50); // 1,600 channels
  cluster.notes->splits = 40;
  cluster.start();

  REQUIRE(cluster.run_until([&] { return cluster.notes->all_ended(); }, 20'000'000));

  CHECK(cluster.notes->all_in(task_state::FINISHED));
  CHECK(cluster.committed() == each_times(50, 40));
}

TEST_CASE("a restarted task says when it works again, a first attempt does not") {
  for (const std::int32_t attempt : {0, 1}) {
    CAPTURE(attempt);
    cluster_fixture cluster(headrace::testing::seed());
    cluster.notes->attempt = attempt;
    cluster.notes->vertices = copying(2, 500);
    cluster.notes->splits = 3;
    cluster.start();
    REQUIRE(cluster.run_until([&] { return cluster.notes->all_ended(); }));

    const auto told =
        std::count_if(cluster.lines.begin(), cluster.lines.end(), [](const std::string& line) {
          return line.find("restarted task emits its first rows") != std::string::npos;
        });

    CHECK(told == (attempt == 0 ? 0 : 4));
  }
}

TEST_CASE("a canceled task ends as canceled") {
  cluster_fixture cluster(headrace::testing::seed());
  cluster.notes->vertices = copying(2, 1'000'000);
  cluster.notes->splits = 2;
  cluster.start();
  REQUIRE(cluster.run_until([&] { return cluster.notes->all_in(task_state::RUNNING); }));

  cluster.say(2);

  REQUIRE(cluster.run_until([&] { return cluster.notes->all_in(task_state::CANCELED); }));
  for (const auto& [attempt, seen] : cluster.notes->states)
    CHECK(seen == std::vector<task_state>{task_state::INITIALIZING, task_state::RUNNING,
                                          task_state::CANCELING, task_state::CANCELED});
}

TEST_CASE("a failing sink fails its task and says who and why") {
  cluster_fixture cluster(headrace::testing::seed());
  cluster.notes->vertices = copying(1, 1000);
  cluster.log->fail_writes = true;
  cluster.start();

  REQUIRE(cluster.run_until([&] { return !cluster.notes->failures.empty(); }));

  const auto& [attempt, failure] = *cluster.notes->failures.begin();
  CHECK(attempt.vertex == vertex_id{20, 2});
  CHECK(failure.code == errc::output_failed);
  CHECK(failure.message == "task failed: write (1/1)");
  CHECK(to_string(failure).find("sink failed: collect") != std::string::npos);
  CHECK(to_string(failure).find("disk is on fire") != std::string::npos);
}

TEST_CASE("a task whose operator is unknown to the process fails with the name") {
  cluster_fixture cluster(headrace::testing::seed());
  auto vertices = copying(1, 10);
  std::get<graph::source_spec>(vertices[0].operators[0].spec).connector.name = "testin";
  cluster.notes->vertices = vertices;
  cluster.start();

  REQUIRE(cluster.run_until([&] { return !cluster.notes->failures.empty(); }));

  CHECK(cluster.notes->failures.begin()->second.has(errc::unknown_connector));
}

TEST_CASE("a checkpoint triggered while a job runs does not disturb its rows") {
  const auto first = headrace::testing::seed();
  for (std::uint64_t seed = first; seed < first + 10; ++seed) {
    CAPTURE(seed);
    cluster_fixture cluster(seed);
    cluster.notes->vertices = copying(2, 3000);
    cluster.notes->splits = 2;
    cluster.notes->checkpointing = true;
    cluster.start();
    for (std::uint32_t checkpoint = 10; checkpoint < 13; ++checkpoint) {
      const auto rows = cluster.log->all_written().size();
      cluster.run_until([&] { return cluster.log->all_written().size() > rows + 100; }, 100'000);
      cluster.say(checkpoint);
    }
    REQUIRE(cluster.run_until([&] { return cluster.notes->all_ended(); }));
    CHECK(cluster.committed() == each_times(3000, 2));
  }
}
TEST_SUITE_END();
