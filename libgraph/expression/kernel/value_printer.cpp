#include "libgraph/expression/kernel/value_printer.hpp"

#include "libgraph/expression/kernel/calendar.hpp"
#include "libgraph/types/value_text.hpp"

#include <algorithm>
#include <cstdlib>

namespace headrace::graph {
namespace {

/// The first `digits` of a fraction of a second.
void append_fraction(std::int32_t nanos, int digits, std::string& out) {
  if (digits == 0)
    return;
  std::int64_t unit = 1;
  for (int i = digits; i < 9; ++i)
    unit *= 10;
  out += '.';
  append_padded(nanos / unit, digits, out);
}

void append_second_of_day(std::int32_t second, std::string& out) {
  append_padded(second / 3600, 2, out);
  out += ':';
  append_padded(second / 60 % 60, 2, out);
  out += ':';
  append_padded(second % 60, 2, out);
}

int128 timestamp_at(const column& values, std::size_t row) {
  return values.type().physical() == physical_type::int64
             ? int128{values.values<std::int64_t>()[row]}
             : values.values<int128>()[row];
}

void append_point(const column& values, std::size_t row, const time_zone& zone, std::string& out) {
  const auto& type = values.type();
  auto value = timestamp_at(values, row);
  if (type.root() == type_root::timestamp_ltz) {
    const bool is_fine = type.physical() != physical_type::int64;
    const auto utc = split_timestamp(value, type.precision());
    const auto offset = zone.offset_at(std::int64_t{utc.days} * 86'400 + utc.second_of_day);
    value += int128{offset} * (is_fine ? 1'000'000'000 : 1'000);
  }
  const auto parts = split_timestamp(value, type.precision());
  append_date(parts.days, out);
  out += ' ';
  append_second_of_day(parts.second_of_day, out);
  append_fraction(parts.nanos, type.precision(), out);
}

void append_months(std::int32_t months, std::string& out) {
  const auto magnitude = std::llabs(std::int64_t{months});
  out += months < 0 ? '-' : '+';
  append_integer(magnitude / 12, out);
  out += '-';
  append_padded(magnitude % 12, 2, out);
}

void append_duration(std::int64_t millis, std::string& out) {
  const auto magnitude =
      millis < 0 ? ~static_cast<std::uint64_t>(millis) + 1 : static_cast<std::uint64_t>(millis);
  const auto of_day = static_cast<std::int32_t>(magnitude % millis_per_day);
  out += millis < 0 ? '-' : '+';
  append_integer(static_cast<std::int64_t>(magnitude / millis_per_day), out);
  out += ' ';
  append_second_of_day(of_day / 1000, out);
  append_fraction(of_day % 1000 * 1'000'000, 3, out);
}

void append_inner(const column& values, std::size_t row, const time_zone& zone, std::string& out) {
  if (values.is_null(row))
    out += "NULL";
  else
    append_cast_text(values, row, zone, out);
}

void append_nested(const column& values, std::size_t row, const time_zone& zone, std::string& out) {
  const auto physical = values.type().physical();
  if (physical == physical_type::row) {
    out += '(';
    for (std::size_t i = 0; i < values.content().children.size(); ++i) {
      out += i > 0 ? ", " : "";
      append_inner(values.child(i), row, zone, out);
    }
    out += ')';
    return;
  }
  const bool is_list = physical == physical_type::list;
  const auto* offsets = values.values<std::int32_t>() + row;
  out += is_list ? '[' : '{';
  for (auto i = static_cast<std::size_t>(offsets[0]); i < static_cast<std::size_t>(offsets[1]);
       ++i) {
    out += i > static_cast<std::size_t>(offsets[0]) ? ", " : "";
    append_inner(values.child(0), i, zone, out);
    if (!is_list) {
      out += '=';
      append_inner(values.child(1), i, zone, out);
    }
  }
  out += is_list ? ']' : '}';
}

} // namespace

void append_cast_text(const column& values, std::size_t row, const time_zone& zone,
                      std::string& out) {
  const auto& type = values.type();
  switch (type.root()) {
  case type_root::boolean:
    out += values.values<std::uint8_t>()[row] != 0 ? "TRUE" : "FALSE";
    break;
  case type_root::tinyint:
    append_integer(values.values<std::int8_t>()[row], out);
    break;
  case type_root::smallint:
    append_integer(values.values<std::int16_t>()[row], out);
    break;
  case type_root::integer:
    append_integer(values.values<std::int32_t>()[row], out);
    break;
  case type_root::bigint:
    append_integer(values.values<std::int64_t>()[row], out);
    break;
  case type_root::float_:
    append_float(values.values<float>()[row], out);
    break;
  case type_root::double_:
    append_double(values.values<double>()[row], out);
    break;
  case type_root::decimal:
    append_decimal(values.values<int128>()[row], type.scale(), out);
    break;
  case type_root::character:
  case type_root::varchar:
  case type_root::binary:
  case type_root::varbinary:
    out += values.string_at(row);
    break;
  case type_root::date:
    append_date(values.values<std::int32_t>()[row], out);
    break;
  case type_root::time: {
    const auto millis = values.values<std::int32_t>()[row];
    append_second_of_day(millis / 1000, out);
    append_fraction(millis % 1000 * 1'000'000, std::min(type.precision(), 3), out);
    break;
  }
  case type_root::timestamp:
  case type_root::timestamp_ltz:
    append_point(values, row, zone, out);
    break;
  case type_root::interval_year_month:
    append_months(values.values<std::int32_t>()[row], out);
    break;
  case type_root::interval_day_time:
    append_duration(values.values<std::int64_t>()[row], out);
    break;
  case type_root::array:
  case type_root::map:
  case type_root::multiset:
  case type_root::row:
    append_nested(values, row, zone, out);
    break;
  case type_root::null:
    out += "NULL";
    break;
  }
}

} // namespace headrace::graph
