#include "test/support/random_batch.hpp"
#include "test/support/seed.hpp"

#include <doctest/doctest.h>

namespace headrace::graph {

using namespace headrace::testing;

namespace {

class testing_budget final : public memory_budget {
public:
  void charge(std::size_t size_bytes) override { held += size_bytes; }
  void release(std::size_t size_bytes) override { held -= size_bytes; }
  std::size_t held = 0;
};

std::vector<std::string> texts_of(const column& values) {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < values.size(); ++i)
    out.push_back(cell_text(values, i));
  return out;
}

} // namespace

TEST_SUITE("graph/data/batch_builder") {

TEST_CASE("a builder gives what was appended, again and again") {
  dice random(seed() + 10);
  for (int round = 0; round < 100; ++round) {
    const auto type = random_type(random);
    column_builder builder(type);
    for (int again = 0; again < 3; ++again) {
      std::vector<std::string> expected;
      for (auto count = random.below(300); count > 0; --count)
        expected.push_back(append_random(random, builder, variety::many));

      const auto built = builder.finish();

      CHECK(built->validate());
      CHECK(texts_of(*built) == expected);
      CHECK(builder.size() == 0);
    }
  }
}

TEST_CASE("rows are copied from another column, one or many at a time") {
  dice random(seed() + 11);
  for (int round = 0; round < 200; ++round) {
    const auto type = random_type(random);
    column_builder builder(type);
    std::vector<std::string> texts;
    for (auto count = random.below(100) + 1; count > 0; --count)
      texts.push_back(append_random(random, builder, variety::many));
    const auto source = builder.finish();

    std::vector<std::string> expected;
    for (int step = 0; step < 5; ++step) {
      std::vector<std::uint32_t> rows(random.below(40));
      for (auto& each : rows) {
        each = static_cast<std::uint32_t>(random.below(source->size()));
        expected.push_back(texts[each]);
      }
      builder.append_from(*source, rows);
      const auto single = random.below(source->size());
      builder.append_from(*source, single);
      expected.push_back(texts[single]);
      expected.push_back(append_random(random, builder, variety::many));
    }
    const auto built = builder.finish();

    CHECK(built->validate());
    CHECK(texts_of(*built) == expected);
  }
}

TEST_CASE("a truncated builder has forgotten the values behind") {
  dice random(seed() + 12);
  for (int round = 0; round < 200; ++round) {
    column_builder builder(random_type(random));
    std::vector<std::string> expected;
    for (int step = 0; step < 6; ++step) {
      for (auto count = random.below(30); count > 0; --count)
        expected.push_back(append_random(random, builder, variety::many));
      expected.resize(random.below(expected.size() + 1));
      builder.truncate(expected.size());
    }

    CHECK(texts_of(*builder.finish()) == expected);
  }
}

TEST_CASE("a discarded row leaves no trace, not even in an open list") {
  batch_builder builder(std::make_shared<const logical_type>(
      logical_type::row({{"id", logical_type::bigint(), {}},
                         {"tags", logical_type::array(logical_type::string()), {}}})));
  const auto append = [&](std::int64_t id, bool is_open) {
    builder.column(0).append(id);
    builder.column(1).begin_list();
    builder.column(1).child(0).append_string("tag of " + std::to_string(id));
    if (!is_open)
      builder.column(1).end_list();
  };

  append(1, false);
  builder.end_row();
  append(2, true);
  builder.discard_row();
  append(3, false);
  builder.end_row();

  CHECK(row_texts(builder.finish()) ==
        std::vector<std::string>{"0@ 1|['tag of 1'=,]|", "0@ 3|['tag of 3'=,]|"});
}

TEST_CASE("shared strings lie in the block that was read") {
  const std::string text = "a string of the block, short, and another long string of it";
  auto block = buffer::allocate(text.size());
  std::memcpy(block->mutable_data(), text.data(), text.size());
  const std::string_view bytes(block->as<char>(), text.size());
  column_builder builder(logical_type::string());

  builder.share(block);
  builder.append_shared(bytes.substr(0, 21));
  builder.append_string("a string that is copied, as always");
  builder.share(block);
  builder.append_shared(bytes.substr(23, 5));
  builder.append_null();
  builder.append_shared(bytes.substr(34));
  const auto built = builder.finish();

  CHECK(built->validate());
  CHECK(texts_of(*built) ==
        std::vector<std::string>{"'a string of the block'", "'a string that is copied, as always'",
                                 "'short'", "null", "'another long string of it'"});
  CHECK(built->string_at(0).data() == bytes.data());
}

TEST_CASE("rows that ended without kind or timestamp are filled") {
  batch_builder builder(std::make_shared<const logical_type>(
      logical_type::row({{"id", logical_type::integer(), {}}})));
  for (int i = 0; i < 4; ++i)
    builder.column(0).append(std::int32_t{i});
  builder.end_row();
  builder.end_row(row_kind::update_after, 5);
  builder.end_rows(1);
  builder.end_row(std::int64_t{9});

  const auto batch = builder.finish();

  CHECK(row_texts(batch) == std::vector<std::string>{"0@-9223372036854775808 0|", "2@5 1|",
                                                     "0@-9223372036854775808 2|", "0@9 3|"});
}

TEST_CASE("a budget is charged while columns live") {
  const auto budget = std::make_shared<testing_budget>();
  {
    column_builder builder(logical_type::string(), budget);
    for (int i = 0; i < 1000; ++i)
      builder.append_string(std::string(50, 'x'));
    const auto built = builder.finish();

    CHECK(budget->held == built->retained_bytes());
    CHECK(budget->held >= 66000);
  }
  CHECK(budget->held == 0);
}

} // TEST_SUITE("graph/data/batch_builder")

} // namespace headrace::graph
