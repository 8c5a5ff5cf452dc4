#include "libtask/network/link_routes.hpp"

#include "test/support/seed.hpp"
#include "libtask/network/exchange_mail.hpp"
#include "libactors/rpc/node.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace headrace::task {

namespace {

using mails = std::vector<actors::mail_ptr>;

class recorder final : public actors::endpoint {
public:
  explicit recorder(std::shared_ptr<mails> into) : into_(std::move(into)) {}
  void on_mail(actors::mail_ptr content) override { into_->push_back(std::move(content)); }

private:
  std::shared_ptr<mails> into_;
};

const execution_attempt_id producer_attempt{{1, 1}, 0, 0};
const execution_attempt_id consumer_attempt{{1, 2}, 3, 0};
const partition_id the_partition{{2, 2}, producer_attempt};

struct one_link {
  one_link() : node(actors::make_deterministic_node(testing::seed(), {})) {
    directory.add(producer_attempt, start("producer", produced));
    directory.add(consumer_attempt, start("consumer", consumed));
    consumes = routes.locked()->open({consumer_attempt, 7, the_partition, 5, 1000, 0});
    REQUIRE(routes.locked()->serve(9, {the_partition, 5}));
  }
  actors::actor_ref start(const std::string& name, const std::shared_ptr<mails>& into) {
    return node->find(
        node->spawn(std::make_unique<recorder>(into),
                    {name, name, actors::placement::control, actors::supervision::notify, true}));
  }
  result<std::vector<route_id>> deliver(data_frame frame) {
    auto ended = routes.deliver(frame);
    CHECK(frame.pieces.empty());
    CHECK(frame.credits.empty());
    node->run(1000);
    return ended;
  }
  static data_frame with_mark(route_id route, std::uint64_t cost, bool closes = false) {
    wire_element element;
    element.content = graph::watermark{3};
    element.cost = cost;
    data_frame out;
    out.pieces.push_back({route, {element}, closes});
    return out;
  }

  std::shared_ptr<mails> produced = std::make_shared<mails>();
  std::shared_ptr<mails> consumed = std::make_shared<mails>();
  exchange_directory directory;
  std::shared_ptr<data_connection_metrics> metrics = std::make_shared<data_connection_metrics>();
  link_routes routes{directory, metrics};
  route_id consumes = 0;
  std::unique_ptr<actors::deterministic_node> node;
};

} // namespace

TEST_SUITE("task/network/link_routes") {

TEST_CASE("pieces go to the consumer, and credit to the producer") {
  one_link link;
  auto frame = one_link::with_mark(link.consumes, 64, true);
  frame.credits.push_back({9, 300});
  frame.credits.push_back({8, 1}); // of a producer that has ended

  const auto ended = link.deliver(std::move(frame));

  REQUIRE(ended);
  CHECK(ended->empty());
  REQUIRE(link.consumed->size() == 1);
  const auto& data = static_cast<const remote_data&>(*link.consumed->front());
  CHECK(data.channel == 7);
  CHECK(data.elements.size() == 1);
  CHECK(data.closes);
  REQUIRE(link.produced->size() == 1);
  const auto& credit = static_cast<const exchange_credit&>(*link.produced->front());
  CHECK(credit.bytes == 300);
  CHECK(credit.subpartition == 5);
  // What has closed is over.
  CHECK(link.deliver(one_link::with_mark(link.consumes, 64)));
  CHECK(link.consumed->size() == 1);
  CHECK(link.metrics->dropped_pieces.value() == 1);
}

TEST_CASE("a route whose consumer is gone is told once") {
  one_link link;
  link.directory.remove(consumer_attempt);

  auto ended = link.deliver(one_link::with_mark(link.consumes, 64));
  REQUIRE(ended);
  CHECK(*ended == std::vector<route_id>{link.consumes});
  ended = link.deliver(one_link::with_mark(link.consumes, 64));
  REQUIRE(ended);
  CHECK(ended->empty());
  CHECK(link.consumed->empty());
}

TEST_CASE("what breaks the protocol is an error") {
  one_link link;
  CHECK(link.deliver(one_link::with_mark(link.consumes + 1, 64)).error().code ==
        errc::malformed_message);
  CHECK(link.deliver(one_link::with_mark(link.consumes, 2000))); // overdraws
  CHECK(link.deliver(one_link::with_mark(link.consumes, 64)).error().code ==
        errc::malformed_message);
  CHECK(link.consumed->size() == 1);
}

TEST_CASE("a closed link gives nothing more, not even errors") {
  one_link link;
  link.routes.close();
  CHECK(link.deliver(one_link::with_mark(link.consumes, 64)));
  CHECK(link.deliver(one_link::with_mark(link.consumes + 1, 64)));
  CHECK(link.consumed->empty());
}

} // TEST_SUITE("task/network/link_routes")

} // namespace headrace::task
