#include "libtask/format/lines_format.hpp"

#include "test/libtask/format/format_rows.hpp"
#include "libgraph/data/batch_builder.hpp"

#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <vector>

namespace headrace::task {
namespace {

using graph::logical_type;
using testing::row_of;
using texts = std::vector<std::optional<std::string>>;

std::unique_ptr<graph::format> make() {
  auto made = make_lines_format({});
  REQUIRE(made);
  return std::move(*made);
}

/// Writes texts, nothing for NULL. @returns how that went
status encode(const texts& what, byte_string& out) {
  const auto type = row_of({logical_type::string()});
  graph::batch_builder builder(type);
  for (const auto& each : what) {
    if (each)
      builder.column(0).append_string(*each);
    else
      builder.column(0).append_null();
    builder.end_row();
  }
  const auto encoder = make()->create_encoder(type);
  REQUIRE(encoder);
  return (*encoder)->encode(builder.finish(), out);
}

} // namespace

TEST_SUITE("task/format/lines") {

TEST_CASE("what is written is read again, NULL as an empty text") {
  byte_string out;
  REQUIRE(encode({"a", "", std::nullopt, "b\rc", "d,\"e\""}, out));
  CHECK(out == "a\n\n\nb\rc\nd,\"e\"\n");

  const auto type = row_of({logical_type::string()});
  const auto decoder = make()->create_decoder(type, type);
  REQUIRE(decoder);
  const auto back = testing::decode_text(**decoder, type, out, 3, 2);
  CHECK(back.rows == std::vector<std::string>{"<a>|", "<>|", "<>|", "<b\rc>|", "<d,\"e\">|"});
}

TEST_CASE("a text that would be read as something else is refused, with what to do") {
  for (const auto* text : {"a\nb", "\n", "a\r", "\r\n"}) {
    byte_string out;
    const auto outcome = encode({text}, out);
    REQUIRE_FALSE(outcome);
    CHECK(outcome.error().code == errc::output_unusable);
    CHECK(outcome.error().message.find("'csv' or 'json'") != std::string::npos);
  }
}

} // TEST_SUITE("task/format/lines")

} // namespace headrace::task
