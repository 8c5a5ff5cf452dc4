#include "libtask/format/changelog_json_format.hpp"

#include "test/libtask/format/format_rows.hpp"
#include "test/support/seed.hpp"
#include "libgraph/connector/abilities.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace headrace::task {
namespace {

using graph::logical_type;
using graph::row_kind;
using testing::decode_text;
using rows = std::vector<std::string>;

const auto type = testing::row_of({logical_type::bigint(), logical_type::string()});

std::unique_ptr<graph::format> make(const graph::option_map& options = {}) {
  auto made = make_changelog_json_format(options);
  REQUIRE_MESSAGE(made.has_value(), (made ? "" : made.error().message));
  return std::move(*made);
}

testing::decoded_text decode(const std::string& text, const graph::option_map& options = {},
                             std::size_t rows_max = 1000) {
  auto decoder = make(options)->create_decoder(type);
  REQUIRE(decoder);
  return decode_text(**decoder, type, text, text.size() / 2, rows_max);
}

const std::string changes = R"({"op":"+I","data":{"c0":1,"c1":"a"}}
{"op":"-U","data":{"c0":1,"c1":"a"}}
{"op":"+U","data":{"c0":1,"c1":null}}

{"data":{"c1":"b"},"op":"-D","ts":5}
)";

} // namespace

TEST_SUITE("task/format/changelog_json_format") {
TEST_CASE("a line says what a row does, and what it is") {
  for (const std::size_t rows_max : {1, 2, 1000}) {
    const auto got = decode(changes, {}, rows_max);
    REQUIRE(!got.failure);
    CHECK(got.rows == rows{"<1>|<a>|", "-U<1>|<a>|", "+U<1>|NULL|", "-DNULL|<b>|"});
    CHECK(got.lines == 5);
  }
}

TEST_CASE("what is no operation is told by its line, or left out") {
  const auto wrong = changes + R"({"op":"+X","data":{"c0":2}}
{"op":"+I","data":{"c0":3,"c1":"c"}}
)";
  const auto failed = decode(wrong);
  REQUIRE(failed.failure);
  CHECK(failed.failure->code == errc::malformed_record);
  CHECK(failed.failure->message.find(":6:1: field `op` wants +I, -U, +U or -D, found '+X'") !=
        std::string::npos);
  const auto skipped = decode(wrong, {{"ignore-parse-errors", "true"}});
  REQUIRE(!skipped.failure);
  CHECK(skipped.skipped == 1);
  CHECK(skipped.rows.size() == 5);
  CHECK(skipped.rows.back() == "<3>|<c>|");
}

TEST_CASE("lines without operation or data are malformed") {
  for (const char* line : {R"({"data":{"c0":1}})", R"({"op":"+I"})", R"({"op":"+I","data":null})",
                           R"({"op":null,"data":{}})", R"({"op":"+I","data":7})"}) {
    const auto got = decode(std::string(line) + "\n");
    REQUIRE(got.failure);
    CHECK(got.failure->code == errc::malformed_record);
  }
}

TEST_CASE("what was written is read, with its kinds and the selected rows alone") {
  testing::random_engine random(testing::seed());
  auto batch = testing::random_rows(random, type, 100);
  auto kinds = graph::buffer::allocate(batch.row_count());
  for (std::size_t i = 0; i < batch.row_count(); ++i)
    kinds->mutable_as<row_kind>()[i] = static_cast<row_kind>(random() % 4);
  batch = batch.with_kinds(std::move(kinds)).slice(10, 70);
  const auto format = make();
  byte_string written;
  REQUIRE((*format->create_encoder(type))->encode(batch, written));
  const auto got = decode(written);
  REQUIRE(!got.failure);
  CHECK(got.rows == testing::rows_as_texts(batch));
}

TEST_CASE("rows without kinds are inserts") {
  testing::random_engine random(testing::seed());
  byte_string written;
  REQUIRE((*make()->create_encoder(type))->encode(testing::random_rows(random, type, 2), written));
  CHECK(written.starts_with(R"({"op":"+I","data":{"c0":)"));
}

TEST_CASE("only what is read is decoded") {
  const auto part = testing::row_of({logical_type::bigint()});
  auto decoder = make()->create_decoder(type, part);
  REQUIRE(decoder);
  const auto got = decode_text(**decoder, part, R"({"op":"-D","data":{"c1":[7],"c0":1}}
)",
                               5, 10);
  REQUIRE(!got.failure);
  CHECK(got.rows == rows{"-D<1>|"});
}

TEST_CASE("its name tells that it has changes, and its options are those of json") {
  CHECK(graph::is_changelog_format("changelog-json"));
  CHECK(!graph::is_changelog_format("json"));
  CHECK(
      make_changelog_json_format({{"nope", "1"}}).error().message.find("format 'changelog-json'") !=
      std::string::npos);
}
} // TEST_SUITE("task/format/changelog_json_format")

} // namespace headrace::task
