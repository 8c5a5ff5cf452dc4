#include "test/integration/testing_job.hpp"
#include "test/support/seed.hpp"
#include "test/support/testing_data_network.hpp"
#include "test/support/testing_file_system.hpp"
#include "apps/cluster/mini_cluster.hpp"
#include "libscheduler/client/job_client.hpp"
#include "libtask/executor/task_executor_endpoint.hpp"
#include "libgraph/api/headrace.hpp"
#include "libgraph/api/job_object.hpp"
#include "libactors/base/random.hpp"
#include "libactors/base/text.hpp"
#include "libactors/rpc/envelope.hpp"
#include "libactors/rpc/node.hpp"

#include <doctest/doctest.h>

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>

// A keyed job whose subtasks are spread over two nodes, on deterministic nodes whose data
// connections are cut, refused, held and spoiled.

namespace headrace::testing {

struct visit {
  std::int64_t time_ms = 0;
  std::int64_t key = 0;
  std::int64_t value = 0;
};
struct visit_sum {
  std::int64_t kind = 0;
  std::int64_t key = 0;
  std::int64_t second_ms = 0;
  std::int64_t sum = 0;
};
HEADRACE_STRUCT(visit, time_ms, key, value)
HEADRACE_STRUCT(visit_sum, kind, key, second_ms, sum)

namespace {

class sum_of_visits final : public api::aggregate_function<visit, std::int64_t, std::int64_t> {
public:
  void add(const visit& in, std::int64_t& sum) { sum += in.value; }
  void merge(std::int64_t& into, const std::int64_t& from) { into += from; }
  std::int64_t result(const std::int64_t& sum) { return sum; }
};

result<api::built_job> describe_sums() {
  api::environment env;
  env.set_job_name("sums");
  env.enable_checkpointing(std::chrono::milliseconds(100));
  env.set_restart_strategy(api::restart::fixed_delay(1000, std::chrono::milliseconds(10)));
  env.from_source(
         api::file_source::csv<visit>("/input")
             .option("source.split-assignment", "static")
             .option("rows-per-second", "1000"),
         api::watermark_strategy<visit>::monotonous().with_timestamp_assigner(&visit::time_ms))
      .key_by(&visit::key)
      .window(api::tumbling_event_time(std::chrono::seconds(1)))
      .aggregate(sum_of_visits(),
                 [](api::window_context<std::int64_t>& window, const std::int64_t& sum,
                    api::collector<visit_sum>& out) {
                   out.emit({0, window.key(), window.window().start_ms, sum});
                 })
      .sink_to(api::file_sink::csv("/output"));
  return api::build_job(env, 4);
}

class one_job_loader final : public graph::job_code_loader {
public:
  explicit one_job_loader(std::shared_ptr<const graph::job_code> code) : code_(std::move(code)) {}
  result<std::shared_ptr<const graph::job_code>>
  load(const std::string&, const std::vector<std::string>&, const std::string&) override {
    return code_;
  }

private:
  std::shared_ptr<const graph::job_code> code_;
};

using node_table = std::map<node_id, actors::node*>;

/// Carries control messages between the nodes of one thread.
class direct_link final : public actors::remote_link {
public:
  explicit direct_link(const node_table& nodes) : nodes_(nodes) {}
  void send(actors::envelope what) override {
    if (const auto at = nodes_.find(what.to.node); at != nodes_.end())
      at->second->receive(std::move(what));
  }
  void watch(const actors::address&) override {}

private:
  const node_table& nodes_;
};

struct two_nodes {
  explicit two_nodes(std::uint64_t seed) : random(make_seeded_random(seed)) {
    job = std::make_unique<result<api::built_job>>(describe_sums());
    REQUIRE(*job);
    loader = std::make_unique<one_job_loader>((*job)->code);
    input = make_windowed_input(4, 1500);
    for (std::size_t i = 0; i < input.files.size(); ++i)
      files.put("/input/events-" + std::to_string(i) + ".csv", input.files[i]);
    actors::node_options options;
    if (wants_log())
      options.log = logger::to("", log_level::debug);
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      nodes[i] = actors::make_deterministic_node(seed * 2 + i, options);
      table[nodes[i]->environment().node] = nodes[i].get();
    }
    for (const auto& each : nodes)
      each->connect(std::make_shared<direct_link>(table));
    cluster::mini_cluster_options of_cluster;
    of_cluster.task_executors = 0;
    of_cluster.directory = "/cluster";
    services = std::make_unique<cluster::mini_cluster>(*nodes[0], files, *loader, of_cluster);
    REQUIRE(services->start());
    cluster::register_all_connectors(connectors, {});
    factories = task::make_operator_factories();
  }
  ~two_nodes() {
    for (const auto& each : nodes)
      CHECK(each->shut_down());
  }

