// Orders as a stream, sums of minutes by SQL, and what is large of them as a stream again.
//
//     headrace run libbusy_customers.so -- --input apps/examples/sql/data/orders.csv [--least 4]
//
// Lines of the input: id,customer,item,amount,price,time. See docs/table_api.md.

#include "libgraph/api/headrace.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace api = headrace::api;
using namespace std::chrono_literals;

using money = api::decimal<6, 2>;

struct order {
  std::int64_t id = 0;
  std::optional<std::string> customer;
  std::optional<std::string> item;
  std::int32_t amount = 0;
  std::optional<money> price;
  api::timestamp_ms at{};
};
HEADRACE_STRUCT(order, id, customer, item, amount, price, at)

struct minute_of_customer {
  api::timestamp_ms window_start{};
  std::string customer;
  std::int64_t pieces = 0;
  std::optional<double> value;
};
HEADRACE_STRUCT(minute_of_customer, window_start, customer, pieces, value)

/// How a name is shown: a function of SQL, in the job object itself.
std::string shown_name(std::string_view name) {
  std::string out(name);
  if (!out.empty() && out[0] >= 'a' && out[0] <= 'z')
    out[0] = static_cast<char>(out[0] - 'a' + 'A');
  return out;
}
HEADRACE_SCALAR_FUNCTION(shown_name, shown_name)

HEADRACE_JOB(env) {
  const auto input = env.arguments().get("input");
  const auto least = env.arguments().get_int("least", 4);

  env.set_job_name("busy customers");
  const auto orders = env.from_source(
      api::file_source::csv<order>(input).option("csv.null-literal", ""),
      api::watermark_strategy<order>::bounded_out_of_orderness(5s).with_timestamp_assigner(
          &order::at));

  api::table_environment tables(env);
  tables.create_temporary_view("orders", orders, api::stream_schema().row_time("rt"));
  tables.execute_sql("CREATE FUNCTION shown_name AS 'shown_name' LANGUAGE CPP");
  const auto minutes = tables.sql_query(R"(
      SELECT window_start, COALESCE(shown_name(customer), 'unknown') AS customer,
             SUM(amount) AS pieces, CAST(SUM(amount * price) AS DOUBLE) AS `value`
      FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(rt), INTERVAL '1' MINUTE))
      GROUP BY window_start, window_end, customer)");

  tables.to_data_stream<minute_of_customer>(minutes)
      .filter([least](const minute_of_customer& each) { return each.pieces >= least; })
      .collect();
}
