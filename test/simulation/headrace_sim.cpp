#include "test/simulation/history.hpp"
#include "libgraph/api/table_environment.hpp"
#include "libactors/base/clock.hpp"
#include "libactors/base/text.hpp"

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <string_view>

// Runs histories of a simulated cluster, one a seed.
//
//   headrace-sim [--seeds N] [--first K] [--faults F] [--replay] [--log] [--tell]
//
// A seed that fails is printed with what befell it, and run again with fewer faults, for the
// shortest history that fails. --replay runs each seed twice and compares what happened. --faults:
// the first F faults of a seed only. --tell: a line a seed. --log: the log of the cluster.

namespace headrace::simulation {
namespace {

struct wishes {
  std::uint64_t seeds = 100;
  std::uint64_t first = 1;
  int faults = -1;
  bool replays = false;
  bool tells = false;
  bool logs = false;
  std::string sql; ///< directory; empty: none
};

void print(std::uint64_t seed, const history& what) {
  std::printf("seed %llu: %s\n  %s\n", static_cast<unsigned long long>(seed), what.failure.c_str(),
              what.shape.c_str());
  for (const auto& each : what.faults)
    std::printf("  %s\n", each.c_str());
  std::printf("  at %lld ms, trace %016llx\n", static_cast<long long>(what.virtual_ms),
              static_cast<unsigned long long>(what.trace));
}

/// The history with the fewest faults that fails.
void shrink(std::uint64_t seed, const history& failed, history_options options) {
  for (int faults = 0; faults < static_cast<int>(failed.faults.size()); ++faults) {
    options.faults_max = faults;
    const auto shorter = run_history(seed, draw_workload(seed), options);
    if (shorter.failure.empty())
      continue;
    std::printf("  fails with the first %d as well (--faults %d): %s\n", faults, faults,
                shorter.failure.c_str());
    return;
  }
}

std::string content_of(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) {
    std::fprintf(stderr, "headrace-sim: cannot read %s\n", path.c_str());
    std::exit(2);
  }
  return {std::istreambuf_iterator<char>(in), {}};
}

int answer(const wishes& wanted, const history_options& options) {
  const std::filesystem::path directory = wanted.sql;
  workload what;
  what.may_repeat = false;
  for (const auto& each : std::filesystem::directory_iterator(directory / "input"))
    what.files["/input/" + each.path().filename().string()] = content_of(each.path());
  const auto tables = content_of(directory / "tables.sql");
  const auto queries = content_of(directory / "queries.sql");
  auto seed = wanted.first;
  for (const auto query : split_text(queries, '\n')) {
    if (query.empty())
      continue;
    const auto statements =
        tables +
        "\nCREATE TABLE answer WITH ('connector' = 'filesystem', 'path' = '/output', "
        "'format' = 'changelog-json') AS " +
        std::string(query);
    std::multiset<std::string> rows;
    what.name = query;
    what.describe = [&](api::environment& env) {
      api::table_environment(env).execute_sql(statements);
    };
    what.check = [&](testing::testing_file_system& files, bool) {
      rows = committed_rows(files);
      return std::string();
    };
    const auto got = run_history(seed++, what, options);
    if (!got.failure.empty()) {
      print(seed - 1, got);
      return 1;
    }
    std::printf("==== restored %d moved %d job managers %d\n", got.restored, got.is_moved ? 1 : 0,
                got.job_managers);
    for (const auto& row : rows)
      std::printf("%s\n", row.c_str());
  }
  return 0;
}

int run(const wishes& wanted) {
  history_options options;
  options.faults_max = wanted.faults;
  if (wanted.logs)
    options.log = logger::to("", log_level::debug);
  if (!wanted.sql.empty())
    return answer(wanted, options);
  const system_clock time;
  const auto began_us = time.now_us();
  std::uint64_t failures = 0;
  std::uint64_t faults = 0;
  std::uint64_t restored = 0;
  double virtual_hours = 0;
  for (auto seed = wanted.first; seed < wanted.first + wanted.seeds; ++seed) {
    auto got = run_history(seed, draw_workload(seed), options);
    faults += got.faults.size();
    restored += static_cast<std::uint64_t>(got.restored);
    virtual_hours += static_cast<double>(got.virtual_ms) / 3'600'000;
    if (wanted.replays && got.failure.empty())
      if (const auto again = run_history(seed, draw_workload(seed), options);
          again.trace != got.trace)
        got.failure = "the same seed gives another history";
    if (wanted.tells)
      print(seed, got);
    if (got.failure.empty())
      continue;
    ++failures;
    if (!wanted.tells)
      print(seed, got);
    shrink(seed, got, options);
    std::fflush(stdout);
  }
  const auto took_s = static_cast<double>(time.now_us() - began_us) / 1e6;
  std::printf(
      "%llu seeds from %llu, %llu failed; %llu faults, %llu restarts from a checkpoint; %.2f "
      "simulated hours in %.1f s, %.2f a minute\n",
      static_cast<unsigned long long>(wanted.seeds), static_cast<unsigned long long>(wanted.first),
      static_cast<unsigned long long>(failures), static_cast<unsigned long long>(faults),
      static_cast<unsigned long long>(restored), virtual_hours, took_s,
      virtual_hours * 60 / took_s);
  return failures == 0 ? 0 : 1;
}

} // namespace
} // namespace headrace::simulation

int main(int argc, char** argv) {
  headrace::simulation::wishes wanted;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const auto number = [&]() -> std::uint64_t {
      std::uint64_t value = 0;
      if (++i < argc) {
        const std::string_view text = argv[i];
        const auto end = text.data() + text.size();
        if (std::from_chars(text.data(), end, value) == std::from_chars_result{end, {}})
          return value;
      }
      std::fprintf(stderr, "headrace-sim: %s wants a number\n", word.c_str());
      std::exit(2);
    };
    if (word == "--seeds")
      wanted.seeds = number();
    else if (word == "--first")
      wanted.first = number();
    else if (word == "--faults")
      wanted.faults = static_cast<int>(number());
    else if (word == "--sql" && i + 1 < argc)
      wanted.sql = argv[++i];
    else if (word == "--replay")
      wanted.replays = true;
    else if (word == "--tell")
      wanted.tells = true;
    else if (word == "--log")
      wanted.logs = true;
    else {
      std::fprintf(stderr,
                   "headrace-sim: unknown word %s; usage: headrace-sim [--seeds N] [--first K] "
                   "[--faults F] [--replay] [--tell] [--log] [--sql DIRECTORY]\n",
                   word.c_str());
      return 2;
    }
  }
  return headrace::simulation::run(wanted);
}
