#include "test/support/batches.hpp"
#include "test/support/seed.hpp"
#include "test/support/testing_data_network.hpp"
#include "libtask/executor/data_connection_endpoint.hpp"
#include "libtask/input/input_gate.hpp"
#include "libtask/network/partitioner.hpp"
#include "libtask/network/remote_consumer.hpp"
#include "libtask/network/result_partition.hpp"
#include "libtask/task/task_mail.hpp"
#include "libactors/rpc/node.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace headrace::task {

using namespace headrace::testing;

namespace {

const execution_attempt_id producer_attempt{{1, 1}, 0, 0};
const execution_attempt_id consumer_attempt{{1, 2}, 3, 0};
const partition_id the_partition{{2, 2}, producer_attempt};

using mails = std::vector<actors::mail_ptr>;

/// Keeps what it is sent.
class recorder final : public actors::endpoint {
public:
  explicit recorder(std::shared_ptr<mails> into) : into_(std::move(into)) {}
  void on_mail(actors::mail_ptr content) override { into_->push_back(std::move(content)); }

private:
  std::shared_ptr<mails> into_;
};

template <class Mail>
std::vector<Mail*> all(const mails& from, mail_kind kind) {
  std::vector<Mail*> out;
  for (const auto& each : from)
    if (each->kind() == static_cast<std::uint32_t>(kind))
      out.push_back(static_cast<Mail*>(each.get()));
  return out;
}

/// One node with its connection to the other, whose task executor is the test.
struct side {
  explicit side(std::uint64_t seed) {
    actors::node_options options;
    options.log =
        logger::to([to = lines](log_level, std::string_view line) { to->emplace_back(line); },
                   log_level::warn);
    node = actors::make_deterministic_node(seed, std::move(options));
  }
  /// Lines of the log with these words.
  std::size_t log_lines(std::string_view words) const {
    return static_cast<std::size_t>(
        std::count_if(lines->begin(), lines->end(),
                      [&](const auto& line) { return line.find(words) != std::string::npos; }));
  }

  actors::actor_ref start(std::unique_ptr<actors::endpoint> what, const std::string& name) {
    return node->find(node->spawn(std::move(what), {name, name, actors::placement::control,
                                                    actors::supervision::notify, true}));
  }
  void connect(testing_switchboard& board, const node_id& peer) {
    network = std::make_unique<testing_data_network>(board, node->environment().node);
    data_connection_settings settings;
    settings.peer = peer;
    connection = start(std::make_unique<data_connection_endpoint>(
                           settings, directory, *network, metrics,
                           start(std::make_unique<recorder>(reports), "task_executor")),
                       "connection");
    network->take_links(
        [to = connection](const node_id&, std::shared_ptr<actors::frame_connection> link) {
          auto events = std::make_shared<link_relay>();
          to.send(std::make_unique<connection_order>(link_accepted{std::move(link), events}));
          return events;
        });
  }
  std::shared_ptr<mails> add_subtask(const execution_attempt_id& attempt, const std::string& name) {
    auto out = std::make_shared<mails>();
    directory.add(attempt, start(std::make_unique<recorder>(out), name));
    return out;
  }
  void order(connection_order::content_type what) {
    connection.send(std::make_unique<connection_order>(std::move(what)));
  }
  template <class Report>
  std::vector<Report*> reported() {
    std::vector<Report*> out;
    for (auto* each : all<connection_report>(*reports, mail_kind::connection_report))
      if (auto* content = std::get_if<Report>(&each->content))
        out.push_back(content);
    return out;
  }

