#include "test/integration/testing_job.hpp"
#include "libactors/base/random.hpp"
#include "libactors/base/text.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <string>

// Answers queries on a deterministic cluster that is disturbed: tasks, task executors and the job
// manager are killed at any step, the job is stopped with a savepoint and runs on at another
// parallelism. test/sql/differential.py --kills compares the rows with another database's.
//
//   disturbed_sql DIRECTORY SEED
//
// DIRECTORY/tables.sql makes the tables, whose files the cluster sees as /input/NAME; those are
// DIRECTORY/input/NAME. Each line of DIRECTORY/queries.sql is a query. Of each, a line
// "==== what was done" is written, and then the changes of its result, as JSON, in no order.

namespace headrace::testing {
namespace {

std::string content_of(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) {
    std::cerr << "cannot read " << path << "\n";
    std::exit(2);
  }
  return {std::istreambuf_iterator<char>(in), {}};
}

/// One of many histories, drawn from the seed.
run_options draw_options(std::uint64_t seed) {
  const auto random = make_seeded_random(seed);
  const auto is = [&](std::uint64_t one_in) { return random->below(one_in) == 0; };
  run_options out;
  out.seed = seed;
  out.disturbances = static_cast<int>(1 + random->below(3));
  out.parallelism = static_cast<int>(1 + random->below(3));
  out.restarts_job_manager = true;
  out.suspends_job_manager = is(2);
  if (is(2))
    out.restored_parallelism = static_cast<int>(1 + random->below(4));
  out.is_native = is(2);
  out.unaligned = is(2);
  if (is(3))
    out.state_backend = "rocksdb";
  return out;
}

int answer(const std::filesystem::path& directory, std::uint64_t seed) {
  std::map<std::string, std::string> files;
  for (const auto& each : std::filesystem::directory_iterator(directory / "input"))
    files["/input/" + each.path().filename().string()] = content_of(each.path());
  const auto tables = content_of(directory / "tables.sql");
  const auto queries = content_of(directory / "queries.sql");

  for (const auto query : split_text(queries, '\n')) {
    if (query.empty())
      continue;
    auto options = draw_options(++seed);
    options.files = files;
    options.sql = tables +
                  "\nCREATE TABLE answer WITH ('connector' = 'filesystem', 'path' = '/output', "
                  "'format' = 'changelog-json') AS " +
                  std::string(query);
    const auto got = run_windowed_job({}, options);
    if (!got.failure.empty()) {
      std::cerr << query << "\nseed " << seed << ": " << got.failure << "\n";
      return 1;
    }
    std::cout << "==== restarts " << got.restarts << " from checkpoint " << got.restored_checkpoints
              << " job managers " << got.job_manager_restarts << "\n";
    for (const auto& row : got.rows)
      std::cout << row << "\n";
  }
  return 0;
}

} // namespace
} // namespace headrace::testing

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: disturbed_sql DIRECTORY SEED\n";
    return 2;
  }
  return headrace::testing::answer(argv[1], std::strtoull(argv[2], nullptr, 10));
}
