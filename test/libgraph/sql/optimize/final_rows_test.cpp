#include "libgraph/sql/optimize/final_rows.hpp"

#include "test/libgraph/sql/testing_session.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

namespace headrace::sql {
namespace {

/// The first line of a plan that has an operator.
std::string line_of(const std::string& plan, std::string_view name) {
  const auto at = plan.find(name);
  return at == std::string::npos ? plan : plan.substr(at, plan.find('\n', at) - at);
}

constexpr std::string_view at_end = ", emit=[end of input])";

} // namespace

TEST_SUITE("graph/sql/optimize/final_rows") {

TEST_CASE("in batch mode what would update rows gives them when its input has ended") {
  testing_session session;
  session.run("SET execution.runtime-mode = batch");

  for (const auto& [query, name] :
       {std::pair("SELECT b, COUNT(*) FROM t GROUP BY b", "GroupAggregate("),
        std::pair("SELECT t.a FROM t FULL JOIN u ON t.b = u.b", "Join("),
        std::pair("SELECT a FROM t WHERE NOT EXISTS (SELECT 1 FROM u WHERE u.b = t.b)", "Join("),
        std::pair("SELECT a FROM t UNION SELECT a FROM t", "GroupAggregate("),
        std::pair("SELECT a FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY b ORDER BY a) AS n "
                  "FROM t) WHERE n <= 3",
                  "Rank("),
        std::pair("INSERT INTO sink SELECT a, b, s FROM t ORDER BY a", "Sort(")}) {
    const auto line = line_of(session.plan(query), name);
    CAPTURE(line);
    CHECK(line.ends_with(at_end));
  }
}

TEST_CASE("what only adds rows, or does so once a window, need not wait for the end") {
  testing_session session;
  session.run("SET execution.runtime-mode = batch");

  for (const auto* query :
       {"SELECT a + 1 FROM t WHERE a > 2", "SELECT t.a FROM t JOIN u ON t.b = u.b",
        "SELECT window_end, COUNT(*) FROM TUMBLE(TABLE bid, DESCRIPTOR(rt), INTERVAL '1' MINUTE) "
        "GROUP BY window_start, window_end",
        "SELECT a FROM t UNION ALL SELECT a FROM t"})
    CHECK(session.plan(query).find("emit=") == std::string::npos);
}

TEST_CASE("windows are over final rows, too, and of any time") {
  testing_session session;
  session.run("SET execution.runtime-mode = batch");

  const auto plan =
      session.plan("SELECT window_end, COUNT(*) FROM TUMBLE(TABLE (SELECT DISTINCT a, "
                   "ts FROM t), DESCRIPTOR(ts), INTERVAL '1' MINUTE) "
                   "GROUP BY window_start, window_end");
  CHECK(line_of(plan, "GroupAggregate(").ends_with(at_end));
  CHECK(plan.find("WindowAggregate(") != std::string::npos);
}

TEST_CASE("neither a time to live nor mini-batches are of a batch") {
  testing_session session;
  session.run("SET execution.runtime-mode = batch; SET table.exec.state.ttl = 1 d;"
              "SET table.exec.mini-batch.enabled = true;"
              "SET table.exec.mini-batch.allow-latency = 5 s;"
              "SET table.exec.mini-batch.size = 1000");

  const auto plan = session.plan("SELECT b, COUNT(*) FROM t GROUP BY b");
  CHECK(plan.find("stateTtl") == std::string::npos);
  CHECK(plan.find("miniBatch") == std::string::npos);
}

TEST_CASE("in a stream nothing waits for the end") {
  testing_session session;

  CHECK(session.plan("SELECT b, COUNT(*) FROM t GROUP BY b").find("emit=") == std::string::npos);
  CHECK(session.errors("SELECT COUNT(*) FROM TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MINUTE)")
            .find("needs a column with a WATERMARK") != std::string::npos);
}

} // TEST_SUITE("graph/sql/optimize/final_rows")

} // namespace headrace::sql
