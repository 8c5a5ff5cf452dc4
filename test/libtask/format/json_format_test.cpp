#include "libtask/format/json_format.hpp"

#include "test/libtask/format/format_rows.hpp"
#include "test/support/seed.hpp"

#include <doctest/doctest.h>

#include <string>

namespace headrace::task {
namespace {

using graph::logical_type;
using graph::option_map;
using testing::decode_text;
using testing::row_of;
using rows = std::vector<std::string>;

std::unique_ptr<graph::format> make(const option_map& options) {
  auto made = make_json_format(options);
  REQUIRE_MESSAGE(made.has_value(), (made ? "" : made.error().message));
  return std::move(*made);
}

testing::decoded_text decode(const std::string& text, std::vector<logical_type> types,
                             const option_map& options = {}) {
  const auto type = row_of(std::move(types));
  auto decoder = make(options)->create_decoder(type);
  REQUIRE_MESSAGE(decoder.has_value(), (decoder ? "" : decoder.error().message));
  return decode_text(**decoder, type, text, text.size(), 1000);
}

std::string failure(const std::string& text, std::vector<logical_type> types,
                    const option_map& options = {}) {
  auto out = decode(text, std::move(types), options);
  REQUIRE(out.failure);
  CHECK(out.failure->code == errc::malformed_record);
  return out.failure->message;
}

/// Draws any type that JSON takes, nested at most `depth` levels.
logical_type random_type(testing::random_engine& random, int depth) {
  if (depth == 0 || random() % 3 != 0)
    return testing::random_scalar_type(random);
  switch (random() % 4) {
  case 0:
    return logical_type::array(random_type(random, depth - 1));
  case 1:
    return logical_type::map(logical_type::string().not_null(), random_type(random, depth - 1));
  case 2:
    return logical_type::multiset(logical_type::bigint().not_null());
  default:
    return logical_type::row({{"x", random_type(random, depth - 1), ""},
                              {"a \"quoted\" näme", random_type(random, depth - 1), ""}});
  }
}

const auto text = logical_type::string();
const auto number = logical_type::bigint();

} // namespace

TEST_SUITE("task/format/json") {
TEST_CASE("fields are found by name, in any order; others are read over") {
  CHECK(decode(R"({"c0":"a","c1":1}
{"c1": 2 , "z": {"deep": [1, {"c0": "no"}]}, "c0": "b"}

  {"c1":3})",
               {text, number})
            .rows == rows{"<a>|<1>|", "<b>|<2>|", "NULL|<3>|"});
  CHECK(decode("{}\r\n", {text}).rows == rows{"NULL|"});
  CHECK(decode("\xef\xbb\xbf{\"c0\":\"a\"}", {text}).rows == rows{"<a>|"});
  CHECK(decode(R"({"c0":"a","c0":"b"})", {text}).rows == rows{"<b>|"});
  CHECK(decode(R"({"c\u0030":"a long string, not inline"})", {text}).rows ==
        rows{"<a long string, not inline>|"});
}

TEST_CASE("fields that nobody wants are passed over, whatever they hold") {
  const auto few = std::make_shared<const logical_type>(logical_type::row({{"c1", number, ""}}));
  auto decoder = make({})->create_decoder(row_of({text, number}), few);
  REQUIRE(decoder);
  CHECK(decode_text(**decoder, few,
                    "{\"c0\":1,\"c1\":2}\n{\"c0\":[{}],\"c1\":3}\n{\"c1\":4,\"c2\":\"x\"}\n", 5,
                    1000)
            .rows == rows{"<2>|", "<3>|", "<4>|"});
  const auto other = std::make_shared<const logical_type>(logical_type::row({{"c2", text, ""}}));
  CHECK(make({})->create_decoder(row_of({text, number}), other).error().code ==
        errc::type_mismatch);
}

TEST_CASE("strings are unescaped") {
  CHECK(decode(R"({"c0":"a\n\"\u00e9\ud83d\ude00 and some more text"})", {text}).rows ==
        rows{"<a\n\"é😀 and some more text>|"});
  CHECK(decode(R"({"c0":"\\"})", {text}).rows == rows{"<\\>|"});
  CHECK(decode(R"({"c0":""})", {text}).rows == rows{"<>|"});
}

