#include "libgraph/data/hash.hpp"

#include "test/support/random_batch.hpp"
#include "test/support/seed.hpp"

#include <doctest/doctest.h>

#include <map>
#include <numeric>

namespace headrace::graph {

using namespace headrace::testing;

TEST_SUITE("graph/data/hash") {

TEST_CASE("keys have equal hashes if and only if they are equal") {
  dice random(seed() + 20);
  for (int round = 0; round < 200; ++round) {
    const auto type = random_row_type(random, 3);
    std::vector<int> indices(type->fields().size());
    std::iota(indices.begin(), indices.end(), 0);
    std::map<std::string, std::uint64_t> hash_of_text;
    for (int again = 0; again < 2; ++again) {
      std::vector<std::string> texts;
      auto batch = random_batch(random, type, 100, variety::few, texts);
      batch = batch.with_kinds(nullptr).with_timestamps(nullptr);
      texts = row_texts(batch);
      std::vector<std::uint64_t> out(batch.size());

      hash_columns(batch, indices, out);

      for (std::size_t i = 0; i < texts.size(); ++i) {
        CHECK(hash_of_text.try_emplace(texts[i], out[i]).first->second == out[i]);
      }
    }
    std::map<std::uint64_t, std::string> text_of_hash;
    for (const auto& [text, hash] : hash_of_text)
      CHECK_MESSAGE(text_of_hash.try_emplace(hash, text).first->second == text, type->to_sql());
  }
}

TEST_CASE("the hash of a key never changes") {
  CHECK(hash_of(std::int64_t{0}) == 8848935107335307795ULL);
  CHECK(hash_of(std::int64_t{-7}) == 7237516531952481104ULL);
  CHECK(hash_of(std::string_view()) == 14264511821041334598ULL);
  CHECK(hash_of(std::string_view("hello")) == 6789498537133989115ULL);
  CHECK(hash_of(std::string_view("a string longer than a slot")) == 13096333065368800282ULL);
}

TEST_CASE("a single key hashes as in a batch") {
  batch_builder builder(std::make_shared<const logical_type>(
      logical_type::row({{"a", logical_type::integer(), {}}, {"b", logical_type::string(), {}}})));
  for (const auto* word : {"", "abc", "abcdefghijkl", "abcdefghijklm"}) {
    builder.column(0).append(std::int32_t{-5});
    builder.column(1).append_string(word);
    builder.end_row();
  }
  const auto batch = builder.finish();
  std::vector<std::uint64_t> out(4);

  hash_columns(batch, std::vector<int>{0}, out);
  CHECK(out[3] == hash_of(std::int64_t{-5}));
  hash_columns(batch, std::vector<int>{1}, out);
  for (std::size_t i = 0; i < 4; ++i)
    CHECK(out[i] == hash_of(batch.at(1).string_at(i)));
  hash_column(batch.at(1), out);
  CHECK(out[2] == hash_of(batch.at(1).string_at(2)));
}

TEST_CASE("every bit of the hash of small keys is as often set as not") {
  for (const bool is_text : {false, true}) {
    int set[64] = {};
    for (std::int64_t key = 0; key < 10000; ++key) {
      const auto hash = is_text ? hash_of(std::to_string(key)) : hash_of(key);
      for (unsigned bit = 0; bit < 64; ++bit)
        set[bit] += static_cast<int>((hash >> bit) & 1U);
    }
    for (const int each : set) {
      CHECK(each > 4700);
      CHECK(each < 5300);
    }
  }
}

} // TEST_SUITE("graph/data/hash")

} // namespace headrace::graph
