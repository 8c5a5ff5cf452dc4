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
        "   +- Join(joinType=[InnerJoin], where=[AND(=(b, b), <>(s, c))], "
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

} // TEST_SUITE("graph/sql/optimize/optimizer")

} // namespace headrace::sql