TEST_CASE("values become the field's type where they can") {
  CHECK(decode(R"({"c0":"12","c1":34,"c2":true,"c3":[1, 2],"c4":{"a": 1},"c5":1e3})",
               {number, text, text, text, text, text})
            .rows == rows{"<12>|<34>|<true>|<[1, 2]>|<{\"a\": 1}>|<1e3>|"});
  CHECK(decode(R"({"c0":"1.5","c1":2,"c2":"TRUE","c3":12.345,"c4":"NaN"})",
               {logical_type::float64(), logical_type::float32(), logical_type::boolean(),
                logical_type::decimal(5, 2), logical_type::float64()})
            .rows == rows{"<1.5>|<2.0>|<true>|<12.35>|<NaN>|"});
}

TEST_CASE("both kinds of timestamps are read") {
  CHECK(decode(R"({"c0":"2024-02-29 12:34:56.789","c1":"2024-02-29T12:34:56.7Z",)"
               R"("c2":"2024-02-29T12:34:56+01:00","c3":"2024-02-29","c4":"12:34:56"})",
               {logical_type::timestamp(3), logical_type::timestamp(9),
                logical_type::timestamp_ltz(3), logical_type::date(), logical_type::time(0)})
            .rows == rows{"<2024-02-29 12:34:56.789>|<2024-02-29 12:34:56.7>|"
                          "<2024-02-29 11:34:56Z>|<2024-02-29>|<12:34:56>|"});
}

TEST_CASE("nested values are read") {
  const auto point = logical_type::row({{"x", number, ""}, {"y", number, ""}});
  CHECK(decode(R"({"c0":[{"y":2,"x":1},null,{}],"c1":{"a":[1],"b":null},"c2":{"q":3}})",
               {logical_type::array(point), logical_type::map(text, logical_type::array(number)),
                logical_type::multiset(text)})
            .rows == rows{"[ROW(<1>;<2>;)=;NULL=;ROW(NULL;NULL;)=;]|"
                          "[<a>=[<1>=;]=;<b>=NULL=;]|[<q>=<3>=;]|"});
}

TEST_CASE("a malformed record is named by file, line, column, field and type") {
  CHECK(failure("{\"c0\":1}\n{\"c0\": \"x\"}\n", {number}) ==
        "malformed record: in:2:8: field `c0` wants BIGINT, found '\"x\"'");
  CHECK(failure(R"({"c0":[1,"x"]})", {logical_type::array(number)}) ==
        "malformed record: in:1:10: field `c0` wants BIGINT, found '\"x\"'");
  CHECK(failure("nonsense", {number}).find("in:1:1: no JSON object") != std::string::npos);
  CHECK(failure("{\"c0\":1} {}", {number}).find("in:1:10: text behind the object") !=
        std::string::npos);
  CHECK(failure("{\"c0\":1", {number}).find("no JSON object") != std::string::npos);
  CHECK(failure("{\"c0\":1.5}", {number}).find("wants BIGINT, found '1.5'") != std::string::npos);
  CHECK(failure("{\"c0\":300}", {logical_type::tinyint()}).find("TINYINT") != std::string::npos);
  CHECK(failure("{}", {number.not_null()}).find("field `c0` is missing") != std::string::npos);
  CHECK(failure("{}", {number}, {{"fail-on-missing-field", "true"}}).find("is missing") !=
        std::string::npos);
  CHECK(failure("{\"c0\":null}", {number.not_null()}).find("found 'null'") != std::string::npos);
  CHECK(failure("[1]", {number}).find("no JSON object") != std::string::npos);
}

TEST_CASE("malformed records are left out and counted when the option says so") {
  const auto out = decode("{\"c0\":1}\n{\"c0\":\n{\"c0\":[2,\"x\"]}\n{\"c0\":3}x\n{\"c0\":4}",
                          {number}, {{"ignore-malformed-records", "true"}});
  CHECK(out.rows == rows{"<1>|", "<4>|"});
  CHECK(out.skipped == 3);
  CHECK(out.lines == 4);
}

