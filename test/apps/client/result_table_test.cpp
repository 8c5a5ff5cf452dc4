#include "apps/client/result_table.hpp"

#include "libgraph/data/batch_builder.hpp"

#include <doctest/doctest.h>

#include <initializer_list>
#include <memory>
#include <string>
#include <utility>

namespace headrace::client {
namespace {

using graph::row_kind;

/// Rows of a key and a text.
class two_columns {
public:
  struct change {
    row_kind kind;
    std::int64_t key;
    const char* text;
  };
  explicit two_columns(std::optional<std::vector<std::size_t>> key) : table_(shown(key), "UTC") {}

  void take(std::initializer_list<change> rows) {
    graph::batch_builder out(type_);
    for (const auto& each : rows) {
      out.column(0).append(each.key);
      out.column(1).append_string(each.text);
      out.end_row(each.kind);
    }
    table_.take(out.finish());
  }
  std::string text() const {
    std::string out;
    const auto rows = table_.texts();
    REQUIRE(rows);
    for (const auto& row : *rows)
      out += *row[0] + *row[1] + ' ';
    return out;
  }
  const result_table& table() const { return table_; }

private:
  static sql::shown_rows shown(std::optional<std::vector<std::size_t>> key) {
    sql::shown_rows out;
    out.order.push_back({0, false, false});
    out.columns = {0, 1};
    out.names = {"k", "s"};
    out.key = std::move(key);
    return out;
  }

  graph::row_type_ptr type_ = std::make_shared<const graph::logical_type>(
      graph::logical_type::row({{"k", graph::logical_type::bigint().not_null(), {}},
                                {"s", graph::logical_type::string().not_null(), {}}})
          .not_null());
  result_table table_;
};

} // namespace

TEST_SUITE("client/result_table") {

TEST_CASE("a row that is taken back is the one with the same values") {
  two_columns rows(std::nullopt);
  rows.take({{row_kind::insert, 1, "a"}, {row_kind::insert, 1, "b"}, {row_kind::insert, 2, "c"}});

  rows.take({{row_kind::delete_, 1, "b"}});

  CHECK(rows.text() == "1a 2c ");
  CHECK(rows.table().unmatched() == 0);
}

TEST_CASE("what is taken back and is not there is counted, and changes nothing") {
  two_columns rows(std::nullopt);
  rows.take({{row_kind::insert, 1, "a"}});

  rows.take({{row_kind::update_before, 1, "x"}, {row_kind::update_after, 1, "y"}});

  CHECK(rows.text() == "1a 1y ");
  CHECK(rows.table().unmatched() == 1);
}

TEST_CASE("with a key another row of it is taken back, the very one where it is there") {
  two_columns rows(std::vector<std::size_t>{0});
  rows.take({{row_kind::insert, 1, "a"}, {row_kind::insert, 2, "b"}});

  rows.take({{row_kind::update_before, 1, "x"}, {row_kind::update_after, 1, "y"}});
  CHECK(rows.text() == "1y 2b ");

  // A new row comes before the old one goes.
  rows.take({{row_kind::insert, 2, "c"}, {row_kind::delete_, 2, "b"}});
  CHECK(rows.text() == "1y 2c ");

  rows.take({{row_kind::delete_, 3, "b"}});
  CHECK(rows.table().unmatched() == 1);
}

} // TEST_SUITE("client/result_table")

} // namespace headrace::client
