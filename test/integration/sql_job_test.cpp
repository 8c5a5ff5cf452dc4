#include "test/integration/testing_job.hpp"
#include "test/support/seed.hpp"
#include "libactors/base/random.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <string>
#include <utility>
#include <vector>

// Jobs of SQL that are killed, and stopped with a savepoint and run on at another parallelism. What
// comes out is what their input says, worked out here, to the row.

namespace headrace::testing {
namespace {

/// Lines "id,file,value", some of which are malformed, and what becomes of each.
struct malformed_input {
  std::map<std::string, std::string> files;
  std::multiset<std::string> expected;
};

malformed_input make_malformed_input(int files, int rows) {
  malformed_input out;
  for (int file = 0; file < files; ++file) {
    const auto path = "/input/rows-" + std::to_string(file) + ".csv";
    auto& content = out.files[path];
    for (int row = 0; row < rows; ++row) {
      const auto id = std::to_string(row);
      const auto good = id + "," + std::to_string(file) + "," + std::to_string(row % 13);
      const std::array bad{"x" + good, id, good + ",y", good + "z"};
      const bool is_bad = row % 7 == 3;
      const auto& line = is_bad ? bad[static_cast<std::size_t>(row) % bad.size()] : good;
      auto shown = line;
      for (auto& each : shown)
        each = each == ',' ? ';' : each;
      out.expected.insert(is_bad ? path + "," + std::to_string(content.size()) + "," + shown
                                 : line);
      content += line + "\n";
    }
  }
  return out;
}

constexpr auto dead_letters = R"(
  CREATE TABLE orders (id BIGINT, source BIGINT, v BIGINT) WITH ('connector' = 'filesystem',
    'path' = '/input', 'format' = 'csv', 'errors' = 'table', 'rows-per-second' = '500',
    'source.split-size' = '300 b');
  CREATE TABLE good (id BIGINT, source BIGINT, v BIGINT) WITH ('connector' = 'filesystem',
    'path' = '/output/good', 'format' = 'csv');
  CREATE TABLE bad (source STRING, place BIGINT, record STRING) WITH ('connector' = 'filesystem',
    'path' = '/output/bad', 'format' = 'csv');
  EXECUTE STATEMENT SET BEGIN
    INSERT INTO good SELECT * FROM orders;
    INSERT INTO bad SELECT file, `position`, REPLACE(CAST(record AS STRING), ',', ';')
      FROM orders$errors;
  END)";

/// "2024-01-01 hh:mm:ss.mmm" of a time of that day.
std::string time_text(std::int64_t ms) {
  std::array<char, 64> out{};
  std::snprintf(out.data(), out.size(), "2024-01-01 %02d:%02d:%02d.%03d",
                static_cast<int>(ms / 3'600'000), static_cast<int>(ms / 60'000 % 60),
                static_cast<int>(ms / 1000 % 60), static_cast<int>(ms % 1000));
  return out.data();
}

/// Orders and rates of currencies, in the order of time in each of their files, and each order with
/// the rate of its time.
struct versioned_input {
  std::map<std::string, std::string> files;
  std::multiset<std::string> expected;
};

versioned_input make_versioned_input(int files, int rows) {
  versioned_input out;
  constexpr std::uint64_t currencies = 40;
  const auto random = make_seeded_random(43);
  std::map<std::uint64_t, std::map<std::int64_t, int>> rates;
  for (int file = 0; file < files; ++file) {
    auto& content = out.files["/input/rates/r-" + std::to_string(file) + ".csv"];
    std::int64_t time = 0;
    for (int row = 0; row < rows; ++row) {
      time += 1 + static_cast<std::int64_t>(random->below(60));
      // A currency is of one file: of one time there is one rate.
      const auto currency = random->below(currencies / 4) * 4 + static_cast<std::uint64_t>(file);
      rates[currency][time] = row;
      content +=
          std::to_string(currency) + "," + std::to_string(row) + "," + time_text(time) + "\n";
    }
  }
  for (int file = 0; file < files; ++file) {
    auto& content = out.files["/input/orders/o-" + std::to_string(file) + ".csv"];
    std::int64_t time = 0;
    for (int row = 0; row < rows; ++row) {
      time += static_cast<std::int64_t>(random->below(60));
      const auto currency = random->below(currencies + 2); // some have no rate
      const auto id = std::to_string(file * rows + row);
      content += id + "," + std::to_string(currency) + "," + time_text(time) + "\n";
      const auto& known = rates[currency];
      const auto behind = known.upper_bound(time);
      const auto rate = behind == known.begin() ? "" : std::to_string(std::prev(behind)->second);
      out.expected.insert(id + "," + std::to_string(currency) + "," + rate);
    }
  }
  return out;
}

constexpr auto versions = R"(
  CREATE TABLE orders (id BIGINT, currency BIGINT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH (
    'connector' = 'filesystem', 'path' = '/input/orders', 'format' = 'csv',
    'rows-per-second' = '500', 'source.split-assignment' = 'static');
  CREATE TABLE rates (currency BIGINT, rate BIGINT, rt TIMESTAMP(3), WATERMARK FOR rt AS rt,
    PRIMARY KEY (currency) NOT ENFORCED) WITH (
    'connector' = 'filesystem', 'path' = '/input/rates', 'format' = 'csv',
    'rows-per-second' = '500', 'source.split-assignment' = 'static');
  CREATE TABLE priced (id BIGINT, currency BIGINT, rate BIGINT) WITH ('connector' = 'filesystem',
    'path' = '/output', 'format' = 'csv');
  INSERT INTO priced SELECT o.id, o.currency, r.rate FROM orders AS o
    LEFT JOIN rates FOR SYSTEM_TIME AS OF o.ts AS r ON o.currency = r.currency)";

/// Orders of few keys, names of some of them, and what a batch makes of both: sums by key, each
/// order with its name and each name without an order, the two largest orders of each key, how many
/// there are.
struct batch_input {
  std::map<std::string, std::string> files;
  std::multiset<std::string> expected;
};

batch_input make_batch_input(int files, int rows) {
  batch_input out;
  constexpr std::int64_t keys = 50;
  const auto random = make_seeded_random(47);
  const auto name_of = [](std::int64_t key) { return "n" + std::to_string(key); };
  const auto is_named = [](std::int64_t key) { return key % 3 != 0; };
  auto& names = out.files["/input/names/names.csv"];
  for (std::int64_t key = 0; key < keys + 10; ++key)
    if (is_named(key))
      names += std::to_string(key) + "," + name_of(key) + "\n";
  std::map<std::int64_t, std::int64_t> sums;
  std::map<std::int64_t, std::multiset<std::int64_t>> values;
  for (int file = 0; file < files; ++file) {
    auto& content = out.files["/input/orders/o-" + std::to_string(file) + ".csv"];
    for (int row = 0; row < rows; ++row) {
      const auto id = std::int64_t{file} * rows + row;
      const auto key = static_cast<std::int64_t>(random->below(keys));
      const auto value = id * 7919 % 10'007; // no two are alike
      content +=
          std::to_string(id) + "," + std::to_string(key) + "," + std::to_string(value) + "\n";
      sums[key] += value;
      values[key].insert(value);
      out.expected.insert("join," + std::to_string(id) + "," + (is_named(key) ? name_of(key) : ""));
    }
  }
  for (const auto& [key, sum] : sums)
    out.expected.insert("sum," + std::to_string(key) + "," + std::to_string(sum));
  for (std::int64_t key = 0; key < keys + 10; ++key)
    if (is_named(key) && !sums.contains(key))
      out.expected.insert("join,," + name_of(key));
  for (const auto& [key, of] : values) {
    auto largest = of.rbegin();
    for (int rank = 1; rank <= 2 && largest != of.rend(); ++rank, ++largest)
      out.expected.insert("top," + std::to_string(key) + "," + std::to_string(rank) + ":" +
                          std::to_string(*largest));
  }
  out.expected.insert("all,," + std::to_string(files * rows));
  return out;
}

constexpr auto batch = R"(
  SET 'execution.runtime-mode' = 'batch';
  CREATE TABLE orders (id BIGINT, k BIGINT, v BIGINT) WITH ('connector' = 'filesystem',
    'path' = '/input/orders', 'format' = 'csv', 'rows-per-second' = '500',
    'source.split-size' = '500 b');
  CREATE TABLE names (k BIGINT, name STRING) WITH ('connector' = 'filesystem',
    'path' = '/input/names', 'format' = 'csv');
  CREATE TABLE results (kind STRING, a BIGINT, b STRING) WITH ('connector' = 'filesystem',
    'path' = '/output', 'format' = 'csv', 'csv.null-literal' = '');
  EXECUTE STATEMENT SET BEGIN
    INSERT INTO results SELECT 'sum', k, CAST(SUM(v) AS STRING) FROM orders GROUP BY k;
    INSERT INTO results SELECT 'join', id, name FROM orders AS o FULL JOIN names AS n ON o.k = n.k;
    INSERT INTO results SELECT 'top', k, CAST(n AS STRING) || ':' || CAST(v AS STRING) FROM (
      SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY v DESC) AS n FROM orders) WHERE n <= 2;
    INSERT INTO results SELECT 'all', CAST(NULL AS BIGINT), CAST(COUNT(*) AS STRING) FROM orders;
  END)";

