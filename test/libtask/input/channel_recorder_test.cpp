#include "libtask/input/channel_recorder.hpp"

#include "test/support/batches.hpp"

#include <doctest/doctest.h>

#include <string>
#include <variant>

using namespace headrace;
using headrace::task::channel_recorder;
using headrace::testing::numbers;
using headrace::testing::numbers_of;

namespace {

/// A recording as words: "0:1 2 w9;1:3".
std::string words_of(const channel_recorder::recording& recording) {
  std::string out;
  for (const auto& [channel, elements] : recording.channels) {
    out += (out.empty() ? "" : ";") + std::to_string(channel) + ":";
    for (const auto& element : elements) {
      if (const auto* mark = std::get_if<graph::watermark>(&element))
        out += " w" + std::to_string(mark->time_ms);
      else
        for (const auto number : numbers_of(std::get<graph::record_batch>(element)))
          out += " " + std::to_string(number);
    }
  }
  return out;
}

} // namespace

TEST_SUITE("task/input/channel_recorder") {
TEST_CASE("what comes before a channel's barrier is recorded, what comes behind it is not") {
  channel_recorder recorder(2);
  CHECK_FALSE(recorder.begin(5));
  recorder.record(0, numbers({1}));
  recorder.record(1, numbers({2}));
  recorder.arrived(0);
  recorder.record(0, numbers({3}));
  CHECK_FALSE(recorder.take());
  recorder.record(1, graph::watermark{9});
  recorder.record(1, numbers({4}));
  CHECK(recorder.recorded() == checkpoint_id{5});

  recorder.arrived(1);
  const auto whole = recorder.take();

  REQUIRE(whole);
  CHECK(whole->checkpoint == 5);
  CHECK(words_of(*whole) == "0: 1;1: 2 w9 4");
  CHECK_FALSE(recorder.recorded());
  CHECK_FALSE(recorder.take());
}

TEST_CASE("what a restart gives anew is not recorded") {
  channel_recorder recorder(1);
  recorder.begin(5);
  recorder.record(0, graph::barrier{4});
  recorder.record(0, graph::watermark_status{true});
  recorder.record(0, graph::latency_marker{1, 0});
  recorder.record(0, graph::end_of_input{});
  recorder.arrived(0);
  CHECK(recorder.take()->channels.empty());
}

TEST_CASE("nothing is recorded without a checkpoint, or of one that is given up") {
  channel_recorder recorder(2);
  recorder.record(0, numbers({1}));
  recorder.begin(5);
  recorder.record(0, numbers({2}));
  recorder.abort(4);
  CHECK(recorder.recorded() == checkpoint_id{5});
  recorder.abort(5);
  CHECK_FALSE(recorder.recorded());
  recorder.record(1, numbers({3}));

  CHECK_FALSE(recorder.begin(6));
  recorder.record(1, numbers({4}));
  CHECK(recorder.begin(7) == checkpoint_id{6});
  recorder.record(1, numbers({5}));
  recorder.arrived(0);
  recorder.arrived(1);
  CHECK(words_of(*recorder.take()) == "1: 5");
}

TEST_CASE("a barrier counts once") {
  channel_recorder recorder(2);
  recorder.begin(5);
  recorder.arrived(0);
  recorder.arrived(0);
  CHECK_FALSE(recorder.take());
  recorder.arrived(1);
  CHECK(recorder.take());
}

TEST_CASE("a subtask without channels has recorded all at once") {
  channel_recorder recorder(0);
  recorder.begin(5);
  CHECK(recorder.take());
}
} // TEST_SUITE("task/input/channel_recorder")
