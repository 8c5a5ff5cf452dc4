#include "libgraph/kernel/filter.hpp"

#include "test/support/random_batch.hpp"
#include "test/support/seed.hpp"

#include <doctest/doctest.h>

namespace headrace::graph {

using namespace headrace::testing;

TEST_SUITE("graph/kernel/filter") {

TEST_CASE("a filter keeps the rows whose byte is 1, in order") {
  dice random(seed() + 70);
  for (int round = 0; round < 200; ++round) {
    std::vector<std::string> texts;
    const auto type = random_row_type(random, 3);
    const auto batch = random_batch(random, type, random.below(200), variety::many, texts);
    std::vector<std::uint8_t> keep(batch.size());
    std::vector<std::string> expected;
    const auto rarity = random.below(5) + 1;
    for (std::size_t i = 0; i < keep.size(); ++i) {
      keep[i] = random.one_in(rarity) ? 1 : 0;
      if (keep[i] == 1)
        expected.push_back(texts[i]);
    }

    const auto kept = filter_batch(batch, keep);

    CHECK(row_texts(kept) == expected);
    CHECK(kept.columns() == batch.columns());
  }
}

TEST_CASE("a condition that is NULL does not hold") {
  dice random(seed() + 71);
  const auto type =
      std::make_shared<const logical_type>(logical_type::row({{"c", logical_type::boolean(), {}}}));
  for (int round = 0; round < 100; ++round) {
    std::vector<std::string> texts;
    const auto batch = random_batch(random, type, random.below(100), variety::many, texts);
    std::vector<std::string> expected;
    for (const auto& each : texts)
      if (each.ends_with(" 1|"))
        expected.push_back(each);

    CHECK(row_texts(filter_batch(batch, batch.at(0))) == expected);
  }
}

TEST_CASE("a batch of which every row stays is given back") {
  dice random(seed() + 72);
  std::vector<std::string> texts;
  const auto batch = random_batch(random, random_row_type(random), 20, variety::many, texts);

  const auto kept = filter_batch(batch, std::vector<std::uint8_t>(batch.size(), 1));

  CHECK(kept.has_selection() == batch.has_selection());
  CHECK(row_texts(kept) == texts);
}

} // TEST_SUITE("graph/kernel/filter")

} // namespace headrace::graph
