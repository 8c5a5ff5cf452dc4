#include "libtask/input/barrier_aligner.hpp"

#include <doctest/doctest.h>

using namespace headrace;
using headrace::graph::barrier;
using headrace::graph::barrier_alignment;
using headrace::task::barrier_aligner;

namespace {
barrier numbered(checkpoint_id checkpoint,
                 barrier_alignment how = barrier_alignment::exactly_once) {
  return {checkpoint, 1000 * checkpoint, how};
}
} // namespace

TEST_SUITE("task/input/barrier_aligner") {
TEST_CASE("a channel is blocked from its barrier until the last one has come") {
  barrier_aligner aligner(2);

  CHECK_FALSE(aligner.on_barrier(0, numbered(5), 100).aligned);
  CHECK(aligner.is_blocked(0));
  CHECK_FALSE(aligner.is_blocked(1));

  const auto last = aligner.on_barrier(1, numbered(5), 250);
  REQUIRE(last.aligned);
  CHECK(last.aligned->barrier == numbered(5));
  CHECK(last.aligned->duration_us == 150);
  CHECK(last.unblocked);
  CHECK_FALSE(aligner.is_blocked(0));
}

TEST_CASE("one channel is aligned at once") {
  barrier_aligner aligner(1);
  CHECK(aligner.on_barrier(0, numbered(1), 0).aligned);
  CHECK_FALSE(aligner.is_blocked(0));
}

TEST_CASE("at least once blocks nothing") {
  barrier_aligner aligner(2);
  const auto counted = numbered(5, barrier_alignment::at_least_once);

  CHECK_FALSE(aligner.on_barrier(0, counted, 0).aligned);
  CHECK_FALSE(aligner.is_blocked(0));
  CHECK(aligner.on_barrier(1, counted, 0).aligned);
}

TEST_CASE("at least once several checkpoints are counted at a time") {
  barrier_aligner aligner(3);
  const auto first = numbered(5, barrier_alignment::at_least_once);
  const auto second = numbered(6, barrier_alignment::at_least_once);
  CHECK_FALSE(aligner.on_barrier(0, first, 0).aligned);
  CHECK_FALSE(aligner.on_barrier(0, second, 10).aligned);
  CHECK_FALSE(aligner.on_barrier(1, first, 20).aligned);
  CHECK(aligner.pending() == checkpoint_id{5});

  const auto oldest = aligner.on_barrier(2, first, 30);
  REQUIRE(oldest.aligned);
  CHECK(oldest.aligned->barrier == first);
  CHECK(oldest.aligned->duration_us == 30);
  CHECK_FALSE(oldest.subsumed);
  CHECK_FALSE(aligner.on_barrier(1, second, 40).aligned);
  CHECK(aligner.on_closed(2, 50).aligned->barrier == second);
  CHECK_FALSE(aligner.pending());
}

TEST_CASE("what is counted may be given up, and late barriers of it are dropped") {
  barrier_aligner aligner(2);
  CHECK_FALSE(aligner.on_barrier(0, numbered(5, barrier_alignment::at_least_once), 0).aligned);
  aligner.abort(5);
  CHECK_FALSE(aligner.pending());
  CHECK_FALSE(aligner.on_barrier(1, numbered(5, barrier_alignment::at_least_once), 0).aligned);
  CHECK_FALSE(aligner.on_barrier(0, numbered(6, barrier_alignment::at_least_once), 0).aligned);
  CHECK(aligner.on_barrier(1, numbered(6, barrier_alignment::at_least_once), 0).aligned);
}

TEST_CASE("a newer checkpoint subsumes the one being aligned") {
  barrier_aligner aligner(3);
  CHECK_FALSE(aligner.on_barrier(0, numbered(5), 0).aligned);

  const auto newer = aligner.on_barrier(1, numbered(6), 10);

  CHECK(newer.subsumed == checkpoint_id{5});
  CHECK_FALSE(aligner.is_blocked(0));
  CHECK(aligner.is_blocked(1));
  CHECK_FALSE(aligner.on_barrier(2, numbered(5), 20).aligned); // late, dropped
  CHECK_FALSE(aligner.is_blocked(2));
  CHECK_FALSE(aligner.on_barrier(0, numbered(6), 30).aligned);
  CHECK(aligner.on_barrier(2, numbered(6), 40).aligned);
}

TEST_CASE("a closed channel counts as one that delivered its barrier") {
  barrier_aligner aligner(3);
  CHECK_FALSE(aligner.on_closed(0, 0).aligned);
  CHECK_FALSE(aligner.on_barrier(1, numbered(5), 0).aligned);
  CHECK(aligner.on_closed(2, 10).aligned);
  CHECK(aligner.on_barrier(1, numbered(6), 20).aligned);
  CHECK_FALSE(aligner.all_closed());
}

TEST_CASE("barriers of an aborted checkpoint are dropped") {
  barrier_aligner aligner(2);
  CHECK_FALSE(aligner.on_barrier(0, numbered(5), 0).aligned);

  CHECK(aligner.abort(5).unblocked);

  CHECK_FALSE(aligner.is_blocked(0));
  CHECK_FALSE(aligner.on_barrier(1, numbered(5), 0).aligned);
  CHECK_FALSE(aligner.is_blocked(1));
  CHECK_FALSE(aligner.pending());
}

TEST_CASE("a checkpoint aborted before its first barrier blocks nothing") {
  barrier_aligner aligner(2);
  CHECK_FALSE(aligner.abort(5).unblocked);
  CHECK_FALSE(aligner.on_barrier(0, numbered(5), 0).aligned);
  CHECK_FALSE(aligner.is_blocked(0));
}
} // TEST_SUITE("task/input/barrier_aligner")
