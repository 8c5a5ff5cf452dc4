#include "test/integration/testing_mini_cluster.hpp"
#include "libgraph/api/headrace.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

// Jobs in which streams become tables and tables streams. Expected rows are computed by hand.

namespace headrace::testing {

using namespace std::chrono_literals;

struct order {
  std::string customer;
  std::int64_t amount = 0;
  api::timestamp_ms at{};
};
HEADRACE_STRUCT(order, customer, amount, at)

struct total {
  std::string customer;
  std::int64_t amount = 0;
};
HEADRACE_STRUCT(total, customer, amount)

struct windowed_total {
  api::timestamp_ms window_start{};
  std::string customer;
  std::optional<std::int64_t> amount;
};
HEADRACE_STRUCT(windowed_total, window_start, customer, amount)

namespace {

using lines = std::vector<std::string>;
using shared_lines = std::shared_ptr<lines>;

std::string text_of(const total& row) { return row.customer + " " + std::to_string(row.amount); }
std::string text_of(std::int64_t row) { return std::to_string(row); }
template <class T>
std::string text_of(const api::changelog_row<T>& row) {
  constexpr const char* kinds[] = {"+I ", "-U ", "+U ", "-D "};
  return kinds[static_cast<int>(row.kind)] + text_of(row.row);
}
std::string text_of(const windowed_total& row) {
  return std::to_string(row.window_start.value) + " " + row.customer + " " +
         (row.amount ? std::to_string(*row.amount) : "NULL");
}

struct table_job {
  testing_mini_cluster run;
  graph::connector_registry connectors;
  api::environment env{{}, {&with_connectors(), {}}};
  api::table_environment tables{env};

  graph::connector_registry& with_connectors() {
    cluster::register_all_connectors(connectors, {});
    return connectors;
  }

