#include "libgraph/sql/translate/job_translator.hpp"

#include "test/libgraph/sql/testing_session.hpp"
#include "libgraph/connector/abilities.hpp"
#include "libgraph/connector/sink.hpp"
#include "libgraph/connector/source.hpp"
#include "libgraph/job_graph/query_parts.hpp"
#include "libgraph/spec/keeps_state.hpp"
#include "libgraph/stream_graph/job_graph_builder.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace headrace::sql {
namespace {

using graph::aggregate_phase;

/// Rows that never come.
class idle_source final : public graph::source {
public:
  idle_source(graph::row_type_ptr type, graph::boundedness bounds)
      : type_(std::move(type)), bounds_(bounds) {}
  graph::boundedness bounds() const override { return bounds_; }
  graph::row_type_ptr row_type() const override { return type_; }
  result<std::unique_ptr<graph::split_enumerator>>
  create_enumerator(graph::enumerator_context&, std::optional<byte_string>) const override {
    return error(errc::unknown_connector, "it is not run");
  }
  result<std::unique_ptr<graph::split_reader>> create_reader(graph::reader_context) const override {
    return error(errc::unknown_connector, "it is not run");
  }

private:
  graph::row_type_ptr type_;
  graph::boundedness bounds_;
};

class open_sink final : public graph::sink, public graph::changelog_sink {
public:
  result<std::unique_ptr<graph::sink_writer>>
  create_writer(graph::writer_context, std::vector<byte_string>) const override {
    return error(errc::unknown_connector, "it is not run");
  }
  result<std::unique_ptr<graph::committer>> create_committer(graph::writer_context) const override {
    return std::unique_ptr<graph::committer>();
  }
  bool takes_changes() const override { return true; }
};

graph::connector_registry connectors_of(graph::boundedness bounds) {
  graph::connector_registry out;
  out.add_source("values",
                 [bounds](const graph::connector_registry&, const graph::option_map&,
                          graph::row_type_ptr type) -> result<std::unique_ptr<graph::source>> {
                   return std::unique_ptr<graph::source>(
                       std::make_unique<idle_source>(std::move(type), bounds));
                 });
  for (const auto* name : {"void", "collect"})
    out.add_sink(name,
                 [](const graph::connector_registry&, const graph::option_map&,
                    graph::row_type_ptr) -> result<std::unique_ptr<graph::sink>> {
                   return std::unique_ptr<graph::sink>(std::make_unique<open_sink>());
                 });
  return out;
}

/// The job of a query: its graph is built and checked.
class translated {
public:
  explicit translated(testing_session& session, const std::string& query,
                      graph::boundedness bounds = graph::boundedness::bounded) {
    CAPTURE(query);
    const auto steps = session.run(query);
    std::vector<diagnostic> findings;
    auto made = translate(std::get<planned_job>(steps.back()), connectors_of(bounds), findings);
    REQUIRE(findings.empty());
    REQUIRE(made);
    warnings = made->warnings;
    shown = made->shown;
    auto job = graph::build_job_graph(made->program, 4);
    CAPTURE(job ? std::string() : job.error().message);
    REQUIRE(job);
    for (const auto& vertex : job->vertices)
      for (const auto& node : vertex.operators) {
        nodes.push_back(node);
        parallelism.push_back(vertex.parallelism);
      }
  }
  template <class Spec>
  std::vector<Spec> all() const {
    std::vector<Spec> out;
    for (const auto& each : nodes)
      if (const auto* found = std::get_if<Spec>(&each.spec))
        out.push_back(*found);
    return out;
  }
  std::int32_t parallelism_of(const std::string& name) const {
    for (std::size_t i = 0; i < nodes.size(); ++i)
      if (nodes[i].name == name)
        return parallelism[i];
    return 0;
  }

  std::vector<graph::operator_node> nodes;
  std::vector<std::int32_t> parallelism;
  std::vector<std::string> warnings;
  std::optional<shown_rows> shown;
};

constexpr auto gathers = "SET table.exec.mini-batch.enabled = true;"
                         "SET table.exec.mini-batch.allow-latency = 5 s;"
                         "SET table.exec.mini-batch.size = 1000;";
constexpr auto two_phase = "SET table.optimizer.agg-phase-strategy = TWO_PHASE";

} // namespace

