#include "libtask/format/scalar_text.hpp"

#include "libgraph/types/value_text.hpp"

#include <optional>

namespace headrace::task {
namespace {

using graph::column;
using graph::column_builder;
using graph::int128;
using graph::logical_type;
using graph::physical_type;
using graph::type_root;

bool is_space(char letter) { return letter == ' ' || letter == '\t'; }

std::string_view without_spaces(std::string_view text) {
  while (!text.empty() && is_space(text.front()))
    text.remove_prefix(1);
  while (!text.empty() && is_space(text.back()))
    text.remove_suffix(1);
  return text;
}

template <class T, class Parsed>
bool append_if(const Parsed& parsed, column_builder& out) {
  if (!parsed)
    return false;
  out.append(static_cast<T>(*parsed));
  return true;
}

bool append_timestamp(const logical_type& type,
                      const std::optional<graph::parsed_timestamp>& parsed, column_builder& out) {
  if (!parsed)
    return false;
  auto local = *parsed;
  if (local.offset_seconds) {
    if (type.root() == type_root::timestamp && *local.offset_seconds != 0)
      return false; // which of the two wall clocks would be meant?
    local.seconds -= *local.offset_seconds;
  }
  const auto value = graph::to_timestamp_value(local, type.precision());
  if (type.precision() <= 3)
    out.append(static_cast<std::int64_t>(value));
  else
    out.append(value);
  return true;
}

} // namespace

bool is_scalar(const logical_type& type) {
  switch (type.physical()) {
  case physical_type::list:
  case physical_type::map:
  case physical_type::row:
  case physical_type::none:
    return false;
  default:
    return true;
  }
}

bool is_character(const logical_type& type) {
  return type.root() == type_root::character || type.root() == type_root::varchar;
}

scalar_reader::scalar_reader(const logical_type& type) : type_(&type) {
  if (task::is_character(type))
    kind_ = kind::text;
  else if (type.root() == type_root::bigint)
    kind_ = kind::bigint;
  else if (type.root() == type_root::integer)
    kind_ = kind::integer;
  else if (type.root() == type_root::timestamp && type.precision() == 3)
    kind_ = kind::milliseconds;
}

bool scalar_reader::append_bigint(std::string_view text, column_builder& out) {
  return append_if<std::int64_t>(graph::parse_integer<std::int64_t>(without_spaces(text)), out);
}

bool scalar_reader::append_milliseconds(std::string_view text, column_builder& out) {
  text = without_spaces(text);
  const auto parsed = graph::parse_timestamp(text);
  if (!append_timestamp(*type_, parsed, out))
    return false;
  constexpr std::size_t second_at = 17;
  if (text.size() > second_at + 1 && text[13] == ':' && text[16] == ':' &&
      !parsed->offset_seconds) {
    // Two colons, and no zone: the minute ends here, and two digits follow.
    minute_text_ = {graph::load_word(text.data()), graph::load_word(text.data() + 8)};
    const auto second = (text[second_at] - '0') * 10 + (text[second_at + 1] - '0');
    minute_ = (parsed->seconds - second) * 1000;
    has_minute_ = true;
  }
  return true;
}

bool scalar_reader::append_bytes(std::string_view text, column_builder& out) {
  scratch_.clear();
  if (!graph::decode_base64(text, scratch_))
    return false;
  out.append_string(scratch_);
  return true;
}

bool scalar_reader::append_other(std::string_view text, column_builder& out) {
  const auto& type = *type_;
  text = without_spaces(text);
  switch (type.root()) {
  case type_root::boolean:
    return append_if<std::uint8_t>(graph::parse_boolean(text), out);
  case type_root::tinyint:
    return append_if<std::int8_t>(graph::parse_integer<std::int8_t>(text), out);
  case type_root::smallint:
    return append_if<std::int16_t>(graph::parse_integer<std::int16_t>(text), out);
  case type_root::integer:
  case type_root::interval_year_month:
    return append_if<std::int32_t>(graph::parse_integer<std::int32_t>(text), out);
  case type_root::interval_day_time:
    return append_if<std::int64_t>(graph::parse_integer<std::int64_t>(text), out);
  case type_root::float_:
    return append_if<float>(graph::parse_float(text), out);
  case type_root::double_:
    return append_if<double>(graph::parse_double(text), out);
  case type_root::decimal:
    return append_if<int128>(graph::parse_decimal(text, type.precision(), type.scale()), out);
  case type_root::date:
    return append_if<std::int32_t>(graph::parse_date(text), out);
  case type_root::time:
    return append_if<std::int32_t>(graph::parse_time(text), out);
  case type_root::timestamp:
  case type_root::timestamp_ltz:
    return append_timestamp(type, graph::parse_timestamp(text), out);
  case type_root::binary:
  case type_root::varbinary:
    return append_bytes(text, out);
  default:
    return false;
  }
}

void write_scalar(const column& values, std::size_t row, timestamp_style style, std::string& out) {
  const auto& type = values.type();
  switch (type.root()) {
  case type_root::boolean:
    out += values.values<std::uint8_t>()[row] != 0 ? "true" : "false";
    return;
  case type_root::tinyint:
    return graph::append_integer(values.values<std::int8_t>()[row], out);
  case type_root::smallint:
    return graph::append_integer(values.values<std::int16_t>()[row], out);
  case type_root::integer:
  case type_root::interval_year_month:
    return graph::append_integer(values.values<std::int32_t>()[row], out);
  case type_root::bigint:
  case type_root::interval_day_time:
    return graph::append_integer(values.values<std::int64_t>()[row], out);
  case type_root::float_:
    return graph::append_float(values.values<float>()[row], out);
  case type_root::double_:
    return graph::append_double(values.values<double>()[row], out);
  case type_root::decimal:
    return graph::append_decimal(values.values<int128>()[row], type.scale(), out);
  case type_root::character:
  case type_root::varchar:
    out += values.string_at(row);
    return;
  case type_root::binary:
  case type_root::varbinary:
    return graph::append_base64(values.string_at(row), out);
  case type_root::date:
    return graph::append_date(values.values<std::int32_t>()[row], out);
  case type_root::time:
    return graph::append_time(values.values<std::int32_t>()[row], out);
  case type_root::timestamp:
  case type_root::timestamp_ltz: {
    const auto value = type.precision() <= 3 ? int128{values.values<std::int64_t>()[row]}
                                             : values.values<int128>()[row];
    graph::append_timestamp(value, type.precision(), style == timestamp_style::sql ? ' ' : 'T',
                            out);
    if (type.root() == type_root::timestamp_ltz)
      out += 'Z';
    return;
  }
  default:
    return;
  }
}

} // namespace headrace::task
