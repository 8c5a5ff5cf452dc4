#include "libgraph/expression/kernel/cast.hpp"
#include "libgraph/expression/kernel/lenient_time.hpp"
#include "libgraph/expression/kernel/map.hpp"
#include "libgraph/expression/kernel/time_zone.hpp"
#include "libgraph/expression/kernel/utf8.hpp"
#include "libgraph/expression/kernel/value_printer.hpp"
#include "libgraph/types/value_text.hpp"

#include <array>
#include <limits>

namespace headrace::graph {
namespace {

constexpr int unlimited = std::numeric_limits<std::int32_t>::max();

bool is_text(const logical_type& type) {
  return type.root() == type_root::character || type.root() == type_root::varchar;
}

/// Cuts to the type's length; CHAR is filled up with spaces, BINARY with zeros.
void fit_length(const logical_type& type, std::string& text) {
  if (type.precision() == unlimited)
    return;
  const auto length = static_cast<std::size_t>(type.precision());
  if (!is_text(type)) {
    if (text.size() > length || type.root() == type_root::binary)
      text.resize(length);
    return;
  }
  const auto points = count_points(text);
  if (points > length)
    text.resize(byte_of_point(text, length));
  else if (type.root() == type_root::character)
    text.append(length - points, ' ');
}

/// Whether every value of one type is one of the other, as it is.
bool always_fits(const logical_type& from, const logical_type& to) {
  return is_text(from) == is_text(to) && to.precision() >= from.precision() &&
         (to.root() == type_root::varchar || to.root() == type_root::varbinary);
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ')
    text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ')
    text.remove_suffix(1);
  return text;
}

/// A text cast to a fixed width by `parse`; what is none fails, or is NULL.
template <class T, class Parse>
kernel parsing(const kernel_request& request, Parse parse) {
  const bool is_try = request.function == "TRY_CAST";
  return [is_try, what = "no " + request.type.nullable().to_sql(), parse](kernel_frame& frame) {
    return map_rows<T, std::string_view>(frame, [&](std::string_view text) -> std::optional<T> {
      const auto value = parse(trimmed(text));
      if (!value && !is_try)
        frame.fail(what, text);
      return value;
    });
  };
}

template <class T>
std::optional<T> parse_whole(std::string_view text) {
  // Digits behind a point are read and dropped.
  const auto point = text.find('.');
  if (point == text.npos)
    return parse_integer<T>(text);
  for (const char each : text.substr(point + 1))
    if (each < '0' || each > '9')
      return std::nullopt;
  const auto whole = text.substr(0, point);
  if (whole.empty() || whole == "-" || whole == "+")
    return text.size() > point + 1 ? std::optional<T>(0) : std::nullopt;
  return parse_integer<T>(whole);
}

std::optional<std::uint8_t> parse_flag(std::string_view text) {
  constexpr std::array<std::string_view, 5> yes{"t", "true", "y", "yes", "1"};
  constexpr std::array<std::string_view, 5> no{"f", "false", "n", "no", "0"};
  std::string lower(text);
  for (auto& each : lower)
    each = each >= 'A' && each <= 'Z' ? static_cast<char>(each | 0x20) : each;
  for (std::size_t i = 0; i < yes.size(); ++i) {
    if (lower == yes[i])
      return std::uint8_t{1};
    if (lower == no[i])
      return std::uint8_t{0};
  }
  return std::nullopt;
}

/// A decimal that has too many digits is NULL; a text that is no number is refused.
kernel parsing_decimal(const kernel_request& request) {
  const bool is_try = request.function == "TRY_CAST";
  return [is_try, precision = request.type.precision(), scale = request.type.scale(),
          what = "no " + request.type.nullable().to_sql()](kernel_frame& frame) {
    return map_rows<int128, std::string_view>(
        frame, [&](std::string_view text) -> std::optional<int128> {
          const auto value = parse_decimal(trimmed(text), precision, scale);
          if (!value && !is_try && !parse_double(trimmed(text)))
            frame.fail(what, text);
          return value;
        });
  };
}

std::optional<parsed_timestamp> parse_point(std::string_view text, const time_zone& zone,
                                            bool is_instant) {
  auto read = read_point(text);
  if (!read && is_instant)
    read = parse_timestamp(text);
  if (!read)
    return std::nullopt;
  if (is_instant)
    read->seconds =
        read->offset_seconds ? read->seconds - *read->offset_seconds : zone.to_utc(read->seconds);
  return read;
}

kernel parsing_point(const kernel_request& request) {
  const bool is_instant = request.type.root() == type_root::timestamp_ltz;
  const int precision = request.type.precision();
  const auto parse = [=, zone = request.zone](std::string_view text) -> std::optional<int128> {
    const auto read = parse_point(text, *zone, is_instant);
    return read ? std::optional(to_timestamp_value(*read, precision)) : std::nullopt;
  };
  if (request.type.physical() != physical_type::int64)
    return parsing<int128>(request, parse);
  return parsing<std::int64_t>(request, [parse](std::string_view text) {
    const auto value = parse(text);
    return value ? std::optional(static_cast<std::int64_t>(*value)) : std::nullopt;
  });
}

} // namespace

result<kernel> make_cast_to_text(const kernel_request& request) {
  const auto& from = request.arguments[0];
  if (from.physical() == physical_type::string && always_fits(from, request.type))
    return kernel(retyped);
  return kernel([zone = request.zone](kernel_frame& frame) {
    const auto& values = frame.arguments[0];
    text_writer writer(frame);
    validity_writer validity(frame, joined_validity(frame));
    std::string text;
    for_each_row(frame.rows, [&](std::size_t row) {
      if (validity.is_null(row)) {
        writer.put_empty(row);
        return;
      }
      text.clear();
      append_cast_text(*values.values, values.is_constant ? 0 : row, *zone, text);
      fit_length(frame.type, text);
      writer.put(row, text);
    });
    return writer.finish(frame.type, frame.rows.total, validity.finish());
  });
}

result<kernel> make_cast_from_text(const kernel_request& request) {
  switch (request.type.root()) {
  case type_root::boolean:
    return parsing<std::uint8_t>(request, parse_flag);
  case type_root::tinyint:
    return parsing<std::int8_t>(request, parse_whole<std::int8_t>);
  case type_root::smallint:
    return parsing<std::int16_t>(request, parse_whole<std::int16_t>);
  case type_root::integer:
    return parsing<std::int32_t>(request, parse_whole<std::int32_t>);
  case type_root::bigint:
    return parsing<std::int64_t>(request, parse_whole<std::int64_t>);
  case type_root::float_:
    return parsing<float>(request, parse_float);
  case type_root::double_:
    return parsing<double>(request, parse_double);
  case type_root::decimal:
    return parsing_decimal(request);
  case type_root::date:
    return parsing<std::int32_t>(request, read_date);
  case type_root::time:
    return parsing<std::int32_t>(request, parse_time);
  case type_root::timestamp:
  case type_root::timestamp_ltz:
    return parsing_point(request);
  default:
    return unfit(request);
  }
}

} // namespace headrace::graph
