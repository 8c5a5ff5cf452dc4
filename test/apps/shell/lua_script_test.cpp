#include "apps/shell/lua_script.hpp"

#include "test/apps/shell/testing_shell.hpp"

#include <doctest/doctest.h>

using namespace headrace;
using namespace headrace::shell;

namespace {

struct script_run {
  status done;
  std::string said;
};
script_run run(shell_session& session, std::string_view text) {
  script_run out;
  lua_options options;
  options.name = "test.lua";
  options.arguments = {"one", "two"};
  options.print = [&](std::string_view words) { out.said += words; };
  out.done = run_lua(session, text, options);
  return out;
}

} // namespace

TEST_SUITE("shell/lua_script") {
TEST_CASE("a script sees the cluster") {
  testing::testing_shell shell;

  const auto ran = run(shell.session(), R"(
assert(#jobs() == 0)
local kinds = {}
for _, actor in ipairs(actors()) do
  kinds[actor.kind] = actor
  assert(actor.state == "running" or actor.state == "starting", actor.name)
end
assert(kinds.dispatcher.parent == "root")
assert(kinds.shell.taken >= 1)
assert(#actors().silent == 0)
print("arguments", #arguments, arguments[2])
)");

  CAPTURE(ran.done.has_value() ? "" : to_string(ran.done.error()));
  CHECK(ran.done.has_value());
  CHECK(ran.said == "arguments\t2\ttwo\n");
}

TEST_CASE("statements of SQL give jobs, rows and words") {
  testing::testing_shell shell;

  const auto ran = run(shell.session(), R"(
sql([[
  CREATE TABLE n (v INT, s STRING) WITH ('connector' = 'datagen', 'number-of-rows' = '10',
    'fields.v.kind' = 'sequence', 'fields.v.start' = '1', 'fields.v.end' = '10');
  CREATE TABLE nowhere (v BIGINT) WITH ('connector' = 'blackhole');
]])
local rows = sql("SELECT SUM(v) AS total, CAST(NULL AS INT) AS nil_one, ARRAY[1, 2] AS a, "
  .. "1.5E0 AS half, TRUE AS yes, 'x;y' AS s FROM n;")
assert(#rows == 1 and rows[1].total == 55 and rows[1].nil_one == nil)
assert(#rows[1].a == 2 and rows[1].a[2] == 2 and rows[1].half == 1.5)
assert(rows[1].yes == true and rows[1].s == "x;y")
assert(#sql("SELECT v FROM n WHERE v > 100") == 0)
assert(sql("SHOW TABLES")[2]["table name"] == "nowhere")
local job = sql("INSERT INTO nowhere SELECT v FROM n")
assert(job:wait(60).state == "finished")
assert(job:info().records == 10)
)");

  CAPTURE(ran.done.has_value() ? "" : to_string(ran.done.error()));
  CHECK(ran.done.has_value());
}

TEST_CASE("what fails is told with script and line") {
  testing::testing_shell shell;
  struct row {
    const char* text;
    const char* words;
  };
  const row rows[] = {
      {"\n\nassert(1 == 2)", "test.lua:3: assertion failed!"},
      {"\nassert(false, 'no rows')", "test.lua:2: no rows"},
      {"error('boom')", "test.lua:1: boom"},
      {"error({})", "test.lua:1: table"},
      {"local x = nil\nprint(x.y)", "test.lua:2: attempt to index"},
      {"\nx = = 1", "test.lua:2: unexpected symbol"},
      {"\nsubmit('/nowhere.so')", "test.lua:2: "},
      {"submit('/nowhere.so', {paralelism = 2})", "unknown field paralelism"},
      {"submit('/nowhere.so', {savepoint = true})", "savepoint is the directory"},
      {"submit('/nowhere.so', {savepoint = 's3://bucket/a'})", "execution.state-recovery.path"},
      {"submit('/nowhere.so', {parallelism = 0})",
       "parallelism is a whole number from 1 to 32768: 0"},
      {"submit('/nowhere.so', {settings = {['state.backend.typ'] = 'hashmap'}})",
       "did you mean state.backend.type"},
      {"\n\ninfo('00000000000000000000000000000001')", "test.lua:3: no such job"},
      {"wait()", "no job was submitted here"},
      {"sleep(-1)", "not negative"},
      {"\nsql('SELECT * FROM nope')", "test.lua:2: line 1, column 15: unknown table: nope"},
      {"sql([[CREATE TABLE e (a INT) WITH ('connector' = 'datagen'); SELECT a FROM e]])",
       "query does not end"},
  };
  for (const auto& each : rows) {
    CAPTURE(each.text);

    const auto ran = run(shell.session(), each.text);

    REQUIRE_FALSE(ran.done.has_value());
    CHECK(ran.done.error().code == errc::user_function_failed);
    CAPTURE(ran.done.error().message);
    CHECK(ran.done.error().message.find(each.words) != std::string::npos);
  }
}

TEST_CASE("a script reaches nothing outside of its sandbox") {
  testing::testing_shell shell;

  const auto ran = run(shell.session(), R"(
for _, name in ipairs({"io", "os", "package", "debug", "require", "dofile", "loadfile", "load"}) do
  assert(_G[name] == nil, name)
end
assert(string.format("%d", 5) == "5" and math.max(1, 2) == 2 and #table.pack(1, 2) == 2)
)");

  CAPTURE(ran.done.has_value() ? "" : to_string(ran.done.error()));
  CHECK(ran.done.has_value());
}

TEST_CASE("a script's memory is bounded") {
  testing::testing_shell shell;

  const auto ran = run(shell.session(), "local t = {}\n"
                                        "for i = 1, 1000 do t[i] = string.rep('x', 1e6) .. i end");

  REQUIRE_FALSE(ran.done.has_value());
  CHECK(ran.done.error().message.find("memory") != std::string::npos);
}

TEST_CASE("an interrupt ends a script that runs on and on") {
  testing::testing_shell shell;
  shell.session().interrupt();

  CHECK(run(shell.session(), "while true do end").done.error().message.find("interrupted") !=
        std::string::npos);
  CHECK(run(shell.session(), "sleep(1000)").done.error().message.find("interrupted") !=
        std::string::npos);
  CHECK(run(shell.session(), "while true do pcall(function() while true do end end) end")
            .done.error()
            .message.find("interrupted") != std::string::npos);
  CHECK(run(shell.session(), "coroutine.wrap(function() while true do end end)()")
            .done.error()
            .message.find("interrupted") != std::string::npos);
}

TEST_CASE("a script's tables have no finalizers, which nothing could interrupt") {
  testing::testing_shell shell;

  CHECK(run(shell.session(), "setmetatable({}, {__gc = function() while true do end end})")
            .done.error()
            .message.find("finalizers") != std::string::npos);
  CHECK(run(shell.session(), "assert(setmetatable({}, {__index = {a = 1}}).a == 1)").done);
}
} // TEST_SUITE("shell/lua_script")
