#include "libstate/rocksdb/row_key.hpp"

#include "test/support/seed.hpp"
#include "libactors/base/random.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <vector>

namespace headrace::state {
namespace {

byte_string name_of(std::uint16_t group, state_namespace space, const key_ref& key,
                    key_shape shape) {
  byte_string out;
  row_key::append_group(out, group);
  row_key::append_space(out, space);
  row_key::append_key(out, key, shape);
  return out;
}

} // namespace

TEST_SUITE("state/rocksdb/row_key") {
TEST_CASE("names order by key group, then namespace") {
  const auto random = make_seeded_random(testing::seed());
  std::vector<state_namespace> spaces = {std::numeric_limits<state_namespace>::min(),
                                         std::numeric_limits<state_namespace>::max(),
                                         -256,
                                         -255,
                                         -1,
                                         0,
                                         1,
                                         255,
                                         256,
                                         65536};
  for (int i = 0; i < 200; ++i)
    spaces.push_back(static_cast<state_namespace>(random->next() >> random->below(64)) *
                     (random->below(2) == 0 ? 1 : -1));
  std::sort(spaces.begin(), spaces.end());
  byte_string before;
  for (const std::uint16_t group : std::initializer_list<std::uint16_t>{0, 1, 255, 256, 32767}) {
    for (const auto space : spaces) {
      byte_string prefix;
      row_key::append_group(prefix, group);
      row_key::append_space(prefix, space);
      CHECK(before <= prefix);
      CHECK(row_key::end_of_prefix(prefix) > prefix);
      before = prefix;
    }
  }
}

TEST_CASE("a table's name is taken apart into what it was made of") {
  const auto random = make_seeded_random(testing::seed() + 1);
  for (int i = 0; i < 1000; ++i) {
    const auto group = static_cast<std::uint16_t>(random->below(32768));
    const auto space = static_cast<state_namespace>(random->next() >> random->below(64));
    key_ref fixed;
    fixed.is_null = random->below(5) == 0;
    fixed.fixed = fixed.is_null ? 0 : random->next();
    const auto name = name_of(group, space, fixed, key_shape::fixed);
    const auto parts = row_key::split(name, key_shape::fixed, false);
    REQUIRE(parts.has_value());
    CHECK(parts->group == group);
    CHECK(parts->space == space);
    CHECK(parts->key_is_null == fixed.is_null);
    CHECK(parts->fixed == fixed.fixed);

    const byte_string text(random->below(20), static_cast<char>(random->below(256)));
    const auto named = name_of(group, space, {0, 0, text, false}, key_shape::bytes);
    const auto of_text = row_key::split(named, key_shape::bytes, false);
    REQUIRE(of_text.has_value());
    CHECK(of_text->space == space);
    CHECK(of_text->bytes == text);
  }
}

TEST_CASE("a map's entries lie together, by map key") {
  for (const auto shape : {key_shape::fixed, key_shape::bytes}) {
    for (const bool is_null : {false, true}) {
      key_ref key;
      key.is_null = is_null && shape == key_shape::fixed;
      key.fixed = key.is_null ? 0 : 77;
      key.bytes = shape == key_shape::bytes ? byte_view("ab") : byte_view();
      byte_string prefix;
      row_key::append_group(prefix, 5);
      row_key::append_map_key(prefix, key, shape);
      const auto name = prefix + "entry";
      const auto parts = row_key::split(name, shape, true);
      REQUIRE(parts.has_value());
      CHECK(parts->group == 5);
      CHECK(parts->entry_key == "entry");
      CHECK(parts->key_is_null == key.is_null);
      CHECK(parts->bytes == key.bytes);
      CHECK(name < row_key::end_of_prefix(prefix));
    }
  }
}

TEST_CASE("malformed names are refused") {
  for (const byte_string& name :
       {byte_string(), byte_string("\0\1", 2), byte_string("\0\1\x84\1\2", 5),
        byte_string("\0\1\x80\1\2\3", 6), byte_string("\0\1\x70", 3)}) {
    const auto parts = row_key::split(name, key_shape::fixed, false);
    REQUIRE(!parts.has_value());
    CHECK(parts.error().code == errc::corrupt_snapshot);
  }
  CHECK(!row_key::split(byte_string("\0\1\2", 3), key_shape::fixed, true).has_value());
  CHECK(!row_key::split(byte_string("\0\1\x7f", 3), key_shape::bytes, true).has_value());
}
} // TEST_SUITE("state/rocksdb/row_key")

} // namespace headrace::state
