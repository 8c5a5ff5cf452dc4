#include "libtask/operator/source_operator.hpp"

#include "test/support/batches.hpp"
#include "test/support/chain_harness.hpp"
#include "test/support/testing_connectors.hpp"
#include "libtask/operator/source_events.hpp"
#include "libactors/message/message.hpp"
#include "schema/source.capnp.h"

#include <doctest/doctest.h>

#include <numeric>

using namespace headrace;
using namespace headrace::testing;

namespace {

byte_string words_of_event(const message<schema::SourceEvent>& event) {
  const auto words = event.untyped().words().asBytes();
  return {reinterpret_cast<const char*>(words.begin()), words.size()};
}

byte_string add_split(const std::string& id) {
  message_builder<schema::SourceEvent> event;
  auto splits = event->initAddSplits().initSplits(1);
  splits[0].setId(id);
  return words_of_event(event.finish());
}

byte_string no_more_splits() {
  message_builder<schema::SourceEvent> event;
  event->initNoMoreSplits();
  return words_of_event(event.finish());
}

graph::job_vertex reading(graph::watermark_spec watermarks = {}, const std::string& count = "25",
                          const std::string& batch = "10") {
  graph::source_spec spec;
  spec.connector = {"testing", {{"count", count}, {"batch", batch}}, {}};
  spec.watermarks = watermarks;
  return vertex_of(spec, *number_type(), *number_type());
}

struct source_fixture {
  explicit source_fixture(graph::watermark_spec watermarks = {},
                          const state::task_state_snapshot& from = {})
      : harness(reading(watermarks)) {
    add_testing_source(harness.connectors);
    harness.open(from);
  }
  void tell(const byte_string& event) { CHECK(harness.chain->on_event({3, 3}, event)); }
  /// Fetches and emits until nothing is ready.
  void read(int most = 100) {
    while (most-- > 0) {
      harness.services.run_steps(1);
      if (harness.chain->readiness() == task::source_readiness::waiting &&
          harness.services.steps.empty())
        return;
      if (harness.chain->readiness() != task::source_readiness::waiting) {
        const bool last = harness.chain->readiness() == task::source_readiness::finished;
        harness.chain->poll_source();
        harness.drain();
        if (last)
          return;
      }
    }
  }
  std::vector<std::int64_t> numbers_read() {
    std::vector<std::int64_t> out;
    for (const auto& batch : harness.take_batches())
      for (const auto value : numbers_of(batch))
        out.push_back(value);
    return out;
  }
  chain_harness harness;
};

std::vector<std::int64_t> counting(std::int64_t from, std::int64_t end) {
  std::vector<std::int64_t> out(static_cast<std::size_t>(end - from));
  std::iota(out.begin(), out.end(), from);
  return out;
}

} // namespace

TEST_SUITE("task/operator/source_operator") {
TEST_CASE("a reader registers, asks for a split, reads it, asks again, and ends") {
  source_fixture source;
  REQUIRE(source.harness.services.events.size() == 2);
  CHECK(source.harness.services.events[0] == task::encode_reader_registration(0));
  CHECK(source.harness.services.events[1] == task::encode_split_request());

  source.tell(add_split("a"));
  source.read();
  CHECK(source.numbers_read() == counting(0, 25));
  REQUIRE(source.harness.services.events.size() == 3);
  CHECK(source.harness.services.events[2] == task::encode_split_request());

  source.tell(no_more_splits());
  CHECK(source.harness.chain->readiness() == task::source_readiness::finished);
  source.read();
  CHECK(source.harness.chain->has_ended());
  CHECK(source.harness.take_watermarks() == std::vector<std::int64_t>{graph::watermark::end});
}

TEST_CASE("one fetch is in flight, and few batches wait") {
  source_fixture source;
  source.tell(add_split("a"));
  source.tell(add_split("b"));
  CHECK(source.harness.services.steps.size() == 1);

  source.harness.services.run_steps();

  CHECK(source.harness.services.steps.empty()); // the queue is full: no further fetch
  source.read();
  CHECK(source.numbers_read().size() == 50);
}

TEST_CASE("one step on the executor fetches several full pieces") {
  chain_harness harness(reading({}, "20000", "4000"));
  add_testing_source(harness.connectors);
  harness.open({});
  CHECK(harness.chain->on_event({3, 3}, add_split("a")));
  CHECK(harness.services.steps.size() == 1);

  harness.services.run_steps(1);
  std::size_t pieces = 0;
  while (harness.chain->readiness() == task::source_readiness::ready) {
    harness.chain->poll_source();
    harness.drain();
    ++pieces;
  }

  CHECK(pieces == 4);
  CHECK(harness.services.steps.size() == 1); // one fetch is in flight
}

TEST_CASE("a snapshot holds how far the emitted rows came, not the fetched ones") {
  state::task_state_snapshot stored;
  std::vector<std::int64_t> before;
  {
    source_fixture source;
    source.tell(add_split("a"));
    source.harness.services.run_steps(); // fetches all
    source.harness.chain->poll_source();
    source.harness.drain();
    before = source.numbers_read();
    CHECK(before == counting(0, 10));
    source.harness.chain->poll_source();
    source.harness.drain();
    CHECK(source.numbers_read() == counting(10, 20));
    stored = source.harness.snapshot(1);
    CHECK(source.numbers_read().size() <= 5);
  }
  source_fixture source({}, stored);
  CHECK(source.harness.services.events[0] ==
        task::encode_reader_registration(stored.operators.empty() ? 0 : 1));
  source.read();
  const auto after = source.numbers_read();
  if (!after.empty())
    CHECK(after.back() == 24);
}

TEST_CASE("watermarks follow the rows of the slowest split") {
  graph::watermark_spec spec;
  spec.kind = graph::watermark_kind::monotonous;
  source_fixture source(spec);
  source.tell(add_split("a"));
  source.read();

  CHECK(source.harness.take_watermarks() == std::vector<std::int64_t>{8, 18, 23});
}

TEST_CASE("a source goes on with the watermark that it gave, before any row") {
  graph::watermark_spec spec;
  spec.kind = graph::watermark_kind::monotonous;
  state::task_state_snapshot stored;
  {
    source_fixture source(spec);
    source.tell(add_split("a"));
    source.read(1);
    stored = source.harness.snapshot(1);
    CHECK(stored.operators.at({3, 3}).watermark_ms == 8);
  }
  stored.operators.at({3, 3}).watermark_ms = 20;
  source_fixture source(spec, stored);
  source.harness.services.run_steps(); // rows are there
  source.harness.drain();
  REQUIRE(source.harness.results.of(0).size() == 1);
  CHECK(std::get<graph::watermark>(source.harness.results.of(0)[0]).time_ms == 20);
  CHECK(source.harness.metrics.watermark_ms.value() == 20);
  source.read();

  CHECK(source.numbers_read() == counting(10, 25));
  CHECK(source.harness.take_watermarks() == std::vector<std::int64_t>{20, 23});
}

TEST_CASE("an event that is none of a coordinator's is refused") {
  source_fixture source;
  const auto wrong = source.harness.chain->on_event({3, 3}, task::encode_split_request());
  REQUIRE_FALSE(wrong);
  CHECK(wrong.error().code == errc::malformed_message);
  CHECK_FALSE(source.harness.chain->on_event({3, 3}, "no message"));
  CHECK_FALSE(source.harness.chain->on_event({9, 9}, add_split("a")));
}
} // TEST_SUITE("task/operator/source_operator")
