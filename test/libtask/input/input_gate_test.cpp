#include "libtask/input/input_gate.hpp"

#include "test/support/batches.hpp"
#include "test/support/seed.hpp"
#include "libactors/base/random.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>

using namespace headrace;
using namespace headrace::task;
using graph::barrier;
using graph::end_of_input;
using graph::stream_element;
using graph::watermark;
using headrace::testing::numbers;
using headrace::testing::numbers_of;

namespace {

std::vector<std::int64_t> counting(std::int64_t from, std::int64_t count) {
  std::vector<std::int64_t> out(static_cast<std::size_t>(count));
  std::iota(out.begin(), out.end(), from);
  return out;
}

/// Rows of the next event, which must be a batch.
std::vector<std::int64_t> next_rows(input_gate& gate) {
  auto event = gate.poll(0);
  REQUIRE(event);
  REQUIRE(std::holds_alternative<input_batch>(*event));
  return numbers_of(std::get<input_batch>(*event).rows);
}

} // namespace

TEST_SUITE("task/input/input_gate") {
TEST_CASE("channels take turns") {
  input_gate gate({0, 0});
  gate.enqueue(0, {numbers(counting(0, 3000)), numbers(counting(1, 3000))}, false);
  gate.enqueue(1, {numbers(counting(2, 3000))}, false);

  CHECK(next_rows(gate).front() == 0);
  CHECK(next_rows(gate).front() == 2);
  CHECK(next_rows(gate).front() == 1);
  CHECK_FALSE(gate.poll(0));
}

TEST_CASE("small pieces are joined before the operator sees them") {
  input_gate gate({0, 0});
  gate.enqueue(0, {numbers({1}), numbers({2}), watermark{7}, numbers({9})}, false);
  gate.enqueue(1, {numbers({3}), numbers({4})}, false);

  CHECK(next_rows(gate) == std::vector<std::int64_t>{1, 2, 3, 4});
  CHECK(next_rows(gate) == std::vector<std::int64_t>{9}); // channel 1 holds the watermark back
  CHECK_FALSE(gate.poll(0));
}

TEST_CASE("a channel that was joined empty takes its turn again with new input") {
  input_gate gate({0, 0, 0});
  gate.enqueue(0, {numbers({1})}, false);
  gate.enqueue(1, {numbers({2})}, false);
  gate.enqueue(2, {numbers({3})}, true);
  CHECK(next_rows(gate) == std::vector<std::int64_t>{1, 2, 3});

  gate.enqueue(1, {numbers({4}), watermark{7}}, false);
  gate.enqueue(0, {watermark{5}}, false);

  CHECK(next_rows(gate) == std::vector<std::int64_t>{4});
  auto mark = gate.poll(0);
  REQUIRE(mark);
  CHECK(std::get<watermark>(*mark).time_ms == 5); // of channels 0 and 1: 2 has closed
  CHECK_FALSE(gate.poll(0));
  CHECK_FALSE(gate.has_input());
}

TEST_CASE("few channels without rows in front are looked at for a batch") {
  input_gate_limits limits;
  limits.useless_looks = 2;
  input_gate gate({0, 0, 0, 0, 0}, limits);
  gate.enqueue(0, {numbers({1})}, false);
  gate.enqueue(1, {watermark{7}, numbers({9})}, false);
  gate.enqueue(2, {numbers({2})}, false);
  gate.enqueue(3, {watermark{7}, numbers({9})}, false);
  gate.enqueue(4, {numbers({3})}, false);

  CHECK(next_rows(gate) == std::vector<std::int64_t>{1, 2});
  CHECK(next_rows(gate) == std::vector<std::int64_t>{3, 9, 9});
}

TEST_CASE("rows behind a barrier wait for the other channels") {
  input_gate gate({0, 0});
  gate.enqueue(0, {numbers({1}), barrier{5, 0, {}}, numbers({3})}, false);
  CHECK(next_rows(gate) == std::vector<std::int64_t>{1});
  CHECK_FALSE(gate.poll(0));

  gate.enqueue(1, {numbers({2}), barrier{5, 0, {}}}, false);

  CHECK(next_rows(gate) == std::vector<std::int64_t>{2});
  auto event = gate.poll(0);
  REQUIRE(event);
  CHECK(std::get<barrier_aligner::alignment>(*event).barrier.checkpoint == 5);
  CHECK(next_rows(gate) == std::vector<std::int64_t>{3});
}

TEST_CASE("an aborted checkpoint lets blocked channels go on") {
  input_gate gate({0, 0});
  gate.enqueue(0, {barrier{5, 0, {}}, numbers({3})}, false);
  CHECK_FALSE(gate.poll(0));

  gate.abort_checkpoint(5);

  CHECK(next_rows(gate) == std::vector<std::int64_t>{3});
}

TEST_CASE("the end of an input comes behind its last channel's, with the last watermark") {
  input_gate gate({0, 0, 1});
  gate.enqueue(0, {end_of_input{}}, false);
  gate.enqueue(2, {end_of_input{}}, false);
  auto first = gate.poll(0);
  REQUIRE(first);
  CHECK(std::get<input_ended>(*first).input == 1);
  CHECK_FALSE(gate.poll(0));

  gate.enqueue(1, {watermark{watermark::end}, end_of_input{}}, false);

  auto mark = gate.poll(0);
  REQUIRE(mark);
  CHECK(std::get<watermark>(*mark).time_ms == watermark::end);
  auto second = gate.poll(0);
  REQUIRE(second);
  CHECK(std::get<input_ended>(*second).input == 0);
  CHECK(gate.all_ended());
  CHECK_FALSE(gate.all_closed());
}

TEST_CASE("a barrier passes after the end of a channel's input and before its close") {
  input_gate gate({0, 0});
  gate.enqueue(0, {end_of_input{}, barrier{5, 0, {}}}, false);
  gate.enqueue(1, {barrier{5, 0, {}}}, false);
  auto event = gate.poll(0);
  REQUIRE(event);
  CHECK(std::holds_alternative<barrier_aligner::alignment>(*event));

  gate.enqueue(0, {}, true);
  gate.enqueue(1, {barrier{6, 0, {}}}, false);

  event = gate.poll(0);
  REQUIRE(event);
  CHECK(std::get<barrier_aligner::alignment>(*event).barrier.checkpoint == 6);
}

TEST_CASE("credit that was taken elsewhere comes back as it was taken") {
  input_gate gate({0}, {.window_bytes = 1000});
  const std::vector<std::size_t> costs{123'456, 64};

  gate.enqueue(0, {numbers({1}), watermark{2}}, false, costs);
  CHECK(gate.queued_bytes() == 123'520);
  next_rows(gate);

  const auto grants = gate.take_grants();
  REQUIRE(grants.size() == 1);
  CHECK(grants[0].bytes == 123'456);
}

TEST_CASE("credit comes back once half a window was taken") {
  input_gate_limits limits;
  limits.window_bytes = 90 * 1024;
  input_gate gate({0}, limits);
  gate.enqueue(0, {numbers(counting(0, 3000)), numbers(counting(0, 3000))}, false);
  CHECK(gate.queued_bytes() >= 48000);

  CHECK(next_rows(gate).size() == 3000);
  CHECK_FALSE(gate.has_grants());
  CHECK(next_rows(gate).size() == 3000);
  const auto grants = gate.take_grants();

  REQUIRE(grants.size() == 1);
  CHECK(grants[0].channel == 0);
  CHECK(grants[0].bytes >= 48000);
  CHECK(gate.queued_bytes() == 0);
}

TEST_CASE(
    "the window of a remote channel grows while its queue runs empty, and shrinks where it waits") {
  input_gate gate({0, 0}, {.window_bytes = 1000, .window_bytes_most = 4000});
  // Elements of a thousand bytes each, of which `poll` takes one at a time.
  const auto come = [&](int count) {
    for (int i = 0; i < count; ++i)
      gate.enqueue(0, {graph::latency_marker{}}, false, std::vector<std::size_t>{1000});
  };
  const auto granted_after = [&](int polls) {
    for (int i = 0; i < polls; ++i)
      gate.poll(0);
    std::uint64_t out = 0;
    for (const auto& grant : gate.take_grants())
      out += grant.bytes;
    return out;
  };

  come(1);
  CHECK(granted_after(1) == 2000); // what was taken, and a thousand more
  CHECK(gate.window_bytes(0) == 2000);
  come(1);
  CHECK(granted_after(1) == 3000);
  CHECK(gate.window_bytes(0) == 4000);
  come(2);
  CHECK(granted_after(2) == 2000);
  CHECK(gate.window_bytes(0) == 4000);

  // The operator does not keep up.
  come(20);
  CHECK(granted_after(12) == 12'000 - 3'000);
  CHECK(gate.window_bytes(0) == 1000);
  CHECK(gate.window_bytes(1) == 1000);
}

TEST_CASE("the window of a channel of this process stays as it is") {
  input_gate gate({0}, {.window_bytes = 1000, .window_bytes_most = 4000});
  gate.enqueue(0, {numbers(counting(0, 3000))}, false);
  next_rows(gate);
  CHECK(gate.window_bytes(0) == 1000);
}

TEST_CASE("all windows of a gate together are bounded, as long as each has its least") {
  for (const std::size_t channels : {1U, 3U, 4U, 16U, 100U}) {
    const auto limits = input_gate_limits::for_channels(channels);
    CHECK(limits.window_bytes <= limits.window_bytes_most);
    CHECK(limits.window_bytes_most * channels <= (std::size_t{16} << 20U));
  }
  CHECK(input_gate_limits::for_channels(10'000).window_bytes == (std::size_t{128} << 10U));
}

TEST_CASE("no row crosses its barrier, whatever the order of arrival") {
  auto random = make_seeded_random(headrace::testing::seed());
  for (int round = 0; round < 100; ++round) {
    const auto channels = 1 + random->below(5);
    constexpr std::int64_t checkpoints = 8;
    input_gate gate(std::vector<std::int32_t>(channels, 0));
    // Each channel carries, per checkpoint c, rows of value c before barrier c.
    std::vector<std::vector<stream_element>> scripts(channels);
    std::vector<std::size_t> at(channels, 0);
    std::size_t rows_sent = 0;
    for (auto& script : scripts) {
      for (std::int64_t c = 1; c <= checkpoints; ++c) {
        for (auto n = random->below(4); n > 0; --n) {
          script.emplace_back(numbers({c}));
          ++rows_sent;
        }
        script.emplace_back(barrier{c, 0, {}});
      }
    }
    std::int64_t done = 0;
    std::size_t rows_seen = 0;
    for (int step = 0; step < 10'000 && done < checkpoints; ++step) {
      const auto channel = random->below(channels);
      auto& script = scripts[channel];
      if (at[channel] < script.size() && random->below(2) == 0)
        gate.enqueue(channel, {script[at[channel]++]}, at[channel] == script.size());
      if (auto event = gate.poll(step)) {
        if (const auto* batch = std::get_if<input_batch>(&*event)) {
          rows_seen += batch->rows.size();
          for (const auto value : numbers_of(batch->rows))
            REQUIRE(value == done + 1);
        } else if (const auto* aligned = std::get_if<barrier_aligner::alignment>(&*event)) {
          REQUIRE(aligned->barrier.checkpoint == ++done);
        }
      }
    }
    CHECK(done == checkpoints);
    CHECK(rows_seen == rows_sent);
  }
}

TEST_CASE("a barrier that may overtake is announced however much waits before it") {
  input_gate gate({0, 0});
  gate.enqueue(0, {numbers({1}), barrier{3, 0, {}}}, false);
  CHECK_FALSE(gate.announced());
  barrier timed{4, 0, {}};
  timed.aligned_timeout_ms = 100;
  gate.enqueue(0, {numbers({2}), timed}, false);
  REQUIRE(gate.announced());
  CHECK(gate.announced()->alignment == graph::barrier_alignment::exactly_once);

  gate.enqueue(1, {barrier{4, 0, graph::barrier_alignment::unaligned}}, false);
  CHECK(gate.announced()->alignment == graph::barrier_alignment::unaligned);
  gate.abort_checkpoint(4);
  CHECK_FALSE(gate.announced());
  gate.enqueue(1, {barrier{4, 0, graph::barrier_alignment::unaligned}}, false);
  CHECK_FALSE(gate.announced());
}

TEST_CASE("what waits before an overtaking barrier, or comes before it, is recorded and read on") {
  const barrier split{4, 0, graph::barrier_alignment::unaligned};
  input_gate gate({0, 0, 0});
  gate.enqueue(0, {numbers({1, 2}), split, numbers({3})}, false);
  gate.enqueue(1, {numbers({4})}, false);
  gate.enqueue(2, {numbers({5}), end_of_input{}}, true); // its producer has finished

  gate.overtake(split);
  CHECK_FALSE(gate.announced());
  CHECK_FALSE(gate.take_recording());
  gate.enqueue(1, {numbers({6}), split, numbers({7})}, false);

  const auto recorded = gate.take_recording();
  REQUIRE(recorded);
  CHECK(recorded->content.checkpoint == 4);
  std::vector<std::int64_t> stored;
  for (const auto& [channel, elements] : recorded->content.channels)
    for (const auto& element : elements)
      for (const auto number : numbers_of(std::get<graph::record_batch>(element)))
        stored.push_back(number);
  CHECK(stored == std::vector<std::int64_t>{1, 2, 4, 6, 5});
  std::vector<std::int64_t> read;
  while (auto event = gate.poll(0))
    if (const auto* rows = std::get_if<input_batch>(&*event))
      for (const auto number : numbers_of(rows->rows))
        read.push_back(number);
    else
      CHECK_FALSE(std::holds_alternative<barrier_aligner::alignment>(*event));
  std::sort(read.begin(), read.end());
  CHECK(read == counting(1, 7));
  CHECK(gate.queued_bytes() == 0);
}

TEST_CASE("a channel that waits behind its barrier for the others has nothing to be recorded") {
  barrier split{4, 0, {}};
  split.aligned_timeout_ms = 100;
  input_gate gate({0, 0});
  gate.enqueue(0, {split, numbers({1})}, false);
  gate.enqueue(1, {numbers({2})}, false);
  CHECK(next_rows(gate) == std::vector<std::int64_t>{2});
  CHECK_FALSE(gate.poll(0));
  gate.enqueue(1, {numbers({3})}, false);

  gate.overtake(split);

  CHECK_FALSE(gate.pending_alignment());
  CHECK(next_rows(gate).size() == 2); // of both: nothing is blocked any more
  gate.enqueue(1, {split}, false);
  const auto recorded = gate.take_recording();
  REQUIRE(recorded);
  REQUIRE(recorded->content.channels.size() == 1);
  CHECK(numbers_of(std::get<graph::record_batch>(recorded->content.channels.at(1).front())) ==
        std::vector<std::int64_t>{3});
  CHECK(recorded->processed_bytes > 0);
  CHECK_FALSE(gate.poll(0));
}

TEST_CASE("of a batch that is taken in parts only the rest is recorded") {
  const barrier split{4, 0, graph::barrier_alignment::unaligned};
  input_gate gate({0});
  gate.set_rows_max(10);
  gate.enqueue(0, {numbers(counting(0, 100)), split}, false);
  const auto before = gate.queued_bytes();
  CHECK(next_rows(gate) == counting(0, 10));
  CHECK(next_rows(gate) == counting(10, 10));
  CHECK(gate.queued_bytes() == before);

  gate.overtake(split);

  const auto recorded = gate.take_recording();
  REQUIRE(recorded);
  CHECK(numbers_of(std::get<graph::record_batch>(recorded->content.channels.at(0).front())) ==
        counting(20, 80));
  gate.set_rows_max(1000);
  CHECK(next_rows(gate) == counting(20, 80));
  CHECK(gate.queued_bytes() == 0);
}

TEST_CASE("a newer checkpoint's barrier gives up the one that is recorded") {
  input_gate gate({0, 0});
  const barrier older{4, 0, graph::barrier_alignment::unaligned};
  const barrier newer{5, 0, graph::barrier_alignment::unaligned};
  gate.enqueue(0, {older}, false);
  gate.overtake(older);
  gate.enqueue(1, {newer}, false); // of the older one this channel has nothing to say

  auto event = gate.poll(0);
  REQUIRE(event);
  CHECK(std::get<checkpoint_id>(*event) == 4);
  gate.overtake(newer);
  gate.enqueue(0, {newer}, false);
  CHECK(gate.take_recording()->content.checkpoint == 5);
}

TEST_CASE("what was restored is read before anything new, and gives no credit") {
  input_gate gate({0, 0, 0});
  gate.restore(0, {numbers({1})});
  gate.restore(2, {numbers({2}), watermark{5}, numbers({3})});
  gate.enqueue(0, {numbers({10})}, false);
  gate.enqueue(1, {numbers({11})}, false);
  gate.enqueue(2, {numbers({12})}, false);
  const auto waiting = gate.queued_bytes();

  CHECK(next_rows(gate) == std::vector<std::int64_t>{1, 2});
  CHECK(gate.queued_bytes() == waiting);
  auto read = next_rows(gate);
  CHECK(read.front() == 3);
  read.erase(read.begin());
  while (auto event = gate.poll(0))
    if (const auto* rows = std::get_if<input_batch>(&*event))
      for (const auto number : numbers_of(rows->rows))
        read.push_back(number);
  std::sort(read.begin(), read.end());
  CHECK(read == std::vector<std::int64_t>{10, 11, 12});
  CHECK_FALSE(gate.has_grants());
}
} // TEST_SUITE("task/input/input_gate")
