#include "libtask/operator/collect_operator.hpp"

#include "test/support/batches.hpp"
#include "test/support/chain_harness.hpp"
#include "libgraph/data/batch_codec.hpp"
#include "libactors/message/message.hpp"
#include "schema/collect.capnp.h"

#include <doctest/doctest.h>

using namespace headrace;
using namespace headrace::testing;

namespace {

struct collected_event {
  std::int64_t sequence = 0;
  std::vector<std::int64_t> rows;
  bool is_last = false;
  friend bool operator==(const collected_event&, const collected_event&) = default;
};
using events = std::vector<collected_event>;

struct collect_fixture {
  explicit collect_fixture(bool periodic, task::collect_operator::limits most = {},
                           const state::task_state_snapshot& from = {}, std::int32_t subtask = 0,
                           std::int32_t parallelism = 1)
      : harness(vertex_of(graph::sink_spec{{"collect", {}, {}}}, *number_type(), *number_type()),
                {}, {subtask, parallelism, 8, true, {3, 1U << 20U}, periodic}) {
    harness.factories.add<graph::sink_spec>(
        [most](const graph::operator_node& node, const task::operator_context& context) {
          return result<std::unique_ptr<task::stream_operator>>(
              std::make_unique<task::collect_operator>(node, context, most));
        });
    harness.open(from);
  }

  /// What was sent since the last call.
  events take() {
    events out;
    for (const auto& bytes : std::exchange(harness.services.events, {})) {
      auto raw = validate_message(type_id_of<schema::CollectEvent>(), bytes);
      REQUIRE(raw);
      const auto view = message<schema::CollectEvent>(std::move(*raw)).view();
      collected_event event{view->getSequence(), {}, view->getIsLast()};
      for (const auto batch : view->getBatches()) {
        untaken += batch.size();
        const auto rows =
            graph::decode_batch(number_type(), {batch.asChars().begin(), batch.size()});
        REQUIRE(rows);
        for (const auto value : numbers_of(*rows))
          event.rows.push_back(value);
      }
      out.push_back(std::move(event));
    }
    return out;
  }
  /// The client took all that was sent.
  void fetch() {
    message_builder<schema::CollectTaken> taken;
    taken->setBytes(std::exchange(untaken, 0));
    const auto whole = taken.finish();
    const auto words = whole.untyped().words().asChars();
    CHECK(harness.chain->at(0).on_event({words.begin(), words.size()}));
  }

  chain_harness harness;
  std::uint64_t untaken = 0;
};

std::size_t bytes_of(const graph::record_batch& rows) { return graph::encode_batch(rows).size(); }

} // namespace

TEST_SUITE("task/operator/collect_operator") {
TEST_CASE("without periodic checkpoints rows go at once, and the end behind them") {
  collect_fixture sink(false);
  sink.harness.push(numbers({1, 2}));
  CHECK(sink.take() == events{{0, {1, 2}, false}});

  sink.harness.end();

  CHECK(sink.take() == events{{0, {}, true}});
  CHECK_FALSE(sink.harness.chain->has_unfinished_work());
}

TEST_CASE("rows are given when the checkpoint behind them is complete, not before") {
  collect_fixture sink(true);
  sink.harness.push(numbers({1}));
  sink.harness.push(numbers({2}));
  sink.harness.snapshot(1);
  sink.harness.push(numbers({3}));
  CHECK(sink.take().empty());

  CHECK(sink.harness.chain->notify_completed(1));

  CHECK(sink.take() == events{{1, {1, 2}, false}});
}

TEST_CASE("an aborted checkpoint's rows are given with the next one") {
  collect_fixture sink(true);
  sink.harness.push(numbers({1}));
  sink.harness.snapshot(1);
  CHECK(sink.harness.chain->notify_aborted(1));
  sink.harness.push(numbers({2}));
  sink.harness.snapshot(2);
  CHECK(sink.take().empty());

  CHECK(sink.harness.chain->notify_completed(2));

  CHECK(sink.take() == events{{1, {1}, false}, {2, {2}, false}});
}

TEST_CASE("the final checkpoint gives the end, once") {
  collect_fixture sink(true);
  sink.harness.push(numbers({1}));
  sink.harness.end();
  sink.harness.snapshot(1);
  sink.harness.snapshot(2);

  CHECK(sink.harness.chain->notify_completed(2));

  CHECK(sink.take() == events{{1, {1}, true}});
}

TEST_CASE("after a restore the same events come again under the same numbers") {
  state::task_state_snapshot first;
  state::task_state_snapshot second;
  events given;
  {
    collect_fixture sink(true);
    sink.harness.push(numbers({1}));
    first = sink.harness.snapshot(1);
    CHECK(sink.harness.chain->notify_completed(1));
    given = sink.take();
    second = sink.harness.snapshot(2);
  }
  collect_fixture from_first(true, {}, first);
  CHECK(from_first.take() == given);

  collect_fixture from_second(true, {}, second);
  CHECK(from_second.take().empty());
  from_second.harness.push(numbers({2}));
  from_second.harness.snapshot(3);
  CHECK(from_second.harness.chain->notify_completed(3));
  CHECK(from_second.take() == events{{2, {2}, false}});
}

TEST_CASE("events of another parallelism are counted anew") {
  collect_fixture sink(true, {}, {}, 1, 2);
  sink.harness.push(numbers({1}));
  sink.harness.snapshot(1);
  sink.harness.push(numbers({2}));
  const auto stored = sink.harness.snapshot(2);

  collect_fixture rescaled(true, {}, stored);

  CHECK(rescaled.take() == events{{1, {1}, false}, {2, {2}, false}});
}

TEST_CASE("rows that the client does not take hold the input back") {
  const auto bytes = bytes_of(numbers({1}));
  for (const bool periodic : {false, true}) {
    CAPTURE(periodic);
    collect_fixture sink(periodic, {bytes, 2 * bytes, 1000 * bytes});
    for (std::int64_t i = 1; i <= 4 && !sink.harness.chain->is_blocked(); ++i)
      sink.harness.push(numbers({i}));
    if (periodic) {
      sink.harness.snapshot(1);
      CHECK(sink.harness.chain->notify_completed(1));
      sink.harness.push(numbers({5}));
    }
    REQUIRE(sink.harness.chain->is_blocked());
    CHECK(sink.harness.chain->has_unfinished_work());
    CHECK(sink.take().size() == 2);

    sink.fetch();

    CHECK_FALSE(sink.harness.chain->is_blocked());
    CHECK(sink.take().size() == (periodic ? 2 : 1));
    sink.harness.drain();
  }
}

TEST_CASE("more rows than fit between two checkpoints are an error that says what to do") {
  const auto bytes = bytes_of(numbers({1}));
  collect_fixture sink(true, {bytes, bytes, bytes});
  sink.harness.push(numbers({1}));
  sink.harness.chain->add(0, numbers({2}));

  const auto failure = sink.harness.drain_to_failure();

  REQUIRE(failure);
  CHECK(failure->has(errc::memory_exceeded));
  CHECK(to_string(*failure).find("execution.checkpointing.interval") != std::string::npos);
}
} // TEST_SUITE("task/operator/collect_operator")