/// Lines "key,value,time" in the order of time, and then again and again all but those of the last
/// window: these come too late, as each row's time is a watermark behind it. What windows make of
/// all, and what OVER does.
struct repeated_input {
  std::map<std::string, std::string> files;
  std::multiset<std::string> expected;
};

repeated_input make_repeated_input(int rows, int times) {
  repeated_input out;
  constexpr int keys = 5;
  std::string lines;
  std::string late;
  std::map<std::pair<std::int64_t, int>, std::pair<int, int>>
      windows;               // how many rows, and the most
  std::map<int, int> before; // of a key
  for (int row = 0; row < rows; ++row) {
    const auto time = std::int64_t{row} * 50;
    const auto key = row % keys;
    const auto value = row * 7919 % 10'007; // no two are alike
    lines += std::to_string(key) + "," + std::to_string(value) + "," + time_text(time) + "\n";
    if (time / 1000 < std::int64_t{rows - 1} * 50 / 1000)
      late = lines;
    auto& [count, most] = windows[{time / 1000, key}];
    ++count;
    most = std::max(most, value);
    out.expected.insert("over," + std::to_string(key) + "," + std::to_string(value) + "," +
                        std::to_string(++before[key]));
  }
  for (const auto& [where, found] : windows) {
    const auto key = std::to_string(where.second);
    const auto second = std::to_string(where.first);
    out.expected.insert("tumble," + key + "," + second + "," + std::to_string(found.first));
    out.expected.insert("top," + key + "," + second + "," + std::to_string(found.second));
  }
  out.files["/input/rows.csv"] = lines;
  for (int again = 1; again < times; ++again)
    out.files["/input/rows.csv"] += late;
  return out;
}

