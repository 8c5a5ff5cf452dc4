#include "test/libgraph/sql/testing_expressions.hpp"

#include "libgraph/data/batch_builder.hpp"
#include "libgraph/data/row_format.hpp"
#include "libgraph/expression/program.hpp"
#include "libgraph/sql/bind/expression_binder.hpp"
#include "libgraph/sql/bind/expression_translator.hpp"
#include "libgraph/sql/parse/parser.hpp"
#include "libgraph/types/value_text.hpp"

#include <doctest/doctest.h>

#include <limits>

namespace headrace::testing {
namespace {

using graph::logical_type;

logical_type make_sample_type() {
  using t = logical_type;
  return t::row({{"flag", t::boolean(), {}},
                 {"tiny", t::tinyint(), {}},
                 {"small", t::smallint(), {}},
                 {"number", t::integer(), {}},
                 {"big", t::bigint(), {}},
                 {"single", t::float32(), {}},
                 {"price", t::float64(), {}},
                 {"amount", t::decimal(10, 2), {}},
                 {"label", t::string(), {}},
                 {"day_of_sale", t::date(), {}},
                 {"clock", t::time(0), {}},
                 {"ts", t::timestamp(3), {}},
                 {"zoned", t::timestamp_ltz(3), {}},
                 {"fine", t::timestamp(9), {}},
                 {"items", t::array(t::integer()), {}},
                 {"person", t::row({{"name", t::string(), {}}, {"age", t::integer(), {}}}), {}}});
}

void append_person(graph::column_builder& to, std::string_view name, std::int32_t age) {
  to.child(0).append_string(name);
  to.child(1).append(age);
  to.end_row();
}

/// Appends a row whose columns but the last two have these values.
void append_row(graph::batch_builder& to, bool flag, std::int64_t whole, double real,
                std::int64_t cents, std::string_view label, std::int32_t days, std::int32_t time,
                std::int64_t ts, std::int64_t nanos) {
  const auto least = whole == std::numeric_limits<std::int64_t>::min();
  const auto greatest = whole == std::numeric_limits<std::int64_t>::max();
  const auto narrow = [&]<class T>(T) {
    return least      ? std::numeric_limits<T>::min()
           : greatest ? std::numeric_limits<T>::max()
                      : static_cast<T>(whole);
  };
  to.column(0).append(static_cast<std::uint8_t>(flag));
  to.column(1).append(narrow(std::int8_t{}));
  to.column(2).append(narrow(std::int16_t{}));
  to.column(3).append(narrow(std::int32_t{}));
  to.column(4).append(narrow(std::int64_t{}));
  to.column(5).append(static_cast<float>(real));
  to.column(6).append(real);
  to.column(7).append(graph::int128{cents});
  to.column(8).append_string(label);
  to.column(9).append(days);
  to.column(10).append(time);
  to.column(11).append(ts);
  to.column(12).append(ts);
  to.column(13).append(graph::int128{ts} * 1'000'000 + nanos);
}

graph::record_batch make_sample_rows() {
  graph::batch_builder to(sample_type());
  constexpr std::int32_t leap_day = 19782; // 2024-02-29
  constexpr std::int64_t day_ms = 86'400'000;
  constexpr std::int64_t noon = 45'296'789; // 12:34:56.789
  append_row(to, true, 7, 1.5, 1234, "Hello", leap_day, 45'296'000, leap_day * day_ms + noon,
             123'456);
  to.column(14).begin_list();
  for (const std::int32_t each : {3, 1, 2})
    to.column(14).child(0).append(each);
  to.column(14).end_list();
  append_person(to.column(15), "Ada", 36);
  to.end_row();
  for (std::size_t i = 0; i < sample_type()->child_count(); ++i)
    to.column(i).append_null();
  to.end_row();
  append_row(to, false, std::numeric_limits<std::int64_t>::min(), -0.25, -9'999'999'999, "", -1, 0,
             -1, 0);
  to.column(14).begin_list();
  to.column(14).end_list();
  append_person(to.column(15), "", 0);
  to.end_row();
  append_row(to, true, std::numeric_limits<std::int64_t>::max(), 1e10, 9'999'999'999,
             "äöü 漢字, a text of more than twelve bytes", leap_day + 306, 86'399'000,
             (leap_day + 307) * day_ms - 1, 999'999);
  to.column(14).begin_list();
  to.column(14).child(0).append_null();
  to.column(14).end_list();
  append_person(to.column(15), "Bob", -1);
  to.end_row();
  return to.finish();
}

std::string shown(const graph::column& values, std::size_t row) {
  std::string out;
  graph::format_value(values, row, out);
  return out;
}

/// The expression with its constants as columns of three rows, the one in the middle not selected;
/// nothing when a function wants constants.
std::optional<std::string> value_by_columns(const graph::expression& from, std::string_view zone) {
  auto moved = from;
  std::vector<logical_type::field> fields;
  std::vector<graph::column_ptr> columns;
  for (auto& node : moved.nodes)
    if (const auto* constant = std::get_if<graph::constant_value>(&node.form)) {
      graph::column_builder builder(node.type);
      for (int i = 0; i < 3; ++i)
        builder.append_from(*constant->value, 0);
      const auto place = static_cast<std::uint32_t>(columns.size());
      fields.push_back({"c" + std::to_string(place), node.type, {}});
      columns.push_back(builder.finish());
      node.form = graph::input_column{place};
    }
  const auto type = std::make_shared<const logical_type>(logical_type::row(std::move(fields)));
  auto program = graph::expression_program::compile(*type, {}, {&moved, 1}, {std::string(zone)});
  if (!program)
    return std::nullopt;
  auto picked = graph::buffer::allocate(2 * sizeof(std::uint32_t));
  picked->mutable_as<std::uint32_t>()[0] = 0;
  picked->mutable_as<std::uint32_t>()[1] = 2;
  const auto batch = graph::record_batch(type, 3, columns).with_selection(picked, 2);
  const auto out_type =
      std::make_shared<const logical_type>(logical_type::row({{"value", moved.type(), {}}}));
  const auto out = program->run(batch, out_type, {});
  if (!out)
    return "error: " + out.error().message;
  CHECK(shown(out->at(0), 0) == shown(out->at(0), 2));
  return shown(out->at(0), 0);
}

} // namespace

const graph::row_type_ptr& sample_type() {
  static const auto type = std::make_shared<const logical_type>(make_sample_type());
  return type;
}

const graph::record_batch& sample_rows() {
  static const auto rows = make_sample_rows();
  return rows;
}

graph::expression expression_of(std::string_view text, std::string_view zone) {
  const auto parsed = sql::parse_expression(text);
  CAPTURE(to_string(parsed.findings, text));
  REQUIRE(parsed.value);
  sql::column_scope scope;
  for (const auto& each : sample_type()->fields())
    scope.add("t", each.name, each.type);
  std::vector<sql::diagnostic> findings;
  sql::expression_binder binder(scope, findings);
  const auto bound = binder.bind(*parsed.value);
  CAPTURE(to_string(findings, text));
  REQUIRE(bound);
  auto made = sql::translate_expression(*bound, zone);
  CAPTURE((made ? std::string() : made.error().message));
  REQUIRE(made);
  return std::move(*made);
}

std::string value_of(std::string_view text, std::string_view zone) {
  const auto made = expression_of(text, zone);
  const auto value = graph::evaluate_constant(made, {std::string(zone)});
  const auto out = value ? shown(**value, 0) : "error: " + value.error().message;
  if (const auto other = value_by_columns(made, zone))
    CHECK(*other == out);
  return out;
}

std::string values_of(std::string_view text, std::string_view zone) {
  const auto made = expression_of(text, zone);
  auto program =
      graph::expression_program::compile(*sample_type(), {}, {&made, 1}, {std::string(zone)});
  if (!program)
    return "error: " + program.error().message;
  const auto type =
      std::make_shared<const logical_type>(logical_type::row({{"value", made.type(), {}}}));
  const auto rows = program->run(sample_rows(), type, {});
  if (!rows)
    return "error: " + rows.error().message;
  std::string out;
  for (std::size_t i = 0; i < rows->size(); ++i)
    out += (i > 0 ? " | " : "") + shown(rows->at(0), rows->row_at(i));
  return out;
}

void check_values(std::span<const expected_value> table, std::string_view zone) {
  for (const auto& each : table) {
    CAPTURE(each.text);
    const auto made = expression_of(each.text, zone);
    bool has_columns = false;
    for (const auto& node : made.nodes)
      has_columns |= std::holds_alternative<graph::input_column>(node.form);
    CHECK((has_columns ? values_of(each.text, zone) : value_of(each.text, zone)) == each.value);
  }
}

} // namespace headrace::testing
