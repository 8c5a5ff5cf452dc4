#include "apps/shell/shell_words.hpp"

#include "apps/shell/shell_session.hpp"

#include <doctest/doctest.h>

using namespace headrace;
using namespace headrace::shell;

TEST_SUITE("shell/shell_words") {
TEST_CASE("a line is split into words") {
  struct row {
    const char* line;
    std::vector<std::string> words;
  };
  const row rows[] = {
      {"", {}},
      {"  \t ", {}},
      {"jobs", {"jobs"}},
      {" submit  a.so -p 2 ", {"submit", "a.so", "-p", "2"}},
      {"submit 'a b.so' \"c d\"", {"submit", "a b.so", "c d"}},
      {R"(a\ b "c\"d" 'e\f')", {"a b", "c\"d", "e\\f"}},
      {"a'b'\"c\"", {"abc"}},
      {"wait '' 5", {"wait", "", "5"}},
      {"jobs # all of them", {"jobs"}},
      {"a#b", {"a#b"}},
      {"# nothing", {}},
  };
  for (const auto& each : rows) {
    CAPTURE(each.line);
    const auto words = split_words(each.line);
    REQUIRE(words.has_value());
    CHECK(*words == each.words);
  }
  CHECK(split_words("a 'b").error().code == errc::bad_usage);
  CHECK(split_words("a \"b").error().code == errc::bad_usage);
}

TEST_CASE("a text is split into commands, which know their lines") {
  const auto lines = split_commands("# a script; of two lines\n"
                                    "submit 'a;b.so'; wait # and see; nothing more\n"
                                    "\n"
                                    "  jobs;;\n");

  REQUIRE(lines.size() == 3);
  CHECK(lines[0].number == 2);
  CHECK(lines[0].text == "submit 'a;b.so'");
  CHECK(lines[1].number == 2);
  CHECK(split_words(lines[1].text)->size() == 1);
  CHECK(lines[2].number == 4);
}

TEST_CASE("a job is named by its id, the beginning of it, or as the last") {
  const job_id first{0xab00, 1};
  const job_id second{0xab10, 2};
  const std::vector<job_id> ids{first, second};
  const auto text = to_string(second);

  CHECK(*match_job(text, {}, {}) == second);
  CHECK(*match_job(text.substr(0, 15), ids, {}) == second);
  CHECK(*match_job("last", ids, first) == first);
  CHECK(*match_job("", ids, first) == first);
  CHECK(match_job("", ids, {}).error().code == errc::bad_usage);
  CHECK(match_job("000", ids, {}).error().code == errc::bad_usage);
  CHECK(match_job("ff", ids, {}).error().code == errc::job_not_found);
}

TEST_CASE("what a user gave is shown without control characters, and cut") {
  CHECK(in_short("jbos") == "jbos");
  CHECK(in_short("a\x1b[31m\n") == "a\\x1b[31m\\x0a");
  CHECK(in_short(std::string(119, 'a') + "\u00e9") ==
        std::string(119, 'a') + "\u2026 (121 bytes)"); // not half of a character
}

TEST_CASE("a job is described with counts of one and of several") {
  scheduler::job_status job;
  job.name = "job";
  job.state = scheduler::job_state::running;
  job.restarts = 1;
  job.completed_checkpoints = 2;
  const auto said = describe_job(job, 0);
  CHECK(said.find(", 0 records read, 2 checkpoints, 1 restart") != std::string::npos);
}
} // TEST_SUITE("shell/shell_words")
