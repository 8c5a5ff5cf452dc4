#include "libgraph/expression/kernel/json_path.hpp"

#include <doctest/doctest.h>

#include <array>
#include <string>
#include <utility>

using namespace headrace;
using namespace headrace::graph;

namespace {

/// What is at the path, one value behind the other; "error" where a part of a strict path is not.
std::string at(std::string_view path, std::string_view text) {
  const auto made = json_path::compile(path);
  REQUIRE(made);
  json_document document;
  REQUIRE(document.parse(text));
  const auto found = made->find(document);
  std::string out = found.is_error ? "error" : found.is_list ? "list" : "one";
  for (const auto node : found.nodes) {
    out += ' ';
    document.append_json(node, out);
  }
  return out;
}

std::string number(std::string_view written) {
  std::string out;
  append_json_number(written, out);
  return out;
}

} // namespace

TEST_SUITE_BEGIN("graph/expression/json_path");

TEST_CASE("a document is the whole text and nothing else") {
  json_document document;
  for (const auto* text : {"1", " {} ", "[1,{\"a\":null}]", "\"\\u00e4\"", "-0.5e-3", "true"}) {
    CAPTURE(text);
    CHECK(document.parse(text));
  }
  for (const auto* text : {"", " ", "[1", "{\"a\":}", "{} 1", "1 2", "nul", "01", "'a'", "[1,]",
                           "\"\xff\"", "{\"a\" 1}", "[1}"}) {
    CAPTURE(text);
    CHECK_FALSE(document.parse(text));
  }
}

TEST_CASE("a document is used again") {
  json_document document;
  std::string out;
  for (int i = 0; i < 3; ++i) {
    REQUIRE(document.parse(R"({"b":[1, 2.50],"a":{"z":"q\"","y":null},"b":true})"));
    document.append_json(0, out);
    CHECK_FALSE(document.parse("{"));
  }
  // Members by their names, of equal ones the last.
  const std::string once = R"({"a":{"y":null,"z":"q\""},"b":true})";
  CHECK(out == once + once + once);
}

TEST_CASE("a path leads to values") {
  constexpr std::string_view text =
      R"({"a":{"b":[10,20,30],"c d":{"e":1}},"x":[{"k":1},{"k":2},{"m":{"k":3}}],"n":null})";
  CHECK(at("$.n", text) == "one null");
  CHECK(at("$.a.b[0]", text) == "one 10");
  CHECK(at("$.a.b[-1]", text) == "one 30");
  CHECK(at("$.a.b[1:]", text) == "list 20 30");
  CHECK(at("$.a.b[0:2]", text) == "list 10 20");
  CHECK(at("$.a.b[:-1]", text) == "list 10 20");
  CHECK(at("$.a['c d'].e", text) == "one 1");
  CHECK(at("$.a.[\"c d\"].e", text) == "one 1");
  CHECK(at("$.x[*].k", text) == "list 1 2");
  CHECK(at("$..k", text) == "list 1 2 3");
  CHECK(at("$.x[2].*", text) == "list {\"k\":3}");
  CHECK(at("lax $.a.zzz", text) == "one");
  CHECK(at("$.a.zzz", text) == "error");
  CHECK(at("strict $.a.b[3]", text) == "error");
  CHECK(at("$.zzz[*]", text) == "error");
  CHECK(at("$.x[*].zzz", text) == "list");
  CHECK(at("$", "5") == "one 5");
}

TEST_CASE("a path that is none is told") {
  for (const auto* path :
       {"", "a", "$a", "$.", "$[", "$['a]", "$[?(@.a > 1)]", "$.size()", "$.a[x]", "other $.a"}) {
    CAPTURE(path);
    const auto made = json_path::compile(path);
    REQUIRE_FALSE(made);
    CHECK(made.error().code == errc::type_mismatch);
  }
}

TEST_CASE("numbers keep their digits") {
  const std::array<std::pair<const char*, const char*>, 12> cases{
      {{"1.50", "1.50"},
       {"1e3", "1E+3"},
       {"1.0E10", "1.0E+10"},
       {"12", "12"},
       {"-0.50", "-0.50"},
       {"0.000001", "0.000001"},
       {"0.0000001", "1E-7"},
       {"1.25e-7", "1.25E-7"},
       {"1.0e-3", "0.0010"},
       {"12.5e1", "125"},
       {"0e5", "0E+5"},
       {"123456789012345678901.5", "123456789012345678901.5"}}};
  for (const auto& [written, shown] : cases) {
    CAPTURE(written);
    CHECK(number(written) == shown);
  }
}

TEST_SUITE_END();