constexpr auto late = R"(
  CREATE TABLE clicks (k BIGINT, v BIGINT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH (
    'connector' = 'filesystem', 'path' = '/input', 'format' = 'csv', 'rows-per-second' = '500',
    'scan.watermark.emit.strategy' = 'on-event');
  CREATE TABLE results (kind STRING, a BIGINT, b BIGINT, c BIGINT) WITH (
    'connector' = 'filesystem', 'path' = '/output', 'format' = 'csv');
  EXECUTE STATEMENT SET BEGIN
    INSERT INTO results SELECT 'tumble', k,
      TIMESTAMPDIFF(SECOND, TIMESTAMP '2024-01-01 00:00:00', window_start), COUNT(*)
      FROM TABLE(TUMBLE(TABLE clicks, DESCRIPTOR(ts), INTERVAL '1' SECOND))
      GROUP BY k, window_start, window_end;
    INSERT INTO results SELECT 'top', k,
      TIMESTAMPDIFF(SECOND, TIMESTAMP '2024-01-01 00:00:00', window_start), v
      FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k, window_start, window_end ORDER BY v DESC)
              AS n FROM TABLE(TUMBLE(TABLE clicks, DESCRIPTOR(ts), INTERVAL '1' SECOND)))
      WHERE n <= 1;
    INSERT INTO results SELECT 'over', k, v, COUNT(*) OVER (PARTITION BY k ORDER BY ts
      ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) FROM clicks;
  END)";

TEST_SUITE_BEGIN("integration/sql_job");

TEST_CASE("each malformed record of a disturbed job is a row of TABLE$errors once") {
  const auto input = make_malformed_input(4, 900);

  for (int run = 0; run < testing::runs(10); ++run) {
    const auto seed = testing::seed() + static_cast<std::uint64_t>(run);
    CAPTURE(seed);
    // Every second run goes on from a savepoint, at another parallelism.
    const auto got = run_windowed_job({}, {.seed = seed,
                                           .disturbances = 3,
                                           .restored_parallelism = run % 2 == 0 ? 0 : 2 + run % 3,
                                           .sql = dead_letters,
                                           .files = input.files,
                                           .is_native = run % 4 == 3});
    CHECK_MESSAGE(got.failure.empty(), got.failure);
    CHECK(got.restored_checkpoints >= 1);
    CHECK(got.rows == input.expected);
    if (!got.failure.empty() || got.rows != input.expected)
      break;
  }
}

