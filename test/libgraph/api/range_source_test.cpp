#include "libgraph/api/range_source.hpp"

#include "test/libgraph/api/testing_values.hpp"
#include "libactors/base/manual_clock.hpp"

#include <doctest/doctest.h>

#include <map>

using namespace headrace;
using namespace headrace::testing;

TEST_SUITE_BEGIN("graph/api/range_source");

namespace {

class testing_enumerator_context final : public graph::enumerator_context {
public:
  std::map<std::int32_t, std::vector<graph::source_split>> assigned;
  std::vector<std::int32_t> finished;

  std::int32_t reader_count() const override { return 3; }
  std::vector<std::int32_t> registered_readers() const override { return {}; }
  void assign(std::int32_t reader, std::vector<graph::source_split> splits) override {
    for (auto& split : splits)
      assigned[reader].push_back(std::move(split));
  }
  void no_more_splits(std::int32_t reader) override { finished.push_back(reader); }
  void call_async(std::function<result<std::vector<graph::source_split>>()>,
                  std::function<status(result<std::vector<graph::source_split>>)>,
                  std::chrono::milliseconds) override {}
  headrace::file_system& files() override { return *files_; }
  const headrace::clock& time() const override { return time_; }
  const headrace::logger& log() const override { return log_; }

private:
  std::unique_ptr<headrace::file_system> files_ = make_local_file_system();
  system_clock time_;
  headrace::logger log_;
};

auto numbers(std::uint64_t count, double rate = 0) {
  return api::generator_source<std::int64_t>([](std::uint64_t i) { return std::int64_t(i); }, count,
                                             rate)
      .factory();
}

std::unique_ptr<graph::split_reader> reader_of(const graph::source& source,
                                               const headrace::clock& time) {
  static const auto files = make_local_file_system();
  return source.create_reader({0, 1, *files, time, {}}).value();
}

} // namespace

TEST_CASE("readers share the indices, each row once") {
  const auto source = numbers(10);
  testing_enumerator_context context;
  const auto enumerator = source->create_enumerator(context, std::nullopt).value();
  const system_clock time;
  std::vector<std::int64_t> all;

  for (std::int32_t reader = 0; reader < 3; ++reader) { // as readers do: register, and ask at once
    REQUIRE(enumerator->add_reader(reader));
    REQUIRE(enumerator->handle_split_request(reader));
    CHECK(context.assigned[reader].size() == 1);
  }
  for (std::int32_t reader = 0; reader < 3; ++reader) {
    auto reading = reader_of(*source, time);
    REQUIRE(reading->add_split(context.assigned[reader].at(0)));
    for (bool ended = false; !ended;) {
      const auto piece = reading->fetch({2, 1U << 20U}).value().value();
      CHECK(piece.rows.size() <= 2);
      for (const auto value : values_of<std::int64_t>(piece.rows))
        all.push_back(value);
      ended = piece.split_finished;
    }
    CHECK_FALSE(reading->fetch({}).value().has_value());
  }

  std::sort(all.begin(), all.end());
  CHECK(all == std::vector<std::int64_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
  CHECK(context.finished == std::vector<std::int32_t>{0, 0, 1, 1, 2, 2});
  CHECK(source->bounds() == graph::boundedness::bounded);
  CHECK(numbers(api::unlimited)->bounds() == graph::boundedness::unbounded);
}

TEST_CASE("a reader goes on from the state behind what it gave") {
  const auto source = numbers(1000);
  const system_clock time;
  auto first = reader_of(*source, time);
  REQUIRE(first->add_split({"s", api::index_range{0, 1, 1000}.encode()}));
  const auto given = first->fetch({300, 1U << 20U}).value().value();

  auto second = reader_of(*source, time);
  REQUIRE(second->add_split({"s", given.state_after}));
  const auto next = second->fetch({1, 1U << 20U}).value().value();

  CHECK(values_of<std::int64_t>(next.rows) == std::vector<std::int64_t>{300});
}

TEST_CASE("what was not assigned is in the snapshot, and what comes back is given again") {
  const auto source = numbers(10);
  testing_enumerator_context context;
  const auto enumerator = source->create_enumerator(context, std::nullopt).value();
  REQUIRE(enumerator->add_reader(0));
  const auto snapshot = enumerator->snapshot(1).value();
  REQUIRE(enumerator->add_splits_back(context.assigned[0], 0));

  testing_enumerator_context restored_context;
  const auto restored = source->create_enumerator(restored_context, snapshot).value();
  for (std::int32_t reader = 0; reader < 3; ++reader) {
    REQUIRE(restored->add_reader(reader));
    REQUIRE(enumerator->add_reader(reader));
  }

  CHECK(restored_context.assigned.size() == 2);
  CHECK(restored_context.finished == std::vector<std::int32_t>{0, 1, 2});
  REQUIRE(context.assigned[0].size() == 2);
  CHECK(context.assigned[0].at(1) == context.assigned[0].at(0));
  CHECK_FALSE(source->create_enumerator(context, "\x05"));
}

TEST_CASE("a rate holds rows back until they are due") {
  const auto source = numbers(api::unlimited, 10.0);
  manual_clock time;
  auto reader = reader_of(*source, time);
  REQUIRE(reader->add_split({"s", api::index_range{0, 1, api::unlimited}.encode()}));

  const auto first = reader->fetch({}).value().value();
  const auto second = reader->fetch({}).value().value();
  time.advance_us(1'000'000);
  const auto third = reader->fetch({}).value().value();

  CHECK(first.rows.size() == 1);
  CHECK(second.rows.size() == 0);
  CHECK(second.wait == std::chrono::milliseconds(100));
  CHECK(third.rows.size() == 10);
}

TEST_CASE("a reader of a slow source waits until its row is due, and no shorter") {
  const auto source = numbers(api::unlimited, 0.01);
  manual_clock time;
  auto reader = reader_of(*source, time);
  REQUIRE(reader->add_split({"s", api::index_range{0, 1, api::unlimited}.encode()}));
  CHECK(reader->fetch({}).value().value().rows.size() == 1);

  time.advance_us(30'000'000);
  const auto early = reader->fetch({}).value().value();
  time.advance_us(70'000'000);
  const auto due = reader->fetch({}).value().value();

  CHECK(early.rows.size() == 0);
  CHECK(early.wait == std::chrono::seconds(70));
  CHECK(due.rows.size() == 1);
}

TEST_SUITE_END();
