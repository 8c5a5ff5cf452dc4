#include "libgraph/data/row_format.hpp"

#include "libgraph/data/fixed_width.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace headrace::graph {

namespace {

__extension__ using uint128 = unsigned __int128;

constexpr std::int64_t seconds_per_day = 86400;
constexpr std::int64_t nanos_per_second = 1000000000;
/// Beyond, a timestamp is no point in time that anybody wrote; what is further is shown as this
/// far.
constexpr std::int64_t seconds_max = std::int64_t{1} << 53U;

template <class T>
void put_number(T value, std::string& out) {
  std::array<char, 24> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  out.append(digits.data(), end);
}

/// Appends a number of at least `width` digits.
void put_padded(std::uint64_t value, int width, std::string& out) {
  int digits = 1;
  for (auto rest = value / 10; rest != 0; rest /= 10)
    ++digits;
  for (; digits < width; ++digits)
    out.push_back('0');
  put_number(value, out);
}

/// Appends the civil date of a day since 1970-01-01 (after H. Hinnant, "chrono-Compatible Low-Level
/// Date Algorithms").
void put_date(std::int64_t days, std::string& out) {
  days += 719468; // since 0000-03-01
  const std::int64_t era = (days >= 0 ? days : days - 146096) / 146097;
  const auto day_of_era = static_cast<std::uint64_t>(days - era * 146097);
  const auto year_of_era =
      (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
  const auto day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const auto shifted_month = (5 * day_of_year + 2) / 153;
  const auto day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
  const auto month = shifted_month < 10 ? shifted_month + 3 : shifted_month - 9;
  const std::int64_t year =
      static_cast<std::int64_t>(year_of_era) + era * 400 + (month <= 2 ? 1 : 0);
  if (year < 0)
    out.push_back('-');
  else if (year > 9999)
    out.push_back('+');
  put_padded(static_cast<std::uint64_t>(year < 0 ? -year : year), 4, out);
  out.push_back('-');
  put_padded(month, 2, out);
  out.push_back('-');
  put_padded(day, 2, out);
}

/// Appends a fraction of a second as 3, 6 or 9 digits, as few as hold it; nothing for zero.
void put_fraction(std::int64_t nanos, std::string& out) {
  if (nanos == 0)
    return;
  out.push_back('.');
  if (nanos % 1000000 == 0)
    put_padded(static_cast<std::uint64_t>(nanos / 1000000), 3, out);
  else if (nanos % 1000 == 0)
    put_padded(static_cast<std::uint64_t>(nanos / 1000), 6, out);
  else
    put_padded(static_cast<std::uint64_t>(nanos), 9, out);
}

/// @param has_seconds  writes the seconds even when they are zero
void put_time(std::int64_t seconds_of_day, std::int64_t nanos, bool has_seconds, std::string& out) {
  put_padded(static_cast<std::uint64_t>(seconds_of_day / 3600), 2, out);
  out.push_back(':');
  put_padded(static_cast<std::uint64_t>(seconds_of_day / 60 % 60), 2, out);
  if (!has_seconds && seconds_of_day % 60 == 0 && nanos == 0)
    return;
  out.push_back(':');
  put_padded(static_cast<std::uint64_t>(seconds_of_day % 60), 2, out);
  put_fraction(nanos, out);
}

void put_timestamp(int128 nanos, bool is_instant, std::string& out) {
  auto wide_seconds = nanos / nanos_per_second;
  auto fraction = static_cast<std::int64_t>(nanos % nanos_per_second);
  if (fraction < 0) {
    fraction += nanos_per_second;
    --wide_seconds;
  }
  const auto seconds = static_cast<std::int64_t>(std::clamp(
      wide_seconds, static_cast<int128>(-seconds_max), static_cast<int128>(seconds_max)));
  auto days = seconds / seconds_per_day;
  auto second_of_day = seconds % seconds_per_day;
  if (second_of_day < 0) {
    second_of_day += seconds_per_day;
    --days;
  }
  put_date(days, out);
  out.push_back('T');
  put_time(second_of_day, fraction, is_instant, out);
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
    put_number(months / 12, out);
    out.push_back('Y');
  }
  if (months % 12 != 0) {
    put_number(months % 12, out);
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
    put_number(value, out);
    out.push_back(unit);
  };
  put_part(seconds / 3600, 'H');
  put_part(seconds / 60 % 60, 'M');
  const auto rest = milliseconds % 60000;
  if (rest == 0 && milliseconds != 0)
    return;
  if (rest < 0 && rest > -1000)
    out.push_back('-');
  put_number(rest / 1000, out);
  if (rest % 1000 != 0) {
    out.push_back('.');
    put_padded(static_cast<std::uint64_t>(std::abs(rest % 1000)), 3, out);
    while (out.back() == '0')
      out.pop_back();
  }
  out.push_back('S');
}

template <class T>
void put_real(T value, std::string& out) {
  if (std::isnan(value)) {
    out += "NaN";
    return;
  }
  if (std::signbit(value))
    out.push_back('-');
  if (std::isinf(value)) {
    out += "Infinity";
    return;
  }
  value = std::abs(value);
  std::array<char, 40> digits{};
  const bool is_plain = value == T{0} || (value >= static_cast<T>(1e-3) && value < T{1e7});
  const auto* end =
      std::to_chars(digits.data(), digits.data() + digits.size(), value,
                    is_plain ? std::chars_format::fixed : std::chars_format::scientific)
          .ptr;
  const std::string_view text(digits.data(), static_cast<std::size_t>(end - digits.data()));
  const auto mantissa = text.substr(0, text.find('e'));
  out += mantissa;
  if (mantissa.find('.') == std::string_view::npos)
    out += ".0";
  if (is_plain)
    return;
  // Of "e-05" Java writes E-5, of "e+10" E10.
  const auto exponent = text.substr(mantissa.size() + 1);
  out.push_back('E');
  if (exponent[0] == '-')
    out.push_back('-');
  out += exponent.substr(std::min(exponent.find_first_not_of("+-0"), exponent.size() - 1));
}

void put_bytes(std::string_view bytes, std::string& out) {
  out.push_back('[');
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (i > 0)
      out += ", ";
    put_number(static_cast<int>(static_cast<signed char>(bytes[i])), out);
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
    return put_number(static_cast<int>(values.values<std::int8_t>()[row]), out);
  case physical_type::int16:
    return put_number(values.values<std::int16_t>()[row], out);
  case physical_type::int32:
    return put_number(values.values<std::int32_t>()[row], out);
  default:
    return put_number(values.values<std::int64_t>()[row], out);
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
    return format_float(values.values<float>()[row], out);
  case type_root::double_:
    return format_double(values.values<double>()[row], out);
  case type_root::decimal:
    return format_decimal(values.values<int128>()[row], type.scale(), out);
  case type_root::character:
  case type_root::varchar:
    out += values.string_at(row);
    break;
  case type_root::binary:
  case type_root::varbinary:
    return put_bytes(values.string_at(row), out);
  case type_root::date:
    return format_date(values.values<std::int32_t>()[row], out);
  case type_root::time:
    return format_time(values.values<std::int32_t>()[row], out);
  case type_root::timestamp:
  case type_root::timestamp_ltz:
    return put_timestamp(type.precision() <= 3
                             ? static_cast<int128>(values.values<std::int64_t>()[row]) * 1000000
                             : values.values<int128>()[row],
                         type.root() == type_root::timestamp_ltz, out);
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

void format_decimal(int128 unscaled, int scale, std::string& out) {
  auto rest = static_cast<uint128>(unscaled);
  if (unscaled < 0) {
    out.push_back('-');
    rest = ~rest + 1;
  }
  std::array<char, 48> digits{};
  auto* begin = digits.data() + digits.size();
  for (int written = 0; rest != 0 || written <= scale; ++written) {
    if (written == scale && scale > 0)
      *--begin = '.';
    *--begin = static_cast<char>('0' + static_cast<int>(rest % 10));
    rest /= 10;
  }
  out.append(begin, digits.data() + digits.size());
}

void format_float(float value, std::string& out) { put_real(value, out); }
void format_double(double value, std::string& out) { put_real(value, out); }
void format_date(std::int32_t days, std::string& out) { put_date(days, out); }

void format_time(std::int32_t milliseconds, std::string& out) {
  const auto of_day = ((std::int64_t{milliseconds} % 86400000) + 86400000) % 86400000;
  put_time(of_day / 1000, of_day % 1000 * 1000000, false, out);
}

} // namespace headrace::graph
