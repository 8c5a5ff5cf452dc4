#pragma once

#include "libgraph/sql/sql_session.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

namespace headrace::sql {

/// A session with a few tables, and what its statements come to as text.
class testing_session {
public:
  testing_session() : session_(configuration()) {
    run("CREATE TABLE t (a INT, b BIGINT NOT NULL, s STRING, d DOUBLE, ts TIMESTAMP(3), "
        "r ROW<x INT, y STRING>) WITH ('connector' = 'values');"
        "CREATE TABLE u (b BIGINT, c STRING, e DECIMAL(10, 2)) WITH ('connector' = 'values');"
        "CREATE TABLE bid (auction BIGINT, price BIGINT, rt TIMESTAMP(3), "
        "WATERMARK FOR rt AS rt - INTERVAL '4' SECOND) WITH ('connector' = 'values');"
        "CREATE TABLE sink (a INT, b BIGINT, s STRING) WITH ('connector' = 'void');"
        "CREATE TABLE keyed (k INT, n BIGINT, PRIMARY KEY (k) NOT ENFORCED) "
        "WITH ('connector' = 'void')");
  }

  /// Runs a script that is well.
  std::vector<statement_outcome> run(std::string_view text) {
    auto planned = plan_script(text, session_);
    CAPTURE(text);
    CAPTURE(to_string(planned.findings, text));
    REQUIRE(planned.findings.empty());
    return std::move(planned.steps);
  }
  /// The optimized plan of a query or INSERT, all its sinks below each other.
  std::string plan(std::string_view text) {
    const auto steps = run(text);
    REQUIRE_FALSE(steps.empty());
    const auto* job = std::get_if<planned_job>(&steps.back());
    REQUIRE(job != nullptr);
    std::string out;
    for (const auto& each : job->sinks)
      out += to_string(each);
    return out;
  }
  /// The plan of a query before it is optimized.
  std::string logical_plan(std::string_view text) {
    const auto shown = table("EXPLAIN " + std::string(text)).at(0);
    const auto begin = shown.find('\n') + 1;
    return shown.substr(begin, shown.find("\n\n") + 1 - begin);
  }
  /// The rows of SHOW, DESCRIBE, EXPLAIN: columns with " | " between.
  std::vector<std::string> table(std::string_view text) {
    const auto steps = run(text);
    REQUIRE_FALSE(steps.empty());
    const auto* shown = std::get_if<text_table>(&steps.back());
    REQUIRE(shown != nullptr);
    std::vector<std::string> out;
    for (const auto& row : shown->rows) {
      CHECK(row.size() == shown->columns.size());
      out.emplace_back();
      for (const auto& each : row)
        out.back() += (out.back().empty() ? "" : " | ") + each;
    }
    return out;
  }
  /// The errors of a script: "column message", one a line.
  std::string errors(std::string_view text) {
    auto tried = session_;
    std::string out;
    for (const auto& each : plan_script(text, tried).findings) {
      CAPTURE(text);
      CAPTURE(each.message);
      CHECK(each.at.is_known());
      out += (out.empty() ? "" : "\n") + std::to_string(each.at.column) + " " + each.message;
    }
    return out;
  }

  const sql_session& session() const { return session_; }

private:
  sql_session session_;
};

} // namespace headrace::sql