  void start_task_executor(std::size_t at) {
    auto& node = *nodes[at];
    networks[at] = std::make_unique<testing_data_network>(board, node.environment().node);
    task::task_executor_settings settings;
    settings.id = node.environment().random.next_id<task_executor_id>();
    settings.slots = 2;
    settings.cache_directory = "/cluster/cache";
    settings.leader = std::make_shared<actors::fixed_leader>(services->resource_manager());
    settings.wire = wire;
    actors::spawn_options options;
    options.name = "task_executor";
    options.kind = "task_executor";
    node.spawn(
        std::make_unique<task::task_executor_endpoint>(
            settings, task::task_executor_environment{files, connectors, factories, directories[at],
                                                      loader.get(), networks[at].get()}),
        options);
  }

  void submit() {
    start_task_executor(0);
    start_task_executor(1);
    (*job)->graph.id = random->next_id<job_id>();
    REQUIRE(client().submit((*job)->graph));
  }
  scheduler::job_client client() {
    return {*nodes[0], services->dispatcher(), services->blob_server()};
  }
  scheduler::job_status status() {
    auto out = client().status((*job)->graph.id);
    REQUIRE(out);
    return *out;
  }
  /// Lets both nodes work in turns, their clocks side by side.
  void run(int turns) {
    for (int turn = 0; turn < turns; ++turn) {
      bool any = false;
      for (const auto& each : nodes)
        for (auto steps = 1 + random->below(20); steps > 0 && each->run_once(); --steps)
          any = true;
      if (!any)
        for (const auto& each : nodes)
          each->advance(std::chrono::milliseconds(1));
    }
  }
  /// Until the job has ended, calling `disturb` after each turn of many steps.
  scheduler::job_status
  run_to_end(const std::function<void(const scheduler::job_status&)>& disturb) {
    for (int turn = 0; turn < 4000; ++turn) {
      run(500);
      auto now = status();
      if (scheduler::is_terminal(now.state))
        return now;
      disturb(now);
    }
    FAIL("the job did not end");
    return {};
  }
  std::multiset<std::string> rows() {
    std::multiset<std::string> out;
    for (const auto& path : files.paths())
      if (path.starts_with("/output/part-"))
        for (const auto line : split_text(files.at(path), '\n'))
          if (!line.empty())
            out.emplace(line);
    return out;
  }
  std::multiset<std::string> expected() {
    auto out = expected_rows(input);
    std::erase_if(out, [](const auto& row) { return row[0] != '0'; });
    return out;
  }

