#include "libgraph/api/type_info.hpp"

#include "test/libgraph/api/testing_values.hpp"
#include "libgraph/function/failure.hpp"

#include <doctest/doctest.h>

using namespace headrace;
using namespace headrace::testing;

TEST_SUITE_BEGIN("graph/api/type_info");

namespace {

everything full() {
  everything out;
  out.flag = true;
  out.i8 = -8;
  out.i16 = -1600;
  out.i32 = 320'000;
  out.i64 = std::int64_t{1} << 60;
  out.f32 = 1.5F;
  out.f64 = -2.25;
  out.text = "more than twelve bytes of text, so not inline";
  out.amount = {static_cast<graph::int128>(-123'456'789'012'345) * 1'000'000};
  out.time = {1'700'000'000'123};
  out.maybe = 7;
  out.maybe_row = word_count{"inner", 1};
  out.list = {"a", "", "a list element that is long enough"};
  out.map = {{"x", 1}, {"y", -1}};
  out.deep = {{{"p", 1}, {"q", 2}}, {}, {{"r", 3}}};
  out.row = {"row", 99};
  out.pair = {5, "five"};
  out.shade = color::green;
  return out;
}

} // namespace

TEST_CASE("types have the logical types that they are described by") {
  CHECK(api::row_info<everything>::type().to_sql() ==
        "ROW<`flag` BOOLEAN NOT NULL, `i8` TINYINT NOT NULL, `i16` SMALLINT NOT NULL, "
        "`i32` INT NOT NULL, `i64` BIGINT NOT NULL, `f32` FLOAT NOT NULL, `f64` DOUBLE NOT NULL, "
        "`text` STRING NOT NULL, `amount` DECIMAL(20, 3) NOT NULL, `time` TIMESTAMP(3) NOT NULL, "
        "`maybe` INT, `maybe_row` ROW<`word` STRING NOT NULL, `count` BIGINT NOT NULL>, "
        "`list` ARRAY<STRING NOT NULL> NOT NULL, "
        "`map` MAP<STRING NOT NULL, BIGINT NOT NULL> NOT NULL, "
        "`deep` ARRAY<ARRAY<ROW<`word` STRING NOT NULL, `count` BIGINT NOT NULL> NOT NULL> "
        "NOT NULL> NOT NULL, "
        "`row` ROW<`word` STRING NOT NULL, `count` BIGINT NOT NULL> NOT NULL, "
        "`pair` ROW<`f0` INT NOT NULL, `f1` STRING NOT NULL> NOT NULL, "
        "`shade` TINYINT NOT NULL> NOT NULL");
  CHECK(api::row_info<std::int64_t>::type().to_sql() == "ROW<`f0` BIGINT NOT NULL> NOT NULL");
}

TEST_CASE("values come back from columns") {
  const std::vector<everything> values{full(), {}, full()};

  CHECK(values_of<everything>(batch_of(values)) == values);
  CHECK(values_of<std::string>(batch_of<std::string>({"a", ""})) ==
        std::vector<std::string>{"a", ""});
  CHECK(values_of<std::optional<double>>(batch_of<std::optional<double>>({1.0, std::nullopt})) ==
        std::vector<std::optional<double>>{1.0, std::nullopt});
}

TEST_CASE("views are read in place") {
  const auto batch = batch_of<std::string>({"a text that does not fit into a slot"});

  const auto view = values_of<std::string_view>(batch)[0];

  CHECK(view.data() == batch.at(0).string_at(0).data());
}

TEST_CASE("values come back from bytes") {
  for (const auto& value : {full(), everything{}})
    CHECK(api::decoded<everything>(api::encoded(value)) == value);
}

TEST_CASE("bytes that end early are a corrupt state, wherever they are cut") {
  const auto bytes = api::encoded(full());

  for (std::size_t size = 0; size < bytes.size(); ++size) {
    try {
      api::decoded<everything>(byte_view(bytes).substr(0, size));
      FAIL("decoded a cut value");
    } catch (const graph::failure& thrown) {
      CHECK(thrown.cause().code == errc::corrupt_snapshot);
    }
  }
}

TEST_CASE("a huge count in damaged bytes allocates nothing") {
  byte_string bytes;
  byte_writer(bytes).put_varint(std::uint64_t{1} << 60U);

  CHECK_THROWS_AS(api::decoded<std::vector<std::int64_t>>(bytes), graph::failure);
}

TEST_CASE("only values without pointers are plain") {
  CHECK(api::type_info<std::pair<std::int32_t, double>>::is_plain ==
        std::is_trivially_copyable_v<std::pair<std::int32_t, double>>);
  CHECK_FALSE(api::type_info<std::string_view>::is_plain);
  CHECK_FALSE(api::type_info<word_count>::is_plain);
  CHECK(api::type_info<color>::is_plain);
}

TEST_CASE("a field's place is found by its pointer") {
  CHECK(api::field_index<everything>(&everything::text) == 7);
  CHECK(api::field_index<everything>(&everything::shade) == 17);
  CHECK(api::field_index<word_count>(&word_count::count) == 1);
}

TEST_SUITE_END();
