#include "test/libgraph/sql/testing_session.hpp"

namespace headrace::sql {

TEST_SUITE("graph/sql/optimize/optimizer") {

TEST_CASE("calcs over calcs become one, and idle ones go") {
  testing_session session;

  CHECK(session.plan("SELECT n + 1 AS m FROM (SELECT a * 2 AS n, b FROM t WHERE b > a) "
                     "WHERE n < 10") ==
        "Sink(fields=[m])\n"
        "+- Calc(select=[+(*(a, 2), 1) AS m], where=[AND(>(b, CAST(a):BIGINT), <(*(a, 2), 10))])\n"
        "   +- TableSourceScan(table=[`default_catalog`.`default_database`.`t`], "
        "fields=[a, b])\n");
}

TEST_CASE("what gives another value each time is evaluated once") {
  testing_session session;

  CHECK(session.plan("SELECT x, x AS y FROM (SELECT RAND() AS x FROM t)")
            .find("Calc(select=[x, x AS y])\n   +- Calc(select=[RAND() AS x])") !=
        std::string::npos);
}

TEST_CASE("conditions move to the side of a join that they are about") {
  testing_session session;

  CHECK(session.plan("SELECT a, c FROM t JOIN u ON t.b = u.b WHERE a > 1 AND c = 'x' AND "
                     "s <> c") ==
        "Sink(fields=[a, c])\n"
        "+- Calc(select=[a, c])\n"
        "   +- Join(joinType=[InnerJoin], keys=[b = b], where=[<>(s, c)], "
        "select=[a, b, s, b, c])\n"
        "      +- Calc(select=[a, b, s], where=[>(a, 1)])\n"
        "         +- TableSourceScan(table=[`default_catalog`.`default_database`.`t`], "
        "fields=[a, b, s])\n"
        "      +- Calc(select=[b, c], where=[=(c, CAST('x'):STRING NOT NULL)])\n"
        "         +- TableSourceScan(table=[`default_catalog`.`default_database`.`u`], "
        "fields=[b, c])\n");
  // The rows without a match have no c: they are to be seen before the condition.
  CHECK(session.plan("SELECT a FROM t LEFT JOIN u ON t.b = u.b WHERE c IS NULL")
            .find("+- Calc(select=[a], where=[IS NULL(c)])\n   +- Join") != std::string::npos);
}

namespace {

/// Whether the plan of a query has the part; it is shown when it has not.
bool has(testing_session& session, std::string_view query, std::string_view part) {
  const auto plan = session.plan(query);
  const bool out = plan.find(part) != std::string::npos;
  INFO(plan);
  CHECK(out);
  return out;
}

} // namespace

TEST_CASE("equalities of both sides are the keys of a join, computed below where they are more") {
  testing_session session;

  CHECK(has(session, "SELECT t.s FROM t JOIN u ON t.a + 1 = u.b AND t.s IS NOT DISTINCT FROM u.c",
            "keys=[$l0 = b, s IS NOT DISTINCT FROM c], select="));
  CHECK(has(session, "SELECT t.s FROM t JOIN u ON t.a + 1 = u.b",
            "Calc(select=[s, CAST(+(a, 1)):BIGINT AS $l0])"));
  CHECK(
      has(session, "SELECT a FROM t, u WHERE t.b = u.b AND u.e > t.d", "keys=[b = b], where=[>("));
  CHECK(has(session, "SELECT a FROM t JOIN u ON t.d < u.e", "keys=[], parallelism=[1], where=["));
  CHECK(has(session, "SELECT a FROM t WHERE b NOT IN (SELECT b FROM u)",
            "LeftAntiJoin], keys=[], parallelism=[1], where=[OR(=(b, b), IS NULL(b))]"));
  CHECK(has(session, "SELECT a FROM t WHERE NOT EXISTS (SELECT 1 FROM u WHERE u.b = t.b)",
            "LeftAntiJoin], keys=[b = b], select="));
}

TEST_CASE("what drops the added rows of an outer join makes it an inner one") {
  testing_session session;

  CHECK(has(session, "SELECT a FROM t LEFT JOIN u ON t.b = u.b WHERE e > 1", "[InnerJoin]"));
  CHECK(has(session, "SELECT a FROM t FULL JOIN u ON t.b = u.b WHERE a = 1", "[LeftOuterJoin]"));
  CHECK(has(session, "SELECT a FROM t FULL JOIN u ON t.b = u.b WHERE e = 1", "[RightOuterJoin]"));
  CHECK(has(session, "SELECT a FROM t FULL JOIN u ON t.b = u.b WHERE c = s", "[InnerJoin]"));
  CHECK(has(session, "SELECT a FROM t LEFT JOIN u ON t.b = u.b WHERE COALESCE(c, 'x') = 'x'",
            "[LeftOuterJoin]"));
}

TEST_CASE("ON of an outer join is moved to the side whose rows it may drop") {
  testing_session session;

  CHECK(has(session, "SELECT a, c FROM t LEFT JOIN u ON t.b = u.b AND c = 'x' AND a > 1",
            "keys=[b = b], where=[>(a, 1)]"));
  CHECK(has(session, "SELECT a, c FROM t LEFT JOIN u ON t.b = u.b AND c = 'x'",
            "where=[=(c, CAST('x'):STRING NOT NULL)])"));
}

TEST_CASE("joins whose times bound what matches are told apart") {
  testing_session session;
  session.run("CREATE VIEW windows AS SELECT auction, window_start AS ws, window_end AS we, "
              "COUNT(*) AS n FROM TUMBLE(TABLE bid, DESCRIPTOR(rt), INTERVAL '10' SECOND) "
              "GROUP BY auction, window_start, window_end");

  CHECK(has(session,
            "SELECT x.price FROM bid x JOIN bid y ON x.auction = y.auction AND y.rt BETWEEN x.rt - "
            "INTERVAL '1' SECOND AND x.rt + INTERVAL '3' SECOND",
            "IntervalJoin(joinType=[InnerJoin], keys=[auction = auction], time=[rt, rt, from -1000 "
            "to 3000 ms]"));
  CHECK(has(session,
            "SELECT x.price FROM bid x LEFT JOIN bid y ON x.auction = y.auction AND x.rt > y.rt "
            "AND x.rt - INTERVAL '3' SECOND <= y.rt",
            "time=[rt, rt, from -3000 to -1 ms]"));
  CHECK(has(session,
            "SELECT x.price FROM bid x JOIN bid y ON x.auction = y.auction AND x.rt = y.rt",
            "time=[rt, rt, from 0 to 0 ms]"));
  CHECK(has(session,
            "SELECT x.n FROM windows x JOIN windows y ON x.ws = y.ws AND x.we = y.we AND x.n < y.n",
            "WindowJoin(joinType=[InnerJoin], keys=[ws = ws, we = we], time=[we, we], where="));
  CHECK(has(session,
            "SELECT b.price FROM bid b JOIN windows w ON b.auction = w.auction AND b.rt BETWEEN "
            "w.we - INTERVAL '10' SECOND AND w.we",
            "time=[rt, we, from 0 to 10000 ms]"));
  CHECK(
      has(session,
          "SELECT n, x.we FROM windows x JOIN (SELECT ws, we, MAX(n) AS most FROM windows GROUP BY "
          "ws, we) y ON x.ws = y.ws AND x.we = y.we AND n >= most",
          "+- WindowJoin("));
  // One bound is none, a window has two ends, and what is updated is not told by time.
  CHECK(has(session,
            "SELECT x.price FROM bid x JOIN bid y ON x.auction = y.auction AND y.rt > x.rt",
            "+- Join(joinType=[InnerJoin], keys=[auction = auction], where="));
  CHECK(
      has(session, "SELECT x.n FROM windows x JOIN windows y ON x.we = y.we", "+- IntervalJoin("));
  CHECK(has(session, "SELECT x.n FROM windows x JOIN windows y ON x.ws = y.ws", "+- Join("));
  CHECK(has(session,
            "SELECT x.price FROM bid x JOIN (SELECT rt, COUNT(*) AS n FROM bid GROUP BY rt) y ON "
            "x.rt = y.rt",
            "+- Join("));
}

TEST_CASE("a join with a table as it is reads the columns that are wanted") {
  testing_session session;

  CHECK(
      has(session,
          "SELECT t.a, v.c FROM (SELECT *, PROCTIME() AS pt FROM t WHERE a > 1) t LEFT JOIN u FOR "
          "SYSTEM_TIME AS OF t.pt AS v ON v.b = t.a + t.b AND v.c <> t.s WHERE t.a < 9",
          "LookupJoin(table=[`default_catalog`.`default_database`.`u`], joinType=[LeftOuterJoin], "
          "keys=[$l0 = b], where=[<>(c, s)], select="));
}

TEST_CASE("conditions on keys move below the groups") {
  testing_session session;

  CHECK(session.plan("SELECT s, COUNT(*) AS n FROM t GROUP BY s HAVING s > 'a' AND "
                     "COUNT(*) > 1") ==
        "Sink(fields=[s, n])\n"
        "+- Calc(select=[s, $f1 AS n], where=[>($f1, CAST(1):BIGINT NOT NULL)])\n"
        "   +- GroupAggregate(groupBy=[s], select=[s, COUNT(*) AS $f1])\n"
        "      +- Calc(select=[s], where=[>(s, CAST('a'):STRING NOT NULL)])\n"
        "         +- TableSourceScan(table=[`default_catalog`.`default_database`.`t`], "
        "fields=[s])\n");
}

TEST_CASE("a pattern computes what is read of it, and its partitions are chosen below it") {
  testing_session session;

  const auto plan =
      session.plan("SELECT auction, m FROM bid MATCH_RECOGNIZE (PARTITION BY auction ORDER BY rt "
                   "MEASURES FIRST(A.price) AS f, LAST(B.auction) AS m PATTERN (A B) "
                   "DEFINE A AS price > 1) WHERE auction = 7 AND m > 3");

  const auto match = plan.find("+- Match(partitionBy=[auction], orderBy=[rt ASC], "
                               "measures=[LAST(B.auction, 0) AS m], after=[SKIP TO NEXT ROW], "
                               "pattern=[A B], define=[A AS >(price, CAST(1):BIGINT NOT NULL)])");
  REQUIRE(match != std::string::npos);
  CHECK(plan.find("where=[>(m, ") < match);
  CHECK(plan.find("where=[=(auction, ", match) != std::string::npos);
}

TEST_CASE("columns that nobody reads are left out") {
  testing_session session;

  CHECK(session.plan("SELECT n FROM (SELECT s, COUNT(*) AS n, SUM(b) AS m FROM t GROUP BY s)") ==
        "Sink(fields=[n])\n"
        "+- Calc(select=[$f1 AS n])\n"
        "   +- GroupAggregate(groupBy=[s], select=[s, COUNT(*) AS $f1])\n"
        "      +- TableSourceScan(table=[`default_catalog`.`default_database`.`t`], "
        "fields=[s])\n");
  CHECK(session.plan("SELECT COUNT(*) FROM t").find("fields=[a])") != std::string::npos);
  CHECK(session.plan("SELECT 1 FROM t UNION ALL SELECT a FROM t")
            .find("Calc(select=[1 AS EXPR$0])") != std::string::npos);
}

TEST_CASE("of rows inside of rows only the fields that are read are decoded") {
  testing_session session;

  CHECK(session.plan("SELECT a, r.y FROM t WHERE r.x > 1").find("fields=[a, r])") !=
        std::string::npos); // all of them
  CHECK(session.plan("SELECT a, r.y FROM t") ==
        "Sink(fields=[a, y])\n"
        "+- Calc(select=[a, r.y AS y])\n"
        "   +- TableSourceScan(table=[`default_catalog`.`default_database`.`t`], "
        "fields=[a, r(y)])\n");
  CHECK(session.plan("SELECT r, r.y FROM t").find("fields=[r])") != std::string::npos);
}

TEST_CASE("fields are taken below watermarks, so that their rows are read in part") {
  testing_session session;
  session.run("CREATE TABLE e (k INT, p ROW<x ROW<i INT, j INT>, y STRING, ts TIMESTAMP(3)>, "
              "q ROW<z INT>, ts AS p.ts, WATERMARK FOR ts AS ts) WITH ('connector' = 'values')");

  CHECK(session.plan("SELECT p.x.j, p.y, ts FROM e WHERE p.x.j > 2") ==
        "Sink(fields=[j, y, ts])\n"
        "+- Calc(select=[p.x.j AS j, p.y AS y, ts], where=[>(p.x.j, 2)])\n"
        "   +- WatermarkAssigner(rowtime=[ts], delay=[0 ms])\n"
        "      +- Calc(select=[p.ts AS ts, p.x.j, p.y])\n"
        "         +- TableSourceScan(table=[`default_catalog`.`default_database`.`e`], "
        "fields=[p(x(j), y, ts)])\n");
  CHECK(session.plan("SELECT p, p.y FROM e").find("fields=[p])") != std::string::npos);
}

TEST_CASE("an aggregate by the bounds of windows is one by windows") {
  testing_session session;

  CHECK(session.plan("SELECT window_end, auction, MAX(price) AS high FROM TABLE("
                     "TUMBLE(TABLE bid, DESCRIPTOR(rt), INTERVAL '10' SECOND)) "
                     "WHERE price > 5 GROUP BY auction, window_start, window_end") ==
        "Sink(fields=[window_end, auction, high])\n"
        "+- Calc(select=[window_end, auction, $f3 AS high])\n"
        "   +- WindowAggregate(groupBy=[auction], window=[TUMBLE(time=rt, size=10000 ms)], "
        "select=[auction, window_start, window_end, MAX(price) AS $f3])\n"
        "      +- Calc(select=[auction, price, rt], where=[>(price, CAST(5):BIGINT NOT NULL)])\n"
        "         +- WatermarkAssigner(rowtime=[rt], delay=[4000 ms])\n"
        "            +- TableSourceScan(table=[`default_catalog`.`default_database`.`bid`], "
        "fields=[auction, price, rt])\n");
  // By one bound alone it is any other key.
  CHECK(session
            .plan("SELECT window_end, COUNT(*) FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(rt), "
                  "INTERVAL '10' SECOND)) GROUP BY window_end")
            .find("GroupAggregate(groupBy=[window_end]") != std::string::npos);
}

TEST_CASE("ROW_NUMBER with a condition on it is a Top-N") {
  testing_session session;

  CHECK(session.plan("SELECT s, b, rn FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY s ORDER BY "
                     "b DESC, a) AS rn FROM t) WHERE rn <= 10 AND s > 'a' AND b + rn > 1") ==
        "Sink(fields=[s, b, rn])\n"
        "+- Calc(select=[s, b, w0$o0 AS rn], where=[>(+(b, w0$o0), CAST(1):BIGINT NOT NULL)])\n"
        "   +- Rank(rankType=[ROW_NUMBER], rankRange=[rankStart=1, rankEnd=10], partitionBy=[s], "
        "orderBy=[b DESC, a ASC], select=[a, b, s, w0$o0])\n"
        "      +- Calc(select=[a, b, s], where=[>(s, CAST('a'):STRING NOT NULL)])\n"
        "         +- TableSourceScan(table=[`default_catalog`.`default_database`.`t`], "
        "fields=[a, b, s])\n");
  // One rank alone is a constant; what nobody reads is left out.
  CHECK(session.plan("SELECT b, rn FROM (SELECT b, d, ROW_NUMBER() OVER (ORDER BY a) AS rn FROM t) "
                     "WHERE 3 = rn") ==
        "Sink(fields=[b, rn])\n"
        "+- Calc(select=[b, 3 AS rn])\n"
        "   +- Rank(rankType=[ROW_NUMBER], rankRange=[rankStart=3, rankEnd=3], partitionBy=[], "
        "orderBy=[a ASC], select=[a, b])\n"
        "      +- TableSourceScan(table=[`default_catalog`.`default_database`.`t`], "
        "fields=[a, b])\n");
}

TEST_CASE("one row by time is a deduplication, and without an end there is no Top-N") {
  testing_session session;

  CHECK(session
            .plan("SELECT auction FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY auction ORDER BY "
                  "rt DESC) AS rn FROM bid) WHERE rn = 1")
            .find("Deduplicate(keep=[LastRow], key=[auction], order=[ROWTIME])") !=
        std::string::npos);
  CHECK(session
            .plan("SELECT auction FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY auction ORDER BY "
                  "p) AS rn FROM (SELECT *, PROCTIME() AS p FROM bid)) WHERE rn = 1")
            .find("Deduplicate(keep=[FirstRow], key=[auction], order=[PROCTIME])") !=
        std::string::npos);
  CHECK(session
            .plan("SELECT b FROM (SELECT b, ROW_NUMBER() OVER (ORDER BY a) AS rn FROM t) "
                  "WHERE rn > 3")
            .find("OverAggregate(orderBy=[a ASC], window=[RANGE BETWEEN UNBOUNDED PRECEDING AND "
                  "CURRENT ROW], select=[a, b, ROW_NUMBER(*) AS w0$o0])") != std::string::npos);
}

TEST_CASE("windows that an aggregate does not find itself are carried by the rows") {
  testing_session session;
  const auto has = [&](std::string_view query, std::string_view part) {
    const auto plan = session.plan(query);
    CAPTURE(plan);
    CHECK(plan.find(part) != std::string::npos);
  };

  const auto* sessions = "SELECT auction, COUNT(*) AS n FROM TABLE(SESSION(TABLE bid PARTITION BY "
                         "auction, DESCRIPTOR(rt), INTERVAL '10' SECOND)) GROUP BY auction, "
                         "window_start, window_end";
  has(sessions, "WindowAggregate(groupBy=[auction], window=[SESSION(win_start=window_start, "
                "win_end=window_end, gap=10000 ms)], select=[auction, window_start, window_end, "
                "COUNT(*) AS $f3])");
  has(sessions,
      "WindowTableFunction(window=[SESSION(time=rt, gap=10000 ms)], partition=[auction])");
  has("SELECT SESSION_END(rt, INTERVAL '10' SECOND) FROM bid "
      "GROUP BY auction, SESSION(rt, INTERVAL '10' SECOND)",
      "WindowTableFunction(window=[SESSION(time=rt, gap=10000 ms)], partition=[auction])");
  // Results of windows by the same windows.
  has("SELECT COUNT(DISTINCT n) FROM (SELECT window_start AS s, window_end AS e, COUNT(*) AS n "
      "FROM "
      "TABLE(TUMBLE(TABLE bid, DESCRIPTOR(rt), INTERVAL '10' SECOND)) "
      "GROUP BY auction, window_start, window_end) GROUP BY s, e",
      "WindowAggregate(window=[TUMBLE(win_start=s, win_end=e, size=10000 ms)], "
      "select=[s, e, COUNT(DISTINCT n) AS $f2])");
  has("SELECT auction FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end "
      "ORDER BY price DESC) AS rn FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(rt), INTERVAL '10' "
      "SECOND))) WHERE rn <= 3",
      "WindowRank(rankType=[ROW_NUMBER], rankRange=[rankStart=1, rankEnd=3], "
      "partitionBy=[window_start, window_end], orderBy=[price DESC]");
}

TEST_CASE("of rows that are unnested only what is read is passed on, and conditions come first") {
  testing_session session;

  const auto plan = session.plan("SELECT s, v FROM t CROSS JOIN UNNEST(ARRAY[a, a + 1]) AS x (v) "
                                 "WHERE a > 1 AND v > 2");
  INFO(plan);
  CHECK(plan.find("Calc(select=[s, v], where=[>(v, 2)])\n"
                  "   +- Correlate(invocation=[UNNEST(ARRAY(a, +(a, 1)))], "
                  "joinType=[InnerJoin], select=[s, v])\n"
                  "      +- Calc(select=[a, s], where=[>(a, 1)])\n") != std::string::npos);

  const auto spread =
      session.plan("SELECT q FROM t LEFT JOIN UNNEST(ARRAY[ROW(a, s)]) WITH ORDINALITY AS x "
                   "(p, q, n) ON TRUE");
  INFO(spread);
  CHECK(spread.find("WITH ORDINALITY], joinType=[LeftOuterJoin], select=[q])") !=
        std::string::npos);
}

TEST_CASE("set operations of distinct rows are aggregates over a union") {
  testing_session session;

  CHECK(session.plan("SELECT b FROM t UNION SELECT b FROM u")
            .find("GroupAggregate(groupBy=[b], select=[b])\n   +- Union(all=[true], union=[b])") !=
        std::string::npos);
  const auto intersected = session.plan("SELECT b FROM t INTERSECT SELECT b FROM u");
  CHECK(intersected.find("where=[AND(>($c1, 0), >($c2, 0))]") != std::string::npos);
  CHECK(intersected.find(
            "GroupAggregate(groupBy=[b], select=[b, COUNT(*) FILTER $left of INTERSECT "
            "AS $c1, COUNT(*) FILTER $right of INTERSECT AS $c2])") != std::string::npos);
  CHECK(session.plan("SELECT b FROM t EXCEPT SELECT b FROM u")
            .find("where=[AND(>($c1, 0), =($c2, 0))]") != std::string::npos);
}

} // TEST_SUITE("graph/sql/optimize/optimizer")

} // namespace headrace::sql
