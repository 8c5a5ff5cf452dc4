#include "libtask/task/in_flight.hpp"

#include "test/support/batches.hpp"
#include "test/support/chain_harness.hpp"
#include "libtask/network/partitioner.hpp"
#include "libgraph/data/batch_builder.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>

using namespace headrace;
using namespace headrace::task;
using namespace headrace::testing;

namespace {

constexpr result_id words_result{10, 1};
constexpr result_id numbers_result{10, 2};
constexpr result_id own_result{10, 3};

/// An edge's id in a job, as the dispatcher makes it.
result_id own(const result_id& edge, const job_id& job) {
  return {mix64(edge.high ^ job.high), mix64(edge.low ^ job.low)};
}

/// Subtask 2 of a projection that reads words of two producers and numbers of one.
task_description described(const job_id& job = {5, 6}) {
  task_description out;
  out.job.id = job;
  out.vertex = vertex_of(graph::project_spec{{0}}, *number_type(), *word_type());
  out.vertex.operators.front().input_types = {*number_type(), *word_type()};
  out.vertex.outputs.push_back({own(own_result, job), 0, -1, {}, {}});
  out.vertex.parallelism = 4;
  out.attempt.subtask = 2;
  auto inputs = std::make_shared<input_description>();
  inputs->channels = {{{own(numbers_result, job), {{1, 1}, 0, 0, 0}}, 0, 0, 0},
                      {{own(words_result, job), {{1, 2}, 0, 0, 0}}, 0, 0, 1},
                      {{own(words_result, job), {{1, 2}, 1, 0, 0}}, 0, 0, 1}};
  out.inputs = inputs;
  out.partitions.push_back({{own(own_result, job), out.attempt}, 3, 0});
  return out;
}

std::vector<stored_in_flight> as_it_was(std::vector<state::channel_content> stored) {
  std::vector<stored_in_flight> out;
  for (auto& one : stored)
    out.push_back({std::move(one)});
  return out;
}

/// Subtask `subtask` of so many, whose inputs are dealt out as said.
task_description rescaled(std::int32_t subtask, std::int32_t parallelism,
                          graph::partitioner_spec by) {
  auto out = described();
  out.attempt.subtask = subtask;
  out.vertex.parallelism = parallelism;
  out.vertex.max_parallelism = 128;
  auto inputs = std::make_shared<input_description>(*out.inputs);
  inputs->partitioners[own(numbers_result, out.job.id)] = by;
  inputs->partitioners[own(words_result, out.job.id)] = by;
  out.inputs = inputs;
  return out;
}

graph::partitioner_spec by_key() {
  graph::partitioner_spec out;
  out.kind = graph::partitioner_kind::hash;
  out.key_columns = {0};
  return out;
}

std::vector<std::int64_t> input_rows(const in_flight_data& placed, std::size_t channel) {
  std::vector<std::int64_t> out;
  const auto found = placed.inputs.find(channel);
  if (found != placed.inputs.end())
    for (const auto& element : found->second)
      for (const auto number : numbers_of(std::get<graph::record_batch>(element)))
        out.push_back(number);
  return out;
}

} // namespace

