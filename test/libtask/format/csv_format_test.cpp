#include "libtask/format/csv_format.hpp"

#include "test/libtask/format/format_rows.hpp"
#include "test/support/seed.hpp"

#include <doctest/doctest.h>

#include <optional>
#include <string>

namespace headrace::task {
namespace {

using graph::logical_type;
using graph::option_map;
using testing::decode_text;
using testing::row_of;
using rows = std::vector<std::string>;

std::unique_ptr<graph::format> make(const option_map& options) {
  auto made = make_csv_format(options);
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

const auto text = logical_type::string();
const auto number = logical_type::bigint();

} // namespace

TEST_SUITE("task/format/csv") {
TEST_CASE("fields are split at delimiters, records at line breaks of both kinds") {
  CHECK(decode("a,1\nb,2\r\nc,3", {text, number}).rows == rows{"<a>|<1>|", "<b>|<2>|", "<c>|<3>|"});
  CHECK(decode(",\n", {text, text}).rows == rows{"<>|<>|"});
  CHECK(decode("\n\r\na,b\n\n", {text, text}).rows == rows{"<a>|<b>|"}); // empty lines
  CHECK(decode("a\n\n", {text}).rows == rows{"<a>|", "<>|"});
  CHECK(decode("a;b", {text, text}, {{"field-delimiter", ";"}, {"array-element-delimiter", ","}})
            .rows == rows{"<a>|<b>|"});
  CHECK(decode("a\tb", {text, text}, {{"field-delimiter", "\\t"}}).rows == rows{"<a>|<b>|"});
}

TEST_CASE("quotes enclose delimiters, and doubled ones stand for one") {
  CHECK(decode("\"a,b\",\"say \"\"hi\"\"\"\n", {text, text}).rows == rows{"<a,b>|<say \"hi\">|"});
  CHECK(decode("\"\",\"\"\"\"\r\n", {text, text}).rows == rows{"<>|<\">|"});
  CHECK(decode("a\"b,c", {text, text}).rows == rows{"<a\"b>|<c>|"});
  CHECK(decode("\"a,\"b\"", {text, text}, {{"disable-quote-character", "true"}}).rows ==
        rows{"<\"a>|<\"b\">|"});
  CHECK(decode("'a,b',c", {text, text}, {{"quote-character", "'"}}).rows == rows{"<a,b>|<c>|"});
  CHECK(decode("\"12\"", {number}).rows == rows{"<12>|"});
}

TEST_CASE("line breaks inside quotes are taken when the option says so") {
  CHECK(decode("\"a\nb\",c\n", {text, text}, {{"allow-quoted-newlines", "true"}}).rows ==
        rows{"<a\nb>|<c>|"});
  CHECK(failure("\"a\nb\",c\n", {text, text}).find("in:1:1: quote that is not closed") !=
        std::string::npos);
  CHECK_FALSE(make({{"allow-quoted-newlines", "true"}})->is_splittable());
  CHECK(make({})->is_splittable());
}

TEST_CASE("an escape character takes the meaning of the one behind it") {
  const option_map escaping{{"escape-character", "\\"}};
  CHECK(decode("a\\,b,c", {text, text}, escaping).rows == rows{"<a,b>|<c>|"});
  CHECK(decode("\"a\\\"b\",\\\\", {text, text}, escaping).rows == rows{"<a\"b>|<\\>|"});
}

TEST_CASE("the null literal is NULL only without quotes; empty is NULL but in strings") {
  CHECK(decode("n/a,\"n/a\"\n", {text, text}, {{"null-literal", "n/a"}}).rows ==
        rows{"NULL|<n/a>|"});
  CHECK(decode(",\n", {text, number}).rows == rows{"<>|NULL|"});
  CHECK(decode(",\n", {text, number}, {{"null-literal", ""}}).rows == rows{"NULL|NULL|"});
  CHECK(failure("a,\n", {text, number.not_null()}).find("wants BIGINT NOT NULL, found ''") !=
        std::string::npos);
}

TEST_CASE("a header and comments are read over") {
  CHECK(decode("name,n\na,1\n", {text, number}, {{"ignore-first-line", "true"}}).rows ==
        rows{"<a>|<1>|"});
  CHECK(decode("name,n", {text, number}, {{"ignore-first-line", "true"}}).rows.empty());
  CHECK(decode("# x\na,1\n#\n", {text, number}, {{"allow-comments", "true"}}).rows ==
        rows{"<a>|<1>|"});
  CHECK(decode("\xef\xbb\xbf"
               "a,1\n",
               {text, number})
            .rows == rows{"<a>|<1>|"});
}

TEST_CASE("arrays and rows are one field") {
  const auto numbers = logical_type::array(number);
  const auto pair = logical_type::row({{"a", text, ""}, {"b", number, ""}});
  CHECK(decode("1;2;3,x;7\n", {numbers, pair}).rows == rows{"[<1>=;<2>=;<3>=;]|ROW(<x>;<7>;)|"});
  CHECK(decode(",\n", {numbers, pair}).rows == rows{"NULL|NULL|"});
  CHECK(decode("\"\",\n", {numbers, pair}).rows == rows{"[]|NULL|"});
  CHECK(failure("1;x,\n", {numbers, pair}).find("field `c0` wants ARRAY<BIGINT>") !=
        std::string::npos);
  CHECK(failure("1,x\n", {numbers, pair}).find("field `c1`") != std::string::npos);
}

TEST_CASE("fields that nobody wants are passed over, whatever they hold") {
  const auto record = row_of({number, text, number, text});
  const auto few = std::make_shared<const logical_type>(
      logical_type::row({{"c3", text, ""}, {"c0", number, ""}}));
  auto decoder = make({})->create_decoder(record, few);
  REQUIRE(decoder);
  const std::string input = "1,a,x,b\n2,\"a,\n\",,\n3,\"a,\"\"\",,c\r\n";
  CHECK(decode_text(**decoder, few, input, 9, 1000).failure); // a line break inside quotes
  CHECK(decode_text(**decoder, few, "1,a,x,b\n3,\"a,\"\"\",,c\r\n", 9, 1000).rows ==
        rows{"<b>|<1>|", "<c>|<3>|"});
  CHECK(decode_text(**decoder, few, "1,a,x\n", 0, 1000).failure); // is no record all the same
  const auto none = std::make_shared<const logical_type>(logical_type::row({}));
  auto counter = make({})->create_decoder(record, none);
  REQUIRE(counter);
  CHECK(decode_text(**counter, none, "1,a,x,b\n,,,\n", 3, 1000).rows == rows{"", ""});
  const auto other = std::make_shared<const logical_type>(logical_type::row({{"c3", number, ""}}));
  CHECK(make({})->create_decoder(record, other).error().code == errc::type_mismatch);
}

TEST_CASE("a type without place is refused, and the way out named") {
  auto decoder = make({})->create_decoder(row_of({logical_type::map(text, number)}));
  REQUIRE_FALSE(decoder);
  CHECK(decoder.error().code == errc::type_mismatch);
  CHECK(decoder.error().message.find("json") != std::string::npos);
}

TEST_CASE("a malformed record is named by file, line, column, field and type") {
  CHECK(failure("a,1\nb,x\n", {text, number}) ==
        "malformed record: in:2:3: field `c1` wants BIGINT, found 'x'");
  CHECK(failure("a,1\nb\n", {text, number}) ==
        "malformed record: in:2:1: 2 fields expected, 1 found");
  CHECK(failure("a,1,\n", {text, number}) ==
        "malformed record: in:1:1: 2 fields expected, 3 found");
  CHECK(failure("\"a\"b,1\n", {text, number}).find("in:1:1: text behind a closing quote") !=
        std::string::npos);
  CHECK(failure("a,\"1\n", {text, number}).find("in:1:3: quote that is") != std::string::npos);
}

TEST_CASE("malformed records are left out and counted when the option says so") {
  const auto out = decode("a,1\nb,x\n\"c,3\n\"d\"e,4\nf\ng,7\nh,8,9\ni,\"", {text, number},
                          {{"ignore-malformed-records", "true"}});
  CHECK_FALSE(out.failure);
  CHECK(out.rows == rows{"<a>|<1>|", "<g>|<7>|"});
  CHECK(out.skipped == 6);
  CHECK(out.lines == 7);
}

TEST_CASE("options are checked") {
  CHECK(make_csv_format({{"field-delimeter", ";"}}).error().code == errc::unknown_option);
  CHECK(make_csv_format({{"field-delimiter", ";;"}}).error().code == errc::bad_option_value);
  CHECK(make_csv_format({{"field-delimiter", "\""}}).error().code == errc::bad_option_value);
  CHECK(make_csv_format({{"allow-comments", "yes"}}).error().code == errc::bad_option_value);
}

TEST_CASE("what is written reads back as the same, whole or in pieces") {
  testing::random_engine random(testing::seed());
  for (int round = 0; round < 150; ++round) {
    std::vector<logical_type> types;
    for (auto count = random() % 6 + 1; count > 0; --count)
      types.push_back(testing::random_scalar_type(random));
    const auto type = row_of(types);
    option_map options{{"null-literal", "NULL"}};
    if (random() % 3 == 0)
      options["field-delimiter"] = "|";
    if (random() % 3 == 0)
      options["escape-character"] = "\\";
    if (random() % 3 == 0)
      options["allow-comments"] = "true";
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
      REQUIRE_MESSAGE(!pieces.failure, (pieces.failure ? pieces.failure->message : ""));
      REQUIRE(pieces.rows == back.rows);
      REQUIRE(pieces.lines == back.lines);
    }
  }
}

TEST_CASE("mutilated text decodes the same in two pieces as in one") {
  testing::random_engine random(testing::seed());
  const std::string letters = "a1,\"\n\r;# \\";
  for (int round = 0; round < 3000; ++round) {
    std::string input;
    for (auto size = random() % 40; size > 0; --size)
      input += letters[random() % letters.size()];
    option_map options{{"ignore-parse-errors", "true"}};
    if (random() % 2 == 0)
      options["escape-character"] = "\\";
    if (random() % 2 == 0)
      options["allow-comments"] = "true";
    if (random() % 4 == 0)
      options["ignore-first-line"] = "true";
    if (random() % 2 == 0)
      options["allow-quoted-newlines"] = "true";
    const auto type = row_of({text, number});
    auto decoder = make(options)->create_decoder(type);
    REQUIRE(decoder);
    const auto whole = decode_text(**decoder, type, input, input.size(), 1000);
    CAPTURE(input);
    const auto split = random() % (input.size() + 1);
    CAPTURE(split);
    const auto pieces = decode_text(**decoder, type, input, split, random() % 3 + 1);
    REQUIRE(pieces.rows == whole.rows);
    REQUIRE(pieces.skipped == whole.skipped);
    REQUIRE(pieces.lines == whole.lines);
  }
}

TEST_CASE("what cannot be written is an error, never other data") {
  const auto type = row_of({text});
  graph::batch_builder builder(type);
  builder.column(0).append_string("a,b");
  builder.end_row();
  auto encoder = make({{"disable-quote-character", "true"}})->create_encoder(type);
  byte_string out;
  CHECK((*encoder)->encode(builder.finish(), out).error().code == errc::output_unusable);
}
} // TEST_SUITE("task/format/csv")

} // namespace headrace::task
