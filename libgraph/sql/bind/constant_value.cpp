#include "libgraph/sql/bind/constant_value.hpp"

#include "libgraph/data/batch_builder.hpp"
#include "libgraph/expression/expression.hpp"
#include "libgraph/expression/kernel/time_zone.hpp"
#include "libgraph/sql/bind/interval_value.hpp"
#include "libgraph/types/value_text.hpp"

namespace headrace::sql {
namespace {

using graph::column_ptr;
using graph::fixed_value;

error malformed(std::string_view text, const logical_type& type) {
  return {errc::type_mismatch,
          "no value of " + type.nullable().to_sql() + ": " + std::string(text)};
}

template <class T>
result<column_ptr> fixed_or_error(const std::optional<T>& value, std::string_view text,
                                  const logical_type& type) {
  if (!value)
    return malformed(text, type);
  return fixed_value<T>(type, *value);
}

result<column_ptr> bytes_of_hex(std::string_view digits, const logical_type& type) {
  const auto digit = [](char letter) -> int {
    if (letter >= '0' && letter <= '9')
      return letter - '0';
    const auto lower = letter | 0x20;
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
  };
  std::string bytes;
  if (digits.size() % 2 != 0)
    return malformed(digits, type);
  for (std::size_t i = 0; i < digits.size(); i += 2) {
    const int high = digit(digits[i]);
    const int low = digit(digits[i + 1]);
    if (high < 0 || low < 0)
      return malformed(digits, type);
    bytes.push_back(static_cast<char>(high * 16 + low));
  }
  return graph::text_value(type, bytes);
}

result<column_ptr> timestamp_of(std::string_view text, const logical_type& type,
                                std::string_view zone) {
  auto read = graph::parse_timestamp(text);
  if (!read || (read->offset_seconds && type.root() == type_root::timestamp))
    return malformed(text, type);
  if (read->offset_seconds) {
    read->seconds -= *read->offset_seconds;
  } else if (type.root() == type_root::timestamp_ltz) {
    HEADRACE_TRY(const auto session, graph::time_zone::find(zone));
    read->seconds = session->to_utc(read->seconds);
  }
  const auto value = graph::to_timestamp_value(*read, type.precision());
  if (type.physical() == graph::physical_type::int64)
    return fixed_value<std::int64_t>(type, static_cast<std::int64_t>(value));
  return fixed_value<graph::int128>(type, value);
}

} // namespace

result<column_ptr> constant_value(const bound_constant& from, const logical_type& type,
                                  std::string_view zone) {
  if (!from.text)
    return graph::null_value(type);
  const std::string_view text = *from.text;
  switch (type.root()) {
  case type_root::null: // a word of the grammar
    return graph::text_value(logical_type::string().not_null(), text);
  case type_root::boolean: {
    const auto value = graph::parse_boolean(text);
    if (!value)
      return malformed(text, type);
    return fixed_value<std::uint8_t>(type, *value ? 1 : 0);
  }
  case type_root::tinyint:
    return fixed_or_error(graph::parse_integer<std::int8_t>(text), text, type);
  case type_root::smallint:
    return fixed_or_error(graph::parse_integer<std::int16_t>(text), text, type);
  case type_root::integer:
    return fixed_or_error(graph::parse_integer<std::int32_t>(text), text, type);
  case type_root::bigint:
    return fixed_or_error(graph::parse_integer<std::int64_t>(text), text, type);
  case type_root::float_:
    return fixed_or_error(graph::parse_float(text), text, type);
  case type_root::double_:
    return fixed_or_error(graph::parse_double(text), text, type);
  case type_root::decimal:
    return fixed_or_error(graph::parse_decimal(text, type.precision(), type.scale()), text, type);
  case type_root::character:
  case type_root::varchar:
    return graph::text_value(type, text);
  case type_root::binary:
  case type_root::varbinary:
    return bytes_of_hex(text, type);
  case type_root::date:
    return fixed_or_error(graph::parse_date(text), text, type);
  case type_root::time:
    return fixed_or_error(graph::parse_time(text), text, type);
  case type_root::timestamp:
  case type_root::timestamp_ltz:
    return timestamp_of(text, type, zone);
  case type_root::interval_year_month:
  case type_root::interval_day_time: {
    const auto value = from.interval ? interval_value(text, *from.interval) : std::nullopt;
    if (!value)
      return malformed(text, type);
    if (type.root() == type_root::interval_day_time)
      return fixed_value<std::int64_t>(type, *value);
    if (*value > INT32_MAX || *value < INT32_MIN)
      return malformed(text, type);
    return fixed_value<std::int32_t>(type, static_cast<std::int32_t>(*value));
  }
  default:
    return malformed(text, type);
  }
}

} // namespace headrace::sql