  std::unique_ptr<random_source> random;
  std::unique_ptr<result<api::built_job>> job;
  std::unique_ptr<one_job_loader> loader;
  windowed_input input;
  testing_file_system files;
  graph::connector_registry connectors;
  task::operator_factories factories;
  task::wire_options wire;
  testing_switchboard board;
  std::array<task::exchange_directory, 2> directories;
  std::array<std::unique_ptr<testing_data_network>, 2> networks;
  std::unique_ptr<cluster::mini_cluster> services;
  node_table table;
  std::array<std::unique_ptr<actors::deterministic_node>, 2> nodes; // last: actors use all of it
};

TEST_SUITE_BEGIN("integration/two_nodes");

TEST_CASE("a keyed job over two nodes gives what one node gives, compressed or not") {
  for (const bool compresses : {false, true}) {
    two_nodes both(seed());
    both.wire = {compresses, 256};
    both.submit();

    const auto ended = both.run_to_end([](const auto&) {});

    CHECK_MESSAGE(ended.state == scheduler::job_state::finished, to_string(ended.failure));
    CHECK(both.rows() == both.expected());
    CHECK(both.board.frames() > 100);
    CHECK(both.board.open_links() == 1);
  }
}

TEST_CASE("a data connection that is lost restarts the job; no row is lost or doubled") {
  for (int run = 0; run < runs(5); ++run) {
    const auto with = seed() + static_cast<std::uint64_t>(run);
    CAPTURE(with);
    two_nodes both(with);
    both.submit();
    int cuts = 0;
    std::int64_t checkpoint = 1;
    std::string causes;

    const auto ended = both.run_to_end([&](const scheduler::job_status& now) {
      causes += to_string(now.failure);
      if (cuts == 3 || now.last_checkpoint < checkpoint || both.board.open_links() == 0)
        return;
      both.run(static_cast<int>(both.random->below(300)));
      both.board.cut();
      ++cuts;
      checkpoint = now.last_checkpoint + 2;
    });

    CHECK_MESSAGE(ended.state == scheduler::job_state::finished, to_string(ended.failure));
    CHECK(cuts > 0);
    CHECK(ended.restored_checkpoint > 0);
    CHECK(causes.find("data connection lost") != std::string::npos);
    CHECK(both.rows() == both.expected());
  }
}

TEST_CASE("who cannot be reached at first is dialed again") {
  two_nodes both(seed());
  both.board.refuse(12);
  both.submit();

  const auto ended = both.run_to_end([](const auto&) {});

  CHECK_MESSAGE(ended.state == scheduler::job_state::finished, to_string(ended.failure));
  CHECK(ended.restored_checkpoint == 0);
  CHECK(both.rows() == both.expected());
  CHECK(both.board.dialed() > 12);
}

TEST_CASE("a frame that is none closes the connection, and the job is restarted") {
  two_nodes both(seed());
  both.submit();
  int spoiled = 0;

  const auto ended = both.run_to_end([&](const scheduler::job_status& now) {
    if (spoiled == 2 || now.last_checkpoint < 1 + 2 * spoiled || both.board.open_links() == 0)
      return;
    byte_string body(both.random->below(4096), '\0');
    for (auto& byte : body)
      byte = static_cast<char>(both.random->next());
    both.board.spoil_next(spoiled == 0 ? "" : byte_string(4, '\1'), body);
    ++spoiled;
  });

  CHECK_MESSAGE(ended.state == scheduler::job_state::finished, to_string(ended.failure));
  CHECK(spoiled == 2);
  CHECK(both.rows() == both.expected());
}

TEST_CASE("a node that takes nothing from its link holds the others back, in bounded memory") {
  two_nodes both(seed());
  both.submit();
  int held = 0;

  const auto ended = both.run_to_end([&](const scheduler::job_status& now) {
    if (now.last_checkpoint < 1 || held > 3)
      return;
    both.board.hold();
    both.run(3000);
    both.board.release();
    ++held;
  });

  CHECK_MESSAGE(ended.state == scheduler::job_state::finished, to_string(ended.failure));
  CHECK(both.rows() == both.expected());
  // 4 producers × 4 consumers, half of them remote, each with its window of credit.
  CHECK(both.board.held_bytes_most() < (std::size_t{20} << 20U));
}

TEST_SUITE_END();

} // namespace
} // namespace headrace::testing