TEST_SUITE("graph/sql/translate/job_translator") {

TEST_CASE("late rows of a view are a side output of its windows, whoever reads the view") {
  testing_session session;
  session.run(
      "CREATE VIEW v AS SELECT auction, window_start, SUM(price + 1) AS total, AVG(price) AS "
      "mean FROM TUMBLE(TABLE bid, DESCRIPTOR(rt), INTERVAL '1' MINUTE) WHERE price > 0 "
      "GROUP BY auction, window_start, window_end;"
      "CREATE TABLE sums (a BIGINT, s BIGINT) WITH ('connector' = 'void');"
      "CREATE TABLE late (p BIGINT, t TIMESTAMP(3)) WITH ('connector' = 'void')");

  const translated both(session, "EXECUTE STATEMENT SET BEGIN "
                                 "INSERT INTO sums SELECT auction, total FROM v WHERE auction > 5;"
                                 "INSERT INTO late SELECT price, rt FROM v$late; END");
  REQUIRE(both.all<graph::window_aggregate_spec>().size() == 1);
  CHECK(both.all<graph::window_aggregate_spec>()[0].late_side == 0);
  CHECK(both.all<graph::sink_spec>().size() == 2);

  const auto plans = session.table("EXPLAIN STATEMENT SET BEGIN INSERT INTO sums SELECT auction, "
                                   "total FROM v; INSERT INTO late SELECT price, rt FROM v$late; "
                                   "END")[0];
  CHECK(plans.find("LateRows(select=[auction, price, rt])") != std::string::npos);

  // By itself, and where nobody reads them.
  const translated alone(session, "SELECT * FROM v$late");
  CHECK(alone.all<graph::window_aggregate_spec>()[0].late_side == 0);
  const translated without(session, "SELECT * FROM v");
  CHECK(without.all<graph::window_aggregate_spec>()[0].late_side == -1);

  CHECK(session.errors("SELECT * FROM bid$late").find("no rows are late for bid") !=
        std::string::npos);
  CHECK(session.errors("CREATE VIEW w AS SELECT a FROM t; SELECT * FROM w$late")
            .find("no rows are late for w") != std::string::npos);
}

TEST_CASE("malformed records are a side output of the source that others read") {
  testing_session session;
  session.run("CREATE TABLE e (a INT, b INT) WITH ('connector' = 'values', 'errors' = 'table');"
              "CREATE TABLE good (a INT) WITH ('connector' = 'void');"
              "CREATE TABLE bad (r BYTES, p BIGINT) WITH ('connector' = 'void')");

  const translated both(session, "EXECUTE STATEMENT SET BEGIN INSERT INTO good SELECT a FROM e;"
                                 "INSERT INTO bad SELECT record, `position` FROM e$errors; END");
  CHECK(both.all<graph::source_spec>().size() == 1);
  CHECK(both.nodes[0].side_types.size() == 1);
  CHECK(both.warnings.empty());

  const translated alone(session, "SELECT b FROM e");
  CHECK(alone.nodes[0].side_types.empty());
  CHECK(alone.nodes[0].output_type.child_count() == 2);
  CHECK(alone.warnings ==
        std::vector<std::string>{"malformed records of e are lost: no statement of the job reads "
                                 "e$errors"});
}

TEST_CASE("a table is one source for all who read it, whatever columns they read") {
  testing_session session;
  session.run(
      "CREATE TABLE rates (c STRING, n INT, rate INT, rt TIMESTAMP(3), "
      "WATERMARK FOR rt AS rt, PRIMARY KEY (c) NOT ENFORCED) WITH ('connector' = 'values')");

  // As the versions of a temporal join, of which nobody needs the old ones, too.
  const translated versions(session,
                            "SELECT a.n, b.rate FROM rates AS a JOIN rates FOR SYSTEM_TIME AS OF "
                            "a.rt AS b ON a.c = b.c WHERE a.n > 3");
  CHECK(versions.all<graph::source_spec>().size() == 1);

  const translated rows(session, "SELECT x.a, y.s FROM (SELECT a, b FROM t) AS x JOIN t AS y "
                                 "ON x.b = y.b WHERE y.d > 1");
  CHECK(rows.all<graph::source_spec>().size() == 1);
}

/// The ids of what keeps state in the job of some INSERTs.
std::set<operator_id> keepers_of(testing_session& session, const std::string& statements) {
  const translated set(session, "EXECUTE STATEMENT SET BEGIN " + statements + " END");
  std::set<operator_id> out;
  for (const auto& each : set.nodes)
    if (graph::keeps_state(each.spec))
      out.insert(each.id);
  return out;
}

bool has_all(const std::set<operator_id>& of, const std::set<operator_id>& wanted) {
  return std::includes(of.begin(), of.end(), wanted.begin(), wanted.end());
}

TEST_CASE("statements of a set keep their operators when others come, go or change places") {
  testing_session session;
  session.run("CREATE TABLE sum_of (a BIGINT, n BIGINT) WITH ('connector' = 'void');"
              "CREATE TABLE double_of (a BIGINT, n BIGINT) WITH ('connector' = 'void');"
              "CREATE TABLE count_of (a BIGINT, n BIGINT) WITH ('connector' = 'void')");
  const std::string one = "INSERT INTO sum_of SELECT a, SUM(b) FROM t GROUP BY a;";
  const std::string two = "INSERT INTO double_of SELECT a, SUM(b * 2) FROM t GROUP BY a;";
  const std::string three = "INSERT INTO count_of SELECT a, COUNT(*) FROM t GROUP BY a;";
  const auto all = keepers_of(session, one + two + three);
  REQUIRE(all.size() == 7); // the source, an aggregate and a sink each
  CHECK(keepers_of(session, three + two + one) == all);
  for (const auto& fewer : {one + two, two + three, three + one}) {
    const auto kept = keepers_of(session, fewer);
    CHECK(kept.size() == 5);
    CHECK(has_all(all, kept));
  }
  for (const auto& alone : {one, two, three}) {
    const auto kept = keepers_of(session, alone);
    CHECK(kept.size() == 3);
    CHECK(has_all(all, kept));
  }
}

TEST_CASE("what statements share or not is not in the ids of what keeps state") {
  testing_session session;
  session.run("CREATE TABLE pairs (a BIGINT, n BIGINT) WITH ('connector' = 'void');"
              "CREATE TABLE plain (a BIGINT, n BIGINT) WITH ('connector' = 'void')");
  const std::string join = "INSERT INTO pairs SELECT x.a, y.b FROM (SELECT a, b FROM t WHERE a > 1)"
                           " AS x JOIN t AS y ON x.a = y.a;";
  const auto alone = keepers_of(session, join);
  REQUIRE(alone.size() == 3);
  // The calc of `x` is that of both, is not, is, and the second statement comes first.
  const std::string shared = "INSERT INTO plain SELECT a, b FROM t WHERE a > 1;";
  const std::string other = "INSERT INTO plain SELECT a, b FROM t WHERE a > 2;";
  for (const auto& set : {join + shared, join + other, shared + join})
    CHECK(has_all(keepers_of(session, set), alone));
  // And one that only some of the columns need comes before it.
  CHECK(keepers_of(session, "INSERT INTO pairs SELECT x.a, y.b FROM t AS x JOIN t AS y "
                            "ON x.a = y.a WHERE x.b > 3;") == alone);
}

TEST_CASE("state by windows is told with what the windows are, wherever they come from") {
  testing_session session;
  const auto parts_of = [&](const std::string& query) {
    std::vector<std::string> out;
    for (const auto& node : translated(session, query).nodes)
      for (const auto& part : graph::query_parts(node))
        out.push_back(part.name);
    return out;
  };
  const std::string grouped = " GROUP BY auction, window_start, window_end";
  const auto table = [](const std::string& function, const std::string& sizes) {
    return "TABLE(" + function + "(TABLE bid, DESCRIPTOR(rt), " + sizes + "))";
  };
  const std::string minute = "INTERVAL '1' MINUTE";
  const std::string half = "INTERVAL '30' SECOND";
  struct change {
    std::string function, before, after;
  };
  for (const auto& [function, before, after] : std::vector<change>{
           {"TUMBLE", minute, half},
           {"TUMBLE", minute, minute + ", INTERVAL '5' SECOND"},
           {"HOP", half + ", " + minute, "INTERVAL '20' SECOND, " + minute},
           {"HOP", half + ", " + minute, half + ", INTERVAL '2' MINUTE"},
           {"CUMULATE", half + ", " + minute, "INTERVAL '20' SECOND, " + minute},
           {"CUMULATE", half + ", " + minute, half + ", INTERVAL '2' MINUTE"},
       }) {
    for (const auto& query : std::vector<std::string>{
             "SELECT auction, SUM(price) FROM {}" + grouped,
             "SELECT auction, COUNT(DISTINCT price) FROM {}" + grouped,
             "SELECT window_start, COUNT(DISTINCT price) FROM {} GROUP BY window_start, window_end",
             "SELECT MAX(n) FROM (SELECT COUNT(DISTINCT price) AS n, window_start, window_end FROM "
             "{}" +
                 grouped + ") GROUP BY window_start, window_end",
             std::string(
                 "SELECT auction FROM (SELECT auction, ROW_NUMBER() OVER (PARTITION BY "
                 "window_start, window_end ORDER BY price DESC) AS n FROM {}) WHERE n <= 3"),
             "SELECT l.price FROM (SELECT * FROM {}) AS l JOIN (SELECT * FROM {}) AS r ON "
             "l.auction = "
             "r.auction AND l.window_start = r.window_start AND l.window_end = r.window_end"}) {
      const auto with = [&](const std::string& sizes) {
        auto text = query;
        for (auto at = text.find("{}"); at != std::string::npos; at = text.find("{}"))
          text.replace(at, 2, table(function, sizes));
        return text;
      };
      CAPTURE(with(before));
      CAPTURE(after);
      CHECK(parts_of(with(before)) == parts_of(with(before)));
      CHECK(parts_of(with(before)) != parts_of(with(after)));
    }
  }
}

TEST_CASE("tables of one name in two databases are two") {
  testing_session session;
  session.run("CREATE TABLE count_of (a BIGINT, n BIGINT) WITH ('connector' = 'void');"
              "CREATE DATABASE other;"
              "CREATE TABLE other.count_of (a BIGINT, n BIGINT) WITH ('connector' = 'void')");
  const auto insert = [](const std::string& table, const std::string& least) {
    return "INSERT INTO " + table + " SELECT a, COUNT(*) FROM t WHERE b > " + least +
           " GROUP BY a;";
  };
  const auto here = keepers_of(session, insert("count_of", "1"));
  const auto there = keepers_of(session, insert("other.count_of", "2"));
  CHECK_FALSE(has_all(here, there));
  const auto both = keepers_of(session, insert("count_of", "1") + insert("other.count_of", "2"));
  CHECK(both == keepers_of(session, insert("other.count_of", "2") + insert("count_of", "1")));
  CHECK(has_all(both, here));
  CHECK(has_all(both, there));
}

TEST_CASE("an aggregate in two phases is found where it was in one") {
  testing_session session;
  session.run("CREATE TABLE count_of (a BIGINT, n BIGINT) WITH ('connector' = 'void')");
  const std::string insert = "INSERT INTO count_of SELECT a, COUNT(*) FROM t GROUP BY a;";
  const auto one = keepers_of(session, insert);
  session.run(two_phase);

  const translated phases(session, "EXECUTE STATEMENT SET BEGIN " + insert + " END");

  REQUIRE(phases.all<graph::group_aggregate_spec>().size() == 2);
  for (const auto& each : phases.nodes)
    CHECK(one.contains(each.id) == graph::keeps_state(each.spec));
}

TEST_CASE("an operator of several statements is told by the first of them by name") {
  testing_session session;
  session.run("CREATE TABLE a1 (n BIGINT) WITH ('connector' = 'void');"
              "CREATE TABLE a2 (n BIGINT) WITH ('connector' = 'void');"
              "CREATE TABLE b1 (n BIGINT) WITH ('connector' = 'void');"
              "CREATE TABLE b2 (n BIGINT) WITH ('connector' = 'void')");
  const auto insert = [](const std::string& table, const std::string& least) {
    return "INSERT INTO " + table + " SELECT n FROM (SELECT a, COUNT(*) AS n FROM t WHERE b > " +
           least + " GROUP BY a);";
  };
  // Two groups of two, alike but for a WHERE.
  const auto all = keepers_of(session, insert("a1", "1") + insert("a2", "1") + insert("b1", "2") +
                                           insert("b2", "2"));
  REQUIRE(all.size() == 7);
  CHECK(keepers_of(session, insert("b2", "2") + insert("b1", "2") + insert("a2", "1") +
                                insert("a1", "1")) == all);
  for (const auto& fewer : {insert("a1", "1") + insert("b1", "2"), insert("b1", "2"),
                            insert("b1", "2") + insert("a1", "1") + insert("a2", "1")})
    CHECK(has_all(all, keepers_of(session, fewer)));
  CHECK_FALSE(has_all(all, keepers_of(session, insert("a2", "1"))));
}

TEST_CASE("LIMIT of rows that are shown is the job's where input does not end") {
  testing_session session;

  const translated bounded(session, "SELECT a FROM t ORDER BY b DESC LIMIT 3");
  CHECK(bounded.all<graph::rank_spec>().empty());
  REQUIRE(bounded.shown);
  CHECK(bounded.shown->limit == 3);

  const auto unbounded = graph::boundedness::unbounded;
  const translated first(session, "SELECT a FROM t LIMIT 3 OFFSET 1", unbounded);
  REQUIRE(first.all<graph::rank_spec>().size() == 1);
  CHECK(first.all<graph::rank_spec>()[0].order.empty());
  CHECK(first.all<graph::rank_spec>()[0].first == 2);
  CHECK(first.all<graph::rank_spec>()[0].last == 4);
  REQUIRE(first.shown);
  CHECK_FALSE(first.shown->limit);
  CHECK(first.shown->offset == 0);

  const translated top(session, "SELECT a FROM t ORDER BY b DESC LIMIT 3", unbounded);
  REQUIRE(top.all<graph::rank_spec>().size() == 1);
  CHECK(top.all<graph::rank_spec>()[0].order.size() == 1);
  CHECK(top.shown->order.empty());
}

TEST_CASE("an aggregate in two phases has a local one before the exchange") {
  testing_session session;
  session.run(two_phase);

  const translated keyed(session, "SELECT b, COUNT(*), SUM(a), AVG(d) FROM t GROUP BY b");
  const auto phases = keyed.all<graph::group_aggregate_spec>();
  REQUIRE(phases.size() == 2);
  CHECK(phases[0].phase == aggregate_phase::local);
  CHECK(phases[1].phase == aggregate_phase::global);
  CHECK(phases[1].key_columns == std::vector<std::int32_t>{0});
  const auto global = std::find_if(keyed.nodes.begin(), keyed.nodes.end(),
                                   [](const auto& each) { return each.name == "group aggregate"; });
  CHECK(phases[0].other_end == global->output_type);

  const translated whole(session, "SELECT COUNT(*), MAX(a) FROM t");
  CHECK(whole.all<graph::group_aggregate_spec>().size() == 2);
  CHECK(whole.parallelism_of("local aggregate") == 4);
  CHECK(whole.parallelism_of("group aggregate") == 1);

  const translated other(session, "SELECT b, LISTAGG(s) FROM t GROUP BY b");
  REQUIRE(other.all<graph::group_aggregate_spec>().size() == 1);
  CHECK(other.all<graph::group_aggregate_spec>()[0].phase == aggregate_phase::single);
}

TEST_CASE("mini-batches and times to live reach the operators") {
  testing_session session;
  session.run(gathers);
  session.run("SET table.exec.state.ttl = 7 s");
  const graph::mini_batch_spec gathered{1000, 5000};

  const translated job(session, "SELECT t.a, COUNT(*) FROM t JOIN u ON t.b = u.b GROUP BY t.a");
  for (const auto& each : job.all<graph::group_aggregate_spec>()) {
    CHECK(each.mini_batch == gathered);
    CHECK(each.state_ttl_ms == (each.phase == aggregate_phase::local ? 0 : 7000));
  }
  REQUIRE(job.all<graph::join_spec>().size() == 1);
  CHECK(job.all<graph::join_spec>()[0].mini_batch == gathered);
  CHECK(job.all<graph::join_spec>()[0].right.state_ttl_ms == 7000);

  const translated hinted(session, "SELECT /*+ STATE_TTL('u' = '1 s') */ t.a FROM t JOIN u ON "
                                   "t.b = u.b");
  CHECK(hinted.all<graph::join_spec>()[0].left.state_ttl_ms == 7000);
  CHECK(hinted.all<graph::join_spec>()[0].right.state_ttl_ms == 1000);

  const translated over(session,
                        "SELECT SUM(price) OVER (PARTITION BY auction ORDER BY rt) FROM bid");
  CHECK(over.all<graph::over_spec>()[0].state_ttl_ms == 7000);
}

TEST_CASE("rows of a join are spread by a further key") {
  testing_session session;
  for (const auto* query :
       {"SELECT /*+ BROADCAST(u) */ t.a, u.c FROM t JOIN u ON t.b = u.b AND t.a < u.e",
        "SELECT /*+ BROADCAST(u) */ t.a, u.c FROM t LEFT JOIN u ON t.b = u.b",
        "SELECT /*+ BROADCAST(t) */ t.a, u.c FROM t RIGHT JOIN u ON t.b = u.b",
        "SELECT /*+ BROADCAST(u) */ a FROM t WHERE b IN (SELECT b FROM u)",
        "SELECT /*+ BROADCAST(u) */ t.a, u.c FROM t JOIN u ON t.a < u.b",
        "SELECT /*+ SKEW('table' = 't', 'column' = 'b') */ t.a, u.c FROM t JOIN u ON t.b = u.b"}) {
    CAPTURE(query);
    const translated job(session, query);
    const auto salts = job.all<graph::salt_spec>();
    REQUIRE(salts.size() == 2);
    CHECK(salts[0].is_in_each != salts[1].is_in_each);
    CHECK(salts[0].buckets == salts[1].buckets);
    CHECK(job.parallelism_of("join") == 4);
  }
}

TEST_CASE("updated rows are dealt out by what names them") {
  testing_session session;
  const translated job(
      session, "SELECT /*+ BROADCAST(u) */ x.s, x.b, u.c FROM (SELECT s, b, COUNT(*) AS n FROM t "
               "GROUP BY s, b) AS x JOIN u ON x.n = u.b");

  const auto salts = job.all<graph::salt_spec>();
  const auto dealt =
      std::find_if(salts.begin(), salts.end(), [](const auto& each) { return !each.is_in_each; });
  REQUIRE(dealt != salts.end());
  CHECK(dealt->columns.size() == 2);
}

TEST_CASE("DISTINCT by value first has an aggregate by buckets below the one by keys") {
  testing_session session;
  session.run("SET table.optimizer.distinct-agg.split.enabled = true;"
              "SET table.optimizer.distinct-agg.split.bucket-num = 8");

  const translated job(session,
                       "SELECT b, COUNT(DISTINCT a), SUM(d), MAX(s), COUNT(*) FROM t GROUP "
                       "BY b");
  REQUIRE(job.all<graph::salt_spec>().size() == 1);
  CHECK(job.all<graph::salt_spec>()[0].buckets == 8);
  const auto steps = job.all<graph::group_aggregate_spec>();
  REQUIRE(steps.size() == 2);
  CHECK(steps[0].calls[0].is_distinct);
  CHECK(steps[0].key_columns.size() == 2);
  CHECK(steps[1].input_retracts);
  std::vector<std::string> sums;
  for (const auto& each : steps[1].calls)
    sums.push_back(each.function);
  CHECK(sums == std::vector<std::string>{"SUM", "SUM", "MAX", "SUM"});

  const translated whole(session, "SELECT COUNT(DISTINCT a) FROM t");
  CHECK(whole.parallelism_of("group aggregate by value") == 4);
  CHECK(whole.parallelism_of("group aggregate") == 1);
}

TEST_CASE("state that is kept for ever is warned of where input does not end") {
  testing_session session;
  const auto* query = "SELECT b, COUNT(*) FROM t GROUP BY b";

  CHECK(translated(session, query).warnings.empty());
  CHECK(
      translated(session, query, graph::boundedness::unbounded).warnings ==
      std::vector<std::string>{"GroupAggregate(groupBy=[b]) keeps a group for each value of b for "
                               "ever; bound it by table.exec.state.ttl, or the hint STATE_TTL"});
  session.run("SET table.exec.state.ttl = 1 h");
  CHECK(translated(session, query, graph::boundedness::unbounded).warnings.empty());
}

} // TEST_SUITE("graph/sql/translate/job_translator")

} // namespace headrace::sql
