#include "libtask/network/result_partition.hpp"

#include "test/support/batches.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <set>

using namespace headrace;
using namespace headrace::task;
using graph::stream_element;
using graph::watermark;
using headrace::testing::numbers;
using headrace::testing::numbers_of;

namespace {

struct received {
  std::vector<stream_element> elements;
  bool closed = false;
  std::vector<std::int64_t> rows() const {
    std::vector<std::int64_t> out;
    for (const auto& element : elements)
      if (const auto* batch = std::get_if<graph::record_batch>(&element))
        for (const auto value : numbers_of(*batch))
          out.push_back(value);
    return out;
  }
};

class recording_channel final : public exchange_channel {
public:
  explicit recording_channel(received& into) : into_(into) {}
  taken add(stream_element element) override {
    const auto cost = exchange_cost(element);
    into_.elements.push_back(std::move(element));
    return {cost, std::nullopt};
  }
  void flush(bool closes) override { into_.closed = into_.closed || closes; }

private:
  received& into_;
};

std::unique_ptr<partitioner> made(graph::partitioner_kind kind, std::uint32_t targets) {
  partitioner_setup setup;
  setup.spec.kind = kind;
  if (kind == graph::partitioner_kind::hash)
    setup.spec.key_columns = {0};
  setup.targets = targets;
  auto out = make_partitioner(std::move(setup));
  REQUIRE(out);
  return std::move(*out);
}

std::vector<std::int64_t> counting(std::int64_t count) {
  std::vector<std::int64_t> out(static_cast<std::size_t>(count));
  std::iota(out.begin(), out.end(), 0);
  return out;
}

} // namespace

