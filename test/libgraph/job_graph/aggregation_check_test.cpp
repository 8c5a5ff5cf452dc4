#include "libgraph/job_graph/aggregation_check.hpp"

#include <doctest/doctest.h>

using namespace headrace;
using namespace headrace::graph;

namespace {

const logical_type rows =
    logical_type::row({{"word", logical_type::string(), {}},
                       {"count", logical_type::bigint(), {}},
                       {"price", logical_type::decimal(10, 2), {}},
                       {"flag", logical_type::boolean(), {}},
                       {"day", logical_type::date(), {}},
                       {"parts", logical_type::array(logical_type::integer()), {}}});

status check(std::vector<aggregate_call> calls, std::vector<std::int32_t> keys = {}) {
  std::vector<logical_type::field> out;
  for (const auto& call : calls)
    out.push_back(rows.fields()[static_cast<std::size_t>(call.column)]);
  return check_aggregation("here", {{}, std::move(calls), {}}, keys, rows,
                           logical_type::row(std::move(out)));
}

} // namespace

TEST_SUITE("graph/job_graph/aggregation_check") {
TEST_CASE("only numbers are summed, and the column that is none is named") {
  CHECK(check({{aggregate_kind::sum, 1}}));
  CHECK(check({{aggregate_kind::sum, 2}}));
  for (const std::int32_t column : {0, 3, 4, 5}) {
    CAPTURE(column);
    const auto checked = check({{aggregate_kind::sum, column}});
    REQUIRE(!checked);
    CHECK(checked.error().code == errc::type_mismatch);
  }
  CHECK(check({{aggregate_kind::sum, 0}}).error().message ==
        "here: only numbers can be summed, but column word is STRING");
}

TEST_CASE("what aggregates cannot keep is refused, but as a key") {
  for (const auto kind : {aggregate_kind::first, aggregate_kind::min, aggregate_kind::last}) {
    CHECK(check({{kind, 0}}));
    CHECK(check({{kind, 4}}));
    CHECK(check({{kind, 5}}).error().code == errc::type_mismatch);
  }
  CHECK(check({{aggregate_kind::first, 5}}, {5}));
  CHECK(check({{aggregate_kind::first, 5}}, {0}).error().message.find("column parts") !=
        std::string::npos);
}

TEST_CASE("min_by keeps whole rows, so that all columns count") {
  const auto by = [](const logical_type& out) {
    return check_aggregation("here", {{}, {{aggregate_kind::min_by, 1}}, {}}, {}, rows, out);
  };

  CHECK(by(rows).error().code == errc::type_mismatch);
  CHECK(by(logical_type::row({rows.fields()[0], rows.fields()[1]})));
}

TEST_CASE("columns that are not there are refused") {
  const auto out = logical_type::row({rows.fields()[1]});
  for (const std::int32_t column : {-1, 6})
    CHECK(check_aggregation("here", {{}, {{aggregate_kind::sum, column}}, {}}, {}, rows, out)
              .error()
              .code == errc::invalid_graph);
}
} // TEST_SUITE("graph/job_graph/aggregation_check")
