#include "libtask/format/plain_json_reader.hpp"

#include "test/libtask/format/format_rows.hpp"
#include "test/support/seed.hpp"
#include "libtask/format/json_format.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

namespace headrace::task {
namespace {

using graph::logical_type;
using testing::decode_text;
using testing::random_engine;
using testing::row_of;

const auto text = logical_type::string();
const auto number = logical_type::bigint();

bool one_of(random_engine& random, unsigned count) { return random() % count == 0; }

template <std::size_t N>
std::string pick(random_engine& random, const char* const (&from)[N]) {
  return from[random() % N];
}

logical_type random_row(random_engine& random, int depth) {
  const std::vector<logical_type> scalars{
      text,
      number,
      logical_type::float64(),
      logical_type::boolean().not_null(),
      logical_type::decimal(10, 2),
      logical_type::timestamp(3),
      logical_type::integer(),
      logical_type::bytes(),
  };
  std::vector<logical_type> types;
  for (auto count = random() % 4 + 1; count > 0; --count) {
    auto type = depth > 0 && one_of(random, 2) ? random_row(random, depth - 1)
                                               : scalars[random() % scalars.size()];
    types.push_back(one_of(random, 8) ? type.not_null() : type);
  }
  return *row_of(types);
}

std::string spaces(random_engine& random) {
  return one_of(random, 8) ? pick(random, {" ", "  ", "\t", "\r", " \t "}) : std::string();
}

std::string random_string(random_engine& random) {
  std::string out = "\"";
  for (auto count = random() % 4; count > 0; --count)
    out += pick(random, {"abc", "x", "a longer text, not inline", "\xc3\xa9", "\\\\", "\\\"", "\\n",
                         "\\/\\b\\f\\r\\t", "{[,:]}", "12"});
  if (one_of(random, 3)) // the ends of the blocks that are looked at
    out.insert(1, std::string(random() % 70, 'y'));
  if (one_of(random, 16))
    out += pick(random, {"\\u00e9", "\\u0041", "\\x", "\xff", "\x01", "\\ud83d\\ude00"});
  return out + '"';
}

std::string random_value(random_engine& random, const logical_type& type);

/// Any JSON value, wrong ones among them.
std::string random_json(random_engine& random, int depth) {
  std::string out;
  switch (random() % (depth > 0 ? 5 : 3)) {
  case 0:
    return random_string(random);
  case 1:
    return pick(random, {"1", "-2.5e3", "0", "-", "1-2", "01", "1e", "123456789012345678901"});
  case 2:
    return pick(random, {"true", "false", "null", "nul", "nulls", "True", "{}", "[]", "[", "]"});
  case 3:
    out = "[";
    for (auto count = random() % 3; count > 0; --count)
      out += spaces(random) + random_json(random, depth - 1) + (count > 1 ? "," : "");
    return out + spaces(random) + "]";
  default:
    out = "{";
    for (auto count = random() % 3; count > 0; --count)
      out += spaces(random) + random_string(random) + ":" + random_json(random, depth - 1) +
             (count > 1 ? "," : "");
    return out + "}";
  }
}

std::string random_object(random_engine& random, const logical_type& row) {
  std::vector<std::string> members;
  const auto add = [&](const std::string& name, const std::string& value) {
    members.push_back('"' + name + '"' + spaces(random) + ':' + spaces(random) + value);
  };
  for (const auto& field : row.fields()) {
    if (one_of(random, 16))
      continue;
    const auto name = one_of(random, 64) ? "\\u0063" + field.name.substr(1) : field.name;
    add(name, random_value(random, field.type));
    if (one_of(random, 32))
      add(field.name, random_value(random, field.type));
  }
  if (one_of(random, 4))
    add("other", random_json(random, one_of(random, 2) ? 2 : 0));
  if (one_of(random, 4))
    std::shuffle(members.begin(), members.end(), random);
  std::string out = "{";
  for (const auto& each : members)
    out += (&each == members.data() ? "" : ",") + spaces(random) + each + spaces(random);
  return out + "}" + spaces(random);
}

std::string random_value(random_engine& random, const logical_type& type) {
  if (one_of(random, type.is_nullable() ? 6 : 64))
    return "null";
  if (one_of(random, 48))
    return random_json(random, 2);
  switch (type.root()) {
  case graph::type_root::row:
    return random_object(random, type);
  case graph::type_root::boolean:
    return pick(random, {"true", "false", "\"true\""});
  case graph::type_root::timestamp:
    if (one_of(random, 12))
      return pick(random, {"\"2024-02-29 12:34:60\"", "\"2024-02-29 12:34:00.\"",
                           "\"2024-02-29 12:34:5\"", "\"2024-02-29 12:34:07x\""});
    return pick(random, {"\"2024-02-29 12:34:56.789\"", "\"2015-07-15T00:00:00Z\"",
                         "\"2024-02-29 12:34:07.1\"", "\"2024-02-29 12:34:59\""});
  case graph::type_root::varbinary:
    return pick(random, {"\"YWJj\"", "\"\""});
  case graph::type_root::varchar:
    return random_string(random);
  default:
    if (one_of(random, 12))
      return pick(random, {"2147483648", "-2147483648", "123456789012345", "1234567890123456",
                           "9223372036854775808", "1.5", "1e2"});
    return pick(random, {"0", "-12", "7", "\"34\"", "1234567", "12345678"});
  }
}

std::string random_line(random_engine& random, const logical_type& type) {
  const std::string letters = "{}[]:,\"\\ \t\r\x01\x7f\xc3\xa9"
                              "c0123naeltrufs-.+E";
  auto out = random_object(random, type);
  if (!one_of(random, 4))
    return out;
  for (auto changes = random() % 2 + 1; changes > 0; --changes) {
    const auto at = random() % out.size();
    if (one_of(random, 2))
      out[at] = letters[random() % letters.size()];
    else if (one_of(random, 2))
      out.insert(at, 1, letters[random() % letters.size()]);
    else
      out.erase(at, random() % 3);
    if (out.empty())
      out = " ";
  }
  return out;
}

struct case_of_types {
  graph::row_type_ptr type;
  graph::row_type_ptr whole; ///< with a list behind, which only the whole parser takes
};

case_of_types random_types(random_engine& random) {
  case_of_types out;
  const auto row = random_row(random, 3);
  out.type = std::make_shared<const logical_type>(row);
  auto fields = row.fields();
  fields.push_back({"list", logical_type::array(number), ""});
  out.whole = std::make_shared<const logical_type>(logical_type::row(std::move(fields)));
  return out;
}

std::unique_ptr<graph::decoder> make_decoder(const graph::row_type_ptr& type,
                                             const graph::option_map& options) {
  auto decoder = (*make_json_format(options))->create_decoder(type);
  REQUIRE(decoder);
  return std::move(*decoder);
}

/// The rows without the list that is NULL in each.
std::vector<std::string> without_list(std::vector<std::string> rows) {
  for (auto& row : rows) {
    REQUIRE(row.ends_with("NULL|"));
    row.resize(row.size() - 5);
  }
  return rows;
}

} // namespace

TEST_SUITE("task/format/plain_json_reader") {
TEST_CASE("what is read is what the whole parser reads") {
  random_engine random(testing::seed());
  int lines = 0;
  int lines_read = 0;
  for (int round = 0; round < 500; ++round) {
    const auto types = random_types(random);
    REQUIRE(plain_json_reader::is_for(*types.type));
    REQUIRE(!plain_json_reader::is_for(*types.whole));
    plain_json_reader reader(*types.type, false);
    graph::batch_builder builder(types.type);
    std::string input;
    for (int line = 0; line < 40; ++line) {
      const auto next = random_line(random, *types.type) + "\n";
      ++lines;
      const auto end = reader.read(next, 0, false, builder);
      if (!end) {
        builder.discard_row();
        continue;
      }
      ++lines_read;
      REQUIRE(*end == next.size() - 1);
      builder.end_row();
      input += next;
    }
    CAPTURE(types.type->to_sql());
    CAPTURE(input);
    const auto rows = testing::rows_as_texts(builder.finish());
    const auto parser = make_decoder(types.whole, {});
    const auto parsed = decode_text(*parser, types.whole, input, input.size(), 1000);
    REQUIRE_MESSAGE(!parsed.failure, (parsed.failure ? parsed.failure->message : ""));
    REQUIRE(rows == without_list(parsed.rows));
  }
  CHECK(lines_read > lines / 3); // or the lines say little
}

TEST_CASE("a decoder that has the reader does all as one that has not") {
  random_engine random(testing::seed());
  for (int round = 0; round < 3000; ++round) {
    const auto types = random_types(random);
    std::string input;
    for (auto count = random() % 5 + 1; count > 0; --count)
      input += random_line(random, *types.type) + (one_of(random, 16) ? "\n\n" : "\n");
    if (one_of(random, 4))
      input.pop_back();
    const graph::option_map options{{"ignore-parse-errors", one_of(random, 2) ? "true" : "false"}};
    const auto decoder = make_decoder(types.type, options);
    const auto parser = make_decoder(types.whole, options);
    CAPTURE(types.type->to_sql());
    CAPTURE(input);
    const bool shares = one_of(random, 2);
    const auto first_bytes = one_of(random, 2) ? input.size() : random() % (input.size() + 1);
    const auto rows_max = random() % 5 + 1;
    const auto read = decode_text(*decoder, types.type, input, first_bytes, rows_max, shares);
    const auto parsed = decode_text(*parser, types.whole, input, first_bytes, rows_max, shares);
    REQUIRE(read.rows == without_list(parsed.rows));
    REQUIRE(read.skipped == parsed.skipped);
    REQUIRE(read.lines == parsed.lines);
    REQUIRE(read.failure.has_value() == parsed.failure.has_value());
    if (read.failure)
      REQUIRE(read.failure->message == parsed.failure->message);
  }
}

TEST_CASE("strings inside of rows lie in the block that was read") {
  const std::string line = R"({"c0":{"c0":{"c0":"a text that is not inline"}}})"
                           "\n";
  const auto type = row_of({*row_of({*row_of({text})})});
  const auto block = graph::buffer::allocate(line.size());
  std::copy(line.begin(), line.end(), block->mutable_as<char>());
  const byte_view input(block->as<char>(), line.size());
  graph::batch_builder builder(type);
  const auto done = make_decoder(type, {})->decode(input, true, {"in", 0, 0}, 10, block, builder);
  REQUIRE(done);
  const auto rows = builder.finish();
  CHECK(rows.columns()[0]->child(0).child(0).string_at(0).data() ==
        input.data() + line.find("a text"));
}

TEST_CASE("a field that is missing inside of a row fails when the option says so") {
  const auto type = row_of({*row_of({number, number})});
  const std::string line = "{\"c0\":{\"c1\":1}}\n";
  const auto message = [&](const graph::option_map& options) {
    const auto out = decode_text(*make_decoder(type, options), type, line, line.size(), 10);
    return out.failure ? out.failure->message : out.rows.at(0);
  };
  CHECK(message({}) == "ROW(NULL;<1>;)|");
  CHECK(message({{"fail-on-missing-field", "true"}}).find("field `c0` is missing") !=
        std::string::npos);
}

TEST_CASE("what lies too deep is left to the whole parser") {
  auto type = number;
  for (int depth = 0; depth < 100; ++depth)
    type = *row_of({type});
  CHECK(!plain_json_reader::is_for(type));
  const auto flat = row_of({number});
  plain_json_reader reader(*flat, false);
  graph::batch_builder builder(flat);
  const auto nested = [](std::size_t depth) {
    return "{\"x\":" + std::string(depth, '[') + std::string(depth, ']') + ",\"c0\":1}\n";
  };
  CHECK(reader.read(nested(10), 0, false, builder));
  builder.end_row();
  CHECK(!reader.read(nested(5000), 0, false, builder));
}
} // TEST_SUITE("task/format/plain_json_reader")

} // namespace headrace::task