TEST_SUITE("task/network/result_partition") {
TEST_CASE("few rows wait until they are flushed") {
  received to;
  result_partition part(made(graph::partitioner_kind::forward, 1), 1);
  part.attach(0, std::make_unique<recording_channel>(to), 1000);

  part.emit(numbers({1, 2}), 77);
  part.emit(numbers({3}), 99);
  CHECK(to.elements.empty());
  CHECK(part.pending_since_us() == 77);
  part.flush();

  CHECK(to.elements.size() == 1);
  CHECK(to.rows() == std::vector<std::int64_t>{1, 2, 3});
  CHECK_FALSE(part.pending_since_us());
  CHECK(part.is_drained());
}

TEST_CASE("a full batch goes at once") {
  received to;
  result_partition part(made(graph::partitioner_kind::forward, 1), 1);
  part.attach(0, std::make_unique<recording_channel>(to), 1 << 20);

  part.emit(numbers(counting(4096)), 0);

  CHECK(to.rows().size() == 4096);
}

TEST_CASE("a watermark stays behind the rows before it, on every subpartition") {
  received to[2];
  result_partition part(made(graph::partitioner_kind::rebalance, 2), 2);
  for (std::uint32_t i = 0; i < 2; ++i)
    part.attach(i, std::make_unique<recording_channel>(to[i]), 1 << 20);

  part.emit(numbers({1, 2, 3, 4}), 0);
  part.broadcast(watermark{9});

  for (const auto& one : to) {
    REQUIRE(one.elements.size() == 2);
    CHECK(one.rows().size() == 2);
    CHECK(std::get<watermark>(one.elements[1]).time_ms == 9);
  }
}

TEST_CASE("without credit the producer must stop, with credit it goes on") {
  received to;
  result_partition part(made(graph::partitioner_kind::forward, 1), 1);
  part.attach(0, std::make_unique<recording_channel>(to), 100);

  part.emit(numbers(counting(2000)), 0); // overdraws
  CHECK(part.is_available());
  part.emit(numbers(counting(2000)), 0);
  CHECK_FALSE(part.is_available());
  CHECK(to.rows().size() == 2000);

  part.add_credit(0, 10);
  CHECK_FALSE(part.is_available());
  part.add_credit(0, 1 << 20);

  CHECK(part.is_available());
  CHECK(to.rows().size() == 4000);
}

TEST_CASE("rows that a channel takes only in part wait for credit like others") {
  /// Takes a thousand rows at a time, each for one byte of credit.
  class narrow_channel final : public exchange_channel {
  public:
    explicit narrow_channel(received& into) : into_(into) {}
    taken add(stream_element element) override {
      const auto rows = std::get<graph::record_batch>(element);
      const auto some = std::min<std::size_t>(rows.size(), 1000);
      into_.elements.emplace_back(rows.slice(0, some));
      if (some == rows.size())
        return {some, std::nullopt};
      return {some, rows.slice(some, rows.size() - some)};
    }
    void flush(bool closes) override { into_.closed = into_.closed || closes; }

  private:
    received& into_;
  };
  received to;
  result_partition part(made(graph::partitioner_kind::forward, 1), 1);
  part.attach(0, std::make_unique<narrow_channel>(to), 1500);

  part.emit(numbers(counting(3500)), 0);
  part.close();
  CHECK(to.rows() == counting(2000)); // overdraws
  CHECK_FALSE(part.is_available());
  CHECK_FALSE(part.is_drained());

  part.add_credit(0, 1000);
  CHECK(to.rows() == counting(3000));
  CHECK_FALSE(to.closed);
  part.add_credit(0, 501);
  CHECK(to.rows() == counting(3500));
  CHECK(to.closed);
  CHECK(part.is_available());
  CHECK(part.is_drained());
}

TEST_CASE("credit that another node gives without end does not overflow") {
  received to;
  result_partition part(made(graph::partitioner_kind::forward, 1), 1);
  part.attach(0, std::make_unique<recording_channel>(to), ~std::uint64_t{0});
  for (int i = 0; i < 100; ++i)
    part.add_credit(0, ~std::uint64_t{0});

  part.emit(numbers(counting(2000)), 0);

  CHECK(to.rows().size() == 2000);
}

TEST_CASE("rows written before a consumer came wait for it") {
  received to;
  result_partition part(made(graph::partitioner_kind::forward, 1), 1);
  part.emit(numbers(counting(2000)), 0);
  part.close();
  CHECK_FALSE(part.is_available());
  CHECK_FALSE(part.is_drained());

  part.attach(0, std::make_unique<recording_channel>(to), 1 << 20);

  CHECK(to.rows().size() == 2000);
  CHECK(to.closed);
  CHECK(part.is_drained());
}

TEST_CASE("watermarks that wait are told by the last one") {
  received to;
  result_partition part(made(graph::partitioner_kind::forward, 1), 1);
  for (std::int64_t time = 0; time < 100; ++time)
    part.broadcast(watermark{time});
  CHECK(part.is_available());

  part.attach(0, std::make_unique<recording_channel>(to), 1000);

  REQUIRE(to.elements.size() == 1);
  CHECK(std::get<watermark>(to.elements[0]).time_ms == 99);
}

TEST_CASE("hash sends equal keys to one target and all rows somewhere") {
  constexpr std::uint32_t targets = 4;
  auto split = made(graph::partitioner_kind::hash, targets);
  std::vector<target_piece> pieces;

  split->split(numbers(counting(1000)), pieces);
  split->split(numbers(counting(1000)), pieces);

  std::vector<std::set<std::int64_t>> seen(targets);
  std::size_t rows = 0;
  for (const auto& piece : pieces) {
    const auto values = numbers_of(piece.rows);
    CHECK(std::is_sorted(values.begin(), values.end()));
    rows += values.size();
    seen[piece.target].insert(values.begin(), values.end());
  }
  CHECK(rows == 2000);
  std::size_t distinct = 0;
  for (const auto& keys : seen) {
    CHECK(keys.size() > 100);
    distinct += keys.size();
  }
  CHECK(distinct == 1000);
}

TEST_CASE("every kind of partitioner gives each row its targets") {
  using kind = graph::partitioner_kind;
  for (const auto one : {kind::forward, kind::rebalance, kind::rescale, kind::shuffle,
                         kind::broadcast, kind::global, kind::hash}) {
    auto split = made(one, 3);
    std::vector<target_piece> pieces;
    split->split(numbers(counting(100)), pieces);
    std::size_t rows = 0;
    for (const auto& piece : pieces) {
      CHECK(piece.target < 3);
      rows += piece.rows.size();
    }
    CHECK(rows == (one == kind::broadcast ? 300 : 100));
  }
}

TEST_CASE("an unaligned barrier goes ahead of what waits, past all credit") {
  const graph::barrier split{4, 0, graph::barrier_alignment::unaligned};
  received to[2];
  result_partition part(made(graph::partitioner_kind::rebalance, 2), 2);
  part.attach(0, std::make_unique<recording_channel>(to[0]), 1);
  part.attach(1, std::make_unique<recording_channel>(to[1]), 1 << 20);
  for (int i = 0; i < 3; ++i)
    part.emit(numbers(counting(4096)), 0); // whole batches in turn
  part.broadcast(watermark{9});
  part.emit(numbers({1, 2}), 0); // pending
  CHECK_FALSE(part.is_available());
  CHECK(to[0].elements.size() == 1);

  std::vector<overtaken_elements> found;
  part.overtake(split, found);

  REQUIRE(to[0].elements.size() == 2);
  CHECK(std::get<graph::barrier>(to[0].elements.back()) == split);
  CHECK(std::get<graph::barrier>(to[1].elements.back()) == split);
  REQUIRE(found.size() == 1);
  CHECK(found[0].subpartition == 0);
  REQUIRE(found[0].elements.size() == 3);
  CHECK(std::get<graph::record_batch>(found[0].elements[0]).size() == 4096);
  CHECK(std::get<watermark>(found[0].elements[1]).time_ms == 9);
  CHECK(std::get<graph::record_batch>(found[0].elements[2]).size() == 1);
  part.add_credit(0, 1 << 20);
  CHECK(to[0].rows().size() == 8193); // behind the barrier, once
  CHECK(part.is_drained());
}

TEST_CASE("a barrier that waits for credit may go ahead later") {
  graph::barrier split{4, 0, {}};
  split.aligned_timeout_ms = 10;
  received to[2];
  result_partition part(made(graph::partitioner_kind::rebalance, 2), 2);
  part.attach(0, std::make_unique<recording_channel>(to[0]), 1);
  part.attach(1, std::make_unique<recording_channel>(to[1]), 1 << 20);
  for (int i = 0; i < 3; ++i)
    part.emit(numbers(counting(4096)), 0);
  part.broadcast(split);
  for (int i = 0; i < 2; ++i)
    part.emit(numbers(counting(4096)), 0);
  CHECK(part.has_waiting_barrier(4));
  CHECK_FALSE(part.has_waiting_barrier(5));

  split.alignment = graph::barrier_alignment::unaligned;
  std::vector<overtaken_elements> found;
  part.overtake_waiting(split, found);

  CHECK_FALSE(part.has_waiting_barrier(4));
  REQUIRE(found.size() == 1); // what is behind the barrier is not of it
  REQUIRE(found[0].elements.size() == 1);
  CHECK(std::get<graph::record_batch>(found[0].elements[0]).size() == 4096);
  CHECK(std::get<graph::barrier>(to[0].elements.back()) == split);
  const auto barriers = [](const received& of) {
    return std::count_if(of.elements.begin(), of.elements.end(), [](const auto& element) {
      return std::holds_alternative<graph::barrier>(element);
    });
  };
  part.add_credit(0, 1 << 20);
  CHECK(barriers(to[0]) == 1);
  CHECK(barriers(to[1]) == 1);
}

TEST_CASE("without a consumer the barrier waits before all else") {
  const graph::barrier split{4, 0, graph::barrier_alignment::unaligned};
  received to;
  result_partition part(made(graph::partitioner_kind::forward, 1), 1);
  part.emit(numbers({1}), 0);
  std::vector<overtaken_elements> found;
  part.overtake(split, found);
  CHECK(found.size() == 1);
  CHECK(part.has_waiting_barrier(4));

  part.attach(0, std::make_unique<recording_channel>(to), 1 << 20);

  CHECK(std::holds_alternative<graph::barrier>(to.elements.front()));
  CHECK(to.rows() == std::vector<std::int64_t>{1});
  CHECK_FALSE(part.has_waiting_barrier(4));
}

TEST_CASE("what was restored is sent first") {
  received to;
  result_partition part(made(graph::partitioner_kind::forward, 1), 1);
  part.restore(0, {numbers({1, 2}), watermark{5}});
  CHECK_FALSE(part.is_available());
  part.attach(0, std::make_unique<recording_channel>(to), 1 << 20);
  CHECK(part.is_available());
  part.emit(numbers({3}), 0);
  part.flush();

  CHECK(to.rows() == std::vector<std::int64_t>{1, 2, 3});
  CHECK(std::get<watermark>(to.elements[1]).time_ms == 5);
}
} // TEST_SUITE("task/network/result_partition")
