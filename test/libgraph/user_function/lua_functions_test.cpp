#include "libgraph/user_function/lua_functions.hpp"

#include "test/support/random_batch.hpp"
#include "test/support/seed.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

namespace headrace::graph {
namespace {

user_function function_of(std::string body, logical_type result = logical_type::string(),
                          std::vector<logical_type::field> parameters = {}) {
  user_function out;
  out.name = "f";
  out.source = std::move(body);
  out.result = std::move(result);
  out.parameters = std::move(parameters);
  out.limits = {std::uint64_t{4} << 20U, 1'000'000};
  return out;
}

/// The value of a call without arguments, or the error.
std::string outcome_of(const user_function& of) {
  auto made = make_lua_scalar(of);
  if (!made)
    return made.error().message;
  column_builder out(of.result);
  if (const auto done = (*made)->compute({}, {nullptr, 1}, out); !done)
    return done.error().message;
  const auto value = out.finish();
  if (value->is_null(0))
    return "nil";
  return value->type().physical() == physical_type::string ? std::string(value->string_at(0))
                                                           : testing::cell_text(*value, 0);
}
std::string outcome_of(std::string body) { return outcome_of(function_of(std::move(body))); }

bool has(std::string_view text, std::string_view part) { return text.find(part) != text.npos; }

column_ptr numbers_column(const std::vector<std::int64_t>& values) {
  column_builder out(logical_type::bigint());
  for (const auto each : values)
    out.append(each);
  return out.finish();
}

} // namespace

TEST_SUITE_BEGIN("graph/user_function/lua_functions");

TEST_CASE("a body sees its parameters, and gives a value a row") {
  auto of = function_of("return a .. '-' .. tostring(b)", logical_type::string(),
                        {{"a", logical_type::bigint(), {}}, {"b", logical_type::bigint(), {}}});
  auto made = make_lua_scalar(of);
  REQUIRE(made);
  const auto a = numbers_column({1, 2, 3});
  column_builder nothing(logical_type::bigint());
  nothing.append_null();
  const auto b = nothing.finish();
  const user_argument arguments[] = {{a.get(), false}, {b.get(), true}};
  const std::uint32_t rows[] = {0, 2};
  column_builder out(logical_type::string());

  REQUIRE((*made)->compute(arguments, {rows, 2}, out));

  const auto values = out.finish();
  CHECK(values->string_at(0) == "1-nil");
  CHECK(values->string_at(1) == "3-nil");
}

TEST_CASE("an error names the function and the line") {
  CHECK(outcome_of("local x = 1\nreturn x + y") ==
        "f failed: f:2: attempt to perform arithmetic on a nil value (global 'y')");
  CHECK(outcome_of("error('so it is')") == "f failed: f:1: so it is");
  CHECK(outcome_of("error({})") == "f failed: it raised what is no text");
  CHECK(has(outcome_of("return ("), "f failed: f:2: unexpected symbol near 'end'"));
  CHECK(outcome_of(function_of("return 'abc'", logical_type::bigint())) ==
        "f failed: gave a string abc for BIGINT");
  CHECK(outcome_of(function_of("return 300", logical_type::tinyint())) ==
        "f failed: gave a number 300 for TINYINT");
  CHECK(outcome_of(function_of("return 1.5", logical_type::integer())) ==
        "f failed: gave a number 1.5 for INT");
  CHECK(outcome_of(function_of("return nil", logical_type::integer().not_null())) ==
        "f failed: gave nil for INT NOT NULL");
  CHECK(outcome_of(function_of("return 'abcd'", logical_type::varchar(3))) ==
        "f failed: gave a text that is longer than VARCHAR(3)");
}

TEST_CASE("nothing outside is reached") {
  for (const auto* name :
       {"io", "os", "package", "debug", "coroutine", "require", "load", "loadstring", "loadfile",
        "dofile", "print", "warn", "collectgarbage", "string.dump"})
    CHECK_MESSAGE(outcome_of("return tostring(" + std::string(name) + ")") == "nil", name);
}

TEST_CASE("the metatable of texts stays as it is") {
  CHECK(has(outcome_of("getmetatable('').__index = {}"), "attempt to index a boolean value"));
  CHECK(has(outcome_of("setmetatable('', {})"), "table expected"));
  CHECK(outcome_of("return ('a'):upper()") == "A");
}

TEST_CASE("what never ends is cut, however it hides") {
  for (const auto* body :
       {"while true do end", "while true do pcall(function() while true do end end) end",
        "while true do xpcall(function() while true do end end, function() while true do end end) "
        "end",
        "local t = setmetatable({}, {__index = function(t, k) return t[k + 1] end}) "
        "while true do pcall(function() return t[1] end) end",
        "repeat local x <close> = setmetatable({}, {__close = function() while true do end end}) "
        "until false",
        "table.sort({3, 2, 1}, function() while true do end end)",
        "('x'):gsub('x', function() while true do end end)", "::again:: goto again"}) {
    const auto said = outcome_of(body);
    CHECK_MESSAGE(has(said, "instructions (table.exec.lua.instruction-limit)"),
                  body << ": " << said);
  }
}

TEST_CASE("what runs in C does not run for ever either") {
  CHECK(outcome_of("return string.rep('', 1 << 60)").empty());
  CHECK(has(outcome_of("table.move({}, 1, 1 << 60, 2)"), "too many elements to move"));
  for (const auto* name : {"insert(t, 1, 1)", "remove(t, 1)", "concat(t)", "sort(t)"})
    CHECK_MESSAGE(has(outcome_of("local t = setmetatable({}, {__len = function() return 1 << 60 "
                                 "end}) table." +
                                 std::string(name)),
                      "a table without metatable is wanted here"),
                  name);
  CHECK(has(outcome_of("return setmetatable({}, {__gc = function() while true do end end})"),
            "__gc is not allowed here"));
  const auto deep = outcome_of("local function f() return f() + 1 end return f()");
  CHECK_MESSAGE((has(deep, "stack overflow") || has(deep, "not enough memory")), deep);
}

TEST_CASE("memory is bounded, and that cannot be caught") {
  for (const auto* body : {"local t = {} for i = 1, 1 << 40 do t[i] = i end",
                           "local s = 'x' while true do s = s .. s end",
                           "local s = 'x' while true do pcall(function() s = s .. s end) end",
                           "return ('x'):rep(1 << 30)"}) {
    const auto said = outcome_of(body);
    CHECK_MESSAGE((has(said, "not enough memory") || has(said, "instructions")), body << said);
  }
  // A function that was cut goes on with the next row.
  auto of = function_of("kept = (kept or 0) + 1 if kept == 1 then return ('x'):rep(1 << 30) end "
                        "return 'well'");
  auto made = make_lua_scalar(of);
  REQUIRE(made);
  column_builder out(logical_type::string());
  CHECK(!(*made)->compute({}, {nullptr, 1}, out));
  column_builder again(logical_type::string());
  REQUIRE((*made)->compute({}, {nullptr, 1}, again));
  CHECK(again.finish()->string_at(0) == "well");
}

TEST_CASE("values of all types come back as they went") {
  testing::dice random(testing::seed());
  const auto pair = logical_type::row(
      {{"x", logical_type::integer(), {}}, {"y", logical_type::array(logical_type::string()), {}}});
  for (const auto& type :
       {logical_type::boolean(), logical_type::tinyint(), logical_type::smallint(),
        logical_type::integer(), logical_type::bigint(), logical_type::float32(),
        logical_type::float64(), logical_type::decimal(38, 7), logical_type::string(),
        logical_type::bytes(), logical_type::timestamp(3), logical_type::interval_day_time(),
        logical_type::interval_year_month(), logical_type::array(logical_type::bigint()), pair,
        logical_type::array(pair)}) {
    auto made = make_lua_scalar(function_of("return a", type, {{"a", type, {}}}));
    REQUIRE(made);
    column_builder given(type);
    std::vector<std::string> texts;
    for (int i = 0; i < 50; ++i)
      texts.push_back(testing::append_random(random, given, testing::variety::many));
    const auto values = given.finish();
    const user_argument argument{values.get(), false};
    column_builder out(type);

    const auto done = (*made)->compute({&argument, 1}, {nullptr, texts.size()}, out);

    INFO(type.to_sql());
    if (!done)
      FAIL(done.error().message);
    const auto back = out.finish();
    for (std::size_t i = 0; i < texts.size(); ++i)
      CHECK(testing::cell_text(*back, i) == texts[i]);
  }
}

TEST_CASE("maps are tables by key, times may be texts, decimals numbers") {
  const auto map = logical_type::map(logical_type::string(), logical_type::integer());
  CHECK(has(outcome_of(function_of("return {a = 1}", map)), "a"));
  CHECK(outcome_of(function_of("return '2024-02-29'", logical_type::date())) ==
        outcome_of(function_of("return 19782", logical_type::date())));
  CHECK(outcome_of(function_of("return '1970-01-01 00:00:01.5'", logical_type::timestamp(3))) ==
        outcome_of(function_of("return 1500", logical_type::timestamp(3))));
  CHECK(outcome_of(function_of("return '1.25'", logical_type::decimal(5, 2))) ==
        outcome_of(function_of("return 1.25", logical_type::decimal(5, 2))));
  CHECK(has(outcome_of(function_of("return 'soon'", logical_type::date())),
            "gave a string soon for DATE"));
}

TEST_CASE("a table function emits rows, piece by piece") {
  auto of = function_of(
      "for i = 1, n do emit(i, 'x' .. i) end",
      logical_type::row({{"i", logical_type::bigint(), {}}, {"s", logical_type::string(), {}}}),
      {{"n", logical_type::bigint(), {}}});
  of.form = user_form::table;
  auto made = make_lua_table(of);
  REQUIRE(made);
  const auto n = numbers_column({2, 0, 3, 1});
  const user_argument argument{n.get(), false};
  std::vector<std::uint32_t> parents;
  batch_builder out(std::make_shared<const logical_type>(of.result));

  const auto first = (*made)->make({&argument, 1}, {nullptr, 4}, 0, 2, parents, out);
  REQUIRE(first);
  CHECK(*first == 1);
  const auto all = (*made)->make({&argument, 1}, {nullptr, 4}, *first, 100, parents, out);
  REQUIRE(all);
  CHECK(*all == 4);

  CHECK(parents == std::vector<std::uint32_t>{0, 0, 2, 2, 2, 3});
  CHECK(out.finish().at(1).string_at(4) == "x3");

  of.source = "emit(1)";
  parents.clear();
  auto wrong = make_lua_table(of);
  REQUIRE(wrong);
  const auto failed = (*wrong)->make({&argument, 1}, {nullptr, 4}, 0, 2, parents, out);
  REQUIRE(!failed);
  CHECK(failed.error().message == "f failed: f:1: emit takes 2 values, a column each, found 1");
}

TEST_CASE("an aggregate keeps what it wants of a group") {
  auto of = function_of(R"(
      function create() return {sum = 0, seen = {}} end
      function accumulate(g, x) g.sum = g.sum + x; g.seen[#g.seen + 1] = x end
      function retract(g, x) g.sum = g.sum - x end
      function merge(g, other) g.sum = g.sum + other.sum end
      function result(g) return g.sum + #g.seen * 1000 end)",
                        logical_type::bigint(), {{"x", logical_type::bigint(), {}}});
  of.form = user_form::aggregate;
  REQUIRE(check_lua(of));
  CHECK(of.has_retract);
  CHECK(of.has_merge);
  auto made = make_lua_aggregate(of);
  REQUIRE(made);
  const auto x = numbers_column({5, 7});
  const user_argument argument{x.get(), false};
  byte_string group;
  byte_string other;
  REQUIRE((*made)->create(group));
  REQUIRE((*made)->accumulate(group, {&argument, 1}, 0));
  other = group;
  REQUIRE((*made)->accumulate(group, {&argument, 1}, 1));
  REQUIRE((*made)->retract(group, {&argument, 1}, 0));
  REQUIRE((*made)->merge(group, other));
  column_builder out(logical_type::bigint());
  REQUIRE((*made)->tell(group, out));
  CHECK(out.finish()->values<std::int64_t>()[0] == 2012);

  byte_string broken = group.substr(0, group.size() - 3);
  CHECK(has((*made)->tell(broken, out).error().message, "malformed"));

  of.source = "function accumulate(g, x) return (g.n or 0) + x end";
  CHECK(has(check_lua(of).error().message, "missing: result"));
  // What it gives is the group; without retract and merge there is none.
  of.source = "function create() return 0 end function accumulate(g, x) return g + x end "
              "function result(g) return g end";
  REQUIRE(check_lua(of));
  CHECK(!of.has_retract);
  CHECK(!of.has_merge);
}

TEST_CASE("a definition comes back as it went") {
  auto of =
      function_of("return 1", logical_type::decimal(10, 2), {{"a", logical_type::date(), {}}});
  of.is_deterministic = false;
  of.has_merge = true;
  of.symbol = "s";
  const auto bytes = encode(of);
  const auto back = decode_user_function(bytes);
  REQUIRE(back);
  CHECK(*back == of);
  for (std::size_t i = 0; i < bytes.size(); ++i)
    CHECK(!decode_user_function(byte_view(bytes).substr(0, i)));
}

TEST_CASE("names that Lua has not are told") {
  CHECK(is_lua_name("a_1"));
  for (const auto* name : {"", "1a", "end", "a-b", "ä"})
    CHECK(!is_lua_name(name));
}

TEST_SUITE_END();

} // namespace headrace::graph
