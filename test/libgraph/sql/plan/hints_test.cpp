#include "libgraph/sql/plan/hints.hpp"

#include "test/libgraph/sql/testing_session.hpp"

#include <doctest/doctest.h>

#include <string>

namespace headrace::sql {
namespace {

void check_plan(testing_session& session, const std::string& query, const char* part) {
  const auto plan = session.plan(query);
  CAPTURE(query);
  CAPTURE(plan);
  CHECK(plan.find(part) != std::string::npos);
}

} // namespace

TEST_SUITE("graph/sql/plan/hints") {

TEST_CASE("a time to live is of the side of a join, or the groups, that a hint names") {
  testing_session session;
  check_plan(session,
             "SELECT /*+ STATE_TTL('x' = '1 d', 'u' = '2h') */ x.a FROM t AS x JOIN u ON x.b = u.b",
             "stateTtl=[86400000 ms, 7200000 ms])");
  check_plan(session, "SELECT /*+ STATE_TTL('u' = '1s') */ t.a FROM t, u WHERE t.b = u.b",
             "stateTtl=[never, 1000 ms])");
  check_plan(session, "SELECT /*+ STATE_TTL(t = '1 s') */ b, COUNT(*) FROM t GROUP BY b",
             "stateTtl=[1000 ms])");
  check_plan(session, "SELECT /*+ STATE_TTL('t' = '1 s') */ DISTINCT b FROM t",
             "stateTtl=[1000 ms])");
  // Of the query that it stands in alone.
  check_plan(session,
             "SELECT /*+ STATE_TTL('y' = '5 s') */ n, COUNT(*) FROM (SELECT /*+ state_ttl('t' = "
             "'1 s') */ b, COUNT(*) AS n FROM t GROUP BY b) AS y GROUP BY n",
             "stateTtl=[5000 ms])");
  session.run("SET table.exec.state.ttl = 9 s");
  check_plan(session, "SELECT /*+ STATE_TTL('u' = '0 s') */ t.a FROM t JOIN u ON t.b = u.b",
             "stateTtl=[9000 ms, never])");
}

TEST_CASE("a small table is where each row of the other one is") {
  testing_session session;
  check_plan(session, "SELECT /*+ BROADCAST(u) */ t.a FROM t JOIN u ON t.b = u.b",
             "Join(joinType=[InnerJoin], keys=[b = b], broadcast=[right], buckets=[64]");
  check_plan(session, "SELECT /*+ BROADCAST(x) */ x.a FROM t x JOIN u ON x.b = u.b",
             "broadcast=[left], buckets=[64]");
  check_plan(session, "SELECT /*+ BROADCAST(u) */ t.a FROM t LEFT JOIN u ON t.b = u.b",
             "broadcast=[right]");
  check_plan(session, "SELECT /*+ BROADCAST(t) */ t.a FROM t RIGHT JOIN u ON t.b = u.b",
             "broadcast=[left]");
  check_plan(session, "SELECT /*+ BROADCAST(u) */ a FROM t WHERE b IN (SELECT b FROM u)",
             "LeftSemiJoin], keys=[b = b], broadcast=[right]");
  check_plan(session,
             "SELECT /*+ BROADCAST(u) */ a FROM t WHERE NOT EXISTS (SELECT 1 FROM u WHERE u.b = "
             "t.b)",
             "LeftAntiJoin], keys=[b = b], broadcast=[right]");
  // Without keys it need not be one subtask.
  const auto crossed = session.plan("SELECT /*+ BROADCAST(u) */ t.a FROM t CROSS JOIN u");
  CHECK(crossed.find("keys=[], broadcast=[right], buckets=[64]") != std::string::npos);
  CHECK(crossed.find("parallelism") == std::string::npos);
}

TEST_CASE("rows of a skewed table are spread") {
  testing_session session;
  check_plan(session,
             "SELECT /*+ SKEW('table' = 't', 'column' = 'b') */ t.a FROM t JOIN u ON t.b = u.b",
             "keys=[b = b], skewed=[left], buckets=[16]");
  check_plan(session,
             "SELECT /*+ SKEW('table' = 'u', 'column' = 'b', 'buckets' = '4') */ t.a FROM t JOIN u "
             "ON t.b = u.b",
             "keys=[b = b], skewed=[right], buckets=[4]");
  check_plan(session,
             "SELECT /*+ SKEW('table' = 't', 'column' = 'b') */ b, COUNT(*) FROM t GROUP BY b",
             "aggPhase=[TWO_PHASE]");
}

TEST_CASE("hints that cannot be followed are errors") {
  testing_session session;
  const auto errors = [&](const char* hints, const char* rest) {
    return session.errors("SELECT /*+ " + std::string(hints) + " */ " + rest);
  };
  const auto* inner = "t.a FROM t JOIN u ON t.b = u.b";

  CHECK(errors("BRODCAST(u)", inner) ==
        "12 unknown hint: BRODCAST; known are STATE_TTL, BROADCAST and SKEW behind SELECT, OPTIONS "
        "behind a table");
  CHECK(errors("BROADCAST(v)", inner) ==
        "12 hint BROADCAST names no table of a join or GROUP BY here: v; tables are named by their "
        "alias");
  CHECK(errors("BROADCAST", inner) == "12 hint BROADCAST names a table: BROADCAST(t)");
  CHECK(errors("STATE_TTL('t' = 'soon')", inner) ==
        "12 hint STATE_TTL gives tables a duration: STATE_TTL('t' = '1 d')");
  CHECK(errors("STATE_TTL('v' = '1 d')", inner).find("names no table") != std::string::npos);
  CHECK(errors("BROADCAST(t)", "t.a FROM t LEFT JOIN u ON t.b = u.b")
            .find("hint BROADCAST(t) does not fit a left outer join: rows of the table that is in "
                  "each bucket would be told as unmatched in each") != std::string::npos);
  CHECK(errors("BROADCAST(u)", "t.a FROM t FULL JOIN u ON t.b = u.b").find("a full outer join") !=
        std::string::npos);
  CHECK(
      errors("BROADCAST(u), SKEW('table' = 't', 'column' = 'b')", inner).find("hints say twice") !=
      std::string::npos);
  CHECK(errors("SKEW('table' = 't', 'column' = 'x')", inner) ==
        "12 hint SKEW names a column that the table has not: x");
  CHECK(errors("SKEW('table' = 't', 'column' = 'b', 'buckets' = '1')", inner)
            .find("'buckets' = 2 to 1024") != std::string::npos);
  CHECK(errors("SKEW('table' = 't', 'column' = 'b')", "b, LISTAGG(s) FROM t GROUP BY b")
            .find("hint SKEW does not fit this GROUP BY, whose rows cannot be summed up before the "
                  "exchange: LISTAGG cannot be merged") != std::string::npos);
  CHECK(session.errors("SELECT a FROM t /*+ TOPTIONS('a' = 'b') */")
            .find("unknown hint of a table: TOPTIONS") != std::string::npos);
  // Of batch jobs, and of lookups: they change nothing.
  CHECK(errors("SHUFFLE_HASH(t), NEST_LOOP(u)", inner).empty());
}

} // TEST_SUITE("graph/sql/plan/hints")

} // namespace headrace::sql
