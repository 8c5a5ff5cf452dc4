#include "apps/shell/shell_commands.hpp"

#include "test/apps/shell/testing_shell.hpp"

#include <doctest/doctest.h>

using namespace headrace;
using namespace headrace::shell;

TEST_SUITE("shell/shell_commands") {
TEST_CASE("commands tell of the cluster, and what is wrong with them") {
  testing::testing_shell shell;
  std::string said;
  shell_commands commands(shell.session(), {}, [&](std::string_view text) { said += text; });

  CHECK(commands.run("jobs").has_value());
  CHECK(said == "no jobs\n");
  said.clear();
  CHECK(commands.run("actors dispatcher").has_value());
  CHECK(said.find("dispatcher") != std::string::npos);
  CHECK(said.find("blob_server") == std::string::npos);
  said.clear();
  CHECK(commands.run("actors shell").has_value());
  CHECK(said.find("shell") != std::string::npos);
  said.clear();
  CHECK(commands.run("help").has_value());
  CHECK(said.find("submit JOB.so") != std::string::npos);

  CHECK(commands.run("").has_value());
  const auto misspelt = commands.run("cancle last");
  CHECK(misspelt.error().code == errc::bad_usage);
  CHECK(misspelt.error().message.find("did you mean cancel") != std::string::npos);
  CHECK(commands.run("wait").error().code == errc::bad_usage);
  CHECK(commands.run("info 00000000000000000000000000000001").error().code == errc::job_not_found);
  CHECK(commands.run("submit").error().code == errc::bad_usage);
  for (const auto* order : {"jobs of mine", "help me", "quit now", "info last more", "watch a b",
                            "cancel a b", "wait a 1 2", "submit /a.so -p", "submit /a.so -s"})
    CHECK(commands.run(order).error().message.starts_with("usage: "));
  CHECK(commands.run("submit /nowhere.so -p x").error().code == errc::bad_usage);
  CHECK(commands.run("submit /nowhere.so").error().code == errc::job_object_unloadable);
  for (const auto* parallelism : {"0", "-3", "32769", "4x"}) {
    const auto refused = commands.run(std::string("submit /nowhere.so -p ") + parallelism);
    CHECK(refused.error().message ==
          std::string("parallelism is a whole number from 1 to 32768: ") + parallelism);
  }
  CHECK(commands.run("savepoint last --type foo").error().message ==
        "--type is native or canonical: foo");
  const auto huge = commands.run(std::string(3'000'000, 'x') + '\x07');
  CHECK(huge.error().message.size() < 200);
  CHECK(commands.run("submit /nowhere.so -s s3://bucket/a").error().code == errc::bad_option_value);
  CHECK(
      commands.run("savepoint " + std::string(32, '1') + " --directory s3://bucket").error().code ==
      errc::bad_usage);
  for (const auto* order : {"stop last --type other", "stop last --directory /s",
                            "savepoint --drain", "savepoint last more", "savepoint"})
    CHECK(commands.run(order).error().code == errc::bad_usage);
  const std::string nobody(32, '1');
  CHECK(commands.run("savepoint --type native " + nobody + " --directory /s").error().code ==
        errc::job_not_found);
  CHECK(commands.run("stop --drain " + nobody).error().code == errc::job_not_found);
}

TEST_CASE("a script of commands ends at the first that fails, and names its line") {
  testing::testing_shell shell;
  std::string said;
  shell_commands commands(shell.session(), {}, [&](std::string_view text) { said += text; });

  const auto done = commands.run_all("jobs\n# a comment\ninfo 12; help\n");

  REQUIRE_FALSE(done.has_value());
  CHECK(done.error().message.find("line 3: info 12") == 0);
  CHECK(said.find("submit JOB.so") == std::string::npos);
  CHECK_FALSE(commands.is_over());
  for (const auto* leave :
       {"quit; nonsense", "exit; nonsense", "QUIT; nonsense", "Exit; nonsense"}) {
    shell_commands ended(shell.session(), {}, [](std::string_view) {});
    CHECK(ended.run_all(leave).has_value());
    CHECK(ended.is_over());
  }
}

TEST_CASE("rows that a job collects are printed while it is waited for") {
  testing::testing_shell shell;
  shell_commands commands(shell.session(), {}, [](std::string_view) {});

  const auto done = commands.run_all("submit " HEADRACE_COLLECTING_JOB "; wait last 60");

  REQUIRE(done.has_value());
  CHECK(shell.rows == "+I[0]\n+I[1]\n+I[2]\n+I[3]\n");
}

TEST_CASE("a cluster that has moved is found again, by every command") {
  for (const auto* command : {"jobs", "actors", "submit " HEADRACE_COLLECTING_JOB "; wait"}) {
    CAPTURE(command);
    testing::testing_shell shell(true);
    shell_commands commands(shell.session(), {}, [](std::string_view) {});

    const auto done = commands.run_all(command);

    CAPTURE(done ? std::string() : to_string(done.error()));
    CHECK(done.has_value());
    CHECK(shell.cluster().found == 1);
  }
}

TEST_CASE("commands complete") {
  testing::testing_shell shell;
  shell_commands commands(shell.session(), {}, [](std::string_view) {});

  const auto first = commands.complete("");
  CHECK(std::find(first.begin(), first.end(), "submit") != first.end());
  CHECK(commands.complete("info ").empty()); // there is no job
  CHECK(commands.complete("help ").empty());
}
} // TEST_SUITE("shell/shell_commands")
