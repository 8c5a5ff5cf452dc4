#include "libgraph/types/type_text.hpp"

#include <doctest/doctest.h>

#include <string>

namespace headrace::graph {

TEST_SUITE("graph/types/type_text") {
TEST_CASE("the text of a type that has no others in it is read as the type") {
  for (const auto& type : {logical_type::boolean(),
                           logical_type::tinyint(),
                           logical_type::smallint(),
                           logical_type::integer(),
                           logical_type::bigint(),
                           logical_type::float32(),
                           logical_type::float64(),
                           logical_type::decimal(38, 38),
                           logical_type::decimal(10, 2),
                           logical_type::character(3),
                           logical_type::varchar(10),
                           logical_type::string(),
                           logical_type::binary(3),
                           logical_type::varbinary(10),
                           logical_type::bytes(),
                           logical_type::date(),
                           logical_type::time(0),
                           logical_type::timestamp(9),
                           logical_type::timestamp_ltz(3),
                           logical_type::interval_year_month(),
                           logical_type::interval_day_time()}) {
    CAPTURE(type.to_sql());
    CHECK(parse_scalar_type(type.to_sql()) == type);
    CHECK(parse_scalar_type(type.not_null().to_sql()) == type.not_null());
  }
}

TEST_CASE("another text is none") {
  for (const std::string text :
       {"", "INTEGER", "int", "DECIMAL", "DECIMAL(10)", "DECIMAL(39, 2)", "DECIMAL(2, 3)",
        "DECIMAL(10, 2", "DECIMAL(10, 2) x", "TIMESTAMP(10)", "TIMESTAMP(-1)", "CHAR(0)",
        "VARCHAR(99999999999)", "VARCHAR(2147483647)", "ARRAY<INT>", "ROW<`a` INT>", " NOT NULL",
        "INT NOT NULL NOT NULL"})
    CHECK_MESSAGE(!parse_scalar_type(text), text);
}
} // TEST_SUITE("graph/types/type_text")

} // namespace headrace::graph
