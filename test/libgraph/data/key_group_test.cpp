#include "libgraph/data/key_group.hpp"

#include "libgraph/data/hash.hpp"

#include <doctest/doctest.h>

#include <vector>

namespace headrace::graph {

TEST_SUITE("graph/data/key_group") {

TEST_CASE("the ranges of all subtasks are the key groups, each once") {
  for (const std::int32_t most : {1, 2, 7, 128, 1000, 32768}) {
    for (const std::int32_t parallelism : {1, 2, 3, 5, 100, 128}) {
      if (parallelism > most)
        continue;
      std::int32_t next = 0;
      for (std::int32_t subtask = 0; subtask < parallelism; ++subtask) {
        const auto range = key_groups_of(subtask, most, parallelism);
        CHECK(range.first == next);
        CHECK_FALSE(range.is_empty());
        next = range.end;
        for (const auto group : {range.first, range.end - 1})
          CHECK(subtask_of(group, most, parallelism) == subtask);
      }
      CHECK(next == most);
    }
  }
}

TEST_CASE("a batch of hashes goes to the subtasks of its key groups") {
  for (const std::int32_t most : {128, 1000}) {
    std::vector<std::uint64_t> hashes;
    for (std::int64_t key = 0; key < 1000; ++key)
      hashes.push_back(hash_of(key));
    std::vector<std::uint32_t> out(hashes.size());

    subtasks_of(hashes, most, 6, out);

    for (std::size_t i = 0; i < out.size(); ++i) {
      const auto group = key_group_of(hashes[i], most);
      CHECK(group >= 0);
      CHECK(group < most);
      CHECK(out[i] == static_cast<std::uint32_t>(subtask_of(group, most, 6)));
    }
  }
}

TEST_CASE("small keys spread evenly over the key groups") {
  std::vector<int> rows(128);
  for (std::int64_t key = 0; key < 128000; ++key)
    ++rows[static_cast<std::size_t>(key_group_of(hash_of(key), 128))];

  for (const int each : rows) {
    CHECK(each > 800);
    CHECK(each < 1200);
  }
}

TEST_CASE("the derived maximum parallelism is Flink's") {
  CHECK(default_max_parallelism(1) == 128);
  CHECK(default_max_parallelism(85) == 128);
  CHECK(default_max_parallelism(86) == 256);
  CHECK(default_max_parallelism(1000) == 2048);
  CHECK(default_max_parallelism(30000) == 32768);
}

} // TEST_SUITE("graph/data/key_group")

} // namespace headrace::graph
