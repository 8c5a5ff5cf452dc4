#include "libgraph/expression/kernel/function_kernel.hpp"
#include "libgraph/expression/kernel/utf8.hpp"
#include "libgraph/expression/kernel/value_printer.hpp"
#include "libgraph/types/value_text.hpp"

// Texts as JSON and back.
namespace headrace::graph {
namespace {

using text = std::string_view;

constexpr text escaped_letters = "\"\\/\b\f\n\r\t";
constexpr text escapes = "\"\\/bfnrt";

/// @param escapes_slash  '/' as "\/": allowed in JSON, not needed
void append_quoted(text from, bool escapes_slash, std::string& out) {
  constexpr text digits = "0123456789abcdef";
  out += '"';
  for (const char each : from) {
    const auto at = escaped_letters.find(each);
    const auto byte = static_cast<unsigned char>(each);
    if (at != text::npos && (each != '/' || escapes_slash)) {
      out += '\\';
      out += escapes[at];
    } else if (byte < 0x20) {
      out += "\\u00";
      out += digits[byte >> 4U];
      out += digits[byte & 15U];
    } else {
      out += each;
    }
  }
  out += '"';
}

bool quote(text_result& out, text from) {
  append_quoted(from, true, out.text);
  return true;
}

std::optional<char32_t> take_hex(text& from) {
  if (from.size() < 4)
    return std::nullopt;
  char32_t out = 0;
  for (const char each : from.substr(0, 4)) {
    const auto lower = static_cast<char>(each | 0x20);
    if (each >= '0' && each <= '9')
      out = out * 16 + static_cast<char32_t>(each - '0');
    else if (lower >= 'a' && lower <= 'f')
      out = out * 16 + static_cast<char32_t>(lower - 'a' + 10);
    else
      return std::nullopt;
  }
  from.remove_prefix(4);
  return out;
}

/// Appends what a string literal says; false when it is none.
bool append_unquoted(text inside, std::string& out) {
  while (!inside.empty()) {
    const char letter = inside[0];
    inside.remove_prefix(1);
    if (letter == '"' || static_cast<unsigned char>(letter) < 0x20)
      return false;
    if (letter != '\\') {
      out += letter;
      continue;
    }
    if (inside.empty())
      return false;
    const char escape = inside[0];
    inside.remove_prefix(1);
    if (const auto at = escapes.find(escape); at != text::npos) {
      out += escaped_letters[at];
      continue;
    }
    auto point = escape == 'u' ? take_hex(inside) : std::nullopt;
    if (!point)
      return false;
    // Two halves of one code point.
    if (*point >= 0xD800 && *point < 0xDC00 && inside.starts_with("\\u")) {
      auto behind = inside.substr(2);
      if (const auto low = take_hex(behind); low && *low >= 0xDC00 && *low < 0xE000) {
        point = 0x10000 + ((*point - 0xD800) << 10U) + (*low - 0xDC00);
        inside = behind;
      }
    }
    append_point_utf8(*point, out);
  }
  return true;
}

/// What is no string literal stays as it is.
bool unquote(text_result& out, text from) {
  if (from.size() >= 2 && from.front() == '"' && from.back() == '"' &&
      append_unquoted(from.substr(1, from.size() - 2), out.text))
    return true;
  out.text = from;
  return true;
}

void append_json(const column& values, std::size_t row, const time_zone& zone, std::string& out);

void append_entries(const column& values, std::size_t row, const time_zone& zone,
                    std::string& out) {
  const bool is_list = values.type().physical() == physical_type::list;
  const auto* offsets = values.values<std::int32_t>() + row;
  std::string key;
  out += is_list ? '[' : '{';
  for (auto i = offsets[0]; i < offsets[1]; ++i) {
    const auto at = static_cast<std::size_t>(i);
    out += i > offsets[0] ? "," : "";
    if (!is_list) {
      key.clear();
      if (!values.child(0).is_null(at))
        append_cast_text(values.child(0), at, zone, key);
      append_quoted(key, false, out);
      out += ':';
    }
    append_json(values.child(is_list ? 0 : 1), at, zone, out);
  }
  out += is_list ? ']' : '}';
}

void append_json(const column& values, std::size_t row, const time_zone& zone, std::string& out) {
  if (values.is_null(row)) {
    out += "null";
    return;
  }
  const auto& type = values.type();
  switch (type.root()) {
  case type_root::boolean:
    out += values.values<std::uint8_t>()[row] != 0 ? "true" : "false";
    return;
  case type_root::tinyint:
  case type_root::smallint:
  case type_root::integer:
  case type_root::bigint:
  case type_root::decimal:
  case type_root::float_:
  case type_root::double_:
    append_cast_text(values, row, zone, out);
    return;
  case type_root::binary:
  case type_root::varbinary:
    out += '"';
    append_base64(values.string_at(row), out);
    out += '"';
    return;
  case type_root::array:
  case type_root::map:
  case type_root::multiset:
    append_entries(values, row, zone, out);
    return;
  case type_root::row:
    out += '{';
    for (std::size_t i = 0; i < type.child_count(); ++i) {
      out += i > 0 ? "," : "";
      append_quoted(type.fields()[i].name, false, out);
      out += ':';
      append_json(values.child(i), row, zone, out);
    }
    out += '}';
    return;
  default: {
    std::string shown;
    append_cast_text(values, row, zone, shown);
    append_quoted(shown, false, out);
  }
  }
}

/// A value as JSON; NULL stays NULL, inside of others it is null.
result<kernel> make_json_string(const kernel_request& request) {
  if (request.arguments.size() != 1 || request.type.physical() != physical_type::string)
    return unfit(request);
  return kernel([zone = request.zone](kernel_frame& frame) {
    const auto& from = frame.arguments[0];
    text_writer writer(frame);
    validity_writer validity(frame, joined_validity(frame));
    std::string made;
    for_each_row(frame.rows, [&](std::size_t row) {
      if (validity.is_null(row)) {
        writer.put_empty(row);
        return;
      }
      made.clear();
      append_json(*from.values, from.is_constant ? 0 : row, *zone, made);
      writer.put(row, made);
    });
    return writer.finish(frame.type, frame.rows.total, validity.finish());
  });
}

constexpr kernel_entry entries[] = {
    {"JSON_QUOTE", "s", text_of<quote>},
    {"JSON_STRING", ".", make_json_string},
    {"JSON_UNQUOTE", "s", text_of<unquote>},
};

} // namespace

std::span<const kernel_entry> json_text_kernels() { return entries; }

} // namespace headrace::graph
