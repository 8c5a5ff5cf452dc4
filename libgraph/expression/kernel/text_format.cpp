#include "libgraph/expression/kernel/function_kernel.hpp"
#include "libgraph/expression/kernel/nested_access.hpp"
#include "libgraph/expression/kernel/utf8.hpp"
#include "libgraph/expression/kernel/value_printer.hpp"
#include "libgraph/types/value_text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>

// PRINTF: patterns of Java's Formatter, with the conversions b c d e f g o s x, % and n.
namespace headrace::graph {
namespace {

using text = std::string_view;

/// %[argument$][flags][width][.precision]conversion
struct directive {
  std::size_t argument = 0; ///< from 1; 0: the next one
  bool is_left = false;
  bool has_zeros = false;
  bool has_groups = false;
  char sign = 0; ///< '+' or ' '
  std::size_t width = 0;
  int precision = -1;
  char conversion = 0;
};

std::size_t take_number(text& from, std::size_t most) {
  std::size_t out = 0;
  const auto* const end = from.data() + from.size();
  const auto read = std::from_chars(from.data(), end, out);
  from.remove_prefix(static_cast<std::size_t>(read.ptr - from.data()));
  return std::min(out, most);
}

/// Takes what stands behind the sign %.
std::optional<directive> take_directive(text& from) {
  constexpr std::size_t width_max = 10'000;
  constexpr std::size_t precision_max = 300;
  directive out;
  if (const auto end = from.find_first_not_of("0123456789");
      end != text::npos && end > 0 && from[end] == '$' && from[0] != '0') {
    out.argument = take_number(from, width_max);
    from.remove_prefix(1);
  }
  for (; !from.empty() && text("-0,+ ").find(from[0]) != text::npos; from.remove_prefix(1)) {
    out.is_left |= from[0] == '-';
    out.has_zeros |= from[0] == '0';
    out.has_groups |= from[0] == ',';
    if (from[0] == '+' || (from[0] == ' ' && out.sign == 0))
      out.sign = from[0];
  }
  out.width = take_number(from, width_max);
  if (from.starts_with('.')) {
    from.remove_prefix(1);
    if (from.empty() || from[0] < '0' || from[0] > '9')
      return std::nullopt;
    out.precision = static_cast<int>(take_number(from, precision_max));
  }
  if (from.empty())
    return std::nullopt;
  out.conversion = from[0];
  from.remove_prefix(1);
  return out;
}

std::optional<std::int64_t> whole_of(const column& values, std::size_t row) {
  switch (values.type().root()) {
  case type_root::tinyint:
    return values.values<std::int8_t>()[row];
  case type_root::smallint:
    return values.values<std::int16_t>()[row];
  case type_root::integer:
    return values.values<std::int32_t>()[row];
  case type_root::bigint:
    return values.values<std::int64_t>()[row];
  default:
    return std::nullopt;
  }
}

std::optional<double> real_of(const column& values, std::size_t row) {
  switch (values.type().root()) {
  case type_root::float_:
    return values.values<float>()[row];
  case type_root::double_:
    return values.values<double>()[row];
  case type_root::decimal: {
    std::string shown;
    append_decimal(values.values<int128>()[row], values.type().scale(), shown);
    return parse_double(shown);
  }
  default:
    return std::nullopt;
  }
}

/// Commas between thousands of the digits before the point.
void add_groups(std::string& digits) {
  auto at = std::min(digits.find('.'), digits.size());
  for (; at > 3; at -= 3)
    digits.insert(at - 3, ",");
}

/// Sign and digits, with zeros between them where the width asks for them.
std::string signed_number(const directive& how, bool is_negative, std::string digits) {
  if (how.has_groups)
    add_groups(digits);
  std::string sign;
  if (is_negative)
    sign = "-";
  else if (how.sign != 0)
    sign = how.sign;
  if (how.has_zeros && sign.size() + digits.size() < how.width)
    digits.insert(0, how.width - sign.size() - digits.size(), '0');
  return sign + digits;
}

std::string decimal_digits(std::int64_t value) {
  std::string out;
  append_integer(value, out);
  return value < 0 ? out.substr(1) : out;
}

/// Digits of the bits that the type has, so that -1 of a TINYINT is ff.
std::string code_digits(std::int64_t value, const logical_type& type, int base) {
  auto bits = static_cast<std::uint64_t>(value);
  if (const auto width = type.width_bytes(); width < 8)
    bits &= (std::uint64_t{1} << (8 * width)) - 1;
  std::array<char, 32> made{};
  return {made.data(), std::to_chars(made.data(), made.data() + made.size(), bits, base).ptr};
}

std::string real_text(const directive& how, double value) {
  if (std::isnan(value))
    return "NaN";
  if (std::isinf(value))
    return signed_number({.sign = how.sign}, value < 0, "Infinity");
  const int precision = how.precision < 0 ? 6 : how.precision;
  constexpr std::size_t longest = 700; // 309 digits before the point, 300 behind it
  std::array<char, longest> made{};
  const double size = std::fabs(value);
  int length = 0;
  if (how.conversion == 'f')
    length = std::snprintf(made.data(), made.size(), "%.*f", precision, size);
  else if (how.conversion == 'e')
    length = std::snprintf(made.data(), made.size(), "%.*e", precision, size);
  else
    length = std::snprintf(made.data(), made.size(), "%#.*g", std::max(precision, 1), size);
  return signed_number(how, std::signbit(value), {made.data(), static_cast<std::size_t>(length)});
}

/// What a value is by the directive; nothing when they do not go together.
std::optional<std::string> shown(const directive& how, const column& values, std::size_t row,
                                 const time_zone& zone) {
  const auto cut = [&](std::string from) {
    if (how.precision >= 0)
      from.resize(byte_of_point(from, static_cast<std::size_t>(how.precision)));
    return from;
  };
  const bool is_null = values.is_null(row);
  const bool is_flag = values.type().root() == type_root::boolean;
  if (how.conversion == 'b')
    return cut(!is_null && (!is_flag || values.values<std::uint8_t>()[row] != 0) ? "true"
                                                                                 : "false");
  if (is_null)
    return cut("null");
  switch (how.conversion) {
  case 's': {
    std::string out;
    if (is_flag)
      out = values.values<std::uint8_t>()[row] != 0 ? "true" : "false";
    else
      append_cast_text(values, row, zone, out);
    return cut(std::move(out));
  }
  case 'd':
    if (const auto value = whole_of(values, row))
      return signed_number(how, *value < 0, decimal_digits(*value));
    return std::nullopt;
  case 'x':
  case 'o':
    if (const auto value = whole_of(values, row))
      return signed_number({.has_zeros = how.has_zeros, .width = how.width}, false,
                           code_digits(*value, values.type(), how.conversion == 'x' ? 16 : 8));
    return std::nullopt;
  case 'c': {
    const auto value = whole_of(values, row);
    if (!value || *value < 0 || *value > 0x10FFFF)
      return std::nullopt;
    std::string out;
    append_point_utf8(static_cast<char32_t>(*value), out);
    return out;
  }
  case 'e':
  case 'f':
  case 'g':
    if (const auto value = real_of(values, row))
      return real_text(how, *value);
    return std::nullopt;
  default:
    return std::nullopt;
  }
}

/// The capital of a conversion gives capitals.
bool append_directive(directive how, const kernel_frame& frame, std::size_t& next, std::size_t row,
                      const time_zone& zone, std::string& out) {
  if (how.conversion == '%' || how.conversion == 'n') {
    out += how.conversion == 'n' ? '\n' : '%';
    return true;
  }
  const auto at = how.argument > 0 ? how.argument : ++next;
  if (at >= frame.arguments.size())
    return false;
  const bool is_capital = text("BCEGSX").find(how.conversion) != text::npos;
  if (is_capital)
    how.conversion = static_cast<char>(how.conversion | 0x20);
  const auto& values = frame.arguments[at];
  auto made = shown(how, *values.values, values.is_constant ? 0 : row, zone);
  if (!made)
    return false;
  if (is_capital)
    for (auto& each : *made)
      each = each >= 'a' && each <= 'z' ? static_cast<char>(each ^ 0x20) : each;
  const auto points = count_points(*made);
  const auto missing = how.width > points ? how.width - points : 0;
  if (!how.is_left)
    out.append(missing, ' ');
  out += *made;
  if (how.is_left)
    out.append(missing, ' ');
  return true;
}

/// NULL for a pattern that is malformed or does not go with the values. A NULL is "null".
result<kernel> make_printf(const kernel_request& request) {
  if (request.arguments.empty() || request.arguments[0].physical() != physical_type::string)
    return unfit(request);
  return kernel([zone = request.zone](kernel_frame& frame) {
    const reader<text> patterns(frame.arguments[0]);
    text_writer writer(frame);
    validity_writer validity(frame);
    std::string made;
    for_each_row(frame.rows, [&](std::size_t row) {
      made.clear();
      bool is_sound = !patterns.is_null(row);
      std::size_t next = 0;
      for (auto rest = is_sound ? patterns[row] : text(); is_sound && !rest.empty();) {
        const auto sign = std::min(rest.find('%'), rest.size());
        made += rest.substr(0, sign);
        rest.remove_prefix(sign);
        if (rest.empty())
          break;
        rest.remove_prefix(1);
        const auto how = take_directive(rest);
        is_sound = how && append_directive(*how, frame, next, row, *zone, made);
      }
      if (is_sound) {
        writer.put(row, made);
      } else {
        writer.put_empty(row);
        validity.set_null(row);
      }
    });
    return writer.finish(frame.type, frame.rows.total, validity.finish());
  });
}

// ---- character sets ---------------------------------------------------------------------------

enum class charset : std::uint8_t { ascii, latin1, utf8, utf16_be, utf16_le, utf16 };

std::optional<charset> charset_of(text name) {
  std::string wanted(name);
  for (auto& each : wanted)
    each = each >= 'a' && each <= 'z' ? static_cast<char>(each ^ 0x20) : each;
  constexpr std::array<std::pair<text, charset>, 6> known{{{"US-ASCII", charset::ascii},
                                                           {"ISO-8859-1", charset::latin1},
                                                           {"UTF-8", charset::utf8},
                                                           {"UTF-16BE", charset::utf16_be},
                                                           {"UTF-16LE", charset::utf16_le},
                                                           {"UTF-16", charset::utf16}}};
  for (const auto& [each, set] : known)
    if (each == wanted)
      return set;
  return std::nullopt;
}

constexpr text charset_wanted =
    "no such character set, expected US-ASCII, ISO-8859-1, UTF-8, UTF-16BE, UTF-16LE or UTF-16";

/// What a set has no code for becomes a question mark, as Java does.
bool encode(text_result& out, text from, text name) {
  const auto set = charset_of(name);
  if (!set) {
    out.frame.fail(charset_wanted, name);
    return false;
  }
  if (*set == charset::utf8) {
    out.text = from;
    return true;
  }
  const auto put = [&](char32_t unit) {
    const auto high = static_cast<char>(unit >> 8U);
    const auto low = static_cast<char>(unit & 0xFFU);
    out.text += *set == charset::utf16_le ? low : high;
    out.text += *set == charset::utf16_le ? high : low;
  };
  if (*set == charset::utf16)
    put(0xFEFF); // the mark of the byte order
  while (!from.empty()) {
    const auto point = take_point(from);
    if (*set == charset::ascii || *set == charset::latin1) {
      const char32_t limit = *set == charset::ascii ? 0x80 : 0x100;
      out.text += point < limit ? static_cast<char>(point) : '?';
    } else if (point < 0x10000) {
      put(point);
    } else {
      put(0xD800 + ((point - 0x10000) >> 10U));
      put(0xDC00 + ((point - 0x10000) & 0x3FFU));
    }
  }
  return true;
}

/// What is malformed becomes U+FFFD.
bool decode(text_result& out, text from, text name) {
  const auto set = charset_of(name);
  if (!set) {
    out.frame.fail(charset_wanted, name);
    return false;
  }
  constexpr char32_t unreadable = 0xFFFD;
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(from[i]); };
  switch (*set) {
  case charset::utf8:
    append_as_utf8(from, out.text);
    return true;
  case charset::ascii:
  case charset::latin1:
    for (std::size_t i = 0; i < from.size(); ++i)
      append_point_utf8(*set == charset::ascii && byte(i) >= 0x80 ? unreadable : byte(i), out.text);
    return true;
  default:
    break;
  }
  bool is_little = *set == charset::utf16_le;
  if (*set == charset::utf16 && from.size() >= 2 && (byte(0) ^ byte(1)) == (0xFE ^ 0xFF) &&
      (byte(0) == 0xFE || byte(0) == 0xFF)) {
    is_little = byte(0) == 0xFF;
    from.remove_prefix(2);
  }
  const auto unit = [&](std::size_t i) -> char32_t {
    return is_little ? byte(i + 1) << 8U | byte(i) : byte(i) << 8U | byte(i + 1);
  };
  std::size_t i = 0;
  for (; i + 1 < from.size(); i += 2) {
    const auto first = unit(i);
    const bool is_high = first >= 0xD800 && first < 0xDC00;
    const auto second = is_high && i + 3 < from.size() ? unit(i + 2) : 0;
    if (second >= 0xDC00 && second < 0xE000) {
      append_point_utf8(0x10000 + ((first - 0xD800) << 10U) + (second - 0xDC00), out.text);
      i += 2;
    } else {
      append_point_utf8(is_high || (first >= 0xDC00 && first < 0xE000) ? unreadable : first,
                        out.text);
    }
  }
  if (i < from.size())
    append_point_utf8(unreadable, out.text);
  return true;
}

constexpr kernel_entry entries[] = {
    {"DECODE", ".s", text_of<decode>, true, true},
    {"ENCODE", "s", text_of<encode>, true, true},
    {"PRINTF", "s.", make_printf, false},
};

} // namespace

std::span<const kernel_entry> text_format_kernels() { return entries; }

} // namespace headrace::graph
