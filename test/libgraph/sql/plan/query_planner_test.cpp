#include "test/libgraph/sql/testing_session.hpp"

namespace headrace::sql {

TEST_SUITE("graph/sql/plan/query_planner") {

TEST_CASE("a query is planned over the columns of its tables") {
  testing_session session;

  CHECK(session.logical_plan("SELECT a + 1 AS n, s FROM t WHERE b > 3") ==
        "Calc(select=[+(a, 1) AS n, s])\n"
        "+- Calc(select=[a, b, s, d, ts, r], where=[>(b, CAST(3):BIGINT NOT NULL)])\n"
        "   +- TableSourceScan(table=[`default_catalog`.`default_database`.`t`], "
        "fields=[a, b, s, d, ts, r])\n");
}

TEST_CASE("a star is all columns, of one table or of a row") {
  testing_session session;

  CHECK(session.plan("SELECT * FROM u") ==
        "Sink(fields=[b, c, e])\n"
        "+- TableSourceScan(table=[`default_catalog`.`default_database`.`u`], fields=[b, c, e])\n");
  CHECK(session.logical_plan("SELECT t.r.*, u.* FROM t, u")
            .starts_with("Calc(select=[r.x AS x, r.y AS y, b, c, e])\n"));
  CHECK(session.errors("SELECT x.* FROM t") == "8 unknown column: x, did you mean a");
  CHECK(session.errors("SELECT *") == "8 * has no columns here: there is no FROM");
}

TEST_CASE("grouped rows have keys and aggregates alone") {
  testing_session session;

  CHECK(session.logical_plan("SELECT s, COUNT(*) AS n, SUM(b) + 1 AS m FROM t GROUP BY s "
                             "HAVING SUM(b) > 5") ==
        "Calc(select=[s, $f1 AS n, +($f2, 1) AS m])\n"
        "+- Calc(select=[s, $f1, $f2], where=[>($f2, CAST(5):BIGINT NOT NULL)])\n"
        "   +- GroupAggregate(groupBy=[s], select=[s, COUNT(*) AS $f1, SUM(b) AS $f2])\n"
        "      +- Calc(select=[s, b])\n"
        "         +- TableSourceScan(table=[`default_catalog`.`default_database`.`t`], "
        "fields=[a, b, s, d, ts, r])\n");
  CHECK(session.logical_plan("SELECT a + 1 FROM t GROUP BY a + 1")
            .starts_with("Calc(select=[$f0 AS EXPR$0])\n+- GroupAggregate(groupBy=[$f0]"));
  CHECK(session.errors("SELECT a, COUNT(*) FROM t") ==
        "8 column is neither in GROUP BY nor inside an aggregate: a");
  CHECK(session.errors("SELECT s FROM t GROUP BY a HAVING d > 1").find("aggregate: d") !=
        std::string::npos);
  CHECK(session.logical_plan("SELECT COUNT(DISTINCT a) FILTER (WHERE b > 1) FROM t")
            .find("COUNT(DISTINCT a) FILTER $f1 AS $f0") != std::string::npos);
}

TEST_CASE("an alias is seen by ORDER BY, not by WHERE and GROUP BY") {
  testing_session session;

  CHECK(session.logical_plan("SELECT a AS n FROM t ORDER BY n DESC, b LIMIT 3") ==
        "Calc(select=[n])\n"
        "+- SortLimit(orderBy=[n DESC, $o0 ASC], fetch=[3])\n"
        "   +- Calc(select=[a AS n, b AS $o0])\n"
        "      +- TableSourceScan(table=[`default_catalog`.`default_database`.`t`], "
        "fields=[a, b, s, d, ts, r])\n");
  CHECK(session.errors("SELECT a AS n FROM t WHERE n > 1") ==
        "28 an alias of SELECT is not known here: n; repeat its expression, or select from a "
        "sub-query");
  CHECK(session.errors("SELECT a AS n FROM t GROUP BY n").starts_with("31 an alias of SELECT"));
  CHECK(session.errors("SELECT a FROM t ORDER BY 2") == "26 ORDER BY counts columns from 1 to 1");
}

TEST_CASE("joins see both sides, and USING merges") {
  testing_session session;

  CHECK(session.logical_plan("SELECT t.b, c FROM t LEFT JOIN u ON t.b = u.b") ==
        "Calc(select=[b, c])\n"
        "+- Join(joinType=[LeftOuterJoin], where=[=(b, b)], select=[a, b, s, d, ts, r, b, c, e])\n"
        "   +- TableSourceScan(table=[`default_catalog`.`default_database`.`t`], "
        "fields=[a, b, s, d, ts, r])\n"
        "   +- TableSourceScan(table=[`default_catalog`.`default_database`.`u`], "
        "fields=[b, c, e])\n");
  CHECK(session.logical_plan("SELECT * FROM t JOIN u USING (b)")
            .starts_with("Calc(select=[b, a, s, d, ts, r, c, e])\n"));
  CHECK(session.logical_plan("SELECT u.b, b FROM t FULL JOIN u USING (b)")
            .starts_with("Calc(select=[b, b AS b0])\n"));
  CHECK(session.logical_plan("SELECT * FROM t NATURAL JOIN u")
            .starts_with("Calc(select=[b, a, s, d, ts, r, c, e])\n"));
  CHECK(session.errors("SELECT b FROM t, u") == "8 column is in several tables: b, in t, u");
  CHECK(session.errors("SELECT a FROM t JOIN u USING (z)")
            .starts_with("31 column is not once in each table: z"));
}

TEST_CASE("IN with a query is a semi join, NOT IN an anti join") {
  testing_session session;

  CHECK(session.logical_plan("SELECT a FROM t WHERE b IN (SELECT b FROM u)")
            .find("Join(joinType=[LeftSemiJoin], where=[=(b, b)]") != std::string::npos);
  CHECK(session.logical_plan("SELECT a FROM t WHERE b NOT IN (SELECT b FROM u)")
            .find("LeftAntiJoin") != std::string::npos);
  CHECK(session.errors("SELECT a FROM t WHERE b IN (SELECT b, c FROM u)") ==
        "29 query behind IN has one column, found 2");
}

TEST_CASE("set operations and VALUES have common types") {
  testing_session session;

  CHECK(session.logical_plan("SELECT a FROM t UNION ALL SELECT b FROM u")
            .starts_with("Union(all=[true], union=[a])\n"
                         "+- Calc(select=[CAST(a):BIGINT AS a])\n"));
  CHECK(session.logical_plan("VALUES (1, 'a'), (2.5, 'bcd')") ==
        "Values(tuples=[(CAST(1):DECIMAL(11, 1) NOT NULL, CAST('a'):VARCHAR(3) NOT NULL), "
        "(CAST(2.5):DECIMAL(11, 1) NOT NULL, CAST('bcd'):VARCHAR(3) NOT NULL)], "
        "fields=[EXPR$0, EXPR$1])\n");
  CHECK(session.errors("SELECT a, b FROM t UNION SELECT b FROM u") ==
        "26 queries of a set operation have 2 and 1 columns");
  CHECK(session.errors("VALUES (1), (TRUE)")
            .starts_with("8 values of column 1 have no type in common"));
}

TEST_CASE("WITH names queries, in the order they stand in") {
  testing_session session;

  CHECK(session
            .logical_plan("WITH x (n) AS (SELECT a FROM t), y AS (SELECT n FROM x) "
                          "SELECT y.n FROM y")
            .starts_with("Calc(select=[n])\n+- Calc(select=[n])\n"));
  CHECK(session.errors("WITH x (n, m) AS (SELECT a FROM t) SELECT n FROM x") ==
        "6 list names 2 columns, the query has 1");
}

TEST_CASE("window functions add the bounds of windows") {
  testing_session session;

  CHECK(session
            .logical_plan("SELECT auction, window_end FROM TABLE(HOP(TABLE bid, "
                          "DESCRIPTOR(rt), INTERVAL '2' SECOND, INTERVAL '10' SECOND))")
            .find("WindowTableFunction(window=[HOP(time=rt, size=10000 ms, slide=2000 ms)])") !=
        std::string::npos);
  CHECK(session.errors("SELECT 1 FROM TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' SECOND)") ==
        "42 TUMBLE needs a column with a WATERMARK, or of PROCTIME(), and ts is none");
  CHECK(session
            .errors("SELECT 1 FROM HOP(TABLE bid, DESCRIPTOR(rt), INTERVAL '3' SECOND, "
                    "INTERVAL '10' SECOND)")
            .find("size of HOP is a multiple of its slide, found 10000 ms and 3000 ms") !=
        std::string::npos);
  CHECK(session.errors("SELECT 1 FROM TUMBEL(TABLE bid, DESCRIPTOR(rt), INTERVAL '1' SECOND)") ==
        "15 unknown table function: TUMBEL, did you mean TUMBLE");
  CHECK(session
            .logical_plan("SELECT window_start FROM TUMBLE(DATA => TABLE bid, TIMECOL => "
                          "DESCRIPTOR(rt), SIZE => INTERVAL '1' MINUTE, "
                          "`OFFSET` => INTERVAL '5' SECOND)")
            .find("size=60000 ms, offset=5000 ms") != std::string::npos);
}

TEST_CASE("a pattern is told with its values, and its rows are partition and measures") {
  testing_session session;

  CHECK(session
            .logical_plan(
                "SELECT * FROM bid MATCH_RECOGNIZE (PARTITION BY auction ORDER BY rt, price DESC "
                "MEASURES FIRST(A.price) AS f, SUM(B.price + 1) AS s, MATCH_ROWTIME() AS r "
                "AFTER MATCH SKIP TO LAST B PATTERN (A B{2,}? (C)) WITHIN INTERVAL '5' SECOND "
                "DEFINE B AS B.price > LAST(B.price, 1), C AS price < A.price AND COUNT(*) > 3)")
            .find("+- Match(partitionBy=[auction], orderBy=[rt ASC, price DESC], "
                  "measures=[FIRST(A.price, 0) AS f, SUM(+(B.price, 1)) AS s, "
                  "MATCH_ROWTIME() AS r], after=[SKIP TO LAST B], pattern=[A B{2,}? C], "
                  "within=[5000 ms], define=[B AS >(price, LAST(B.price, 1)), "
                  "C AS AND(<(price, LAST(A.price, 0)), >(COUNT(*), "
                  "CAST(3):BIGINT NOT NULL))])\n") != std::string::npos);
  // The time of a match is a time attribute, its other columns are none.
  CHECK(session
            .logical_plan("SELECT COUNT(*) FROM bid MATCH_RECOGNIZE (ORDER BY rt MEASURES "
                          "MATCH_ROWTIME() AS r PATTERN (A) DEFINE A AS price > 1) "
                          "GROUP BY TUMBLE(r, INTERVAL '1' MINUTE)")
            .find("WindowTableFunction") != std::string::npos);
  CHECK(session
            .errors("SELECT COUNT(*) FROM bid MATCH_RECOGNIZE (ORDER BY rt MEASURES A.rt AS r "
                    "PATTERN (A) DEFINE A AS price > 1) GROUP BY TUMBLE(r, INTERVAL '1' MINUTE)")
            .find("needs a column with a WATERMARK") != std::string::npos);
}

TEST_CASE("what is wrong with a pattern is told with its place") {
  testing_session session;
  const auto errors = [&](const std::string& inside) {
    return session.errors("SELECT * FROM bid MATCH_RECOGNIZE (ORDER BY rt MEASURES " + inside +
                          ")");
  };

  CHECK(errors("A.price AS p PATTERN (A B+) DEFINE A AS A.price > 1") ==
        "79 a greedy quantifier does not stand at the end of a pattern, which is not supported: B; "
        "make it reluctant, or end with a variable");
  CHECK(errors("D.price AS p PATTERN (A B) DEFINE A AS A.price > 1") ==
        "57 unknown pattern variable: D, did you mean A");
  CHECK(errors("A.prize AS p PATTERN (A B) DEFINE A AS A.price > 1") ==
        "59 unknown column: prize, did you mean price");
  CHECK(errors("A.price AS p PATTERN (A B) DEFINE A AS A.price") ==
        "96 expected a condition, found BIGINT");
}

TEST_CASE("INSERT fills a table by position") {
  testing_session session;

  CHECK(session.plan("INSERT INTO sink (s, a) SELECT s, a FROM t") ==
        "Sink(table=[`default_catalog`.`default_database`.`sink`], fields=[a, b, s])\n"
        "+- Calc(select=[a, NULL AS b, s])\n"
        "   +- TableSourceScan(table=[`default_catalog`.`default_database`.`t`], "
        "fields=[a, s])\n");
  CHECK(session.errors("INSERT INTO sink SELECT a FROM t") ==
        "18 the query has 1 columns, table sink takes 3");
  CHECK(session.errors("INSERT INTO sink SELECT b, b, s FROM t") ==
        "18 column a is INT, the query gives BIGINT; CAST it");
  CHECK(session.errors("INSERT INTO sink (z) SELECT a FROM t") ==
        "19 table has no such column to be written: z, did you mean a");
  CHECK(session.errors("INSERT INTO snk SELECT a FROM t") ==
        "13 unknown table: snk, did you mean sink");
}

TEST_CASE("views are planned where they are used") {
  testing_session session;
  session.run("CREATE VIEW v (n, m) AS SELECT a, b FROM t WHERE a > 0");

  CHECK(session.plan("SELECT m FROM v") ==
        "Sink(fields=[m])\n"
        "+- Calc(select=[b AS m], where=[>(a, 0)])\n"
        "   +- TableSourceScan(table=[`default_catalog`.`default_database`.`t`], "
        "fields=[a, b])\n");
  session.run("CREATE DATABASE other; USE other");
  CHECK(session.plan("SELECT n FROM default_database.v").find("`t`], fields=[a]") !=
        std::string::npos);
  session.run("DROP TABLE default_database.t");
  CHECK(session.errors("SELECT n FROM default_database.v") ==
        "15 view has no meaning any more: v: unknown table: t, did you mean u");
}

TEST_CASE("a view that reads itself is refused where it is made") {
  testing_session session;
  session.run("CREATE VIEW v AS SELECT a FROM t; CREATE VIEW w AS SELECT x.a FROM v x, v y; "
              "CREATE TEMPORARY VIEW passing AS SELECT * FROM w");

  CHECK(session.errors("CREATE OR REPLACE VIEW v AS SELECT x.a FROM v x, v y") ==
        "24 view would be over itself: v");
  CHECK(session.errors("CREATE OR REPLACE VIEW v AS SELECT a FROM w") ==
        "24 view would be over itself: v");
  CHECK(session.errors("ALTER VIEW v AS SELECT a FROM passing") ==
        "12 view would be over itself: v");
  CHECK(session.errors("CREATE TEMPORARY VIEW v AS SELECT a FROM v") ==
        "23 view would be over itself: v");
  CHECK(session.errors("DROP VIEW v; ALTER VIEW w RENAME TO v") ==
        "37 view would be over itself: v");
  CHECK(session.errors("CREATE OR REPLACE VIEW v AS SELECT a + 1 AS a FROM t; SELECT a FROM w") ==
        "");
}

TEST_CASE("views upon views are bounded, and said to be so once") {
  testing_session session;
  std::string chain = "CREATE VIEW c0 AS SELECT a FROM t";
  for (int i = 1; i < 50; ++i)
    chain += "; CREATE VIEW c" + std::to_string(i) + " AS SELECT a FROM c" + std::to_string(i - 1);
  session.run(chain);
  std::string doubled = "CREATE VIEW d0 AS SELECT a FROM t";
  for (int i = 1; i <= 16; ++i)
    doubled += "; CREATE VIEW d" + std::to_string(i) + " AS SELECT x.a FROM d" +
               std::to_string(i - 1) + " x, d" + std::to_string(i - 1) + " y";

  session.run("SELECT a FROM c49");
  CHECK(session.errors("CREATE VIEW c50 AS SELECT a FROM c49; SELECT a FROM c50") ==
        "53 views refer to each other through more than 50 levels: c50 down to c0");
  CHECK(session.errors(doubled).find(
            "views and tables of WITH come to more than 20000 operators in this statement") !=
        std::string::npos);
}

TEST_CASE("an aggregate without GROUP BY has a row, whatever there is") {
  testing_session session;
  const auto values = [&](const std::string& item) {
    return session.logical_plan("SELECT a, (SELECT " + item +
                                " FROM u WHERE u.b = t.b) AS v FROM t");
  };
  const auto kept = [&](const std::string& condition) {
    return session.logical_plan("SELECT a FROM t WHERE " + condition);
  };

  CHECK(values("SUM(u.b)").find("CASE") == std::string::npos);
  CHECK(values("SUM(u.b) + 1").find("CASE") == std::string::npos);
  CHECK(values("COALESCE(SUM(u.b), 7)").find("CASE(IS NULL($k8), COALESCE(NULL, ") !=
        std::string::npos);
  CHECK(values("MAX(u.b) IS NULL").find("CASE(IS NULL($k8), IS NULL(NULL), $k7)") !=
        std::string::npos);
  CHECK(kept("EXISTS (SELECT COUNT(*) FROM u WHERE u.b = t.b)") ==
        session.logical_plan("SELECT a FROM t"));
  CHECK(kept("NOT EXISTS (SELECT COUNT(*) FROM u)").find("where=[FALSE]") != std::string::npos);
  CHECK(kept("b IN (SELECT COUNT(*) FROM u)").find("where=[=(b, CASE(") != std::string::npos);
  CHECK(kept("b NOT IN (SELECT MAX(b) FROM u)").find("where=[NOT(=(b, $q6))]") !=
        std::string::npos);
  CHECK(kept("b > ALL (SELECT MAX(b) FROM u)").find("where=[>(b, $q6)]") != std::string::npos);
  CHECK(session.errors("SELECT a FROM t WHERE EXISTS (SELECT MAX(z) FROM u)") ==
        "42 unknown column: z, did you mean b");
}

TEST_CASE("a query about rows around it says what is not supported there") {
  testing_session session;
  const auto message =
      "a query about rows of the one around it is SELECT … FROM … WHERE …: WITH, GROUP BY, HAVING, "
      "LIMIT and the like are not supported there";

  for (const auto* end : {"LIMIT 1", "GROUP BY c", "HAVING COUNT(*) > 1"})
    CHECK(session
              .errors("SELECT a FROM t WHERE EXISTS (SELECT c FROM u WHERE u.b = t.b " +
                      std::string(end) + ")")
              .find(message) != std::string::npos);
  CHECK(session.errors("SELECT a FROM t WHERE EXISTS (SELECT c FROM u WHERE u.b = z.b LIMIT 1)") ==
        "59 unknown table or column: z, did you mean u");
}

TEST_CASE("a computed column that names no other is named by what it is") {
  // State goes by these names.
  testing_session session;
  const auto line_of = [](const std::string& plan, std::string_view operation) {
    const auto begin = plan.find(operation);
    REQUIRE_MESSAGE(begin != std::string::npos, plan);
    return plan.substr(begin, plan.find('\n', begin) - begin);
  };
  const auto lag = [&](const std::string& arguments) {
    const auto text = "SELECT LAG(" + arguments + ") OVER (ORDER BY ts) FROM t";
    return line_of(session.logical_plan(text), "OverAggregate(");
  };
  const auto sum_of = [&](const std::string& what) {
    return line_of(session.logical_plan("SELECT MAX(" + what + ") FROM t"), "GroupAggregate(");
  };
  const auto has = [](const std::string& plan, std::string_view part) {
    CHECK_MESSAGE(plan.find(part) != std::string::npos, plan);
  };

  has(lag("a, 2"), "$6 = 2");
  CHECK(lag("a, 1, 1 + 1") == lag("a, 1, 2")); // by what it comes to
  CHECK(lag("s, 1, CHR(45)") == lag("s, 1, '-'"));
  CHECK(lag("ts, 1, TIMESTAMP '2024-01-01 00:00:00' + INTERVAL '1' DAY") !=
        lag("ts, 1, TIMESTAMP '2024-01-01 00:00:00' + INTERVAL '1' HOUR"));
  CHECK(sum_of("INTERVAL '1' DAY") != sum_of("INTERVAL '1' HOUR"));
  CHECK(sum_of("INTERVAL '1' DAY") == sum_of("INTERVAL '24' HOUR"));
  has(lag("a, 1, CAST(RAND() AS INT)"), "RAND()"); // another one each time: as it is written
  CHECK(lag("a, 1, 1 + 1") != lag("a, 1, 1 + 2"));
  CHECK(lag("d, 1, 0.5") != lag("d, 1, 0.25")); // cast to the type of d
  CHECK(lag("s, 1, CHR(45)") != lag("s, 1, CHR(46)"));
  const std::string begin(40, 'x');
  CHECK(lag("s, 1, '" + begin + "a'") != lag("s, 1, '" + begin + "b'"));
  const auto sum = [&](const std::string& of) {
    const auto text = "SELECT PERCENTILE(a, " + of + ") FROM t";
    return line_of(session.logical_plan(text), "GroupAggregate(");
  };
  CHECK(sum("0.5") != sum("0.25"));
  CHECK(sum("0.25 + 0.25") != sum("0.25 + 0.5"));
  has(session.logical_plan("SELECT SUM(a + 1) FROM t"), "SUM($f0)"); // what is computed of columns
}

TEST_CASE("windows have sizes and numbers with sense") {
  testing_session session;
  const auto sized = [&](const std::string& window) {
    return session.errors("SELECT COUNT(*) FROM " + window + " GROUP BY window_start, window_end");
  };

  CHECK(sized("TUMBLE(TABLE bid, DESCRIPTOR(rt), INTERVAL '365001' DAY)") ==
        "56 SIZE of a window is at most 365000 days");
  CHECK(sized("SESSION(TABLE bid, DESCRIPTOR(rt), INTERVAL '106751991167' DAY)") ==
        "57 GAP of a window is at most 365000 days");
  CHECK(sized("HOP(TABLE bid, DESCRIPTOR(rt), INTERVAL '0.001' SECOND, INTERVAL '1' DAY)") ==
        "22 each row would be in 86400000 windows of HOP, at most 100000 are allowed: make them "
        "shorter or further apart");
  CHECK(session.errors("SELECT COUNT(*) FROM bid GROUP BY TUMBLE(rt, INTERVAL '400000' DAY)")
            .ends_with("46 SIZE of a window is at most 365000 days"));
  CHECK(sized("HOP(TABLE bid, DESCRIPTOR(rt), INTERVAL '1' SECOND, INTERVAL '1' DAY)") == "");
  CHECK(session
            .plan("SELECT x.price FROM bid x JOIN bid y ON x.auction = y.auction AND y.rt BETWEEN "
                  "x.rt - INTERVAL '99999999999' DAY AND x.rt + INTERVAL '99999999999' DAY")
            .find("+- Join(") != std::string::npos);
}

TEST_CASE("a window over rows does not begin behind them") {
  testing_session session;

  CHECK(session.errors("SELECT COUNT(*) OVER (ORDER BY rt RANGE BETWEEN INTERVAL '-1' SECOND "
                       "PRECEDING AND CURRENT ROW) FROM bid") ==
        "49 RANGE takes an interval such as INTERVAL '10' MINUTES, or a number");
}

TEST_CASE("PARTITION names a column once") {
  testing_session session;
  session.run("CREATE TABLE p (a INT, b INT) PARTITIONED BY (b) WITH ('connector' = 'file')");

  CHECK(session.errors("INSERT INTO p PARTITION (b = 1, b = 2) SELECT a FROM t") ==
        "33 PARTITION names a column twice: b");
}

TEST_CASE("several errors of a script are told together") {
  testing_session session;

  CHECK(session.errors("SELECT x, y + 'a' FROM t; SELECT z FROM nowhere; SELECT a FROM t") ==
        "8 unknown column: x, did you mean a\n11 unknown column: y, did you mean a\n"
        "41 unknown table: nowhere");
}

TEST_CASE("what is not supported yet says so") {
  testing_session session;

  CHECK(session.errors("SELECT a, GROUPING(b) FROM t GROUP BY CUBE (a)") ==
        "20 GROUPING takes keys of GROUP BY");
  CHECK(session.errors("SELECT a FROM UNNEST(ARRAY[1], ARRAY[2])") ==
        "15 UNNEST takes one collection: join another UNNEST");
}

} // TEST_SUITE("graph/sql/plan/query_planner")

} // namespace headrace::sql
