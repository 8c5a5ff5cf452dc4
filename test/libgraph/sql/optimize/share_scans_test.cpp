#include "test/libgraph/sql/testing_session.hpp"

#include <set>

namespace headrace::sql {
namespace {

/// The lines of a plan that are scans of a table, each once: so many sources it becomes.
std::set<std::string> scans_of(const std::string& plan, const std::string& table) {
  std::set<std::string> out;
  for (std::size_t at = 0; at < plan.size();) {
    const auto end = plan.find('\n', at);
    const auto line = plan.substr(at, end - at);
    if (const auto scan = line.find("TableSourceScan("); scan != std::string::npos)
      if (line.find("`" + table + "`], ") != std::string::npos)
        out.insert(line.substr(scan));
    at = end + 1;
  }
  return out;
}

/// The same of what gives a table's rows to its readers: all lines below such a watermark.
std::set<std::string> marked_of(const std::string& plan) {
  std::set<std::string> out;
  for (auto at = plan.find("WatermarkAssigner("); at != std::string::npos;
       at = plan.find("WatermarkAssigner(", at + 1)) {
    auto end = plan.find("TableSourceScan(", at);
    end = plan.find('\n', end);
    auto part = plan.substr(at, end - at);
    std::string lines; // less what stands in front, which says how deep it is
    for (std::size_t from = 0; from < part.size();) {
      auto to = part.find('\n', from);
      to = to == std::string::npos ? part.size() : to;
      const auto line = part.substr(from, to - from);
      const auto begin = line.find_first_not_of(" +-");
      lines += line.substr(begin == std::string::npos ? 0 : begin) + "\n";
      from = to + 1;
    }
    out.insert(lines);
  }
  return out;
}

std::string scan(const std::string& table, const std::string& fields) {
  return "TableSourceScan(table=[`default_catalog`.`default_database`.`" + table + "`], fields=[" +
         fields + "])";
}

} // namespace

TEST_SUITE("graph/sql/optimize/share_scans") {

TEST_CASE("a table that is read twice is one scan of all columns that are read") {
  testing_session session;

  const auto plan = session.plan("SELECT x.a FROM t AS x JOIN t AS y ON x.b = y.b WHERE y.s = 'k' "
                                 "AND x.d > 1");

  CHECK(plan == "Sink(fields=[a])\n"
                "+- Calc(select=[a])\n"
                "   +- Join(joinType=[InnerJoin], keys=[b = b], select=[a, b, b])\n"
                "      +- Calc(select=[a, b], where=[>(d, CAST(1):DOUBLE NOT NULL)])\n"
                "         +- " +
                    scan("t", "a, b, s, d") +
                    "\n"
                    "      +- Calc(select=[b], where=[=(s, CAST('k'):STRING NOT NULL)])\n"
                    "         +- " +
                    scan("t", "a, b, s, d") + "\n");
}

TEST_CASE("who reads all that he is given chooses among the columns of a shared scan") {
  testing_session session;

  const auto plan = session.plan("SELECT x.a, x.b, y.s, y.b FROM (SELECT a, b FROM t) AS x JOIN "
                                 "(SELECT b, s FROM t) AS y ON x.b = y.b");

  CHECK(scans_of(plan, "t") == std::set{scan("t", "a, b, s")});
  CHECK(plan.find("Calc(select=[a, b])") != std::string::npos);
  CHECK(plan.find("Calc(select=[b, s])") != std::string::npos);
}

TEST_CASE("of rows inside of rows all fields are read that one of the readers wants") {
  testing_session session;
  session.run("CREATE TABLE deep (k INT, o ROW<p ROW<a INT, b INT, c INT>, q INT, w INT>) "
              "WITH ('connector' = 'values')");

  const auto plan = session.plan("SELECT x.v, y.v, y.u FROM "
                                 "(SELECT k, o.p.c AS v FROM deep WHERE o.w > 1) AS x JOIN "
                                 "(SELECT k, o.p.a AS v, o.q AS u FROM deep) AS y ON x.k = y.k");

  CHECK(scans_of(plan, "deep") == std::set{scan("deep", "k, o(p(a, c), q, w)")});
  CHECK(plan.find("Calc(select=[k, o.p.c AS v], where=[>(o.w, 1)])") != std::string::npos);
  CHECK(plan.find("Calc(select=[k, o.p.a AS v, o.q AS u])") != std::string::npos);

  const auto whole = session.plan("SELECT x.v, y.o FROM (SELECT k, o.p.c AS v FROM deep) AS x "
                                  "JOIN deep AS y ON x.k = y.k");
  CHECK(scans_of(whole, "deep") == std::set{scan("deep", "k, o")});
  CHECK(whole.find("Calc(select=[k, o.p.c AS v])") != std::string::npos);
}

TEST_CASE("watermarks are made once, below what the readers leave out") {
  testing_session session;

  const auto plan =
      session.plan("SELECT x.auction FROM bid AS x JOIN (SELECT MAX(price) AS most, window_end "
                   "FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(rt), INTERVAL '10' SECOND)) "
                   "GROUP BY window_start, window_end) AS y ON x.price = y.most "
                   "WHERE x.auction > 3");

  CHECK(marked_of(plan) == std::set{"WatermarkAssigner(rowtime=[rt], delay=[4000 ms])\n" +
                                    scan("bid", "auction, price, rt") + "\n"});
}

TEST_CASE("computed columns that a watermark follows are computed once") {
  testing_session session;
  session.run("CREATE TABLE events (kind INT, l ROW<id INT, ts TIMESTAMP(3)>, "
              "r ROW<id INT, ts TIMESTAMP(3), extra STRING>, "
              "happened AS CASE WHEN kind = 0 THEN l.ts ELSE r.ts END, "
              "WATERMARK FOR happened AS happened - INTERVAL '1' SECOND) "
              "WITH ('connector' = 'values');"
              "CREATE VIEW lefts AS SELECT l.id, happened FROM events WHERE kind = 0;"
              "CREATE VIEW rights AS SELECT r.id, r.extra, happened FROM events WHERE kind = 1");

  const auto plan = session.plan("SELECT lefts.id, extra FROM lefts JOIN rights "
                                 "ON lefts.id = rights.id");

  const std::string marked =
      "WatermarkAssigner(rowtime=[happened], delay=[1000 ms])\n"
      "Calc(select=[kind, CASE(=(kind, 0), l.ts, r.ts) AS happened, l.id, r.id, r.extra])\n" +
      scan("events", "kind, l, r") + "\n";
  CHECK(marked_of(plan) == std::set{marked});
}

TEST_CASE("statements of a set share what they read") {
  testing_session session;

  const auto plan = session.plan("EXECUTE STATEMENT SET BEGIN "
                                 "INSERT INTO sink SELECT a, b, 'x' FROM t WHERE d > 1; "
                                 "INSERT INTO sink SELECT a, b, r.y FROM t; "
                                 "INSERT INTO sink SELECT 1, b, c FROM u; END");

  CHECK(scans_of(plan, "t") == std::set{scan("t", "a, b, d, r(y)")});
  CHECK(scans_of(plan, "u") == std::set{scan("u", "b, c")});
}

TEST_CASE("scans of other options, or with other watermarks, stay apart") {
  testing_session session;
  session.run("CREATE TABLE random (a INT, b INT, c AS RAND(), ts TIMESTAMP(3), "
              "WATERMARK FOR ts AS ts) WITH ('connector' = 'values')");

  const auto hinted = session.plan("SELECT x.a FROM t /*+ OPTIONS('k' = 'v') */ AS x JOIN t AS y "
                                   "ON x.b = y.b WHERE y.s = 'k'");
  CHECK(scans_of(hinted, "t") == std::set{scan("t", "a, b"), scan("t", "b, s")});

  const auto eager = session.plan("SELECT x.auction FROM bid "
                                  "/*+ OPTIONS('scan.watermark.emit.strategy' = 'on-event') */ "
                                  "AS x JOIN bid AS y ON x.price = y.price");
  CHECK(marked_of(eager).size() == 2);

  // A value that is another one each time is one for each reader, of the same rows.
  const auto drawn = session.plan("SELECT x.c, y.c FROM random AS x JOIN random AS y ON x.a = y.b");
  CHECK(scans_of(drawn, "random") == std::set{scan("random", "a, b, ts")});
  CHECK(marked_of(drawn).size() == 2);
}

TEST_CASE("a lookup join reads its table itself") {
  testing_session session;
  session.run("CREATE TABLE probe (b BIGINT, seen AS PROCTIME()) WITH ('connector' = 'values')");

  const auto plan = session.plan("SELECT p.b, c, n FROM probe AS p "
                                 "JOIN u FOR SYSTEM_TIME AS OF p.seen AS v ON v.b = p.b "
                                 "JOIN (SELECT b, COUNT(*) AS n FROM u GROUP BY b) AS w "
                                 "ON w.b = p.b");

  CHECK(scans_of(plan, "u") == std::set{scan("u", "b")});
}

} // TEST_SUITE("graph/sql/optimize/share_scans")

} // namespace headrace::sql
