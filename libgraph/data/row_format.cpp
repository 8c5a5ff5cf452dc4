#include "libgraph/data/row_format.hpp"

#include "libgraph/types/value_text.hpp"

#include <array>
#include <cstdlib>

namespace headrace::graph {

namespace {

/// Appends a fraction of a second as 3, 6 or 9 digits, as few as hold it; nothing for zero.
void put_fraction(std::int64_t nanos, std::string& out) {
  if (nanos == 0)
    return;
  out.push_back('.');
  if (nanos % 1000000 == 0)
    append_padded(nanos / 1000000, 3, out);
  else if (nanos % 1000 == 0)
    append_padded(nanos / 1000, 6, out);
  else
    append_padded(nanos, 9, out);
}

/// Appends a time of day as ISO 8601: 12:00, 12:00:01, 12:00:01.500.
///
/// @param has_seconds  writes the seconds even when they are zero
void put_time(std::int64_t seconds_of_day, std::int64_t nanos, bool has_seconds, std::string& out) {
  append_padded(seconds_of_day / 3600, 2, out);
  out.push_back(':');
  append_padded(seconds_of_day / 60 % 60, 2, out);
  if (!has_seconds && seconds_of_day % 60 == 0 && nanos == 0)
    return;
  out.push_back(':');
  append_padded(seconds_of_day % 60, 2, out);
  put_fraction(nanos, out);
}

void put_time_of_day(std::int32_t milliseconds, std::string& out) {
  constexpr int per_day = 86400000;
  const auto of_day = (milliseconds % per_day + per_day) % per_day;
  put_time(of_day / 1000, std::int64_t{of_day % 1000} * 1000000, false, out);
}

void put_timestamp(int128 value, int precision, bool is_instant, std::string& out) {
  const auto parts = split_timestamp(value, precision);
  append_date(parts.days, out);
  out.push_back('T');
  put_time(parts.second_of_day, parts.nanos, is_instant, out);
  if (is_instant)
    out.push_back('Z');
}

/// Appends months as an ISO 8601 period: P1Y2M.
void put_months(std::int32_t months, std::string& out) {
  if (months == 0) {
    out += "P0D";
    return;
  }
  out.push_back('P');
  if (months / 12 != 0) {
    append_integer(months / 12, out);
    out.push_back('Y');
  }
  if (months % 12 != 0) {
    append_integer(months % 12, out);
    out.push_back('M');
  }
}

/// Appends milliseconds as an ISO 8601 duration: PT26H3M4.5S.
void put_duration(std::int64_t milliseconds, std::string& out) {
  out += "PT";
  const auto seconds = milliseconds / 1000;
  const auto put_part = [&](std::int64_t value, char unit) {
    if (value == 0)
      return;
    append_integer(value, out);
    out.push_back(unit);
  };
  put_part(seconds / 3600, 'H');
  put_part(seconds / 60 % 60, 'M');
  const auto rest = milliseconds % 60000;
  if (rest == 0 && milliseconds != 0)
    return;
  if (rest < 0 && rest > -1000)
    out.push_back('-');
  append_integer(rest / 1000, out);
  if (rest % 1000 != 0) {
    out.push_back('.');
    append_padded(std::abs(rest % 1000), 3, out);
    while (out.back() == '0')
      out.pop_back();
  }
  out.push_back('S');
}

void put_bytes(std::string_view bytes, std::string& out) {
  out.push_back('[');
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (i > 0)
      out += ", ";
    append_integer(static_cast<signed char>(bytes[i]), out);
  }
  out.push_back(']');
}

void put_elements(const column& values, std::size_t row, std::string& out) {
  const bool is_list = values.type().physical() == physical_type::list;
  const auto* offsets = values.values<std::int32_t>();
  out.push_back(is_list ? '[' : '{');
  for (auto at = offsets[row]; at < offsets[row + 1]; ++at) {
    const auto element = static_cast<std::size_t>(at);
    if (at > offsets[row])
      out += ", ";
    format_value(values.child(0), element, out);
    if (is_list)
      continue;
    out.push_back('=');
    format_value(values.child(1), element, out);
  }
  out.push_back(is_list ? ']' : '}');
}

void put_nested(const column& values, std::size_t row, std::string& out) {
  if (values.type().physical() != physical_type::row)
    return put_elements(values, row, out);
  out += "+I[";
  for (std::size_t i = 0; i < values.content().children.size(); ++i) {
    if (i > 0)
      out += ", ";
    format_value(values.child(i), row, out);
  }
  out.push_back(']');
}

void put_whole_number(const column& values, std::size_t row, std::string& out) {
  switch (values.type().physical()) {
  case physical_type::int8:
    return append_integer(values.values<std::int8_t>()[row], out);
  case physical_type::int16:
    return append_integer(values.values<std::int16_t>()[row], out);
  case physical_type::int32:
    return append_integer(values.values<std::int32_t>()[row], out);
  default:
    return append_integer(values.values<std::int64_t>()[row], out);
  }
}

} // namespace

void format_kind(row_kind kind, std::string& out) {
  static constexpr std::array<std::string_view, 4> texts = {"+I", "-U", "+U", "-D"};
  out += texts[static_cast<std::size_t>(kind)];
}

void format_row(const row_view& row, std::string& out) {
  format_kind(row.kind(), out);
  out.push_back('[');
  for (std::size_t i = 0; i < row.field_count(); ++i) {
    if (i > 0)
      out += ", ";
    format_value(row.column_of(i), row.column_row(), out);
  }
  out.push_back(']');
}

std::string to_string(const row_view& row) {
  std::string out;
  format_row(row, out);
  return out;
}

void format_value(const column& values, std::size_t row, std::string& out) {
  const auto& type = values.type();
  if (type.root() == type_root::null || values.is_null(row)) {
    out += "null";
    return;
  }
  switch (type.root()) {
  case type_root::boolean:
    out += values.values<std::uint8_t>()[row] != 0 ? "true" : "false";
    break;
  case type_root::float_:
    return append_float(values.values<float>()[row], out);
  case type_root::double_:
    return append_double(values.values<double>()[row], out);
  case type_root::decimal:
    return append_decimal(values.values<int128>()[row], type.scale(), out);
  case type_root::character:
  case type_root::varchar:
    out += values.string_at(row);
    break;
  case type_root::binary:
  case type_root::varbinary:
    return put_bytes(values.string_at(row), out);
  case type_root::date:
    return append_date(values.values<std::int32_t>()[row], out);
  case type_root::time:
    return put_time_of_day(values.values<std::int32_t>()[row], out);
  case type_root::timestamp:
  case type_root::timestamp_ltz:
    return put_timestamp(type.precision() <= 3 ? int128{values.values<std::int64_t>()[row]}
                                               : values.values<int128>()[row],
                         type.precision(), type.root() == type_root::timestamp_ltz, out);
  case type_root::interval_year_month:
    return put_months(values.values<std::int32_t>()[row], out);
  case type_root::interval_day_time:
    return put_duration(values.values<std::int64_t>()[row], out);
  case type_root::array:
  case type_root::map:
  case type_root::multiset:
  case type_root::row:
    return put_nested(values, row, out);
  default:
    return put_whole_number(values, row, out);
  }
}

} // namespace headrace::graph