  api::stream<order> orders() {
    return env
        .from_collection<order>({{"ann", 3, {1'000}},
                                 {"bob", 5, {2'500}},
                                 {"ann", 4, {2'000}},
                                 {"bob", 1, {11'000}},
                                 {"ann", 2, {12'000}}})
        .assign_timestamps_and_watermarks(
            api::watermark_strategy<order>::bounded_out_of_orderness(1s)
                .with_timestamp_assigner(&order::at)
                .on_event());
  }

  /// Keeps what a stream gives, in its order.
  template <class T>
  static shared_lines kept(const api::stream<T>& from) {
    auto out = std::make_shared<lines>();
    from.map([out](const T& row) {
          out->push_back(text_of(row));
          return std::int64_t{0};
        })
        .sink_to(api::any_sink{"blackhole", {}});
    return out;
  }
  void finish() {
    const auto ended = run.end_of(run.submit(env));
    CHECK_MESSAGE(ended.state == scheduler::job_state::finished, to_string(ended.failure));
  }
  std::string failure() {
    const auto ended = run.end_of(run.submit(env));
    CHECK(ended.state == scheduler::job_state::failed);
    return to_string(ended.failure);
  }
};

lines sorted(const shared_lines& from) {
  auto out = *from;
  std::sort(out.begin(), out.end());
  return out;
}

template <class Body>
std::string refusal_of(Body body) {
  try {
    body();
  } catch (const graph::failure& thrown) {
    CHECK(thrown.cause().code == errc::bad_usage);
    return thrown.cause().message;
  }
  return "nothing";
}

bool has(std::string_view text, std::string_view part) {
  CAPTURE(text);
  return text.find(part) != std::string_view::npos;
}

} // namespace

TEST_SUITE_BEGIN("integration/table_api");

TEST_CASE("a stream is read by SQL, whose rows are a stream") {
  table_job job;
  job.tables.create_temporary_view("orders", job.orders());
  const auto large = job.tables.sql_query(
      "SELECT UPPER(customer) AS customer, amount * 10 AS amount FROM orders WHERE amount > 2");
  const auto rows = job.kept(job.tables.to_data_stream<total>(large).filter(
      [](const total& each) { return each.amount < 50; }));

  job.finish();

  CHECK(*rows == lines{"ANN 30", "ANN 40"});
}

TEST_CASE("a table that is updated gives a changelog with the kinds of rows") {
  table_job job;
  job.tables.create_temporary_view("orders", job.orders());
  const auto totals =
      job.tables.sql_query("SELECT customer, SUM(amount) AS amount FROM orders GROUP BY customer;");
  const auto rows = job.kept(job.tables.to_changelog_stream<total>(totals));

  job.finish();

  CHECK(sorted(rows) == lines{"+I ann 3", "+I bob 5", "+U ann 7", "+U ann 9", "+U bob 6",
                              "-U ann 3", "-U ann 7", "-U bob 5"});
}

TEST_CASE("event time and watermarks pass from the stream through SQL to the stream behind") {
  table_job job;
  job.tables.create_temporary_view("orders", job.orders(), api::stream_schema().row_time("rt"));
  const auto windows = job.tables.sql_query(
      "SELECT window_start, customer, SUM(amount) AS amount FROM TABLE(TUMBLE(TABLE orders, "
      "DESCRIPTOR(rt), INTERVAL '10' SECOND)) GROUP BY window_start, window_end, customer");
  const auto stream = job.tables.to_data_stream<windowed_total>(windows);
  const auto rows = job.kept(stream);
  const auto longer = job.kept(stream
                                   .map([](const windowed_total& each) {
                                     return total{each.customer, each.amount.value_or(0)};
                                   })
                                   .key_by(&total::customer)
                                   .window(api::tumbling_event_time(20s))
                                   .sum(&total::amount));

  job.finish();

  CHECK(sorted(rows) == lines{"0 ann 7", "0 bob 5", "10000 ann 2", "10000 bob 1"});
  CHECK(sorted(longer) == lines{"ann 9", "bob 6"});
}

TEST_CASE("watermarks may follow a column, and columns may be computed") {
  table_job job;
  const auto orders = job.env.from_collection<order>(
      {{"ann", 3, {1'000}}, {"ann", 4, {2'000}}, {"ann", 8, {65'000}}});
  job.tables.create_temporary_view(
      "orders", orders,
      api::stream_schema().column("later", "`at` + INTERVAL '1' HOUR").watermark("later", 1500ms));
  const auto windows = job.tables.sql_query(
      "SELECT window_start, customer, SUM(amount) AS amount FROM TABLE(TUMBLE(TABLE orders, "
      "DESCRIPTOR(later), INTERVAL '1' MINUTE)) GROUP BY window_start, window_end, customer");
  const auto rows = job.kept(job.tables.to_data_stream<windowed_total>(windows));

  job.finish();

  CHECK(sorted(rows) == lines{"3600000 ann 7", "3660000 ann 8"});
}

TEST_CASE("a changelog is a table that its rows change") {
  using graph::row_kind;
  table_job job;
  const auto changes =
      job.env.from_collection<api::changelog_row<total>>({{row_kind::insert, {"ann", 3}},
                                                          {row_kind::insert, {"bob", 5}},
                                                          {row_kind::update_before, {"ann", 3}},
                                                          {row_kind::update_after, {"ann", 10}},
                                                          {row_kind::insert, {"cleo", 1}},
                                                          {row_kind::delete_, {"bob", 5}}});
  const auto table = job.tables.from_changelog_stream(changes);
  job.tables.create_temporary_view("accounts", table);
  const auto sums = job.tables.sql_query("SELECT SUM(amount) FROM accounts");
  const auto rows = job.kept(job.tables.to_changelog_stream<std::int64_t>(sums));
  const auto same = job.kept(job.tables.to_changelog_stream<total>(table));

  job.finish();

  REQUIRE_FALSE(rows->empty());
  CHECK(rows->back() == "+U 11");
  CHECK(*same == lines{"+I ann 3", "+I bob 5", "-U ann 3", "+U ann 10", "+I cleo 1", "-D bob 5"});
}

TEST_CASE("tables of connectors stand beside streams") {
  table_job job;
  job.run.files.put("/in/names.csv", "ann,Ann A.\nbob,Bob B.\n");
  job.tables.create_temporary_view("orders", job.orders());
  job.tables.execute_sql("CREATE TABLE names (customer STRING, full_name STRING) WITH ('connector' "
                         "= 'filesystem', 'path' = '/in/names.csv', 'format' = 'csv');"
                         "CREATE TABLE nowhere (customer STRING, amount BIGINT) WITH ('connector' "
                         "= 'blackhole');"
                         "INSERT INTO nowhere SELECT customer, amount FROM orders;");
  const auto named = job.tables.sql_query(
      "SELECT full_name AS customer, amount FROM orders JOIN names ON orders.customer = "
      "names.customer WHERE amount > 3");
  job.tables.insert_into("nowhere", named);
  const auto rows = job.kept(job.tables.to_data_stream<total>(named));

  job.finish();

  CHECK(sorted(rows) == lines{"Ann A. 4", "Bob B. 5"});
}

TEST_CASE("what does not fit is refused in words") {
  table_job job;
  job.tables.create_temporary_view("orders", job.orders());
  const auto totals =
      job.tables.sql_query("SELECT customer, SUM(amount) AS amount FROM orders GROUP BY customer");
  const auto few = job.tables.sql_query("SELECT customer FROM orders");
  const auto other =
      job.tables.sql_query("SELECT amount AS customer, customer AS amount FROM orders");
  auto& tables = job.tables;

  CHECK(has(refusal_of([&] { tables.to_data_stream<total>(totals); }), "to_changelog_stream"));
  CHECK(has(refusal_of([&] { tables.to_data_stream<total>(few); }), "unknown column: amount"));
  CHECK(has(refusal_of([&] { tables.to_data_stream<total>(other); }), "STRING"));
  CHECK(has(refusal_of([&] { tables.sql_query("SELECT * FROM nothing"); }), "nothing"));
  CHECK(has(refusal_of([&] { tables.sql_query("SELEC 1"); }), "line 2"));
  CHECK(has(refusal_of([&] { tables.execute_sql("SELECT 1"); }), "sql_query makes a table of it"));
  CHECK(has(refusal_of([&] { tables.execute_sql("SHOW TABLES"); }), "explain_sql"));
  CHECK(has(refusal_of([&] { tables.from("gone"); }), "gone"));
  CHECK(has(refusal_of([&] {
              tables.execute_sql("CREATE FUNCTION f AS 'f' LANGUAGE CPP USING LIBRARY 'x.so'");
            }),
            "leave out USING"));
  CHECK(has(refusal_of([&] { tables.create_temporary_view("orders", job.orders()); }), "orders"));
  CHECK(has(tables.explain_sql("SELECT customer FROM orders"), "TableSourceScan"));
}

TEST_CASE("a NULL that a field does not take fails the job in words") {
  table_job job;
  job.tables.create_temporary_view("orders", job.orders());
  const auto some =
      job.tables.sql_query("SELECT customer, NULLIF(amount, 1) AS amount FROM orders");
  const auto rows = job.kept(job.tables.to_data_stream<total>(some));
  job.env.set_restart_strategy(api::restart::none());

  CHECK(has(job.failure(), "column amount of the table is NULL in a row"));
}

TEST_SUITE_END();

} // namespace headrace::testing
