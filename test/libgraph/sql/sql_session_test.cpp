#include "test/libgraph/sql/testing_session.hpp"

namespace headrace::sql {
namespace {

using rows = std::vector<std::string>;

} // namespace

TEST_SUITE("graph/sql/sql_session") {

TEST_CASE("a table is made with all kinds of columns") {
  testing_session session;
  session.run("CREATE TABLE orders (id BIGINT, total DECIMAL(10, 2), rt TIMESTAMP(3), "
              "half AS total / 2, source STRING METADATA FROM 'origin' VIRTUAL, "
              "WATERMARK FOR rt AS rt - INTERVAL '1' SECOND, "
              "CONSTRAINT pk PRIMARY KEY (id) NOT ENFORCED) COMMENT 'all of them' "
              "WITH ('connector' = 'values', 'x' = '1')");

  CHECK(session.table("DESCRIBE orders") ==
        rows{"id | BIGINT | FALSE | PRI(id) |  | ", "total | DECIMAL(10, 2) | TRUE |  |  | ",
             "rt | TIMESTAMP(3) | TRUE |  |  | rt - INTERVAL '1' SECOND",
             "half | DECIMAL(21, 13) | TRUE |  | AS total / 2 | ",
             "source | STRING | TRUE |  | METADATA FROM 'origin' VIRTUAL | "});
  const auto shown = session.table("SHOW CREATE TABLE orders").at(0);
  session.run("DROP TABLE orders");
  session.run(shown);
  CHECK(session.table("SHOW CREATE TABLE orders").at(0) == shown);
}

TEST_CASE("errors of CREATE TABLE have places") {
  testing_session session;
  const auto make = [&](const std::string& columns) {
    return session.errors("CREATE TABLE x (" + columns + ") WITH ('connector' = 'values')");
  };

  CHECK(make("a INT, a INT") == "24 column is there twice: a");
  CHECK(make("a INT, b AS c + 1") == "29 unknown column: c, did you mean a");
  CHECK(make("a INT, PRIMARY KEY (b) NOT ENFORCED") == "37 unknown column: b, did you mean a");
  CHECK(make("a INT, PRIMARY KEY (a)").find("NOT ENFORCED") != std::string::npos);
  CHECK(make("a INT, WATERMARK FOR a AS a")
            .find("WATERMARK FOR needs a TIMESTAMP(3) or TIMESTAMP_LTZ(3), found INT") !=
        std::string::npos);
  CHECK(make("t TIMESTAMP(3), WATERMARK FOR t AS t + INTERVAL '1' SECOND")
            .find("watermarks follow their column") != std::string::npos);
  CHECK(make("a TIMESTAMP WITH TIME ZONE").find("not supported") != std::string::npos);
  CHECK(session.errors("CREATE TABLE t (a INT)") == "14 table or view exists already: t");
  CHECK(session.errors("CREATE TABLE nowhere.t (a INT)")
            .starts_with("14 unknown database of catalog default_catalog: nowhere"));
  CHECK(session.errors("CREATE TABLE x (a INT) WITH ('k' = '1', 'k' = '2')") ==
        "41 option is there twice: k");
}

TEST_CASE("LIKE takes over what is not left out") {
  testing_session session;
  session.run("CREATE TABLE x (more STRING) WITH ('connector' = 'void') LIKE bid");
  CHECK(session.table("DESCRIBE x") ==
        rows{"auction | BIGINT | TRUE |  |  | ", "price | BIGINT | TRUE |  |  | ",
             "rt | TIMESTAMP(3) | TRUE |  |  | rt - INTERVAL '4' SECOND",
             "more | STRING | TRUE |  |  | "});
  CHECK(session.table("SHOW CREATE TABLE x").at(0).find("'connector' = 'void'") !=
        std::string::npos);

  session.run("CREATE TABLE y LIKE bid (EXCLUDING ALL)");
  CHECK(session.table("SHOW CREATE TABLE y").at(0).find("WATERMARK") == std::string::npos);
  CHECK(session.table("SHOW CREATE TABLE y").at(0).find("connector") == std::string::npos);
  CHECK(session.errors("CREATE TABLE z (auction INT) LIKE bid") ==
        "17 column is there twice: auction");
}

TEST_CASE("a table is altered column by column") {
  testing_session session;
  session.run("ALTER TABLE u ADD (f INT FIRST, g AS f + 1); ALTER TABLE u RENAME c TO h;"
              "ALTER TABLE u MODIFY e DOUBLE AFTER f; ALTER TABLE u SET ('x' = '1')");
  CHECK(session.table("DESCRIBE u") ==
        rows{"f | INT | TRUE |  |  | ", "e | DOUBLE | TRUE |  |  | ", "b | BIGINT | TRUE |  |  | ",
             "h | STRING | TRUE |  |  | ", "g | INT | TRUE |  | AS f + 1 | "});
  CHECK(session.errors("ALTER TABLE u DROP f") ==
        "20 column is needed by the computed column g: f");
  session.run("ALTER TABLE u DROP (g, f); ALTER TABLE u RESET ('x'); ALTER TABLE u RENAME TO w");
  CHECK(session.table("DESCRIBE w").size() == 3);
  CHECK(session.errors("ALTER TABLE u DROP b") == "13 unknown table: u, did you mean t");
  CHECK(session.errors("ALTER TABLE w DROP z").find("unknown column: z") != std::string::npos);
}

TEST_CASE("catalogs, databases and views come and go") {
  testing_session session;
  session.run("CREATE CATALOG c WITH ('type' = 'generic_in_memory'); USE CATALOG c;"
              "CREATE DATABASE d; USE d");
  CHECK(session.table("SHOW CURRENT DATABASE") == rows{"d"});
  CHECK(session.table("SHOW CATALOGS") == rows{"c", "default_catalog"});
  CHECK(session.table("SHOW TABLES").empty());
  session.run("USE CATALOG default_catalog; CREATE VIEW v AS SELECT a FROM t");
  CHECK(session.table("SHOW TABLES LIKE '_'") == rows{"t", "u", "v"});
  CHECK(session.table("SHOW VIEWS") == rows{"v"});
  CHECK(session.table("SHOW CREATE VIEW v") ==
        rows{"CREATE VIEW `default_catalog`.`default_database`.`v` (`a`) AS SELECT a FROM t"});
  session.run("ALTER VIEW v AS SELECT a, b FROM t; DROP TEMPORARY VIEW IF EXISTS v");
  CHECK(session.table("DESCRIBE v").size() == 2);
  CHECK(session.errors("DROP VIEW t") == "11 t is a table: write DROP TABLE");
  session.run("DROP VIEW v; DROP TABLE IF EXISTS v");
  CHECK(session.errors("CREATE VIEW v (a, b) AS SELECT a FROM t") ==
        "16 view names 2 columns, the query has 1");
}

TEST_CASE("settings are checked, kept and reset") {
  testing_session session;
  session.run("SET 'parallelism.default' = '3'; SET pipeline.name = x");
  CHECK(session.table("SET") == rows{"parallelism.default | 3", "pipeline.name | x"});
  const auto steps = session.run("SELECT a FROM t");
  CHECK(std::get<planned_job>(steps[0]).settings.get_int("parallelism.default") == 3);
  CHECK(std::get<planned_job>(steps[0]).name == "x");
  session.run("RESET 'pipeline.name'");
  CHECK(session.table("SET") == rows{"parallelism.default | 3"});
  session.run("RESET");
  CHECK(session.table("SET").empty());
  CHECK(session.errors("SET 'paralelism.default' = '3'").find("parallelism.default") !=
        std::string::npos);
  CHECK(session.errors("SET 'parallelism.default' = 'many'").starts_with("29 "));
}

TEST_CASE("a statement set is one job") {
  testing_session session;
  const auto steps = session.run("EXECUTE STATEMENT SET BEGIN INSERT INTO sink SELECT a, b, s FROM "
                                 "t; INSERT INTO keyed SELECT a, b FROM t WHERE a > 0; END");
  REQUIRE(steps.size() == 1);
  CHECK(std::get<planned_job>(steps[0]).sinks.size() == 2);
  CHECK(session.table("EXPLAIN STATEMENT SET BEGIN INSERT INTO sink SELECT a, b, s FROM t; END")
            .at(0)
            .starts_with("== Logical plan =="));
}

TEST_CASE("CREATE TABLE AS makes the table and fills it") {
  testing_session session;
  const auto steps =
      session.run("CREATE TABLE x WITH ('connector' = 'void') AS SELECT a, COUNT(*) AS n FROM t "
                  "GROUP BY a");
  CHECK(std::get<planned_job>(steps[0]).sinks.size() == 1);
  CHECK(session.table("DESCRIBE x") ==
        rows{"a | INT | TRUE |  |  | ", "n | BIGINT | FALSE |  |  | "});

  // Declared columns come first, and take the query's values by their names.
  session.run("CREATE TABLE z (d STRING, twice AS y + y, y BIGINT) WITH ('connector' = 'void') AS "
              "SELECT 4 AS x, 5 AS y");
  CHECK(session.table("DESCRIBE z") ==
        rows{"d | STRING | TRUE |  |  | ", "twice | BIGINT | TRUE |  | AS y + y | ",
             "y | BIGINT | TRUE |  |  | ", "x | INT | FALSE |  |  | "});
  session.run("CREATE TABLE w (b, a) WITH ('connector' = 'void') AS SELECT a, b FROM t");
  CHECK(session.table("DESCRIBE w")[0].starts_with("b |"));
  CHECK(session.errors("CREATE TABLE v (x INT) WITH ('connector' = 'void') AS SELECT 'q' AS x") ==
        "17 column x is declared as INT, the query gives CHAR(1); CAST it");
  CHECK(session.errors("CREATE TABLE v (c, x) WITH ('connector' = 'void') AS SELECT 1 AS x")
            .find("unknown column: c") != std::string::npos);
  CHECK(session
            .errors("CREATE TABLE v (n INT NOT NULL) WITH ('connector' = 'void') AS SELECT 1 AS "
                    "x")
            .find("column is NOT NULL and gets no value: n") != std::string::npos);
  CHECK(session.errors("CREATE TABLE y AS SELECT a FROM t").find("table has no connector: y") !=
        std::string::npos);
  CHECK(session.errors("CREATE TABLE y AS SELECT a FROM t; SELECT a FROM y")
            .find("unknown table: y") != std::string::npos);
}

TEST_CASE("functions are listed") {
  testing_session session;
  CHECK(session.table("SHOW FUNCTIONS LIKE 'upp%'") == rows{"upper"});
}

} // TEST_SUITE("graph/sql/sql_session")

} // namespace headrace::sql
