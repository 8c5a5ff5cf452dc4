#include "libactors/base/log.hpp"

#include "libactors/base/file_system.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <unistd.h>

using namespace headrace;

TEST_SUITE("actors/base/log") {

TEST_CASE("fields follow the words, the context's first, and are quoted where needed") {
  std::vector<std::string> lines;
  const auto log = logger::to([&](log_level, std::string_view line) { lines.emplace_back(line); },
                              log_level::info);
  const auto of_job = log.with({{"job", "42"}}).with({{"vertex", "my map"}});

  of_job.info("task started", {{"attempt", "1"}, {"text", "a=\"b\"\nc"}, {"empty", ""}});
  of_job.debug("not enabled");
  log.warn("plain");

  CHECK(lines ==
        std::vector<std::string>{
            "task started job=42 vertex=\"my map\" attempt=1 text=\"a=\\\"b\\\"\\nc\" empty=\"\"",
            "plain"});
}

TEST_CASE("a logger of nothing takes everything") {
  const logger none;

  none.with({{"a", "b"}}).error("unheard");

  CHECK(!none.is_enabled(log_level::error));
}

TEST_CASE("a file gets whole lines with time and level") {
  const auto path =
      (std::filesystem::temp_directory_path() / ("headrace-log-" + std::to_string(::getpid())))
          .string();

  logger::to(path, log_level::info).warn("something {} happened", {{"count", "1"}});

  const auto files = make_local_file_system();
  const auto content = files->read_all(path, 10'000);
  REQUIRE(content);
  CHECK(content->find("Z warning something {} happened count=1\n") != std::string::npos);
  CHECK(files->remove(path));
}

} // TEST_SUITE("actors/base/log")
