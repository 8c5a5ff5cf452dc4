#include "test/support/random_batch.hpp"
#include "test/support/seed.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>

namespace headrace::graph {

using namespace headrace::testing;

namespace {

row_type_ptr one_string() {
  return std::make_shared<const logical_type>(
      logical_type::row({{"word", logical_type::string(), {}}}));
}

record_batch strings(std::size_t rows, std::size_t length) {
  batch_builder builder(one_string());
  for (std::size_t i = 0; i < rows; ++i) {
    builder.column(0).append_string(std::string(length, static_cast<char>('a' + i % 26)));
    builder.end_row();
  }
  return builder.finish();
}

template <class T>
std::vector<T> part_of(const std::vector<T>& all, std::size_t from, std::size_t count) {
  return {all.begin() + static_cast<std::ptrdiff_t>(from),
          all.begin() + static_cast<std::ptrdiff_t>(from + count)};
}

} // namespace

TEST_SUITE("graph/data/record_batch") {

TEST_CASE("a slice holds the rows of its range, compacted or not") {
  dice random(seed());
  for (int round = 0; round < 200; ++round) {
    std::vector<std::string> texts;
    const auto type = random_row_type(random);
    const auto batch = random_batch(random, type, random.below(200), variety::many, texts);
    const auto from = random.below(batch.size() + 1);
    const auto count = random.below(batch.size() - from + 1);

    const auto slice = batch.slice(from, count);

    check_valid(batch);
    CHECK(row_texts(batch) == texts);
    CHECK(row_texts(slice) == part_of(texts, from, count));
    const auto compacted = slice.compact();
    check_valid(compacted);
    CHECK_FALSE(compacted.has_selection());
    CHECK(row_texts(compacted) == part_of(texts, from, count));
    CHECK(row_texts(slice.compact_if_sparse()) == part_of(texts, from, count));
  }
}

TEST_CASE("batches are concatenated in order") {
  dice random(seed() + 1);
  for (int round = 0; round < 100; ++round) {
    const auto type = random_row_type(random);
    std::vector<record_batch> batches;
    std::vector<std::string> expected;
    for (auto count = random.below(5) + 1; count > 0; --count) {
      std::vector<std::string> texts;
      // Kinds and timestamps differ from batch to batch, and are then filled.
      auto batch = random_batch(random, type, random.below(50), variety::many, texts);
      batch = batch.with_kinds(nullptr).with_timestamps(nullptr);
      batches.push_back(batch);
      for (auto& each : row_texts(batch))
        expected.push_back(each);
    }
    if (batches.size() > 1 && random.one_in(2))
      batches.push_back(batches[0]); // shares its buffers
    if (batches.size() > 1 && batches.back().columns() == batches[0].columns())
      for (auto& each : row_texts(batches[0]))
        expected.push_back(each);

    const auto joined = concatenate(batches);

    check_valid(joined);
    CHECK(row_texts(joined) == expected);
  }
}

TEST_CASE("kinds and timestamps that some batches lack are filled") {
  const auto plain = strings(2, 3);
  auto kinds = buffer::allocate(2);
  std::fill_n(kinds->mutable_as<row_kind>(), 2, row_kind::delete_);
  auto times = buffer::allocate(16);
  std::fill_n(times->mutable_as<std::int64_t>(), 2, 7);
  const std::vector<record_batch> batches = {plain, plain.with_kinds(kinds).with_timestamps(times)};

  const auto joined = concatenate(batches);

  CHECK(joined.kinds()[1] == row_kind::insert);
  CHECK(joined.kinds()[2] == row_kind::delete_);
  CHECK(joined.timestamps()[1] == std::numeric_limits<std::int64_t>::min());
  CHECK(joined.timestamps()[3] == 7);
}

TEST_CASE("a few rows do not hold the strings of a block alive") {
  const auto batch = strings(4096, 100);

  const auto compacted = batch.slice(10, 20).compact();

  CHECK(batch.retained_bytes() > 400000);
  CHECK(compacted.retained_bytes() < 5000);
}

TEST_CASE("pieces of one batch share its strings when joined again") {
  const auto batch = strings(1000, 100);
  const std::vector<record_batch> halves = {batch.slice(0, 500), batch.slice(500, 500)};

  const auto joined = concatenate(halves);

  CHECK(joined.at(0).content().data == batch.at(0).content().data);
}

TEST_CASE("projection picks columns and keeps the selection") {
  dice random(seed() + 2);
  const auto type = std::make_shared<const logical_type>(
      logical_type::row({{"a", logical_type::bigint(), {}}, {"b", logical_type::string(), {}}}));
  std::vector<std::string> texts;
  const auto batch = random_batch(random, type, 50, variety::many, texts);
  const auto swapped = std::make_shared<const logical_type>(
      logical_type::row({{"b", logical_type::string(), {}}, {"a", logical_type::bigint(), {}}}));

  const auto projected = batch.project(swapped, std::vector<int>{1, 0});

  CHECK(projected.size() == batch.size());
  CHECK(projected.column_at(0) == batch.column_at(1));
  CHECK(projected.column_at(1) == batch.column_at(0));
}

TEST_CASE("a column that disagrees with its type is malformed") {
  auto slots = buffer::allocate(sizeof(string_slot));
  auto* slot = ::new (slots->mutable_data()) string_slot();
  const auto outcome_of = [&] {
    column::parts parts;
    parts.size = 1;
    parts.values = slots;
    return column(logical_type::string(), parts).validate();
  };

  CHECK(outcome_of());
  slot->size = 13;
  CHECK(outcome_of().error().code == errc::malformed_message);
  slot->size = 2;
  slot->rest[7] = 'x';
  CHECK(outcome_of().error().code == errc::malformed_message);
}

TEST_CASE("a string that does not lie where its slot says is malformed, in one buffer and in two") {
  const std::string text = "a string that is long, and one more behind";
  auto bytes = buffer::allocate(text.size());
  std::memcpy(bytes->mutable_data(), text.data(), text.size());
  auto slots = buffer::allocate(3 * sizeof(string_slot));
  auto* made = ::new (slots->mutable_data()) string_slot[3];
  const auto reset = [&](std::uint32_t last) {
    made[0] = string_slot();
    made[0].size = 2;
    std::memcpy(&made[0].prefix[0], "ab", 2);
    made[1] = string_slot();
    made[1].size = 21;
    made[1].place = {0, 0};
    std::memcpy(&made[1].prefix[0], text.data(), sizeof(string_slot::prefix));
    made[2] = string_slot();
    made[2].size = static_cast<std::uint32_t>(text.size() - 21);
    made[2].place = {last, 21};
    std::memcpy(&made[2].prefix[0], text.data() + 21, sizeof(string_slot::prefix));
  };
  for (const std::size_t buffers : {1U, 2U}) {
    CAPTURE(buffers);
    const auto outcome_of = [&] {
      column::parts parts;
      parts.size = 3;
      parts.values = slots;
      parts.data.assign(buffers, bytes);
      return column(logical_type::string(), parts).validate();
    };
    const auto last = static_cast<std::uint32_t>(buffers - 1);
    reset(last);
    CHECK(outcome_of());
    made[1].size = static_cast<std::uint32_t>(text.size());
    CHECK(outcome_of());
    ++made[1].size;
    CHECK_FALSE(outcome_of());
    reset(last);
    made[2].place.offset = std::numeric_limits<std::uint32_t>::max();
    CHECK_FALSE(outcome_of());
    reset(last);
    made[2].place.buffer_index = last + 1;
    CHECK_FALSE(outcome_of());
    reset(last);
    made[2].prefix[3] = '!';
    CHECK_FALSE(outcome_of());
    for (std::uint32_t size = 0; size < 12; ++size) {
      CAPTURE(size);
      reset(last);
      std::memset(&made[0].prefix[0], 0, 12);
      made[0].size = size;
      CHECK(outcome_of());
      const_cast<char*>(made[0].inline_data())[size] = '\x80';
      CHECK_FALSE(outcome_of());
    }
  }
}

} // TEST_SUITE("graph/data/record_batch")

} // namespace headrace::graph
