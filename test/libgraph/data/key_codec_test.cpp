#include "libgraph/data/key_codec.hpp"

#include "test/support/random_batch.hpp"
#include "test/support/seed.hpp"

#include <doctest/doctest.h>

#include <map>
#include <numeric>

namespace headrace::graph {

using namespace headrace::testing;

namespace {

struct key_builders {
  std::vector<column_builder> builders;
  std::vector<column_builder*> to;

  explicit key_builders(const logical_type& type) {
    for (const auto& each : type.fields())
      builders.emplace_back(each.type);
    for (auto& each : builders)
      to.push_back(&each);
  }
  record_batch finish(const row_type_ptr& type, std::size_t rows) {
    std::vector<column_ptr> columns;
    for (auto& each : builders)
      columns.push_back(each.finish());
    return {type, rows, std::move(columns)};
  }
};

std::vector<int> all_columns(const row_type_ptr& type) {
  std::vector<int> out(type->fields().size());
  std::iota(out.begin(), out.end(), 0);
  return out;
}

} // namespace

TEST_SUITE("graph/data/key_codec") {

TEST_CASE("keys come back from their bytes, which are equal if and only if the keys are") {
  dice random(seed() + 30);
  for (int round = 0; round < 300; ++round) {
    const auto values = random.one_in(2) ? variety::few : variety::many;
    const auto type = random_row_type(random, 3, static_cast<int>(random.below(3)));
    std::vector<std::string> texts;
    auto batch = random_batch(random, type, 60, values, texts);
    batch = batch.with_kinds(nullptr).with_timestamps(nullptr);
    texts = row_texts(batch);

    encoded_keys keys;
    encode_keys(batch, all_columns(type), keys);

    REQUIRE(keys.size() == batch.size());
    std::map<std::string, std::string> bytes_of_text;
    std::map<std::string, std::string> text_of_bytes;
    std::vector<byte_view> views;
    for (std::size_t i = 0; i < texts.size(); ++i) {
      const std::string bytes(keys[i]);
      views.push_back(keys[i]);
      CHECK(bytes_of_text.try_emplace(texts[i], bytes).first->second == bytes);
      CHECK(text_of_bytes.try_emplace(bytes, texts[i]).first->second == texts[i]);
    }
    key_builders decoded(*type);
    CHECK(decode_keys(views, decoded.to));
    const auto back = decoded.finish(type, views.size());
    check_valid(back);
    CHECK(row_texts(back) == texts);
  }
}

TEST_CASE("bytes that are no key leave the builders as they were") {
  dice random(seed() + 31);
  for (int round = 0; round < 300; ++round) {
    const auto type = random_row_type(random, 3);
    std::vector<std::string> texts;
    auto batch = random_batch(random, type, 20, variety::many, texts).compact();
    if (batch.is_empty())
      continue;
    batch = batch.with_kinds(nullptr).with_timestamps(nullptr);
    encoded_keys keys;
    encode_keys(batch, all_columns(type), keys);
    auto broken = std::string(keys[keys.size() - 1]);
    if (random.one_in(2))
      broken[random.below(broken.size())] = static_cast<char>(random.next());
    else
      broken.resize(random.below(broken.size()));
    std::vector<byte_view> views;
    for (std::size_t i = 0; i + 1 < keys.size(); ++i)
      views.push_back(keys[i]);
    views.push_back(broken);
    const auto good = std::span(views).first(views.size() - 1);
    key_builders decoded(*type);

    REQUIRE(decode_keys(good, decoded.to));
    const auto outcome = decode_keys(views, decoded.to);

    const auto rows = good.size() + (outcome ? views.size() : 0);
    const auto back = decoded.finish(type, rows);
    check_valid(back);
    auto expected = row_texts(batch);
    expected.pop_back();
    const auto found = row_texts(back.slice(0, good.size()));
    CHECK(found == expected);
    if (!outcome)
      CHECK(outcome.error().code == errc::malformed_message);
  }
}

TEST_CASE("the bytes of a key never change") {
  batch_builder builder(std::make_shared<const logical_type>(
      logical_type::row({{"a", logical_type::bigint(), {}},
                         {"b", logical_type::string(), {}},
                         {"c", logical_type::array(logical_type::smallint()), {}}})));
  builder.column(0).append(std::int64_t{258});
  builder.column(1).append_string("hi");
  builder.column(2).begin_list();
  builder.column(2).child(0).append_null();
  builder.column(2).child(0).append(std::int16_t{3});
  builder.column(2).end_list();
  builder.end_row();
  const auto batch = builder.finish();
  encoded_keys keys;
  const auto key_of = [&](std::vector<int> indices) {
    encode_keys(batch, indices, keys);
    return std::string(keys[0]);
  };
  using namespace std::string_literals;

  CHECK(key_of({0}) == "\0\2\1\0\0\0\0\0\0"s);
  CHECK(key_of({1}) == "\0\2hi"s);
  CHECK(key_of({1, 0}) == "\0\2hi\2\1\0\0\0\0\0\0"s);
  CHECK(key_of({2}) == "\0\2\0\1\3\0"s);
}

} // TEST_SUITE("graph/data/key_codec")

} // namespace headrace::graph