  std::shared_ptr<std::vector<std::string>> lines = std::make_shared<std::vector<std::string>>();
  exchange_directory directory;
  std::shared_ptr<mails> reports = std::make_shared<mails>();
  std::shared_ptr<data_connection_metrics> metrics = std::make_shared<data_connection_metrics>();
  std::unique_ptr<testing_data_network> network;
  actors::actor_ref connection;
  std::unique_ptr<actors::deterministic_node> node;
};

struct pair_of_nodes {
  pair_of_nodes() : consumes(seed()), produces(seed() + 1) {
    consumes.connect(board, produces.node->environment().node);
    produces.connect(board, consumes.node->environment().node);
    consumer = consumes.add_subtask(consumer_attempt, "consumer");
  }
  void run() {
    for (int i = 0; i < 100; ++i) {
      consumes.node->run(1000);
      produces.node->run(1000);
    }
  }
  /// Opens the channel, and gives the producer's end of it.
  std::unique_ptr<remote_consumer> open(std::uint64_t credit_bytes = 1000) {
    consumes.order(open_channel{{consumer_attempt, 7, the_partition, 5, credit_bytes, 2}});
    run();
    const auto attached = all<attach_consumer>(*producer, mail_kind::attach_consumer);
    REQUIRE(!attached.empty());
    auto& last = *attached.back();
    CHECK(last.subpartition == 5);
    CHECK(last.credit_bytes == credit_bytes);
    REQUIRE(last.link != nullptr);
    remote_consumer::setup setup;
    setup.link = last.link;
    setup.route = last.route;
    links.push_back(last.link);
    return std::make_unique<remote_consumer>(std::move(setup));
  }
  /// As a producer's turn does.
  void send(remote_consumer& channel, std::vector<graph::stream_element> elements, bool closes) {
    for (auto& element : elements)
      channel.add(std::move(element));
    channel.flush(closes);
    end_turn();
  }
  void end_turn() {
    for (const auto& link : links)
      link->send();
  }
  void start_producer() { producer = produces.add_subtask(producer_attempt, "producer"); }
  std::vector<std::int64_t> rows() {
    std::vector<std::int64_t> out;
    for (auto* data : all<remote_data>(*consumer, mail_kind::remote_data)) {
      CHECK(data->channel == 7);
      const auto decoded = decode_elements(data->elements, number_type(), nullptr);
      REQUIRE(decoded);
      for (const auto& element : decoded->elements)
        if (const auto* batch = std::get_if<graph::record_batch>(&element))
          for (const auto number : numbers_of(*batch))
            out.push_back(number);
    }
    return out;
  }
  std::vector<task_control*> told_consumer() {
    return all<task_control>(*consumer, mail_kind::task_control);
  }

  testing_switchboard board;
  side consumes;
  side produces;
  std::shared_ptr<mails> consumer;
  std::shared_ptr<mails> producer;
  std::vector<std::shared_ptr<link_writer>> links; ///< that the producer knows
};

} // namespace