TEST_CASE("a temporal join goes on from what it kept on RocksDB, at any parallelism") {
  struct way {
    int before;
    int after; ///< 0: it is not stopped
    bool is_native;
    int disturbances;
    std::string backend;
  };
  const std::array ways{
      way{2, 3, true, 0, "rocksdb"},  way{2, 3, false, 0, "rocksdb"},
      way{2, 0, false, 3, "rocksdb"}, way{2, 3, true, 3, "rocksdb"},
      way{3, 2, true, 0, "rocksdb"},  way{4, 3, false, 3, "rocksdb"},
      way{2, 3, false, 3, "hashmap"},
  };
  for (const auto& each : ways) {
    const auto seed = testing::seed() + static_cast<std::uint64_t>(&each - ways.data());
    // A file a reader: it reads one after the other, and event time would wait for the last.
    const auto input = make_versioned_input(each.before, 900);
    CAPTURE(seed);
    CAPTURE(each.backend);
    CAPTURE(each.is_native);
    const auto got = run_windowed_job({}, {.seed = seed,
                                           .disturbances = each.disturbances,
                                           .state_backend = each.backend,
                                           .parallelism = each.before,
                                           .restored_parallelism = each.after,
                                           .sql = versions,
                                           .files = input.files,
                                           .is_native = each.is_native});
    CHECK_MESSAGE(got.failure.empty(), got.failure);
    if (each.after > 0) {
      CHECK(got.rows_at_stop > 0);
      CHECK(got.rows_at_stop < input.expected.size());
    } else {
      CHECK(got.restored_checkpoints >= 1);
    }
    CHECK(got.rows == input.expected);
    if (!got.failure.empty() || got.rows != input.expected)
      break;
  }
}

TEST_CASE("rows that come too late before a restart come too late after it") {
  struct way {
    int before;
    int after; ///< 0: it is not stopped
    int disturbances;
    bool unaligned = false;
  };
  const std::array ways{
      way{1, 0, 0}, way{1, 1, 0}, way{1, 0, 3},       way{1, 1, 3},
      way{1, 3, 0}, way{3, 2, 0}, way{2, 2, 3},       way{2, 3, 3},
      way{3, 1, 3}, way{2, 2, 0}, way{2, 0, 3, true}, way{3, 2, 3, true},
  };
  const auto input = make_repeated_input(120, 20);
  int restored = 0;
  for (const auto& each : ways) {
    const auto seed = testing::seed() + static_cast<std::uint64_t>(&each - ways.data());
    CAPTURE(seed);
    CAPTURE(each.before);
    CAPTURE(each.after);
    const auto got = run_windowed_job({}, {.seed = seed,
                                           .disturbances = each.disturbances,
                                           .parallelism = each.before,
                                           .restored_parallelism = each.after,
                                           .unaligned = each.unaligned,
                                           .sql = late,
                                           .files = input.files,
                                           .is_native = each.disturbances > 0});
    CHECK_MESSAGE(got.failure.empty(), got.failure);
    if (each.after > 0)
      CHECK(got.rows_at_stop > 0);
    restored += got.restored_checkpoints;
    CHECK(got.rows == input.expected);
  }
  CHECK(restored > 0);
}

TEST_CASE("a batch gives each final row once, whatever it was disturbed by") {
  const auto input = make_batch_input(3, 800);

  for (int run = 0; run < testing::runs(6); ++run) {
    const auto seed = testing::seed() + static_cast<std::uint64_t>(run);
    CAPTURE(seed);
    const auto got = run_windowed_job({}, {.seed = seed,
                                           .disturbances = 3,
                                           .state_backend = run % 2 == 0 ? "hashmap" : "rocksdb",
                                           .restored_parallelism = run % 3 == 2 ? 3 : 0,
                                           .sql = batch,
                                           .files = input.files});
    CHECK_MESSAGE(got.failure.empty(), got.failure);
    CHECK(got.restored_checkpoints >= 1);
    CHECK(got.rows_at_stop == 0); // nothing before the end
    CHECK(got.rows == input.expected);
    if (!got.failure.empty() || got.rows != input.expected)
      break;
  }
}

TEST_SUITE_END();

} // namespace
} // namespace headrace::testing