TEST_SUITE("task/task/in_flight") {
TEST_CASE("what is stored by edges and subtasks finds its places again, in another job, too") {
  const auto task = described();
  in_flight_data found;
  found.inputs[0] = {numbers({1}), graph::watermark{5}};
  found.inputs[2] = {words({{"a", 2}})};
  found.outputs.push_back({0, {1, {words({{"b", 3}})}}});

  auto stored = describe_in_flight(task, found);

  REQUIRE(stored.size() == 3);
  CHECK(stored[0].place == state::channel_place{numbers_result, false, 0, 2});
  CHECK(stored[1].place == state::channel_place{words_result, false, 1, 2});
  CHECK(stored[2].place == state::channel_place{own_result, true, 2, 1});
  CHECK(*stored[1].type == *word_type());
  const auto placed = place_in_flight(described({7, 8}), as_it_was(std::move(stored)));
  REQUIRE(placed);
  CHECK(placed->inputs.size() == 2);
  CHECK(placed->inputs.at(0).size() == 2);
  CHECK(words_of(std::get<graph::record_batch>(placed->inputs.at(2).front())) ==
        word_rows{{"a", 2}});
  REQUIRE(placed->outputs.size() == 1);
  CHECK(placed->outputs[0].partition == 0);
  CHECK(placed->outputs[0].elements.subpartition == 1);
}

TEST_CASE("what fits no place of the job is refused in words") {
  const auto task = described();
  const auto refused = [&](state::channel_place place, const graph::row_type_ptr& type) {
    std::vector<stored_in_flight> stored;
    stored.push_back({{place, type, {}}});
    const auto placed = place_in_flight(task, std::move(stored));
    REQUIRE(!placed);
    CHECK(placed.error().code == errc::incompatible_state);
    return placed.error().message;
  };
  CHECK(refused({{99, 9}, false, 0, 2}, number_type()).find("no such channel") !=
        std::string::npos);
  CHECK(refused({words_result, false, 2, 2}, word_type()).find("no such channel") !=
        std::string::npos);
  CHECK(refused({words_result, false, 1, 2}, number_type()).find("other columns") !=
        std::string::npos);
  CHECK(refused({words_result, true, 2, 0}, word_type()).find("no such result") !=
        std::string::npos);
  CHECK(refused({own_result, true, 2, 3}, word_type()).find("fewer consumers") !=
        std::string::npos);
  CHECK(refused({own_result, true, 2, 1}, number_type()).find("other columns") !=
        std::string::npos);
}

TEST_CASE("at another parallelism each row by key goes where its key group is, once") {
  std::vector<std::int64_t> all(1000);
  std::iota(all.begin(), all.end(), 0);
  for (const std::int32_t parallelism : {1, 2, 3, 5}) {
    std::vector<std::int64_t> found;
    for (std::int32_t subtask = 0; subtask < parallelism; ++subtask) {
      const auto task = rescaled(subtask, parallelism, by_key());
      std::vector<stored_in_flight> stored;
      // Of the producers 0 and 7, which is there no more, from the old subtasks 0 and 3.
      stored.push_back({{{numbers_result, false, 0, 0},
                         number_type(),
                         {numbers({all.begin(), all.begin() + 600}), graph::watermark{5}}},
                        0});
      stored.push_back({{{numbers_result, false, 7, 3},
                         number_type(),
                         {numbers({all.begin() + 600, all.end()})}},
                        3});
      const auto placed = place_in_flight(task, std::move(stored));
      REQUIRE(placed);
      const auto rows = input_rows(*placed, 0);
      CHECK(rows.size() < (parallelism == 1 ? 1001U : 900U));
      found.insert(found.end(), rows.begin(), rows.end());
      const auto split =
          make_partitioner({by_key(), static_cast<std::uint32_t>(parallelism), 0, 128, 0, nullptr});
      REQUIRE(split);
      std::vector<target_piece> pieces;
      if (!rows.empty())
        (*split)->split(numbers(rows), pieces);
      for (const auto& piece : pieces)
        CHECK(static_cast<std::int32_t>(piece.target) == subtask);
    }
    std::sort(found.begin(), found.end());
    CHECK(found == all);
  }
}

TEST_CASE("at another parallelism rows without a key, and those to be sent, go to one subtask") {
  std::vector<std::int64_t> found;
  std::size_t sent = 0;
  for (std::int32_t subtask = 0; subtask < 3; ++subtask) {
    const auto task = rescaled(subtask, 3, {graph::partitioner_kind::rebalance, {}, {}});
    std::vector<stored_in_flight> stored;
    for (std::int32_t from = 0; from < 5; ++from) {
      stored.push_back(
          {{{numbers_result, false, 0, from}, number_type(), {numbers({from})}}, from});
      stored.push_back(
          {{{own_result, true, from, 9}, word_type(), {words({{"a", 1}}), graph::watermark{5}}},
           from});
    }
    const auto placed = place_in_flight(task, std::move(stored));
    REQUIRE(placed);
    for (const auto row : input_rows(*placed, 0)) {
      CHECK(row % 3 == subtask);
      found.push_back(row);
    }
    CHECK(placed->outputs.empty());
    for (const auto& one : placed->rescaled_outputs)
      sent += one.rows.size();
  }
  CHECK(found.size() == 5);
  CHECK(sent == 5);
}

TEST_CASE("what all consumers get is not rescaled") {
  const auto task = rescaled(0, 3, {graph::partitioner_kind::broadcast, {}, {}});
  std::vector<stored_in_flight> stored;
  stored.push_back({{{numbers_result, false, 0, 1}, number_type(), {numbers({1})}}, 1});
  const auto placed = place_in_flight(task, std::move(stored));
  REQUIRE(!placed);
  CHECK(placed.error().code == errc::incompatible_state);
  CHECK(placed.error().message.find("broadcast") != std::string::npos);

  stored.clear(); // without rows there is nothing to be dealt out
  stored.push_back({{{numbers_result, false, 0, 1}, number_type(), {graph::watermark{5}}}, 1});
  CHECK(place_in_flight(task, std::move(stored)));
}

TEST_CASE("changes of rows are not rescaled where later ones could overtake them") {
  const auto changes = [](graph::row_kind kind) {
    graph::batch_builder rows(number_type());
    rows.column(0).append(std::int64_t{1});
    rows.end_row(kind);
    return rows.finish();
  };
  const auto place = [&](graph::partitioner_spec spec,
                         graph::row_kind kind = graph::row_kind::update_before) {
    std::vector<stored_in_flight> stored;
    stored.push_back({{{numbers_result, false, 0, 1}, number_type(), {changes(kind)}}, 1});
    return place_in_flight(rescaled(0, 3, std::move(spec)), std::move(stored));
  };
  CHECK(place(by_key())); // they are read first, where those that follow come
  CHECK(place({graph::partitioner_kind::forward, {}, {}}, graph::row_kind::insert));
  const auto refused = place({graph::partitioner_kind::forward, {}, {}});
  REQUIRE(!refused);
  CHECK(refused.error().code == errc::incompatible_state);
  CHECK(refused.error().message.find("savepoint") != std::string::npos);
}
} // TEST_SUITE("task/task/in_flight")
