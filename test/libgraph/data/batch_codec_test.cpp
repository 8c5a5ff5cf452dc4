#include "libgraph/data/batch_codec.hpp"

#include "test/support/random_batch.hpp"
#include "test/support/seed.hpp"

#include <doctest/doctest.h>

namespace headrace::graph {

using namespace headrace::testing;

TEST_SUITE("graph/data/batch_codec") {

TEST_CASE("a batch comes back from its bytes") {
  dice random(seed() + 60);
  for (int round = 0; round < 300; ++round) {
    const auto type = random_row_type(random);
    std::vector<std::string> texts;
    const auto batch = random_batch(random, type, random.below(200), variety::many, texts);

    const auto bytes = encode_batch(batch);
    const auto back = decode_batch(type, bytes);

    REQUIRE(back);
    check_valid(*back);
    CHECK(row_texts(*back) == texts);
    CHECK(encode_batch(batch.compact()) == bytes);
    CHECK(encode_batch(*back) == bytes);
  }
}

TEST_CASE("the pieces of a batch are its bytes, and outlive it") {
  dice random(seed() + 63);
  std::size_t several = 0;
  for (int round = 0; round < 200; ++round) {
    const auto type = random_row_type(random);
    std::vector<std::string> texts;
    std::vector<shared_bytes> pieces;
    byte_string bytes;
    {
      const auto batch = random_batch(random, type, random.below(3000), variety::many, texts);
      bytes = encode_batch(batch);
      pieces = batch_encoding(batch).pieces(nullptr);
    }

    byte_string joined;
    for (const auto& piece : pieces)
      joined += piece.view;
    CHECK(joined == bytes);
    several += pieces.size() > 1 ? 1 : 0;
  }
  CHECK(several > 0);
}

TEST_CASE("aligned bytes with an owner are read in place") {
  dice random(seed() + 61);
  const auto type = std::make_shared<const logical_type>(logical_type::row(
      {{"id", logical_type::bigint(), {}}, {"text", logical_type::string(), {}}}));
  std::vector<std::string> texts;
  const auto batch = random_batch(random, type, 100, variety::many, texts);
  const batch_encoding encoding(batch);
  const auto frame = buffer::allocate(encoding.size_bytes());
  encoding.write_to(frame->mutable_data());

  const auto back = decode_batch(type, {frame->as<char>(), frame->size_bytes()}, frame);

  REQUIRE(back);
  CHECK(row_texts(*back) == texts);
  for (const auto& each : back->columns()) {
    CHECK(each->values<std::byte>() >= frame->data());
    CHECK(each->values<std::byte>() < frame->data() + frame->size_bytes());
    CHECK(reinterpret_cast<std::uintptr_t>(each->values<std::byte>()) % 64 == 0);
  }
}

TEST_CASE("a batch without columns keeps its number of rows") {
  const auto type = std::make_shared<const logical_type>(logical_type::row({}));
  const record_batch batch(type, 4096, {});

  const auto back = decode_batch(type, encode_batch(batch));

  REQUIRE(back);
  CHECK(back->size() == 4096);
}

TEST_CASE("hostile bytes give an error or a valid batch") {
  dice random(seed() + 62);
  int refused = 0;
  for (int round = 0; round < 2000; ++round) {
    const auto type = random_row_type(random, 3);
    std::vector<std::string> texts;
    auto bytes = encode_batch(random_batch(random, type, random.below(20), variety::few, texts));
    for (auto count = random.below(4) + 1; count > 0; --count)
      bytes[random.below(random.one_in(2) ? 64 : bytes.size())] =
          static_cast<char>(random.one_in(2) ? random.next() : random.below(4));
    if (random.one_in(4))
      bytes.resize(random.below(bytes.size()));

    const auto back = decode_batch(type, bytes);

    if (back) {
      check_valid(*back);
      CHECK(row_texts(*back).size() == back->size());
    } else {
      CHECK(back.error().code == errc::malformed_message);
      ++refused;
    }
  }
  CHECK(refused > 500);
}

TEST_CASE("bytes of another type are refused") {
  const auto numbers =
      std::make_shared<const logical_type>(logical_type::row({{"a", logical_type::bigint(), {}}}));
  const auto words =
      std::make_shared<const logical_type>(logical_type::row({{"a", logical_type::string(), {}}}));
  batch_builder builder(numbers);
  builder.column(0).append(std::int64_t{1});
  builder.end_row();

  CHECK(decode_batch(words, encode_batch(builder.finish())).error().code ==
        errc::malformed_message);
}

} // TEST_SUITE("graph/data/batch_codec")

} // namespace headrace::graph