TEST_CASE("what is written reads back as the same, whole or in pieces") {
  testing::random_engine random(testing::seed());
  for (int round = 0; round < 150; ++round) {
    std::vector<logical_type> types;
    for (auto count = random() % 6 + 1; count > 0; --count)
      types.push_back(random_type(random, 3));
    const auto type = row_of(types);
    option_map options;
    if (random() % 2 == 0)
      options["timestamp-format.standard"] = "ISO-8601";
    if (random() % 2 == 0)
      options["encode.ignore-null-fields"] = "true";
    const auto format = make(options);
    const auto batch = testing::random_rows(random, type, random() % 30);
    byte_string written;
    auto encoder = format->create_encoder(type);
    REQUIRE(encoder);
    REQUIRE((*encoder)->encode(batch, written));
    auto decoder = format->create_decoder(type);
    REQUIRE(decoder);
    CAPTURE(written);
    CAPTURE(type->to_sql());
    const auto back = decode_text(**decoder, type, written, written.size(), 1000);
    REQUIRE_MESSAGE(!back.failure, (back.failure ? back.failure->message : ""));
    REQUIRE(back.rows == testing::rows_as_texts(batch));
    for (int piece = 0; piece < 5; ++piece) {
      const auto pieces = decode_text(**decoder, type, written, random() % (written.size() + 1),
                                      random() % 5 + 1, random() % 2 == 0);
      REQUIRE(pieces.rows == back.rows);
    }
  }
}

TEST_CASE("mutilated text neither crashes nor differs in pieces") {
  testing::random_engine random(testing::seed());
  const std::string letters = "{}[]:,\"\\ \nc01naue-.";
  const auto type = row_of({text, number, logical_type::array(number)});
  auto decoder = make({{"ignore-parse-errors", "true"}})->create_decoder(type);
  REQUIRE(decoder);
  for (int round = 0; round < 3000; ++round) {
    std::string input = R"({"c0":"some text, long enough","c1":12,"c2":[1,2]})"
                        "\n"
                        R"({"c0":"a\nb","c1":-7,"c2":null})";
    for (auto changes = random() % 4; changes > 0; --changes)
      input[random() % input.size()] = letters[random() % letters.size()];
    const auto whole = decode_text(**decoder, type, input, input.size(), 1000);
    CAPTURE(input);
    const auto pieces = decode_text(**decoder, type, input, random() % (input.size() + 1), 1);
    REQUIRE(pieces.rows == whole.rows);
    REQUIRE(pieces.skipped == whole.skipped);
  }
}

TEST_CASE("a NULL key of a map does what the option says") {
  const auto type = row_of({logical_type::map(text, number)});
  const auto write = [&](const option_map& options) -> result<std::string> {
    graph::batch_builder builder(type);
    auto& column = builder.column(0);
    column.begin_list();
    column.child(0).append_null();
    column.child(1).append(std::int64_t{1});
    column.end_list();
    builder.end_row();
    byte_string out;
    HEADRACE_TRY(auto encoder, make(options)->create_encoder(type));
    HEADRACE_CHECK(encoder->encode(builder.finish(), out));
    return out;
  };
  CHECK(write({}).error().code == errc::output_unusable);
  CHECK(*write({{"map-null-key.mode", "DROP"}}) == "{\"c0\":{}}\n");
  CHECK(*write({{"map-null-key.mode", "LITERAL"}}) == "{\"c0\":{\"null\":1}}\n");
}

TEST_CASE("what stands for a NULL key may be another key: the later one is written") {
  const auto type = row_of({logical_type::map(text, number)});
  const auto write = [&](bool null_first) {
    graph::batch_builder builder(type);
    auto& column = builder.column(0);
    column.begin_list();
    for (const bool is_null : {null_first, !null_first}) {
      if (is_null)
        column.child(0).append_null();
      else
        column.child(0).append_string("null");
      column.child(1).append(std::int64_t{is_null ? 1 : 2});
    }
    column.end_list();
    builder.end_row();
    byte_string out;
    const auto encoder = make({{"map-null-key.mode", "LITERAL"}})->create_encoder(type);
    REQUIRE(encoder);
    REQUIRE((*encoder)->encode(builder.finish(), out));
    return out;
  };
  CHECK(write(true) == "{\"c0\":{\"null\":2}}\n");
  CHECK(write(false) == "{\"c0\":{\"null\":1}}\n");
}

TEST_CASE("keys that are no scalars are refused") {
  const auto type = row_of({logical_type::map(logical_type::array(number), number)});
  CHECK(make({})->create_decoder(type).error().code == errc::type_mismatch);
  CHECK(make({})->create_encoder(type).error().code == errc::type_mismatch);
}
} // TEST_SUITE("task/format/json")

} // namespace headrace::task
