#include "libgraph/sql/optimize/set_execution.hpp"

#include "test/libgraph/sql/testing_session.hpp"

#include <doctest/doctest.h>

#include <string>

namespace headrace::sql {
namespace {

/// The first line of a plan that has an operator.
std::string line_of(const std::string& plan, std::string_view name) {
  const auto at = plan.find(name);
  return at == std::string::npos ? plan : plan.substr(at, plan.find('\n', at) - at);
}

constexpr auto gathers = "SET table.exec.mini-batch.enabled = true;"
                         "SET table.exec.mini-batch.allow-latency = 5 s;"
                         "SET table.exec.mini-batch.size = 1000;";

} // namespace

TEST_SUITE("graph/sql/optimize/set_execution") {

TEST_CASE("without settings nothing is said of how operators work") {
  testing_session session;

  for (const auto* query :
       {"SELECT b, COUNT(*) FROM t GROUP BY b", "SELECT t.a FROM t JOIN u ON t.b = u.b"}) {
    const auto plan = session.plan(query);
    for (const auto* word : {"miniBatch", "stateTtl", "aggPhase"})
      CHECK(plan.find(word) == std::string::npos);
  }
}

TEST_CASE("a time to live is of all state that would be kept for ever") {
  testing_session session;
  session.run("SET table.exec.state.ttl = 1 d");
  const auto ends = [&](const char* query, std::string_view name, std::string_view end) {
    const auto line = line_of(session.plan(query), name);
    CAPTURE(line);
    CHECK(line.ends_with(end));
  };

  ends("SELECT b, COUNT(*) FROM t GROUP BY b", "GroupAggregate", ", stateTtl=[86400000 ms])");
  ends("SELECT t.a FROM t JOIN u ON t.b = u.b", "Join(", ", stateTtl=[86400000 ms, 86400000 ms])");
  ends("SELECT a FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY b ORDER BY a) AS n FROM t) "
       "WHERE n <= 3",
       "Rank(", ", stateTtl=[86400000 ms])");
  ends("SELECT SUM(price) OVER (PARTITION BY auction ORDER BY rt) FROM bid", "OverAggregate",
       ", stateTtl=[86400000 ms])");
  // Time bounds these.
  for (const auto* query :
       {"SELECT SUM(price) OVER (ORDER BY rt RANGE BETWEEN INTERVAL '1' HOUR PRECEDING AND CURRENT "
        "ROW) FROM bid",
        "SELECT a.price FROM bid a JOIN bid b ON a.auction = b.auction AND a.rt "
        "BETWEEN b.rt AND b.rt + INTERVAL '1' SECOND",
        "SELECT window_start, COUNT(*) FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(rt), "
        "INTERVAL '10' SECOND)) GROUP BY window_start, window_end"})
    CHECK(session.plan(query).find("stateTtl") == std::string::npos);
}

TEST_CASE("mini-batches are of group aggregates, joins, and deduplication as rows come") {
  testing_session session;
  session.run(gathers);
  const auto has = [&](const char* query, std::string_view name, bool is_gathered) {
    const auto line = line_of(session.plan(query), name);
    CAPTURE(line);
    CHECK((line.find(", miniBatch=[1000 rows, 5000 ms]") != std::string::npos) == is_gathered);
  };

  has("SELECT b, COUNT(DISTINCT a) FROM t GROUP BY b", "GroupAggregate", true);
  has("SELECT t.a FROM t LEFT JOIN u ON t.b = u.b", "Join(", true);
  has("SELECT a FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY b ORDER BY p DESC) AS n FROM "
      "(SELECT *, PROCTIME() AS p FROM t)) WHERE n = 1",
      "Deduplicate(", true);
  has("SELECT a FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY b ORDER BY a) AS n FROM t) "
      "WHERE n = 1",
      "Rank(", false);
  has("SELECT a FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY b ORDER BY a) AS n FROM t) "
      "WHERE n <= 2",
      "Rank(", false);
  has("SELECT price FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY auction ORDER BY rt DESC) AS "
      "n FROM bid) WHERE n = 1",
      "Deduplicate(", false);
  has("SELECT a.price FROM bid a JOIN bid b ON a.auction = b.auction AND a.rt "
      "BETWEEN b.rt AND b.rt + INTERVAL '1' SECOND",
      "IntervalJoin(", false);
}

TEST_CASE("mini-batches want a size and a latency") {
  testing_session session;
  session.run("SET table.exec.mini-batch.enabled = true");
  const auto* query = "SELECT b FROM t";

  CHECK(session.errors(query) == "1 table.exec.mini-batch.enabled wants "
                                 "table.exec.mini-batch.allow-latency to be more than 0, found 0 "
                                 "ms");
  session.run("SET table.exec.mini-batch.allow-latency = 1 s");
  CHECK(session.errors(query) == "1 table.exec.mini-batch.enabled wants "
                                 "table.exec.mini-batch.size to be more than 0, found -1");
  CHECK(session.errors("EXPLAIN SELECT b FROM t").find("mini-batch.size") != std::string::npos);
  session.run("SET table.exec.mini-batch.size = 1");
  CHECK(session.errors(query).empty());
}

TEST_CASE("aggregates that can be merged are in two phases with mini-batches, or when asked") {
  testing_session session;
  const auto phase = [&](const char* query) {
    const auto line = line_of(session.plan(query), "GroupAggregate");
    const auto at = line.find("aggPhase=[");
    return at == std::string::npos ? std::string() : line.substr(at, line.rfind(')') - at);
  };
  const auto* simple = "SELECT b, COUNT(*), SUM(a), MAX(d), AVG(a) FROM t GROUP BY b";
  CHECK(phase(simple).empty());

  session.run("SET table.optimizer.agg-phase-strategy = TWO_PHASE");
  const auto two = std::string("aggPhase=[TWO_PHASE]");
  CHECK(phase(simple) == two);
  CHECK(phase("SELECT DISTINCT b FROM t") == two);
  CHECK(phase("SELECT b, COUNT(DISTINCT a) FROM t GROUP BY b") ==
        "aggPhase=[ONE_PHASE: COUNT(DISTINCT …) knows each value]");
  CHECK(phase("SELECT b, LISTAGG(s) FROM t GROUP BY b") ==
        "aggPhase=[ONE_PHASE: LISTAGG cannot be merged]");
  CHECK(phase("SELECT b, MIN(s) FROM t GROUP BY b") ==
        "aggPhase=[ONE_PHASE: MIN of STRING cannot be merged]");
  const auto nested =
      session.plan("SELECT n, MAX(b) FROM (SELECT b, COUNT(*) AS n FROM t GROUP BY b) GROUP BY n");
  CHECK(line_of(nested, "GroupAggregate(groupBy=[n]")
            .find("ONE_PHASE: MAX of rows that are updated knows each value") != std::string::npos);
  CHECK(line_of(nested, "GroupAggregate(groupBy=[b]").find(two) != std::string::npos);

  session.run("RESET table.optimizer.agg-phase-strategy");
  session.run(gathers);
  CHECK(phase(simple) == two);
  session.run("SET table.optimizer.agg-phase-strategy = ONE_PHASE");
  CHECK(phase(simple).empty());
}

TEST_CASE("DISTINCT of one column is computed by value first when asked") {
  testing_session session;
  session.run("SET table.optimizer.distinct-agg.split.enabled = true");
  const auto is_split = [&](const char* query) {
    return line_of(session.plan(query), "GroupAggregate").find("splitDistinct=[a, 1024 buckets]") !=
           std::string::npos;
  };

  CHECK(
      is_split("SELECT b, COUNT(DISTINCT a), SUM(DISTINCT a), MAX(d), COUNT(*) FROM t GROUP BY b"));
  CHECK(is_split("SELECT COUNT(DISTINCT a) FROM t"));
  CHECK_FALSE(is_split("SELECT b, COUNT(a) FROM t GROUP BY b"));
  CHECK_FALSE(is_split("SELECT b, COUNT(DISTINCT a), COUNT(DISTINCT s) FROM t GROUP BY b"));
  CHECK_FALSE(is_split("SELECT b, COUNT(DISTINCT a), AVG(d) FROM t GROUP BY b"));
  // A sum that is NULL beyond its digits is none of no values.
  CHECK_FALSE(
      is_split("SELECT b, COUNT(DISTINCT a), SUM(CAST(d AS DECIMAL(9, 2))) FROM t GROUP BY b"));
}

TEST_CASE("what is kept for ever is told with its operator and key") {
  testing_session session;
  const auto told = [&](const char* query) {
    const auto steps = session.run(query);
    return find_lasting_state(std::get<planned_job>(steps.back()).sinks.at(0));
  };
  using lines = std::vector<std::string>;

  CHECK(
      told("SELECT s, b, COUNT(*) FROM t GROUP BY s, b") ==
      lines{
          "GroupAggregate(groupBy=[s, b]) keeps a group for each value of s, b for ever; bound it "
          "by table.exec.state.ttl, or the hint STATE_TTL"});
  CHECK(
      told("SELECT t.a FROM t LEFT JOIN u ON t.b = u.b") ==
      lines{
          "Join(keys=[b = b]) keeps all rows of its left and its right side for ever; bound it by "
          "table.exec.state.ttl, or the hint STATE_TTL"});
  CHECK(told("SELECT /*+ STATE_TTL('t' = '1 d') */ t.a FROM t LEFT JOIN u ON t.b = u.b")
            .at(0)
            .find("keeps all rows of its right side") != std::string::npos);
  CHECK(told("SELECT a FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY b ORDER BY a) AS n FROM t) "
             "WHERE n <= 3") ==
        lines{"Rank(partitionBy=[b]) keeps rows for each value of b for ever; bound it by "
              "table.exec.state.ttl"});
  CHECK(told("SELECT SUM(price) OVER (PARTITION BY auction ORDER BY rt) FROM bid").size() == 1);
  // One group, and what time bounds.
  CHECK(told("SELECT COUNT(*) FROM t").empty());
  CHECK(told("SELECT a.price FROM bid a JOIN bid b ON a.auction = b.auction AND a.rt "
             "BETWEEN b.rt AND b.rt + INTERVAL '1' SECOND")
            .empty());
  session.run("SET table.exec.state.ttl = 1 d");
  CHECK(told("SELECT s, b, COUNT(*) FROM t GROUP BY s, b").empty());
}

} // TEST_SUITE("graph/sql/optimize/set_execution")

} // namespace headrace::sql
