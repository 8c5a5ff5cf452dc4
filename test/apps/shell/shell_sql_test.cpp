#include "apps/shell/shell_sql.hpp"

#include "test/apps/shell/testing_shell.hpp"
#include "apps/shell/shell_commands.hpp"
#include "apps/shell/shell_words.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace headrace;
using namespace headrace::shell;

namespace {

constexpr auto* numbers = "CREATE TABLE n (v BIGINT) WITH ('connector' = 'datagen',\n"
                          "  'fields.v.kind' = 'sequence', 'fields.v.start' = '1',\n"
                          "  'fields.v.end' = '100'); -- a hundred\n"
                          "CREATE TABLE nowhere (v BIGINT) WITH ('connector' = 'blackhole');\n";

/// Words in, text out.
struct typed {
  testing::testing_shell shell;
  std::string said;
  shell_commands commands{shell.session(), {}, [this](std::string_view text) { said += text; }};
};

} // namespace

TEST_SUITE("shell/shell_sql") {

TEST_CASE("what begins with a statement's word is SQL") {
  for (const auto* text :
       {"select 1", "SELECT 1", "  \n with t as (…)", "(SELECT 1)", "stop job 'a'", "Stop  Job 'a'",
        "explain x", "show jobs", "SET", "desc t", "values 1"})
    CHECK_MESSAGE(is_sql(text), text);
  for (const auto* text : {"", "jobs", "stop", "stop last", "stop jobs", "selected", "show_jobs",
                           "settings", "help", "wait"})
    CHECK_MESSAGE(!is_sql(text), text);
}

TEST_CASE("a statement ends at its semicolon") {
  struct row {
    const char* text;
    const char* statement; ///< nothing: it does not end
  };
  const row rows[] = {
      {"SELECT 1; jobs", "SELECT 1"},
      {"SELECT 1", nullptr},
      {"SELECT ';', `;`, \";\" -- ; no\n, /* ; */ 1;",
       "SELECT ';', `;`, \";\" -- ; no\n, /* ; */ 1"},
      {"SELECT 'it''s;';", "SELECT 'it''s;'"},
      {"SELECT 'open;", nullptr},
      {"CREATE FUNCTION f() AS $$ a; b; $$;", "CREATE FUNCTION f() AS $$ a; b; $$"},
      {"EXECUTE STATEMENT SET BEGIN INSERT a; INSERT b; END; jobs",
       "EXECUTE STATEMENT SET BEGIN INSERT a; INSERT b; END"},
      {"begin  statement\nset; insert a; end ;x", "begin  statement\nset; insert a; end "},
      {"EXECUTE STATEMENT SET BEGIN INSERT a;", nullptr},
  };
  for (const auto& each : rows) {
    CAPTURE(each.text);
    const std::string_view text = each.text;
    const auto end = end_of_sql(text);
    if (each.statement == nullptr)
      CHECK(end == std::string_view::npos);
    else
      CHECK(text.substr(0, end) == each.statement);
  }
}

TEST_CASE("commands and statements stand beside one another, and know their lines") {
  const auto lines = split_commands("-- both; here\njobs; SELECT\n 1; info # more\nUSE a");

  REQUIRE(lines.size() == 4);
  CHECK(lines[0].text == "jobs");
  CHECK(lines[1].text == "SELECT\n 1");
  CHECK(lines[1].number == 2);
  CHECK(lines[2].number == 3);
  CHECK(split_words(lines[2].text)->front() == "info");
  CHECK(lines[3].text == "USE a");
  CHECK(lines[3].number == 4);

  const auto one_a_line = split_commands("SELECT 1;\nSELECT 2;\n\n  SELECT 3;\n");
  REQUIRE(one_a_line.size() == 3);
  CHECK(one_a_line[1].text == "SELECT 2");
  CHECK(one_a_line[1].number == 2);
  CHECK(one_a_line[2].text == "SELECT 3");
  CHECK(one_a_line[2].number == 4);
}

TEST_CASE("tables stay, a query is shown, and an INSERT is a job that goes on by itself") {
  typed in;
  REQUIRE(in.commands.run_all(numbers));
  REQUIRE(in.commands.run_all("SELECT COUNT(*) AS rows_of, SUM(v) AS total FROM n;"));
  CHECK(in.said == "rows_of  total\n100      5050\n");
  in.said.clear();

  REQUIRE(in.commands.run_all("INSERT INTO nowhere SELECT * FROM n; wait last 60"));
  CHECK(in.said.find("submitted ") == 0);
  CHECK(in.said.find("finished") != std::string::npos);
  in.said.clear();

  REQUIRE(in.commands.run_all("SHOW JOBS LIKE '%nowhere'"));
  CHECK(in.said.find("insert into nowhere") != std::string::npos);
  CHECK(in.said.find("FINISHED") != std::string::npos);
  CHECK(in.said.find("select") == std::string::npos);
}

TEST_CASE(
    "a job that never ends is stopped by a statement, with a savepoint where that is wanted") {
  typed in;
  REQUIRE(in.commands.run_all("CREATE TABLE n (v BIGINT) WITH ('connector' = 'datagen',"
                              " 'rows-per-second' = '1000');"
                              "CREATE TABLE nowhere (v BIGINT) WITH ('connector' = 'blackhole');"
                              "INSERT INTO nowhere SELECT * FROM n; STOP JOB 'last'"));
  CHECK(in.said.find("canceled ") != std::string::npos);
  CHECK(in.commands.run_all("wait last 60").error().code == errc::job_canceled);
}

TEST_CASE("what a setting of Flink's does not do is told") {
  typed in;
  REQUIRE(in.commands.run_all("SET 'pipeline.object-reuse' = 'true'"));
  CHECK(in.said.find("warning: SET 'pipeline.object-reuse' has no effect: batches are shared") ==
        0);
}

TEST_CASE("what is wrong is told with its place, and nothing has changed") {
  typed in;
  REQUIRE(in.commands.run_all(numbers));

  const auto misspelt = in.commands.run_all("SELECT * FROM m");
  CHECK(misspelt.error().code == errc::bad_usage);
  CHECK(misspelt.error().message.find("line 1, column 15") == 0);
  CHECK(in.commands.run_all("SELECT").error().code == errc::bad_usage);
  CHECK(in.commands.run_all("STOP JOB '11111111111111111111111111111111'").error().code ==
        errc::job_not_found);
  CHECK(in.commands.run_all("submit a.sql").error().message.find("source a.sql") !=
        std::string::npos);
  CHECK(in.commands.run_all("source /nowhere/a.sql").error().code != errc::none);
  CHECK(in.commands.run_all("SHOW TABLES"));
  CHECK(in.said == "table name\nn\nnowhere\n");
}
} // TEST_SUITE("shell/shell_sql")
