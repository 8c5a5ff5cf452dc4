#include "libgraph/types/logical_type.hpp"

#include "test/support/random_batch.hpp"
#include "test/support/seed.hpp"

#include <doctest/doctest.h>

namespace headrace::graph {

using namespace headrace::testing;

TEST_SUITE("graph/types/logical_type") {

TEST_CASE("types print as SQL") {
  using t = logical_type;
  CHECK(t::boolean().to_sql() == "BOOLEAN");
  CHECK(t::tinyint().not_null().to_sql() == "TINYINT NOT NULL");
  CHECK(t::smallint().to_sql() == "SMALLINT");
  CHECK(t::integer().to_sql() == "INT");
  CHECK(t::bigint().to_sql() == "BIGINT");
  CHECK(t::float32().to_sql() == "FLOAT");
  CHECK(t::float64().to_sql() == "DOUBLE");
  CHECK(t::decimal(10, 2).to_sql() == "DECIMAL(10, 2)");
  CHECK(t::character(5).to_sql() == "CHAR(5)");
  CHECK(t::varchar(10).to_sql() == "VARCHAR(10)");
  CHECK(t::string().to_sql() == "STRING");
  CHECK(t::binary(4).to_sql() == "BINARY(4)");
  CHECK(t::varbinary(4).to_sql() == "VARBINARY(4)");
  CHECK(t::bytes().to_sql() == "BYTES");
  CHECK(t::date().to_sql() == "DATE");
  CHECK(t::time(0).to_sql() == "TIME(0)");
  CHECK(t::timestamp(3).to_sql() == "TIMESTAMP(3)");
  CHECK(t::timestamp_ltz(6).not_null().to_sql() == "TIMESTAMP_LTZ(6) NOT NULL");
  CHECK(t::interval_year_month().to_sql() == "INTERVAL YEAR(2) TO MONTH");
  CHECK(t::interval_day_time().to_sql() == "INTERVAL DAY(2) TO SECOND(3)");
  CHECK(t::null().to_sql() == "NULL");
  CHECK(t::array(t::integer().not_null()).to_sql() == "ARRAY<INT NOT NULL>");
  CHECK(t::map(t::string(), t::bigint()).to_sql() == "MAP<STRING, BIGINT>");
  CHECK(t::multiset(t::string()).not_null().to_sql() == "MULTISET<STRING> NOT NULL");
  CHECK(t::row({{"word", t::string(), {}}, {"a`b", t::bigint().not_null(), "it's"}}).to_sql() ==
        "ROW<`word` STRING, `a``b` BIGINT NOT NULL 'it''s'>");
}

TEST_CASE("a multiset shows its element and stores its counts") {
  const auto type = logical_type::multiset(logical_type::string());

  CHECK(type.child_count() == 1);
  CHECK(type.storage_child_count() == 2);
  CHECK(type.storage_child(1) == logical_type::integer().not_null());
  CHECK(type.physical() == physical_type::map);
}

TEST_CASE("timestamps of up to three digits are milliseconds") {
  CHECK(logical_type::timestamp(3).physical() == physical_type::int64);
  CHECK(logical_type::timestamp(4).physical() == physical_type::timestamp_nanos);
  CHECK(logical_type::timestamp_ltz(9).width_bytes() == 16);
}

TEST_CASE("fields are found by name") {
  const auto type =
      logical_type::row({{"a", logical_type::integer(), {}}, {"b", logical_type::string(), {}}});

  CHECK(type.field_index("b") == 1);
  CHECK(type.field_index("c") == -1);
  CHECK(logical_type::string().fields().empty());
}

TEST_CASE("a type comes back from its bytes, and cut bytes are malformed") {
  dice random(seed() + 50);
  for (int round = 0; round < 300; ++round) {
    const auto type = random_type(random, 4);
    byte_string bytes;
    byte_writer out(bytes);
    type.encode(out);

    byte_reader in(bytes);
    const auto back = logical_type::decode(in);
    REQUIRE(back);
    CHECK(*back == type);
    CHECK(in.at_end());

    byte_reader cut(byte_view(bytes).substr(0, random.below(bytes.size())));
    CHECK(logical_type::decode(cut).error().code == errc::malformed_message);
    bytes[random.below(bytes.size())] = static_cast<char>(random.next());
    byte_reader broken(bytes);
    const auto outcome = logical_type::decode(broken);
    CHECK((outcome || outcome.error().code == errc::malformed_message));
  }
}

TEST_CASE("bytes nested deeper than 64 are malformed") {
  const auto depth_of = [](int depth) {
    auto type = logical_type::integer();
    for (int i = 0; i < depth; ++i)
      type = logical_type::array(type);
    byte_string bytes;
    byte_writer out(bytes);
    type.encode(out);
    byte_reader in(bytes);
    return logical_type::decode(in).has_value();
  };

  CHECK(depth_of(64));
  CHECK_FALSE(depth_of(65));
}

TEST_CASE("types differ by every part") {
  const auto type = logical_type::row({{"a", logical_type::decimal(5, 2), "c"}});

  CHECK(type == logical_type::row({{"a", logical_type::decimal(5, 2), "c"}}));
  CHECK_FALSE(type == type.not_null());
  CHECK_FALSE(type == logical_type::row({{"b", logical_type::decimal(5, 2), "c"}}));
  CHECK_FALSE(type == logical_type::row({{"a", logical_type::decimal(5, 1), "c"}}));
  CHECK_FALSE(type == logical_type::row({{"a", logical_type::decimal(5, 2), {}}}));
}

} // TEST_SUITE("graph/types/logical_type")

} // namespace headrace::graph