TEST_SUITE("task/executor/data_connection") {

TEST_CASE("elements go to the consumer in order, and credit to the producer") {
  pair_of_nodes both;
  both.start_producer();
  const auto channel = both.open();

  both.send(*channel, {numbers({1, 2}), graph::watermark{5}}, false);
  both.send(*channel, {numbers({3})}, true);
  both.run();
  CHECK(both.rows() == std::vector<std::int64_t>{1, 2, 3});
  CHECK(all<remote_data>(*both.consumer, mail_kind::remote_data).back()->closes);

  const auto opened = all<remote_opened>(*both.consumer, mail_kind::remote_opened);
  REQUIRE(opened.size() == 1);
  CHECK(opened[0]->channel == 7);
}

TEST_CASE("credit goes back to the producer") {
  pair_of_nodes both;
  both.start_producer();
  const auto channel = both.open();
  const auto opened = all<remote_opened>(*both.consumer, mail_kind::remote_opened);
  REQUIRE(opened.size() == 1);

  opened[0]->link->add(route_credit{opened[0]->route, 512});
  opened[0]->link->send();
  both.run();

  const auto given = all<exchange_credit>(*both.producer, mail_kind::exchange_credit);
  REQUIRE(given.size() == 1);
  CHECK(given[0]->bytes == 512);
  CHECK(given[0]->subpartition == 5);
  CHECK(given[0]->result == the_partition.result);
}

TEST_CASE("a producer that is not there is told to the task executor, to try again") {
  pair_of_nodes both;
  both.consumes.order(open_channel{{consumer_attempt, 7, the_partition, 5, 1000, 2}});
  both.run();

  const auto failed = both.consumes.reported<channel_failed>();
  REQUIRE(failed.size() == 1);
  CHECK(failed[0]->cause.code == errc::partition_not_found);
  CHECK(failed[0]->end.tries == 2);
  CHECK(both.told_consumer().empty());

  both.start_producer();
  both.send(*both.open(), {numbers({1})}, false);
  both.run();
  CHECK(both.rows() == std::vector<std::int64_t>{1});
}

TEST_CASE("a node that cannot be dialed is told to the task executor, to try again") {
  pair_of_nodes both;
  both.board.refuse(1);
  both.consumes.order(open_channel{{consumer_attempt, 7, the_partition, 5, 1000, 0}});
  both.run();

  CHECK(both.consumes.reported<channel_failed>().size() == 1);
  CHECK(both.told_consumer().empty());
}

TEST_CASE("a link that breaks fails the tasks on both ends; what they still send is dropped") {
  pair_of_nodes both;
  both.start_producer();
  const auto channel = both.open();
  both.send(*channel, {numbers({1})}, false);
  both.run();

  both.board.cut();
  both.run();

  REQUIRE(both.told_consumer().size() == 1);
  const auto* lost = std::get_if<partition_lost>(&both.told_consumer()[0]->content);
  REQUIRE(lost != nullptr);
  CHECK(lost->channel == 7);
  CHECK(lost->cause.code == errc::peer_lost);
  const auto told = all<task_control>(*both.producer, mail_kind::task_control);
  REQUIRE(told.size() == 1);
  CHECK(std::holds_alternative<consumer_lost>(told[0]->content));

  // The next link numbers its routes anew: what belongs to the old one must not go there.
  const auto again = both.open();
  both.send(*channel, {numbers({666})}, false);
  both.send(*again, {numbers({2})}, false);
  both.run();
  CHECK(both.rows() == std::vector<std::int64_t>{1, 2});
}

TEST_CASE(
    "what comes for a consumer that has ended is dropped and counted, and its producer told") {
  pair_of_nodes both;
  both.start_producer();
  const auto channel = both.open();

  both.consumes.directory.remove(consumer_attempt);
  both.send(*channel, {numbers({1})}, false);
  both.run();
  const auto frames = both.produces.metrics->frames_out.value();
  both.send(*channel, {numbers({2})}, false);
  both.run();

  CHECK(both.rows().empty());
  CHECK(both.consumes.metrics->dropped_pieces.value() == 1);
  CHECK(both.produces.metrics->frames_out.value() == frames); // the second was not sent at all
}

TEST_CASE("data waits for room in the link, credit does not") {
  pair_of_nodes both;
  both.start_producer();
  const auto channel = both.open(std::uint64_t{1} << 30U);
  both.board.hold();

  const auto rows = numbers(std::vector<std::int64_t>(10'000, 1));
  for (int i = 0; i < 200; ++i)
    both.send(*channel, {rows}, false);
  both.run();
  CHECK(both.board.held_bytes_most() < (std::size_t{3} << 20U));

  both.board.release();
  both.run();
  CHECK(both.rows().size() == 2'000'000);
}

TEST_CASE("a frame that breaks the protocol closes the link") {
  pair_of_nodes both;
  both.start_producer();
  const auto channel = both.open();
  REQUIRE(both.board.open_links() == 1);

  data_frame wrong;
  wrong.pieces.push_back({99, {}, false}); // a route that nobody has asked for
  const auto made = encode_frame(wrong);
  both.board.spoil_next(made.header, byte_string(made.body[0].view));
  both.send(*channel, {numbers({1})}, false);
  both.run();

  CHECK(both.board.open_links() == 0);
  CHECK(both.told_consumer().size() == 1);
}

TEST_CASE("who sends more than it has credit for is cut off, in words") {
  pair_of_nodes both;
  both.start_producer();
  const auto channel = both.open(1000);
  const auto rows = numbers(std::vector<std::int64_t>(2000, 1));

  both.send(*channel, {rows}, false); // overdraws
  both.run();
  CHECK(both.board.open_links() == 1);
  CHECK(both.rows().size() == 2000);
  for (int i = 0; i < 100; ++i)
    both.send(*channel, {rows}, false);
  both.run();

  CHECK(both.board.open_links() == 0);
  CHECK(both.rows().size() == 2000); // no more was kept
  REQUIRE(both.told_consumer().size() == 1);
  const auto* lost = std::get_if<partition_lost>(&both.told_consumer()[0]->content);
  REQUIRE(lost != nullptr);
  CHECK(to_string(lost->cause).find("credit") != std::string::npos);
  CHECK(both.consumes.log_lines("does not keep to the protocol") == 1);
}

TEST_CASE("a producer that was given credit goes on") {
  pair_of_nodes both;
  both.start_producer();
  const auto channel = both.open(1000);
  const auto opened = all<remote_opened>(*both.consumer, mail_kind::remote_opened);
  REQUIRE(opened.size() == 1);
  const auto rows = numbers(std::vector<std::int64_t>(2000, 1));
  std::uint64_t cost = 0;
  for (int i = 0; i < 10; ++i) {
    cost += channel->add(rows).cost;
    channel->flush(false);
    both.end_turn();
    both.run();
    opened[0]->link->add(route_credit{opened[0]->route, std::exchange(cost, 0)});
    opened[0]->link->send();
    both.run();
  }
  CHECK(both.board.open_links() == 1);
  CHECK(both.rows().size() == 20'000);
}

TEST_CASE("the barrier of an unaligned checkpoint comes through without credit") {
  pair_of_nodes both;
  both.start_producer();
  auto split = make_partitioner({});
  REQUIRE(split);
  result_partition part(std::move(*split), 1);
  part.attach(0, both.open(1000), 1000);
  const auto rows = numbers(std::vector<std::int64_t>(2000, 1));
  part.emit(rows, 0); // overdraws
  part.emit(rows, 0);
  CHECK_FALSE(part.is_available());

  std::vector<overtaken_elements> found;
  part.overtake({4, 0, graph::barrier_alignment::unaligned}, found);
  both.end_turn();
  both.run();

  CHECK(both.board.open_links() == 1);
  REQUIRE(found.size() == 1);
  CHECK(both.rows().size() == 2000);
  input_gate gate({0});
  for (auto* data : all<remote_data>(*both.consumer, mail_kind::remote_data)) {
    auto decoded = decode_elements(data->elements, number_type(), nullptr);
    REQUIRE(decoded);
    gate.enqueue(0, std::move(decoded->elements), data->closes, decoded->costs);
  }
  REQUIRE(gate.announced());
  CHECK(gate.announced()->checkpoint == 4);
  CHECK(gate.announced()->alignment == graph::barrier_alignment::unaligned);
}

TEST_CASE("a connection without channels asks to be retired, and leaves without harm") {
  pair_of_nodes both;
  both.start_producer();
  both.send(*both.open(), {}, true);
  both.run();
  CHECK(both.board.open_links() == 1);
  CHECK(both.consumes.reported<connection_idle>().empty());

  both.consumes.node->advance(std::chrono::milliseconds(61'000));
  both.run();
  REQUIRE(!both.consumes.reported<connection_idle>().empty());
  CHECK(both.consumes.reported<connection_idle>()[0]->orders_seen == 2); // the channel, the link

  // The other node asks for a channel that the leaving one does not see any more.
  const auto late = both.produces.add_subtask(consumer_attempt, "late consumer");
  both.board.hold();
  both.produces.order(open_channel{{consumer_attempt, 0, the_partition, 0, 1000, 0}});
  both.produces.node->run(1000);
  both.consumes.order(retire_connection{});
  both.consumes.node->run(1000);
  both.produces.node->run(1000);
  CHECK(both.board.open_links() == 0);
  CHECK(all<task_control>(*late, mail_kind::task_control).empty());
  CHECK(both.produces.reported<channel_failed>().size() == 1);
}

} // TEST_SUITE("task/executor/data_connection")

} // namespace headrace::task
