#include "libgraph/data/partition.hpp"

#include "test/support/random_batch.hpp"
#include "test/support/seed.hpp"

#include <doctest/doctest.h>

#include <map>

namespace headrace::graph {

using namespace headrace::testing;

TEST_SUITE("graph/data/partition") {

TEST_CASE("each target gets its rows in order") {
  dice random(seed() + 40);
  for (int round = 0; round < 200; ++round) {
    std::vector<std::string> texts;
    const auto type = random_row_type(random);
    const auto batch = random_batch(random, type, random.below(300), variety::many, texts);
    const auto target_count = random.below(10) + 1;
    std::vector<std::uint32_t> targets(batch.size());
    std::map<std::uint32_t, std::vector<std::string>> expected;
    for (std::size_t i = 0; i < targets.size(); ++i) {
      targets[i] = static_cast<std::uint32_t>(
          std::min(random.below(target_count), random.below(target_count)));
      expected[targets[i]].push_back(texts[i]);
    }

    const auto pieces = split_batch(batch, targets, target_count);

    REQUIRE(pieces.size() == target_count);
    for (std::uint32_t target = 0; target < target_count; ++target) {
      REQUIRE(pieces[target].has_value() == expected.contains(target));
      if (!pieces[target])
        continue;
      check_valid(*pieces[target]);
      CHECK(row_texts(*pieces[target]) == expected[target]);
    }
  }
}

TEST_CASE("a piece of a few rows holds little memory") {
  batch_builder builder(std::make_shared<const logical_type>(
      logical_type::row({{"word", logical_type::string(), {}}})));
  for (int i = 0; i < 4096; ++i) {
    builder.column(0).append_string(std::string(100, 'x'));
    builder.end_row();
  }
  std::vector<std::uint32_t> targets(4096, 0);
  targets[100] = 1;

  const auto pieces = split_batch(builder.finish(), targets, 2);

  CHECK(pieces[0]->size() == 4095);
  CHECK(pieces[1]->size() == 1);
  CHECK(pieces[1]->retained_bytes() < 1000);
}

TEST_CASE("round robin goes on where the last batch ended") {
  std::vector<std::uint32_t> targets(5);

  const auto next = round_robin_targets(1, 3, targets);

  CHECK(targets == std::vector<std::uint32_t>{1, 2, 0, 1, 2});
  CHECK(next == 0);
}

TEST_CASE("slices cover the batch") {
  dice random(seed() + 41);
  std::vector<std::string> texts;
  const auto batch = random_batch(random, random_row_type(random), 100, variety::many, texts);
  std::vector<std::string> found;

  for (const auto& each : slice_batch(batch, 30)) {
    CHECK(each.size() <= 30);
    for (auto& text : row_texts(each))
      found.push_back(text);
  }

  CHECK(found == texts);
}

} // TEST_SUITE("graph/data/partition")

} // namespace headrace::graph
