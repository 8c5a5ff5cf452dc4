#include "apps/cluster/working_directory.hpp"

#include "test/support/scratch_directory.hpp"

#include <doctest/doctest.h>

#include <csignal>
#include <filesystem>
#include <optional>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace headrace::cluster {
namespace {

class immediate_executor final : public executor {
public:
  void submit(std::function<void()> step) override { step(); }
};

struct shared_base {
  testing::scratch_directory scratch;
  std::unique_ptr<file_system> files = make_local_file_system();
  std::string base = scratch.path();

  void put(const std::string& path, const std::string& content) {
    REQUIRE(files->create_directories(base + path.substr(0, path.rfind('/'))).has_value());
    REQUIRE(files->write_atomically(base + path, content).has_value());
  }
  bool has(const std::string& path) const { return std::filesystem::exists(base + path); }
};

TEST_SUITE_BEGIN("cluster/working_directory");

TEST_CASE_FIXTURE(shared_base, "what a killed process left is removed, though it has its pid yet") {
  int ready[2];
  REQUIRE(::pipe(&ready[0]) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const working_directory own(*files, base, "taskmanager");
    static_cast<void>(files->write_atomically(own.path() + "/table", "rows").has_value());
    static_cast<void>(!::write(ready[1], "x", 1));
    ::pause();
    ::_exit(0);
  }
  char word = 0;
  REQUIRE(::read(ready[0], &word, 1) == 1);
  const auto left = "/taskmanager-" + std::to_string(child);
  CHECK(remove_abandoned_directories(*files, base + "/taskmanager-").empty());
  CHECK(has(left + "/table"));

  ::kill(child, SIGKILL);
  siginfo_t ended{};
  REQUIRE(::waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT) == 0);
  const auto removed = remove_abandoned_directories(*files, base + "/taskmanager-");

  REQUIRE(removed.size() == 1);
  CHECK(removed.front().path == base + left);
  CHECK(removed.front().size_bytes == 4);
  CHECK(removed.front().removed.has_value());
  CHECK(!has(left));
  CHECK(std::filesystem::is_empty(base));
  ::waitpid(child, nullptr, 0);
  ::close(ready[0]);
  ::close(ready[1]);
}

TEST_CASE_FIXTURE(shared_base, "what is in use, has no lock or another name, stays") {
  put("/taskmanager-1/lock", "");
  put("/taskmanager-1/state/table", "rows");
  put("/taskmanager-2/of an older release", "rows");
  put("/taskmanager-3.removed/lock", "");
  put("/jobmanager-1/lock", "");
  put("/elsewhere/lock", "");
  std::filesystem::create_directory_symlink(base + "/elsewhere", base + "/taskmanager-4");
  const working_directory other(*files, base, "taskmanager");
  std::vector<std::string> lines;

  const working_directory own(*files, base, "taskmanager");
  immediate_executor blocking;
  own.remove_abandoned(
      blocking, logger::to([&](log_level, std::string_view line) { lines.emplace_back(line); },
                           log_level::info));

  CHECK(own.path() == other.path() + "-2"); // as another one's, of the same pid
  CHECK(has(own.path().substr(base.size()) + "/lock"));
  CHECK(has(other.path().substr(base.size()) + "/lock"));
  CHECK(!has("/taskmanager-1"));
  CHECK(has("/taskmanager-2/of an older release"));
  CHECK(!has("/taskmanager-3.removed"));
  CHECK(has("/jobmanager-1"));
  CHECK(has("/elsewhere/lock"));
  REQUIRE(lines.size() == 2);
  CHECK(lines.front().find("removed what a killed process left") != std::string::npos);
  CHECK(lines.front().find("/taskmanager-1") != std::string::npos);
  CHECK(lines.front().find("bytes=4") != std::string::npos);
}

TEST_CASE_FIXTURE(shared_base, "the directory of one that had the same pid is begun anew") {
  const auto own_name = "/taskmanager-" + std::to_string(getpid());
  put(own_name + "/lock", "");
  put(own_name + "/state/table", "rows");
  {
    const working_directory own(*files, base, "taskmanager");

    CHECK(own.path() == base + own_name);
    CHECK(!has(own_name + "/state"));
    REQUIRE(remove_abandoned_directories(*files, base + "/taskmanager-").size() == 1);
    CHECK(has(own_name + "/lock"));
  }
  CHECK(std::filesystem::is_empty(base));
}

TEST_SUITE_END();

} // namespace
} // namespace headrace::cluster
